//! A text as what can name something, whatever it says: for whoever must know every name of a statement, also of one that no tree is made of.

use std::borrow::Cow;
use std::ops::Deref;
use std::slice;

use crate::error::SyntaxError;
#[cfg(doc)]
use crate::lexer::tokenize;
use crate::lexer::tokenize_listing;
use crate::literal::{identifier_value, string_value};
use crate::span::Span;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};

/// A piece of a text, in text order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<'a> {
    /// Words and quoted identifiers joined by dots; a keyword is one of a single part.
    Name(Dotted<'a>),
    /// A string, decoded; what is not valid text in it is replaced.
    Text(Cow<'a, str>, Span),
    /// A variable with its sigils.
    Variable(&'a str),
    /// A number; also the literals of a long list behind IN, whatever these are.
    Number,
    /// A parameter.
    Parameter,
    /// An operator or a punctuation mark.
    Mark(&'a str),
    /// A name or string that only the server reads as it is meant (`UESCAPE`): nobody can say what it is.
    Unreadable,
}

impl<'a> Item<'a> {
    /// The name it is.
    pub fn name(&self) -> Option<&Dotted<'a>> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    /// The string it is.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text, _) = self { Some(text) } else { None }
    }

    /// Whether it is this keyword.
    pub fn is_word(&self, word: &str) -> bool {
        self.name().is_some_and(|name| name.is_word(word))
    }

    /// The keyword it may be, in lower case: a name of one part without quotes.
    pub fn word(&self) -> Option<String> {
        let name = self.name().filter(|name| !name.quoted && !name.star && name.parts.len() == 1);
        name.map(|name| name.last().to_ascii_lowercase())
    }
}

/// A dotted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dotted<'a> {
    /// The parts from left to right, never empty. Those without quotes are as written, whatever their case.
    pub parts: Parts<'a>,
    /// The first part was quoted: it is no keyword.
    pub quoted: bool,
    /// `.*` follows.
    pub star: bool,
    /// From the first part's start to the last part's end.
    pub span: Span,
}

/// The parts of a name: a slice of one or more. Most names have one, and a text has many names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts<'a>(OneOrMore<'a>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum OneOrMore<'a> {
    One(Cow<'a, str>),
    #[expect(clippy::box_collection, reason = "a name of one part is as small as its part")]
    More(Box<Vec<Cow<'a, str>>>),
}

impl<'a> Parts<'a> {
    fn push(&mut self, part: Cow<'a, str>) {
        match &mut self.0 {
            OneOrMore::One(first) => {
                let first = std::mem::take(first);
                self.0 = OneOrMore::More(Box::new(vec![first, part]));
            }
            OneOrMore::More(parts) => parts.push(part),
        }
    }
}

impl<'a> Deref for Parts<'a> {
    type Target = [Cow<'a, str>];

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            OneOrMore::One(part) => slice::from_ref(part),
            OneOrMore::More(parts) => parts,
        }
    }
}

impl Dotted<'_> {
    /// Whether this is the keyword.
    pub fn is_word(&self, word: &str) -> bool {
        !self.quoted && !self.star && self.parts.len() == 1 && alike(&self.parts[0], word)
    }

    /// The last part.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", |part| part)
    }
}

/// Whether two names are the same to a server that takes no notice of case.
pub fn alike(name: &str, other: &str) -> bool {
    name.eq_ignore_ascii_case(other)
        || !name.is_ascii() && name.to_lowercase() == other.to_lowercase()
}

/// The pieces of a text, of which `left_out` is not looked at.
///
/// # Errors
/// What [`tokenize`] refuses.
pub fn reading<'a>(
    text: &'a str,
    syntax: &Syntax,
    left_out: Option<Span>,
) -> Result<Vec<Item<'a>>, SyntaxError> {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let left_out = left_out.unwrap_or(Span::at(end));
    let mut reader = Reader { text, syntax, items: Vec::new(), open: false };
    for part in [Span::new(0, left_out.start), Span::new(left_out.end, end)] {
        let tokens = tokenize_listing(part.of(text), syntax)?;
        for token in tokens.list {
            let span = Span::new(part.start + token.span.start, part.start + token.span.end);
            reader.take(Token { span, ..token });
        }
        reader.open = false;
    }
    Ok(reader.items)
}

/// What a string says.
fn text_of<'a>(raw: &'a str, kind: TokenKind, syntax: &Syntax) -> Cow<'a, str> {
    let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
    if kind == TokenKind::String && !inside.contains(['\'', '"', '\\']) {
        return Cow::Borrowed(inside);
    }
    let value = string_value(raw, kind, syntax);
    value.unwrap_or_else(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into()
}

struct Reader<'a, 's> {
    text: &'a str,
    syntax: &'s Syntax,
    items: Vec<Item<'a>>,
    /// The last item is a name with a dot behind it.
    open: bool,
}

