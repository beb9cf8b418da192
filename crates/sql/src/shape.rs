//! The shape of a text: the text with its literals taken out, found in one pass and without a token list. Two texts of one shape have the same tokens
//! but for the values of their literals, so what was planned for one may serve the other. A text that needs more than this pass to be read has none.

use crate::ast::Literal;
use crate::digest::Digest;
use crate::keyword::Keyword;
use crate::lexer::{Class, class_of, is_word_byte};
use crate::literal::literal;
use crate::span::Span;
use crate::syntax::{Placeholder, Syntax};
use crate::token::{Token, TokenKind};

/// Literals a shape may have; a text with more is not likely to come again.
const MOST_SLOTS: usize = 64;
/// Bytes of the longest text that has a shape.
const LONGEST: usize = 8 << 10;

/// Stand in the key for a literal. No text with a shape has such bytes.
const WHOLE: u8 = 1;
const FRACTION: u8 = 2;
const TEXT: u8 = 3;

/// A literal taken out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Where it stands in the text, quotes included.
    pub span: Span,
    /// `Number` or `String`.
    pub kind: TokenKind,
}

impl Slot {
    /// Its value in a text of its shape.
    pub fn literal(&self, text: &str, syntax: &Syntax) -> Option<Literal> {
        let keyword = Keyword::NO_KEYWORD;
        literal(text, &Token { span: self.span, kind: self.kind, slot: true, keyword }, syntax)
    }
}

/// A shape, and the literals of the text it was found in. Kept by its user, so that finding the next one allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    key: Vec<u8>,
    slots: Vec<Slot>,
}

impl Shape {
    /// Equal for texts of one shape, and for no others.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// A hash of the key. Not keyed: whoever finds keys of equal hash makes only his own look-ups slow, as the keys are compared, too.
    pub fn hash(&self) -> u64 {
        let mut digest = Digest::new();
        digest.piece(0, &self.key);
        digest.value()
    }

    /// The literals in text order. Numbers behind `BY`, `LIMIT`, `OFFSET` and `FETCH` belong to the key instead: they say what the statement means.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Finds the shape of one statement. False, and nothing of use left, for a text with comments, several statements, escapes, variables, prefixed or
    /// neighbouring strings, or numbers that are not plain; also for one that is long, has many literals, or is no SQL at all.
    pub fn read(&mut self, text: &str, syntax: &Syntax) -> bool {
        self.key.clear();
        self.slots.clear();
        if text.len() > LONGEST {
            return false;
        }
        let bytes = text.as_bytes();
        let mut scan = Scan { bytes, syntax, at: 0, copied: 0, is_pinned: false, into: self };
        scan.run().is_some()
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    syntax: &'a Syntax,
    at: usize,
    /// How much of the text is in the key, or left out of it.
    copied: usize,
    /// Numbers belong to the key from here on.
    is_pinned: bool,
    into: &'a mut Shape,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<()> {
        while class_of(self.byte(0)) == Class::Space {
            self.at += 1;
        }
        self.copied = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            match class_of(byte) {
                Class::Letter => self.word()?,
                Class::Digit => self.number()?,
                Class::Single => self.string()?,
                Class::Double if !self.syntax.double_quoted_strings => self.quoted(b'"')?,
                Class::Backtick if self.syntax.backtick_identifiers => self.quoted(b'`')?,
                Class::Dollar => self.parameter()?,
                Class::Question if self.syntax.placeholder == Placeholder::Question => self.at += 1,
                Class::Dot if self.byte(1).is_ascii_digit() => return None,
                Class::Minus if self.byte(1) == b'-' => return None,
                Class::Slash if self.byte(1) == b'*' => return None,
                Class::Punctuation if byte == b';' => return self.end(),
                Class::Space
                | Class::Dot
                | Class::Colon
                | Class::Minus
                | Class::Slash
                | Class::Operator
                | Class::Punctuation => self.at += 1,
                Class::Double
                | Class::Backtick
                | Class::Question
                | Class::At
                | Class::Hash
                | Class::Backslash
                | Class::Bad => return None,
            }
        }
        self.keep(self.at);
        self.trim()
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn keep(&mut self, end: usize) {
        self.into.key.extend_from_slice(self.bytes.get(self.copied..end).unwrap_or(&[]));
    }

