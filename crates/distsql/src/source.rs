//! The text, its tokens, and whether a token is what the grammar asks for.

use pando_sql::{Fold, Placeholder, Span, Syntax, Token, TokenKind};

use crate::ebnf::Lexeme;
use crate::error::{Error, ErrorKind, Result};
use crate::tables::RESERVED;

/// DistSQL reads the same behind every front door: names in backticks or double quotes, texts in single or double quotes, doubled
/// quotes inside, and a backslash is an ordinary character, as in ShardingSphere.
pub(crate) const LANGUAGE: Syntax = Syntax {
    fold: Fold::Keep,
    exact_tables: false,
    placeholder: Placeholder::Question,
    backtick_identifiers: true,
    double_quoted_strings: true,
    backslash_escapes: false,
    dollar_strings: false,
    hash_comments: true,
    dash_comment_needs_space: false,
    nested_comments: false,
    executable_comments: false,
    casts_with_colons: false,
    limit_with_comma: true,
    pipes_concatenate: true,
};

/// Longest statement in bytes. What stands behind PREVIEW and the like does not count.
pub const MOST_BYTES: usize = 4 << 20;
/// Most tokens of a statement: a bound on the memory of a parse.
pub const MOST_TOKENS: usize = 200_000;

/// A statement's text cut into tokens.
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    /// Without final semicolons.
    pub(crate) tokens: Vec<Token>,
    /// What stands behind the first word, for the statements that hold another one; empty for all others.
    pub(crate) rest: Span,
}

impl<'t> Source<'t> {
    /// # Errors
    /// A text that is too long or cannot be cut.
    pub(crate) fn new(text: &'t str, holds_a_statement: fn(&str) -> bool) -> Result<Self> {
        let first = first_word(text);
        let (own, rest) = match first {
            // Another language begins there, so its quotes are not ours to read.
            Some(word) if holds_a_statement(word.of(text)) => (word.end as usize, rest(text, word)),
            _ => (text.len(), Span::default()),
        };
        if own > MOST_BYTES {
            let message = format!("statement of {own} bytes, at most {MOST_BYTES} are read");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let tokens = pando_sql::tokenize(text.get(..own).unwrap_or(text), &LANGUAGE);
        let mut tokens = tokens.map_err(|error| without_content(&error))?.list;
        while tokens.last().is_some_and(|last| last.span.of(text) == ";") {
            tokens.pop();
        }
        if tokens.len() > MOST_TOKENS {
            let message =
                format!("statement of {} words, at most {MOST_TOKENS} are read", tokens.len());
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(Self { text, tokens, rest })
    }

    pub(crate) fn raw(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.span.of(self.text))
    }

    /// The bytes of tokens `from..to`; where token `from` would stand when the range is empty.
    pub(crate) fn span(&self, from: usize, to: usize) -> Span {
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let Some(first) = self.tokens.get(from) else { return Span::at(end) };
        let last = self.tokens.get(to.saturating_sub(1).max(from)).unwrap_or(first);
        first.span.to(last.span)
    }

    pub(crate) fn is_keyword(&self, at: usize, keyword: &str) -> bool {
        let word = self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word);
        word && self.raw(at).eq_ignore_ascii_case(keyword)
    }

    pub(crate) fn is_symbol(&self, at: usize, symbol: &str) -> bool {
        let kind = self.tokens.get(at).map(|token| token.kind);
        matches!(kind, Some(TokenKind::Punctuation | TokenKind::Operator)) && self.raw(at) == symbol
    }

    /// How many tokens from `at` on are the lexeme.
    pub(crate) fn lexeme(&self, lexeme: Lexeme, at: usize) -> Option<usize> {
        let kind = self.tokens.get(at).map(|token| token.kind);
        let one = |fits: bool| fits.then_some(1);
        match lexeme {
            Lexeme::End => kind.is_none().then_some(0),
            Lexeme::Rest => (kind.is_none() && self.rest.start < self.rest.end).then_some(0),
            Lexeme::Identifier => one(self.is_identifier(at)),
            Lexeme::Text => one(kind == Some(TokenKind::String)),
            Lexeme::Quoted => one(kind == Some(TokenKind::String) && self.raw(at).len() > 2),
            Lexeme::Boolean => one(self.is_keyword(at, "TRUE") || self.is_keyword(at, "FALSE")),
            Lexeme::Integer => one(self.is_integer(at)),
            Lexeme::Bare => Some(self.bare(at)).filter(|count| *count > 0),
        }
    }

