//! A statement of a session with modes of its own, as it is written in any other session: everybody behind the parser
//! reads it so, and so do storage units, whose connections have none of these modes.
//! <https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html>

use std::collections::{BTreeSet, HashSet};

use crate::ast::{BinaryOp, Expr, Kind, Literal, Node, SelectItem};
use crate::edits::{Edits, Piece};
use crate::error::SyntaxError;
use crate::lexer::{spelled, tokenize};
use crate::modes::{Modes, Reading};
use crate::parse::parse;
use crate::span::Span;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};
use crate::visit;

/// The longest alias MySQL takes, in characters.
const LONGEST: usize = 256;

/// What LIKE makes of backslashes in a pattern where no ESCAPE stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likes {
    /// They escape, whatever the modes are.
    Escape,
    /// In a session whose strings take them for characters, they are characters.
    Plain,
    /// Servers differ, or are not known.
    Unsure,
}

/// Why a statement cannot be written so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misread {
    /// It cannot be cut into tokens.
    Syntax(SyntaxError),
    /// What it has that would mean something else, and what says the same in every mode.
    Differs(&'static str, &'static str),
}

impl From<SyntaxError> for Misread {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(error)
    }
}

/// The statement as it is written without the modes, which means the same there: quotes and backslashes by default,
/// `CONCAT(a, b)` for `a || b`, ESCAPE with LIKE, columns called as they were. `None` where it is the same text. `||`
/// that the parser does not see, as in a routine's body, stays.
///
/// # Errors
/// `Syntax` as `tokenize`. A text that can be cut and not parsed is no error: whoever reads it next says why.
pub fn restate(
    text: &str,
    syntax: &Syntax,
    modes: Modes,
    likes: Likes,
) -> Result<Option<String>, Misread> {
    let mut lexical = Edits::default();
    if modes.lex_otherwise() {
        lexical = spelled(text, Reading { syntax, modes })?;
    }
    let cut = lexical.apply(text);
    let spells = |change: Option<String>| match change {
        None if lexical.is_empty() => None,
        None => Some(cut.clone()),
        changed => changed,
    };
    let likes = if modes.plain_backslashes { likes } else { Likes::Escape };
    if modes.lex_otherwise() {
        refuse_inner_texts(&cut, syntax, modes)?;
    }
    let spoken = Syntax { pipes_concatenate: modes.pipes_concatenate, ..*syntax };
    let Ok(stmt) = parse(&cut, &spoken) else {
        return Ok(spells(None));
    };
    let mut edits = Edits::default();
    let mut changed = BTreeSet::new();
    if modes.pipes_concatenate {
        pipes(&stmt.kind, &mut edits, &mut changed);
    }
    if likes != Likes::Escape {
        escapes(&stmt.kind, &stmt.text, likes, &mut edits, &mut changed)?;
        refuse_other_likes(&stmt.kind, &stmt.text, &spoken)?;
    }
    if lexical.is_empty() && edits.is_empty() {
        return Ok(None);
    }
    let origin = Origin::of(&lexical, text);
    visit::items(&stmt.kind, &mut |item| {
        let SelectItem::Expr { expr, alias: None, span } = item else { return };
        // What has no alias is called as it is written, but for columns and strings, called by what they say.
        let is_written = !matches!(expr.node, Node::Column(_) | Node::Literal(_));
        let written = origin.of_span(expr.span).of(text);
        let is_other = written != expr.span.of(&stmt.text)
            || changed.range(span.start..span.end).next().is_some();
        if is_written && is_other {
            let label: String = written.chars().take(LONGEST).collect();
            edits.replace(Span::at(span.end), format!(" AS `{}`", label.replace('`', "``")));
        }
    });
    Ok(spells((!edits.is_empty()).then(|| edits.apply(&stmt.text))))
}

/// Spells all of them out, a chain as one call. Notes where they begin.
fn pipes(kind: &Kind, edits: &mut Edits, changed: &mut BTreeSet<u32>) {
    let mut inside: HashSet<Span> = HashSet::new();
    visit::exprs(kind, &mut |expr| {
        let Some((left, right)) = operands(expr) else { return };
        let gap = Span::new(left.span.end, right.span.start);
        let links = [left, right].into_iter().filter(|operand| operands(operand).is_some());
        inside.extend(links.map(|operand| operand.span));
        if !inside.contains(&expr.span) {
            edits.replace(Span::at(expr.span.start), "CONCAT(");
            edits.replace(Span::at(expr.span.end), ")");
        }
        edits.replace(gap, ", ");
        changed.insert(gap.start);
    });
}

fn operands(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let Node::Binary { op: BinaryOp::Other(op), left, right } = &expr.node else { return None };
    (op == "||").then_some((left, right))
}

/// Says that a backslash in a pattern is a character.
///
/// # Errors
/// `Differs` where that is not known.
fn escapes(
    kind: &Kind,
    text: &str,
    likes: Likes,
    edits: &mut Edits,
    changed: &mut BTreeSet<u32>,
) -> Result<(), Misread> {
    let mut found = Vec::new();
    visit::exprs(kind, &mut |expr| {
        if let Node::Like { operand, pattern, .. } = &expr.node
            && is_like(Span::new(operand.span.end, pattern.span.start).of(text))
            && !(matches!(pattern.node, Node::Literal(Literal::Text(_)))
                && is_plain_pattern(pattern.span.of(text)))
        {
            found.push(pattern.span);
        }
    });
    if likes == Likes::Unsure && !found.is_empty() {
        return Err(BARE_LIKE);
    }
    for pattern in found {
        edits.replace(Span::at(pattern.end), " ESCAPE ''");
        changed.insert(pattern.start);
    }
    Ok(())
}

