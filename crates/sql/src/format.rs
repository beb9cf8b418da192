//! A query or a change in a standard form: keywords in capitals, each clause on a line of its own. Nothing else is touched.

use std::fmt::{self, Write};

use crate::ast::Kind;
use crate::error::SyntaxError;
use crate::lexer::tokenize;
use crate::parse::parse;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};

/// Bytes of a text that is formatted; a longer one stays as it is.
const LONGEST: usize = 64 << 10;
/// What a clause within brackets is moved to the right by.
const STEP: usize = 2;

/// Words of the grammar that are written in capitals.
#[rustfmt::skip]
const WORDS: [&str; 60] = [
    "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CONFLICT", "CROSS", "DEFAULT", "DELETE", "DESC", "DISTINCT", "DO", "DUPLICATE",
    "ELSE", "END", "EXCEPT", "EXISTS", "FALSE", "FOR", "FROM", "FULL", "GROUP", "HAVING", "IGNORE", "IN", "INNER", "INSERT", "INTERSECT",
    "INTO", "IS", "JOIN", "KEY", "LEFT", "LIKE", "LIMIT", "NATURAL", "NOT", "NOTHING", "NULL", "OFFSET", "ON", "OR", "ORDER",
    "OUTER", "OVER", "PARTITION", "RECURSIVE", "REPLACE", "RETURNING", "RIGHT", "SELECT", "SET", "THEN", "TRUE", "UNION", "UPDATE",
    "USING", "VALUES",
];
/// Further ones, which do not begin a clause either.
const MORE: [&str; 4] = ["WHEN", "WHERE", "WINDOW", "WITH"];

/// Words a clause begins with. Those of a join begin one when no other of them stands before.
const CLAUSES: [&str; 14] = [
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "VALUES",
    "SET",
    "RETURNING",
    "WINDOW",
];
const JOINS: [&str; 8] = ["NATURAL", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "JOIN"];

/// Behind these a word is no clause, but may be a function.
const INSIDE: [&str; 5] = ["(", ",", "=", "+", "-"];

/// The statement in a standard form. What is no query and no change of rows stays as it is, and so does what would be read differently afterwards.
///
/// # Errors
/// When the text is no statement.
pub fn format(text: &str, syntax: &Syntax) -> Result<String, SyntaxError> {
    let statement = parse(text, syntax)?;
    let known = matches!(
        statement.kind,
        Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_)
    );
    let as_it_is = statement.text.to_string();
    if !known || as_it_is.len() > LONGEST {
        return Ok(as_it_is);
    }
    let tokens = tokenize(&as_it_is, syntax)?.list;
    let formatted = Writer::new(&as_it_is, &tokens).write();
    let same = parse(&formatted, syntax)
        .is_ok_and(|read| outline(&read.kind) == outline(&statement.kind))
        && tokenize(&formatted, syntax)
            .is_ok_and(|read| same_tokens(&as_it_is, &tokens, &formatted, &read.list));
    Ok(if same { formatted } else { as_it_is })
}

/// Whether a text's tokens are those of another.
fn same_tokens(text: &str, tokens: &[Token], other: &str, others: &[Token]) -> bool {
    tokens.len() == others.len()
        && tokens.iter().zip(others).all(|(one, two)| {
            let (a, b) = (one.span.of(text), two.span.of(other));
            one.kind == two.kind
                && (a == b || one.kind == TokenKind::Word && a.eq_ignore_ascii_case(b))
        })
}

/// A tree's shape and names without its numbers, as a hash: places differ in every text, and numbers are tokens.
fn outline(kind: &Kind) -> u64 {
    struct Hash(u64);
    impl Write for Hash {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            for byte in piece.bytes().filter(|byte| !byte.is_ascii_digit()) {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // Hashing cannot fail.
    let _ = write!(hash, "{kind:?}");
    hash.0
}

struct Writer<'a> {
    text: &'a str,
    tokens: &'a [Token],
    out: String,
    /// Of each open bracket, whether a query stands in it.
    open: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self { text, tokens, out: String::with_capacity(text.len() * 2), open: Vec::new() }
    }

    fn write(mut self) -> String {
        for at in 0..self.tokens.len() {
            self.gap(at);
            let word = self.word(at);
            match WORDS.iter().chain(&MORE).find(|known| word.eq_ignore_ascii_case(known)) {
                Some(known) if self.is_free(at) => self.out.push_str(known),
                _ => self.out.push_str(word),
            }
            match word {
                "(" => {
                    let next = self.word(at + 1);
                    self.open.push(
                        ["SELECT", "WITH", "VALUES"].iter().any(|q| next.eq_ignore_ascii_case(q)),
                    );
                }
                ")" => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        // What stands behind the last token is a comment.
        let end = self.tokens.last().map_or(0, |token| token.span.end as usize);
        self.out.push_str(self.text.get(end..).unwrap_or_default().trim_end());
        self.out
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.span.of(self.text))
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
            && self.word(at).eq_ignore_ascii_case(word)
    }

    /// A word that is no part of a dotted name and no function.
    fn is_free(&self, at: usize) -> bool {
        let inside = at.checked_sub(1).is_some_and(|before| INSIDE.contains(&self.word(before)));
        let calls = ["LEFT", "RIGHT", "REPLACE"].iter().any(|name| self.is(at, name))
            || inside && self.is(at, "VALUES");
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
            && !(calls && self.word(at + 1) == "(")
            && self.word(at + 1) != "."
            && at.checked_sub(1).is_none_or(|before| self.word(before) != ".")
    }

    /// Whether a clause begins here.
    fn breaks(&self, at: usize) -> bool {
        let in_query = self.open.last().copied().unwrap_or(true);
        let Some(before) = at.checked_sub(1).filter(|_| in_query && self.is_free(at)) else {
            return false;
        };
        let any = |words: &[&str], at: usize| words.iter().any(|word| self.is(at, word));
        if any(&JOINS, at) {
            return !any(&JOINS, before);
        }
        // DELETE FROM, IS DISTINCT FROM.
        let continues = any(&["DELETE", "DISTINCT"], before);
        let ends_query = any(&["UNION", "INTERSECT", "EXCEPT"], before)
            || any(&["ALL"], before)
                && before.checked_sub(1).is_some_and(|b| any(&["UNION", "INTERSECT", "EXCEPT"], b));
        any(&CLAUSES, at) && !continues || self.is(at, "SELECT") && ends_query
    }

    /// What stands between a token and the one before.
    fn gap(&mut self, at: usize) {
        let Some(before) = at.checked_sub(1).and_then(|before| self.tokens.get(before)) else {
            self.out.push_str(self.text.get(..self.start(at)).unwrap_or_default().trim_start());
            return;
        };
        let gap = self.text.get(before.span.end as usize..self.start(at)).unwrap_or_default();
        let strings =
            before.kind.is_string() && self.tokens.get(at).is_some_and(|t| t.kind.is_string());
        if strings || !gap.trim().is_empty() {
            // Comments stay where they are, and a line between two strings joins them.
            self.out.push_str(gap);
        } else if self.breaks(at) {
            self.out.push('\n');
            let depth = self.open.iter().filter(|query| **query).count();
            self.out.extend(std::iter::repeat_n(' ', depth * STEP));
        } else if !gap.is_empty() {
            self.out.push(' ');
        }
    }

    fn start(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(0, |token| token.span.start as usize)
    }
}