    fn is_integer(&self, at: usize) -> bool {
        let raw = self.raw(at);
        !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn is_identifier(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        let raw = self.raw(at);
        match token.kind {
            TokenKind::Word => !RESERVED.iter().any(|word| raw.eq_ignore_ascii_case(word)),
            TokenKind::QuotedIdentifier => raw.len() > 2,
            TokenKind::String => raw.len() > 2 && raw.starts_with('"'),
            TokenKind::UnicodeIdentifier
            | TokenKind::Number
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
            | TokenKind::End => false,
        }
    }

    /// Tokens that touch each other, up to what separates parts of a statement.
    fn bare(&self, at: usize) -> usize {
        let mut end = at;
        while let Some(token) = self.tokens.get(end) {
            let touches = end == at
                || self.tokens.get(end - 1).is_some_and(|left| left.span.end == token.span.start);
            let separates = matches!(self.raw(end), "(" | ")" | "," | ";" | "=" | "[" | "]");
            if separates || !touches || token.kind.is_string() || token.kind == TokenKind::Parameter
            {
                break;
            }
            end += 1;
        }
        end - at
    }

    /// How an error shows what stands at `at`. Strings may be secrets, so their content is left out.
    pub(crate) fn shown(&self, at: usize) -> String {
        const LONGEST: usize = 40;
        match self.tokens.get(at) {
            None => "end of the statement".to_owned(),
            Some(token) if token.kind.is_string() => "text in quotes".to_owned(),
            Some(token) => {
                let raw = token.span.of(self.text);
                let end = raw.char_indices().nth(LONGEST).map_or(raw.len(), |(end, _)| end);
                format!("`{}`", raw.get(..end).unwrap_or(raw))
            }
        }
    }
}

/// The text without its quotes; what has none stays as it is.
pub(crate) fn unquoted(raw: &str) -> String {
    let Some(quote @ ('\'' | '"' | '`')) = raw.chars().next() else { return raw.to_owned() };
    let body = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
    let doubled: String = [quote, quote].iter().collect();
    body.replace(&doubled, quote.encode_utf8(&mut [0; 4]))
}

/// The lexer quotes what it could not end, and that may hold a password.
fn without_content(error: &pando_sql::SyntaxError) -> Error {
    let message = match error.message.strip_prefix("unterminated ").and_then(|m| m.split_once(' '))
    {
        Some((what, _)) => format!("unterminated {what}"),
        None => error.message.clone(),
    };
    Error { at: error.at, ..Error::new(ErrorKind::Syntax, message) }
}

/// The first word behind white space and comments.
fn first_word(text: &str) -> Option<Span> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else if rest.starts_with("--") || rest.starts_with('#') {
            rest = rest.split_once('\n')?.1;
        } else {
            break;
        }
    }
    let start = text.len() - rest.len();
    let length =
        rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (start, end) = (u32::try_from(start).ok()?, u32::try_from(start + length).ok()?);
    (length > 0).then(|| Span::new(start, end))
}

/// What stands behind a word, without the white space and semicolons around it.
fn rest(text: &str, word: Span) -> Span {
    let from = word.end as usize;
    let behind = text.get(from..).unwrap_or("");
    let start = from + (behind.len() - behind.trim_start().len());
    let is_end = |c: char| c == ';' || c.is_whitespace();
    let end = (from + behind.trim_end_matches(is_end).len()).max(start);
    match (u32::try_from(start), u32::try_from(end)) {
        (Ok(start), Ok(end)) => Span::new(start, end),
        _ => Span::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source<'_> {
        Source::new(text, |word| word == "PREVIEW").expect("a text that can be cut")
    }

    #[test]
    fn quotes_are_taken_off_and_doubled_ones_halved() {
        assert_eq!(unquoted("'it''s'"), "it's");
        assert_eq!(unquoted("\"a\"\"b'\""), "a\"b'");
        assert_eq!(unquoted("`a``b`"), "a`b");
        assert_eq!(unquoted("plain"), "plain");
        assert_eq!(unquoted("'"), "");
    }

    #[test]
    fn a_bare_word_ends_at_a_space_or_a_separator() {
        let source = source("127.0.0.1@3307 x, sharding-count=4");
        assert_eq!(
            source.span(0, source.lexeme(Lexeme::Bare, 0).expect("bare")).of(source.text),
            "127.0.0.1@3307"
        );
        let comma = source.tokens.len() - 5;
        assert_eq!(source.lexeme(Lexeme::Bare, comma - 1), None);
    }

    #[test]
    fn what_is_held_is_not_cut() {
        let source = source("/* a */ PREVIEW select 'it\\'s', $1 ; ");
        assert_eq!(source.tokens.len(), 1);
        assert_eq!(source.rest.of(source.text), "select 'it\\'s', $1");
    }

    #[test]
    fn an_unterminated_text_is_not_shown() {
        let error = Source::new("ALTER 'secret", |_| false).err().expect("an error");
        assert_eq!(error.message, "unterminated string");
        assert_eq!(error.at, 6);
    }
}
