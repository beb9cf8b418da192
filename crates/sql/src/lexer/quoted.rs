//! Everything between quotes.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

use super::class::is_word_byte;
use super::{Lexer, Result};
use crate::token::TokenKind;

impl Lexer<'_> {
    /// `X'…'` and its kin: the prefix has `skip` bytes.
    pub(super) fn prefixed_string(
        &mut self,
        start: usize,
        skip: usize,
        kind: TokenKind,
    ) -> Result<()> {
        self.at = start + skip;
        self.string(start, kind)
    }

    /// A string whose opening quote stands at `self.at` and whose token starts at `start`.
    pub(super) fn string(&mut self, start: usize, kind: TokenKind) -> Result<()> {
        let quote = self.byte(self.at);
        let escapes = match kind {
            TokenKind::EscapeString => true,
            TokenKind::String | TokenKind::NationalString => self.escapes_in(quote),
            TokenKind::Word
            | TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
            | TokenKind::Number
            | TokenKind::UnicodeString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::Operator
            | TokenKind::Punctuation
            | TokenKind::End => false,
        };
        let holds_digits = matches!(kind, TokenKind::BitString | TokenKind::HexString);
        let mut open = self.at;
        loop {
            let end = match (escapes, holds_digits) {
                (true, _) => self.escaped_end(open, quote),
                // A second quote behind the end begins something else.
                (false, true) => memchr(quote, self.bytes.get(open + 1..).unwrap_or(&[]))
                    .map(|length| open + length + 2),
                (false, false) => self.plain_end(open, quote),
            };
            let Some(end) = end else {
                return Err(self.unterminated("string", start, char::from(quote)));
            };
            match continued(self.bytes, end).filter(|_| self.syntax.dollar_strings) {
                Some(next) => open = next,
                None => {
                    self.push(kind, start, end);
                    return Ok(());
                }
            }
        }
    }

    /// A quoted identifier whose opening quote stands at `self.at`.
    pub(super) fn identifier(&mut self, start: usize, kind: TokenKind) -> Result<()> {
        let quote = self.byte(self.at);
        let end = self.quoted_end(self.at, quote, "identifier")?;
        self.push(kind, start, end);
        Ok(())
    }

    /// One past the closing quote; doubled quotes stand for themselves.
    pub(super) fn quoted_end(&self, open: usize, quote: u8, what: &str) -> Result<usize> {
        let unterminated = || self.unterminated(what, open, char::from(quote));
        let end = self.plain_end(open, quote).ok_or_else(unterminated)?;
        match memchr(0, self.bytes.get(open..end).unwrap_or(&[])) {
            // No name has a zero byte, and servers may stop to read there.
            Some(_) if quote == b'`' || self.modes.ansi_quotes => Err(unterminated()),
            _ => Ok(end),
        }
    }

    fn plain_end(&self, open: usize, quote: u8) -> Option<usize> {
        let mut from = open + 1;
        loop {
            let close = from + memchr(quote, self.bytes.get(from..)?)?;
            if self.byte(close + 1) != quote {
                return Some(close + 1);
            }
            from = close + 2;
        }
    }

    pub(super) fn escaped_end(&self, open: usize, quote: u8) -> Option<usize> {
        let mut from = open + 1;
        loop {
            let found = from + memchr2(quote, b'\\', self.bytes.get(from..)?)?;
            let doubled = self.byte(found) == b'\\' || self.byte(found + 1) == quote;
            if !doubled {
                return Some(found + 1);
            }
            from = found + 2;
        }
    }

    /// `$tag$ … $tag$`; a `$` that opens nothing is no token.
    pub(super) fn dollar_string(&mut self) -> Result<()> {
        let start = self.at;
        let mut open = start + 1;
        while is_word_byte(self.byte(open)) && self.byte(open) != b'$' {
            open += 1;
        }
        if self.byte(open) != b'$' {
            return Err(self.unexpected_character());
        }
        let tag = self.bytes.get(start..=open).unwrap_or(&[]);
        let body = self.bytes.get(open + 1..).unwrap_or(&[]);
        match memmem::find(body, tag) {
            Some(length) => {
                let end = open + 1 + length + tag.len();
                self.push(TokenKind::DollarString, start, end);
                Ok(())
            }
            None => {
                let tag = self.text.get(start..=open).unwrap_or("$$");
                Err(self.unterminated("string", start, tag))
            }
        }
    }
}

/// Where the next piece of a string opens whose last one has ended: white space with a line break is between them, and comments to the end of their line.
/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS>
fn continued(bytes: &[u8], end: usize) -> Option<usize> {
    let mut at = end;
    let mut is_broken = false;
    loop {
        match (*bytes.get(at)?, bytes.get(at + 1)) {
            (b'\n' | b'\r', _) => is_broken = true,
            (b' ' | b'\t' | 0x0b | 0x0c, _) => {}
            (b'-', Some(b'-')) => {
                let rest = bytes.get(at..)?;
                // The comment's own line break counts.
                at += memchr2(b'\n', b'\r', rest)?;
                continue;
            }
            (b'\'', _) if is_broken => return Some(at),
            _ => return None,
        }
        at += 1;
    }
}

/// What a backslash is in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// With what follows it stands for something else.
    Escapes,
    /// A character like any other.
    Plain,
}

/// The pieces of a string token, each from quote to quote, and what stands in front of the first. `backslash` as the lexer had it.
pub(crate) fn pieces(raw: &str, backslash: Backslash) -> Vec<&str> {
    let bytes = raw.as_bytes();
    let mut list = Vec::new();
    let mut open = memchr(b'\'', bytes);
    while let Some(start) = open {
        let mut at = start + 1;
        let end = loop {
            match bytes.get(at) {
                None => break raw.len(),
                Some(b'\\') if backslash == Backslash::Escapes => at += 2,
                Some(b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
                Some(b'\'') => break at + 1,
                Some(_) => at += 1,
            }
        };
        list.extend(raw.get(start..end));
        open = continued(bytes, end);
    }
    list
}

/// A string token that is not escaped by backslashes, as if it had been written in one piece.
pub(crate) fn spliced(raw: &str) -> Cow<'_, str> {
    if memchr2(b'\n', b'\r', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let list = pieces(raw, Backslash::Plain);
    if list.len() < 2 {
        return Cow::Borrowed(raw);
    }
    let prefix = raw.get(..raw.find('\'').unwrap_or(0)).unwrap_or("");
    let bodies = list.iter().map(|piece| piece.get(1..piece.len() - 1).unwrap_or(""));
    Cow::Owned(format!("{prefix}'{}'", bodies.collect::<String>()))
}
