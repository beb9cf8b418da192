//! What the matcher found, and how builders read it.

use pando_sql::Span;

use crate::command::{Name, Own, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::like::MOST_PATTERN;
use crate::source::{Source, unquoted};

/// A keyword, a lexeme or a fragment, with what stands inside. Groups and options are flattened into the fragment around them.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) label: &'static str,
    /// First token and one past the last.
    pub(crate) tokens: (usize, usize),
    pub(crate) parts: Vec<Tree>,
}

/// A tree together with the text it was read from.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    tree: &'a Tree,
    source: &'a Source<'a>,
    own: Option<Own>,
}

impl<'a> Part<'a> {
    pub(crate) fn new(tree: &'a Tree, source: &'a Source<'a>) -> Self {
        Self { tree, source, own: None }
    }

    /// The same of a statement about rules that a room brings.
    pub(crate) fn about(self, own: Own) -> Self {
        Self { own: Some(own), ..self }
    }

    /// The sort of rules that the statement is about, where a room brings it.
    pub(crate) fn own(self) -> Result<Own> {
        self.own.ok_or_else(|| {
            let message = format!("no room brings the grammar of `{}`", self.tree.label);
            Error { at: self.span().start, ..Error::new(ErrorKind::Syntax, message) }
        })
    }

    /// The keyword or fragment stands directly in this part.
    pub(crate) fn has(self, label: &str) -> bool {
        self.get(label).is_some()
    }

    pub(crate) fn get(self, label: &str) -> Option<Self> {
        self.all(label).next()
    }

    pub(crate) fn all(self, label: &str) -> impl Iterator<Item = Self> {
        let found = self.tree.parts.iter().filter(move |tree| tree.label == label);
        found.map(move |tree| Self { tree, ..self })
    }

    /// A part that the grammar says is there.
    pub(crate) fn need(self, label: &str) -> Result<Self> {
        self.get(label).ok_or_else(|| {
            let message = format!("the grammar of `{}` has no `{label}`", self.tree.label);
            Error { at: self.span().start, ..Error::new(ErrorKind::Syntax, message) }
        })
    }

    pub(crate) fn span(self) -> Span {
        self.source.span(self.tree.tokens.0, self.tree.tokens.1)
    }

    pub(crate) fn place(self) -> Place {
        Place(self.span())
    }

    /// The text, without quotes if it is one quoted token.
    pub(crate) fn text(self) -> String {
        let (from, to) = self.tree.tokens;
        if to == from + 1 { unquoted(self.source.raw(from)) } else { self.raw().to_owned() }
    }

    /// The text as it was written.
    pub(crate) fn raw(self) -> &'a str {
        self.span().of(self.source.text)
    }

    pub(crate) fn name(self) -> Name {
        Name { text: self.text(), place: self.place() }
    }

    pub(crate) fn truth(self) -> bool {
        self.raw().eq_ignore_ascii_case("true")
    }

    /// # Errors
    /// A number above `most`.
    pub(crate) fn number(self, most: u64) -> Result<u64> {
        let raw = self.raw();
        let number = raw.parse::<u64>().ok().filter(|number| *number <= most);
        number.ok_or_else(|| {
            Error::value(format!("`{raw}` is too large, expected at most {most}"), self.span())
        })
    }

    /// The statement behind PREVIEW and the like.
    pub(crate) fn rest(self) -> Name {
        let span = self.source.rest;
        Name { text: span.of(self.source.text).to_owned(), place: Place(span) }
    }

    // Shorthands for what nearly every builder reads.

    /// The names of all parts with a label.
    pub(crate) fn names(self, label: &str) -> Vec<Name> {
        self.all(label).map(Self::name).collect()
    }

    pub(crate) fn name_of(self, label: &str) -> Result<Name> {
        self.need(label).map(Self::name)
    }

    pub(crate) fn maybe_name(self, label: &str) -> Option<Name> {
        self.get(label).map(Self::name)
    }

    pub(crate) fn text_of(self, label: &str) -> Result<String> {
        self.need(label).map(Self::text)
    }

    pub(crate) fn maybe_text(self, label: &str) -> Option<String> {
        self.get(label).map(Self::text)
    }

    /// The pattern of LIKE, if there is one.
    pub(crate) fn maybe_pattern(self) -> Result<Option<String>> {
        let Some(part) = self.get("pattern") else { return Ok(None) };
        let text = part.text();
        if text.len() > MOST_PATTERN {
            let message =
                format!("pattern of {} bytes, at most {MOST_PATTERN} are read", text.len());
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(Some(text))
    }
}
