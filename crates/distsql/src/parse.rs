//! From a text to a command.

use pando_config::suggest;

use crate::belongs;
use crate::command::Command;
use crate::ebnf::{Lexeme, Node, grammar};
use crate::entry::Entry;
use crate::error::{Error, ErrorKind, Result};
use crate::language::Language;
use crate::matcher::{Expected, Matcher};
use crate::own::Line;
use crate::source::Source;
use crate::tables;
use crate::tree::{Part, Tree};

/// A command and the line of the table that read it.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What is to be done.
    pub command: Command,
    /// How it was written, and the columns of its answer. A 5.0 spelling has the columns of the current one.
    pub entry: &'static Entry,
}

/// Reads one statement of the grammar table, without what rooms bring ([`Language::parse`]); semicolons at its end are
/// allowed.
///
/// ```
/// let text = "CREATE BROADCAST TABLE RULE t_dict, t_address;";
/// let statement = pando_distsql::parse(text)?;
/// assert_eq!(statement.entry.name, "CREATE BROADCAST TABLE RULE");
/// assert_eq!(statement.command.to_string(), "CREATE BROADCAST TABLE RULE t_dict, t_address");
/// # Ok::<(), pando_distsql::Error>(())
/// ```
///
/// # Errors
/// A text that no entry of the table fits, with the furthest place that any of them reached and what they expected there; a value
/// that cannot be; a text that is too long; `NotSupported` for what ShardingSphere has and this version has not.
pub fn parse(text: &str) -> Result<Statement> {
    Language::plain().parse(text)
}

/// Reads one statement; the place of an error is its byte alone.
pub(crate) fn read(language: &Language, text: &str) -> Result<Statement> {
    let source = Source::new(text, holds_a_statement)?;
    let grammar = grammar();
    let mut matcher = Matcher::new(&source, grammar);
    for (entry, node) in tables::entries().zip(&grammar.statements) {
        if let Some(parts) = matcher.whole(node) {
            let tree = Tree { label: entry.name, tokens: (0, source.tokens.len()), parts };
            let command = (entry.build)(Part::new(&tree, &source))?;
            return Ok(Statement { command, entry });
        }
    }
    for Line { own, node, entry } in language.lines() {
        if let Some(parts) = matcher.whole(node) {
            let tree = Tree { label: entry.name, tokens: (0, source.tokens.len()), parts };
            let command = (entry.build)(Part::new(&tree, &source).about(*own))?;
            return Ok(Statement { command, entry });
        }
    }
    if let Some(why) = belongs::gone(text, &source.tokens) {
        return Err(Error::new(ErrorKind::NotSupported, why));
    }
    Err(unexpected(&source, matcher.furthest, matcher.expected))
}

/// The word opens a statement that is followed by one of another language.
fn holds_a_statement(word: &str) -> bool {
    let opens = |node: &Node| match node {
        Node::Sequence(nodes) => {
            matches!(nodes.as_slice(), [Node::Keyword(keyword), Node::Lexeme(Lexeme::Rest)]
                if word.eq_ignore_ascii_case(keyword))
        }
        Node::Keyword(_)
        | Node::Symbol(_)
        | Node::Lexeme(_)
        | Node::Fragment(_)
        | Node::Labelled(..)
        | Node::Choice(_)
        | Node::Optional(_)
        | Node::List(_) => false,
    };
    grammar().statements.iter().any(opens)
}

/// Longest list of expected things in a message.
const MOST_EXPECTED: usize = 12;

fn unexpected(source: &Source<'_>, at: usize, mut expected: Vec<Expected>) -> Error {
    expected.sort_unstable();
    let keywords = expected.iter().filter_map(|expected| match expected {
        Expected::Keyword(keyword) => Some(*keyword),
        Expected::Symbol(_) | Expected::Thing(_) => None,
    });
    let suggestion = suggest::nearest(source.raw(at), keywords)
        .filter(|keyword| !source.raw(at).eq_ignore_ascii_case(keyword));
    let mut message = format!("unexpected {}, expected {}", source.shown(at), listed(&expected));
    if let Some(keyword) = suggestion {
        message.push_str(&format!("; did you mean `{keyword}`?"));
    }
    let plain = |expected: &Expected| match expected {
        Expected::Keyword(text) | Expected::Symbol(text) | Expected::Thing(text) => *text,
    };
    Error {
        at: source.span(at, at).start,
        expected: expected.iter().map(plain).collect(),
        suggestion,
        ..Error::new(ErrorKind::Syntax, message)
    }
}

fn listed(expected: &[Expected]) -> String {
    let mut shown: Vec<String> = expected
        .iter()
        .take(MOST_EXPECTED)
        .map(|expected| match expected {
            Expected::Keyword(text) | Expected::Symbol(text) => format!("`{text}`"),
            Expected::Thing(text) => (*text).to_owned(),
        })
        .collect();
    if expected.len() > MOST_EXPECTED {
        shown.push("another word".to_owned());
    }
    match shown.pop() {
        Some(last) if !shown.is_empty() => format!("{} or {last}", shown.join(", ")),
        Some(only) => only,
        None => "nothing".to_owned(),
    }
}
