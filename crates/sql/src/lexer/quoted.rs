//! Everything between quotes.

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
            TokenKind::String | TokenKind::NationalString => self.syntax.backslash_escapes,
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
        let end =
            if escapes { self.escaped_end(self.at, quote) } else { self.plain_end(self.at, quote) };
        let Some(end) = end else {
            return Err(self.unterminated("string", start, if quote == b'"' { "\"" } else { "'" }));
        };
        self.push(kind, start, end);
        Ok(())
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
        let closing = match quote {
            b'"' => "\"",
            b'`' => "`",
            _ => "'",
        };
        self.plain_end(open, quote).ok_or_else(|| self.unterminated(what, open, closing))
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

    fn escaped_end(&self, open: usize, quote: u8) -> Option<usize> {
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