const BARE_LIKE: Misread = Misread::Differs(
    "LIKE without ESCAPE, whose backslashes servers read by NO_BACKSLASH_ESCAPES, in this place",
    "say ESCAPE, or leave the mode out",
);

/// LIKE or NOT LIKE, and not REGEXP.
fn is_like(gap: &str) -> bool {
    gap.to_ascii_lowercase().contains("like")
}

/// Whether nothing could be escaped in a string, as it is written.
fn is_plain_pattern(pattern: &str) -> bool {
    pattern.starts_with('\'') && pattern.ends_with('\'') && !pattern.contains('\\')
}

/// Refuses LIKE that the parser does not see: in the body of a routine, in a CHECK, in SHOW.
///
/// # Errors
/// `Differs` for one that a mode decides upon.
fn refuse_other_likes(kind: &Kind, text: &str, syntax: &Syntax) -> Result<(), Misread> {
    let mut seen: Vec<Span> = Vec::new();
    visit::exprs(kind, &mut |expr| {
        let (operand, pattern): (&Expr, &Expr) =
            if let Node::Like { operand, pattern, .. } = &expr.node {
                (operand, pattern)
            } else if let Node::Other(parts) = &expr.node
                && let [operand, pattern, _] = &parts[..]
            {
                // With its ESCAPE.
                (operand, pattern)
            } else {
                return;
            };
        seen.push(Span::new(operand.span.end, pattern.span.start));
    });
    let tokens = tokenize(text, syntax)?.list;
    let is_known = |at: usize, like: &Token| {
        let is_seen =
            seen.iter().any(|gap| gap.start <= like.span.start && like.span.end <= gap.end);
        let word = |place: usize| tokens.get(place).map_or("", |token| token.span.of(text));
        // Where `||` concatenates, the pattern goes on behind the string.
        let goes_on = syntax.pipes_concatenate && word(at + 2) == "||";
        let is_plain = is_plain_pattern(word(at + 1)) && !goes_on;
        is_seen || is_plain || copies_table(text, &tokens, at)
    };
    let mut likes = tokens.iter().enumerate().filter(|(_, token)| is_word(text, token, "like"));
    match likes.all(|(at, like)| is_known(at, like)) {
        true => Ok(()),
        false => Err(BARE_LIKE),
    }
}

/// `CREATE TABLE a LIKE b` and `CREATE TABLE a (LIKE b)`.
fn copies_table(text: &str, tokens: &[Token], at: usize) -> bool {
    let is_definition = tokens.first().is_some_and(|first| is_word(text, first, "create"))
        && tokens.iter().take(4).any(|word| is_word(text, word, "table"));
    let Some(head) = tokens.get(..at) else { return false };
    let parentheses = head.iter().filter(|token| token.span.of(text) == "(").count();
    let is_first = head.last().is_some_and(|last| last.span.of(text) == "(");
    is_definition && (parentheses == 0 || parentheses == 1 && is_first)
}

fn is_word(text: &str, token: &Token, word: &str) -> bool {
    token.kind == TokenKind::Word && token.span.of(text).eq_ignore_ascii_case(word)
}

/// Refuses what the modes would decide later, when units run it without them: texts that a routine prepares, and files
/// whose escape is not named.
fn refuse_inner_texts(text: &str, syntax: &Syntax, modes: Modes) -> Result<(), Misread> {
    const WORDS: [&str; 4] = ["prepare", "immediate", "outfile", "load"];
    let lower = text.to_ascii_lowercase();
    if !WORDS.iter().any(|word| lower.contains(word)) {
        return Ok(());
    }
    let tokens = tokenize(text, syntax)?.list;
    let has = |word: &str| tokens.iter().any(|token| is_word(text, token, word));
    let begins = |word: &str| tokens.first().is_some_and(|first| is_word(text, first, word));
    let routine = ["create", "alter", "begin", "if", "case", "loop", "while", "repeat", "for"];
    let prepares = has("prepare") || has("immediate") && has("execute");
    if prepares && routine.into_iter().any(begins) {
        return Err(Misread::Differs(
            "a routine that prepares texts, which its server would read without the modes ANSI_QUOTES, \
             NO_BACKSLASH_ESCAPES and IGNORE_SPACE,",
            "make it in a session without them",
        ));
    }
    let is_file = has("outfile") || begins("load");
    if modes.plain_backslashes && is_file && !has("escaped") {
        return Err(Misread::Differs(
            "a file whose escape NO_BACKSLASH_ESCAPES would decide upon",
            "say FIELDS ESCAPED BY",
        ));
    }
    Ok(())
}

/// Where places of a changed text stood before.
struct Origin {
    /// From each of these places of the changed text on, and those of the text before.
    steps: Vec<(u32, u32)>,
}

impl Origin {
    fn of(edits: &Edits, text: &str) -> Self {
        let mut steps = vec![(0, 0)];
        let mut length = 0;
        for piece in edits.pieces(text) {
            match piece {
                Piece::Kept(span) => {
                    steps.push((length, span.start));
                    length += span.end - span.start;
                    steps.push((length, span.end));
                }
                Piece::New(new) => length += new.len() as u32,
            }
        }
        Self { steps }
    }

    fn of_span(&self, span: Span) -> Span {
        // What is put in the place of something ends where the next piece that is kept begins.
        let start = self.steps.iter().rev().find(|(new, _)| *new <= span.start);
        let end = self.steps.iter().find(|(new, _)| *new >= span.end);
        let start = start.map_or(span.start, |(new, old)| old + (span.start - new));
        let end = end.map_or(span.end, |(new, old)| old - (new - span.end));
        Span::new(start, end.max(start))
    }
}