impl<'a> Reader<'a, '_> {
    fn take(&mut self, token: Token) {
        let raw: &'a str = token.span.of(self.text);
        match token.kind {
            TokenKind::Punctuation if token.is_folded() => self.other(Item::Number),
            TokenKind::Word | TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier => {
                self.name(raw, token);
            }
            TokenKind::Punctuation if raw == "." => {
                self.open = matches!(self.items.last(), Some(Item::Name(name)) if !name.star);
                if !self.open {
                    self.items.push(Item::Mark(raw));
                }
            }
            TokenKind::Operator if self.open && raw.starts_with('*') => {
                if let Some(Item::Name(name)) = self.items.last_mut() {
                    name.star = true;
                }
                self.open = false;
            }
            TokenKind::Number if self.open || self.is_glued(raw, token.span.start) => {
                // `db.1t` and `db . 1`: what a server makes of it is not known here.
                self.other(Item::Unreadable);
            }
            TokenKind::Number => self.other(Item::Number),
            TokenKind::Parameter => self.other(Item::Parameter),
            TokenKind::Variable => self.other(Item::Variable(raw)),
            TokenKind::Operator | TokenKind::Punctuation | TokenKind::End => {
                self.other(Item::Mark(raw));
            }
            TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString => {
                let value = text_of(raw, token.kind, self.syntax);
                self.other(Item::Text(value, token.span));
            }
        }
    }

    fn other(&mut self, item: Item<'a>) {
        self.open = false;
        self.items.push(item);
    }

    fn name(&mut self, raw: &'a str, token: Token) {
        let quoted = token.kind != TokenKind::Word;
        let value = match quoted {
            true => Cow::Owned(identifier_value(raw, token.kind)),
            false => Cow::Borrowed(raw),
        };
        if self.syntax.casts_with_colons && !quoted && alike(raw, "uescape") {
            return self.other(Item::Unreadable);
        }
        if std::mem::take(&mut self.open)
            && let Some(Item::Name(name)) = self.items.last_mut()
        {
            name.parts.push(value);
            name.span = name.span.to(token.span);
            return;
        }
        let (parts, span) = (Parts(OneOrMore::One(value)), token.span);
        self.items.push(Item::Name(Dotted { parts, quoted, star: false, span }));
    }

    /// Whether a number that begins with a point stands right behind a name.
    fn is_glued(&self, raw: &str, start: u32) -> bool {
        raw.starts_with('.')
            && matches!(self.items.last(), Some(Item::Name(name)) if name.span.end == start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax {
        fold: crate::Fold::Keep,
        exact_tables: false,
        placeholder: crate::Placeholder::Question,
        backtick_identifiers: true,
        double_quoted_strings: true,
        backslash_escapes: true,
        dollar_strings: false,
        hash_comments: true,
        dash_comment_needs_space: true,
        nested_comments: false,
        executable_comments: true,
        casts_with_colons: false,
        limit_with_comma: true,
        pipes_concatenate: false,
    };

    fn names(text: &str) -> Vec<String> {
        let items = reading(text, &SYNTAX, None).unwrap();
        let name = |item: &Item<'_>| match item {
            Item::Name(name) => {
                Some(format!("{}{}", name.parts.join("|"), if name.star { "|*" } else { "" }))
            }
            Item::Unreadable => Some("?".to_owned()),
            Item::Text(..) | Item::Variable(_) | Item::Number | Item::Parameter | Item::Mark(_) => {
                None
            }
        };
        items.iter().filter_map(name).collect()
    }

    #[test]
    fn names_are_read_whatever_stands_between_their_parts() {
        assert_eq!(names("a . `b``c` /* x */ . d"), ["a|b`c|d"]);
        assert_eq!(names("GRANT ALL ON b.* TO u"), ["GRANT", "ALL", "ON", "b|*", "TO", "u"]);
        assert_eq!(names("SELECT 'a.b', 1.5, .5"), ["SELECT"]);
    }

    #[test]
    fn what_a_server_may_read_otherwise_is_unreadable() {
        assert!(names("SELECT * FROM b .5t").contains(&"?".to_owned()) || names("b.5t").len() == 1);
        assert!(names("b . 5").contains(&"?".to_owned()));
    }

    #[test]
    fn what_is_left_out_is_not_looked_at() {
        let text = "INSERT INTO t VALUES (1, 2) ON DUPLICATE KEY UPDATE a = b.c";
        let items = reading(text, &SYNTAX, Some(Span::new(21, 27))).unwrap();
        assert!(!items.contains(&Item::Number));
        assert!(
            items
                .iter()
                .any(|item| matches!(item, Item::Name(name) if name.parts[..] == ["b", "c"]))
        );
    }
}
