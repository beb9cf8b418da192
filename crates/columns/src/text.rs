//! The statement's tokens, for what the tree leaves out.

use pando_sql::ast::Ident;
use pando_sql::{Fold, Span, Syntax, Token, TokenKind, tokenize};

/// Names longer than this many bytes are cut short by servers that fold to lower case.
const LONGEST_NAME: usize = 63;

/// The statement's text with its tokens.
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    /// In lower case.
    lower: String,
    pub(crate) syntax: &'a Syntax,
    pub(crate) list: Vec<Token>,
}

impl<'a> Text<'a> {
    /// `None` where the text cannot be read.
    pub(crate) fn new(text: &'a str, syntax: &'a Syntax) -> Option<Self> {
        let list = tokenize(text, syntax).ok()?.list;
        Some(Self { text, lower: text.to_lowercase(), syntax, list })
    }

    /// The tokens that begin in a range.
    pub(crate) fn within(&self, span: Span) -> &[Token] {
        let from = self.list.partition_point(|token| token.span.start < span.start);
        let to = self.list.partition_point(|token| token.span.start < span.end);
        self.list.get(from..to).unwrap_or(&[])
    }

    /// The first token that begins at or behind a byte.
    pub(crate) fn at(&self, byte: u32) -> Option<&Token> {
        self.list.get(self.list.partition_point(|token| token.span.start < byte))
    }

    /// What the first token at or behind a byte says; empty at the end.
    pub(crate) fn word_at(&self, byte: u32) -> &'a str {
        self.at(byte).map_or("", |token| token.span.of(self.text))
    }

    /// The words of a range, upper-cased, one space between them.
    pub(crate) fn words(&self, span: Span) -> String {
        let words: Vec<String> =
            self.within(span).iter().map(|token| self.of(token).to_uppercase()).collect();
        words.join(" ")
    }

    /// Whether all of it is `SELECT number FROM name`: no column can be in that.
    pub(crate) fn is_number_from_table(&self) -> bool {
        let [select, number, from, table] = &self.list[..] else { return false };
        self.of(select).eq_ignore_ascii_case("SELECT")
            && number.kind == TokenKind::Number
            && self.of(from).eq_ignore_ascii_case("FROM")
            && self.name(table).is_some()
    }

    /// A token's text.
    pub(crate) fn of(&self, token: &Token) -> &'a str {
        token.span.of(self.text)
    }

    /// What a token says as a name, folded as the language folds it.
    pub(crate) fn name(&self, token: &Token) -> Option<String> {
        let name = token.name(self.text)?;
        let folds = token.kind == TokenKind::Word && self.syntax.fold == Fold::Lower;
        Some(if folds { name.to_lowercase() } else { name.into_owned() })
    }

    /// `(a, b)` behind an alias and before the end of its factor: the names. `Err` where something else stands there.
    pub(crate) fn names_behind(&self, alias: &Ident, end: u32) -> Result<Vec<String>, ()> {
        let tokens = self.within(Span::new(alias.span.end, end));
        let Some((open, rest)) = tokens.split_first() else { return Ok(Vec::new()) };
        let Some((close, inner)) = rest.split_last() else { return Err(()) };
        if self.of(open) != "(" || self.of(close) != ")" {
            return Err(());
        }
        let mut names = Vec::new();
        for (i, token) in inner.iter().enumerate() {
            match (i % 2, self.name(token)) {
                (0, Some(name)) => names.push(name),
                (1, None) if self.of(token) == "," => {}
                _ => return Err(()),
            }
        }
        if inner.len() % 2 == 1 { Ok(names) } else { Err(()) }
    }

    /// Whether the text has this name in it anywhere, in strings and comments too. Never empty.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let (text, name) = (&self.lower, name.to_lowercase());
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let mut found = text.match_indices(&name);
        found.any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + name.len()..).and_then(|behind| behind.chars().next());
            !before.is_some_and(is_part) && !behind.is_some_and(is_part)
        })
    }

    /// Whether a name may mean something else than what is written: it is cut short, or spelled with escapes.
    pub(crate) fn has_disguised_name(&self) -> bool {
        self.list.iter().any(|token| {
            let is_long = || (token.span.end - token.span.start) as usize > LONGEST_NAME;
            let is_name = token.kind == TokenKind::Word || token.kind.is_quoted_name();
            token.kind == TokenKind::UnicodeIdentifier
                || is_name && self.syntax.fold == Fold::Lower && is_long()
        })
    }
}
