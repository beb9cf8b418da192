//! The tokens of a text, looked at by index. An index outside the text is no token.

use pando_sql::{Span, Token, TokenKind};

#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    sql: &'a str,
    list: &'a [Token],
}

impl<'a> Words<'a> {
    /// Final semicolons left out.
    pub(super) fn new(sql: &'a str, mut list: &'a [Token]) -> Self {
        while let [rest @ .., last] = list
            && last.span.of(sql) == ";"
        {
            list = rest;
        }
        Self { sql, list }
    }

    pub(super) fn is_empty(self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn len(self) -> usize {
        self.list.len()
    }

    pub(super) fn kind(self, at: usize) -> TokenKind {
        self.list.get(at).map_or(TokenKind::End, |token| token.kind)
    }

    pub(super) fn token(self, at: usize) -> Option<&'a Token> {
        self.list.get(at)
    }

    pub(super) fn text(self, at: usize) -> &'a str {
        self.list.get(at).map_or("", |token| token.span.of(self.sql))
    }

    /// The first server variable, without its sigils: those that mean something here were put in before.
    pub(super) fn variable(self) -> Option<&'a str> {
        let variables = self.list.iter().filter(|token| token.kind == TokenKind::Variable);
        variables.map(|token| token.span.of(self.sql)).find_map(|text| text.strip_prefix("@@"))
    }

    /// The whole text.
    pub(super) fn sql(self) -> &'a str {
        self.sql
    }

    /// From the first to the last of these tokens; empty behind the text when there are none.
    pub(super) fn span(self, from: usize, to: usize) -> Span {
        match (self.list.get(from), to.checked_sub(1).and_then(|last| self.list.get(last))) {
            (Some(first), Some(last)) if from < to => first.span.to(last.span),
            _ => Span::at(self.list.get(from).map_or(self.end(), |token| token.span.start)),
        }
    }

    /// The text from the first to the last of these tokens.
    pub(super) fn slice(self, from: usize, to: usize) -> &'a str {
        self.span(from, to).of(self.sql)
    }

    /// The insertion point in front of a token.
    pub(super) fn before(self, at: usize) -> Span {
        Span::at(self.list.get(at).map_or(self.end(), |token| token.span.start))
    }

    /// The insertion point behind a token.
    pub(super) fn after(self, at: usize) -> Span {
        Span::at(self.list.get(at).map_or(self.end(), |token| token.span.end))
    }

    /// Behind the last token.
    fn end(self) -> u32 {
        self.list.last().map_or(0, |token| token.span.end)
    }

    /// Whether it is this unquoted word, in any case.
    pub(super) fn is(self, at: usize, word: &str) -> bool {
        self.kind(at) == TokenKind::Word && self.text(at).eq_ignore_ascii_case(word)
    }

    /// Whether these words stand here, one after the other.
    pub(super) fn are(self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.is(at + offset, word))
    }

    /// Whether it is one of these words.
    pub(super) fn one_of(self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    /// Whether it is this punctuation mark or operator.
    pub(super) fn mark(self, at: usize, mark: &str) -> bool {
        matches!(self.kind(at), TokenKind::Punctuation | TokenKind::Operator)
            && self.text(at) == mark
    }

    /// Whether it can be a name.
    pub(super) fn name(self, at: usize) -> bool {
        matches!(self.kind(at), TokenKind::Word | TokenKind::QuotedIdentifier)
    }

    /// The name without its quotes.
    pub(super) fn bare(self, at: usize) -> String {
        let text = self.text(at);
        if self.kind(at) != TokenKind::QuotedIdentifier {
            return text.to_owned();
        }
        let mark = text.get(..1).unwrap_or("");
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        inner.replace(&mark.repeat(2), mark)
    }

    /// One past the parenthesis that closes the one at `at`; the end of the text when it is never closed.
    pub(super) fn behind_group(self, at: usize) -> usize {
        let mut depth = 0_usize;
        for index in at..self.len() {
            if self.mark(index, "(") {
                depth += 1;
            } else if self.mark(index, ")") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
        }
        self.len()
    }

    /// The parenthesis that opens the group which the one at `at` closes.
    pub(super) fn open_of(self, at: usize) -> usize {
        let mut depth = 0_usize;
        for index in (0..=at).rev() {
            if self.mark(index, ")") {
                depth += 1;
            } else if self.mark(index, "(") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index;
                }
            }
        }
        0
    }

    /// One past a dotted name that starts at `at`.
    pub(super) fn behind_name(self, at: usize) -> usize {
        let mut end = at + 1;
        while self.mark(end, ".") && self.name(end + 1) {
            end += 2;
        }
        end
    }

    /// The parts of `from..to` between commas outside parentheses, as (first, one past the last).
    pub(super) fn parts(self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let (mut parts, mut start, mut depth) = (Vec::new(), from, 0_usize);
        for at in from..to.min(self.len()) {
            if self.mark(at, "(") {
                depth += 1;
            } else if self.mark(at, ")") {
                depth = depth.saturating_sub(1);
            } else if depth == 0 && self.mark(at, ",") {
                parts.push((start, at));
                start = at + 1;
            }
        }
        parts.push((start, to));
        parts
    }
}
