//! What the lexer hands out.

use std::borrow::Cow;

use crate::keyword::Keyword;
use crate::quotes::unquoted;
use crate::span::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An unquoted word: keyword or identifier.
    Word,
    /// `` `name` `` or `"name"`.
    QuotedIdentifier,
    /// `U&"name"`.
    UnicodeIdentifier,
    /// `12`, `1.5e3`, `.5`; also `0x1F` where that is a number.
    Number,
    /// `'text'`, and `"text"` where that is a string.
    String,
    /// `E'text'`.
    EscapeString,
    /// `U&'text'`.
    UnicodeString,
    /// `N'text'`.
    NationalString,
    /// `B'0101'`, and `0b0101` where that is a string.
    BitString,
    /// `X'1F'`, and `0x1F` where that is a string.
    HexString,
    /// `$tag$text$tag$`.
    DollarString,
    /// `?` or `$n`.
    Parameter,
    /// `@name`, `@'name'`, `@@name`, `@@scope.name`.
    Variable,
    /// An operator, as long as the language reads it.
    Operator,
    /// One of `( ) [ ] { } , ; . :`.
    Punctuation,
    /// Behind the last token; never in [`Tokens::list`].
    End,
}

impl TokenKind {
    /// Any form of string.
    pub fn is_string(self) -> bool {
        matches!(
            self,
            Self::String
                | Self::EscapeString
                | Self::UnicodeString
                | Self::NationalString
                | Self::BitString
                | Self::HexString
                | Self::DollarString
        )
    }

    /// A name between quotes.
    pub fn is_quoted_name(self) -> bool {
        matches!(self, Self::QuotedIdentifier | Self::UnicodeIdentifier)
    }

    /// A string or a number.
    pub fn is_literal(self) -> bool {
        self == Self::Number || self.is_string()
    }
}

/// One token with its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// First and one past the last byte.
    pub span: Span,
    /// What it is.
    pub kind: TokenKind,
    /// Its value is left out of the digest: a literal slot.
    pub slot: bool,
    /// Filled in by the parser, not by the lexer: the digest does not need it.
    pub(crate) keyword: Keyword,
}

impl Token {
    /// What a word or a quoted identifier says, without its quotes, as it is written otherwise; `None` for what is neither, and where escapes must be read first.
    pub fn name<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let raw = self.span.of(text);
        match self.kind {
            TokenKind::Word => Some(Cow::Borrowed(raw)),
            TokenKind::QuotedIdentifier => Some(Cow::Owned(unquoted(raw))),
            TokenKind::UnicodeIdentifier
            | TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::Operator
            | TokenKind::Punctuation
            | TokenKind::End => None,
        }
    }

    /// Whether it stands for several literals, or rows of them, and the commas between them.
    pub(crate) fn is_folded(&self) -> bool {
        self.kind == TokenKind::Punctuation && self.slot
    }
}

/// All tokens of a text, with what the same pass found out.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// In text order, white space and comments left out.
    pub list: Vec<Token>,
    /// Hash of the normalised tokens.
    pub digest: u64,
    /// Count of `?`, or the highest `$n`.
    pub parameters: u32,
    /// The first hint comment.
    pub hint: Option<Hint>,
}

impl Tokens {
    /// The literal slots in text order: the literals the digest does not depend on.
    pub fn slots(&self) -> impl Iterator<Item = Span> + '_ {
        self.list.iter().filter(|token| token.slot).map(|token| token.span)
    }
}

/// A hint comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Keys (upper-cased, aliases resolved) and values in text order.
    pub pairs: Vec<(String, String)>,
    /// The whole comment.
    pub span: Span,
}