    /// Nothing may follow the semicolon.
    fn end(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        if !rest.iter().all(|&byte| byte == b';' || class_of(byte) == Class::Space) {
            return None;
        }
        self.keep(self.at);
        self.trim()
    }

    fn trim(&mut self) -> Option<()> {
        while self.into.key.last().is_some_and(|&byte| class_of(byte) == Class::Space) {
            self.into.key.pop();
        }
        (!self.into.key.is_empty()).then_some(())
    }

    fn word(&mut self) -> Option<()> {
        let start = self.at;
        while is_word_byte(self.byte(0)) {
            self.at += 1;
        }
        // A string with a prefix, or behind the name of a type or a character set.
        if matches!(self.byte(0), b'\'' | b'"' | b'&') {
            return None;
        }
        let word = self.bytes.get(start..self.at).unwrap_or(&[]);
        let pins: [&[u8]; 4] = [b"by", b"limit", b"offset", b"fetch"];
        self.is_pinned |= pins.iter().any(|pin| word.eq_ignore_ascii_case(pin));
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        let is_glued = start.checked_sub(1).is_some_and(|before| self.bytes[before] == b'.');
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
        let mut mark = WHOLE;
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            mark = FRACTION;
            self.at += 1;
            while self.byte(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        if is_glued || self.byte(0) == b'.' || is_word_byte(self.byte(0)) {
            return None;
        }
        if self.is_pinned { Some(()) } else { self.slot(start, TokenKind::Number, mark) }
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let quote = memchr::memchr(b'\'', rest)?;
            if self.syntax.backslash_escapes && memchr::memchr(b'\\', &rest[..quote]).is_some() {
                return None;
            }
            self.at += quote + 1;
            if self.byte(0) != b'\'' {
                break;
            }
            self.at += 1;
        }
        // Neighbours become one string.
        let before = self.into.slots.last();
        let gap = before.and_then(|slot| self.bytes.get(slot.span.end as usize..start));
        let joins = before.is_some_and(|slot| slot.kind == TokenKind::String)
            && gap.is_some_and(|gap| gap.iter().all(|&byte| class_of(byte) == Class::Space));
        if joins || self.byte(0) == b'"' {
            return None;
        }
        self.slot(start, TokenKind::String, TEXT)
    }

    fn slot(&mut self, start: usize, kind: TokenKind, mark: u8) -> Option<()> {
        if self.into.slots.len() >= MOST_SLOTS {
            return None;
        }
        self.keep(start);
        self.into.key.push(mark);
        self.copied = self.at;
        let span = Span::new(u32::try_from(start).ok()?, u32::try_from(self.at).ok()?);
        self.into.slots.push(Slot { span, kind });
        Some(())
    }

    fn quoted(&mut self, quote: u8) -> Option<()> {
        let rest = self.bytes.get(self.at + 1..)?;
        // The lexer takes no zero byte in a name.
        let length =
            memchr::memchr2(quote, 0, rest).filter(|end| rest.get(*end) == Some(&quote))?;
        self.at += length + 2;
        (self.byte(0) != quote && self.byte(0) != b'\'').then_some(())
    }

    /// `$1`; any other dollar may begin a string.
    fn parameter(&mut self) -> Option<()> {
        let is_parameter = self.syntax.placeholder == Placeholder::Dollar;
        if !is_parameter || !matches!(self.byte(1), b'1'..=b'9') {
            return None;
        }
        let start = self.at + 1;
        self.at = start;
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
        // Those of five digits may be beyond what there are.
        (self.at - start < 5 && !is_word_byte(self.byte(0))).then_some(())
    }
}
