//! A client's text with the comments settled that some servers run.

use crate::error::SyntaxError;
use crate::executable::{Release, may_have_one};
use crate::lexer::Lexer;
use crate::modes::{Modes, Reading};
use crate::span::Span;
use crate::syntax::Syntax;

/// A text with every comment of the kind settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It has none.
    AsIs,
    /// With empty comments in the place of the marks and of what does not run: blanks would not do, as `--` before one begins a comment of its own.
    Text(String),
    /// What runs depends on versions that are not known, or that differ so that servers would run different statements.
    Unsure,
}

/// Settles them for storage units of these releases; none, for units that are not known yet.
///
/// # Errors
/// What `tokenize` refuses.
pub fn settle(text: &str, syntax: &Syntax, releases: &[Release]) -> Result<Settled, SyntaxError> {
    settle_under(text, syntax, Modes::default(), releases)
}

/// As [`settle`], in a session with these modes.
///
/// # Errors
/// As [`settle`].
pub fn settle_under(
    text: &str,
    syntax: &Syntax,
    modes: Modes,
    releases: &[Release],
) -> Result<Settled, SyntaxError> {
    if !may_have_one(text, syntax) {
        return Ok(Settled::AsIs);
    }
    let mut lexer = Lexer::new(text, Reading { syntax, modes });
    lexer.settles = Some(releases);
    lexer.run()?;
    if lexer.is_unsure {
        return Ok(Settled::Unsure);
    }
    Ok(if lexer.marks.is_empty() {
        Settled::AsIs
    } else {
        Settled::Text(emptied(text, &lexer.marks))
    })
}

fn emptied(text: &str, marks: &[Span]) -> String {
    let mut out = String::with_capacity(text.len() + marks.len() * 2);
    let mut done = 0;
    for mark in marks {
        out.push_str(text.get(done..mark.start as usize).unwrap_or(""));
        out.push_str("/*");
        // As long as it was, and with as many lines, where there is room.
        let inner = mark.of(text).bytes().skip(2);
        let inner = inner.take((mark.end - mark.start).saturating_sub(4) as usize);
        out.extend(inner.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        out.push_str("*/");
        done = mark.end as usize;
    }
    out.push_str(text.get(done..).unwrap_or(""));
    out
}
