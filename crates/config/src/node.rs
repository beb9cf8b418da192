//! The tree of a YAML document: every value with its place, mappings in file order.

use crate::place::{At, Path, Problem};

/// One value of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it starts.
    pub at: At,
    /// Its tag without the `!`, as `SHARDING`.
    pub tag: Option<String>,
    /// What it holds.
    pub content: Content,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A single value, still as text: its reader knows the type.
    Scalar {
        /// The text with escapes resolved and placeholders filled.
        text: String,
        /// Whether it was quoted or a block, and so is text even where it looks like `null`.
        quoted: bool,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// Entries in file order, keys unique.
    Mapping(Vec<Entry>),
}

/// One key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub at: At,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Whether it is nothing: `key:`, `~` or `null`.
    pub fn is_null(&self) -> bool {
        match &self.content {
            Content::Scalar { text, quoted } => {
                !quoted && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            Content::Sequence(_) | Content::Mapping(_) => false,
        }
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match &self.content {
            _ if self.is_null() => "nothing".into(),
            Content::Scalar { text, .. } => format!("`{}`", shorten(text)),
            Content::Sequence(_) => "a list".into(),
            Content::Mapping(_) => "a mapping".into(),
        }
    }

    /// The problem of having found something else than `wanted`.
    pub fn expected(&self, wanted: &str) -> Problem {
        self.at.problem(format!("expected {wanted}, found {}", self.describe()))
    }

    /// The same tree standing at another path, as an alias stands where it is used.
    pub(crate) fn moved_to(&self, path: &Path) -> Self {
        let content = match &self.content {
            Content::Scalar { .. } => self.content.clone(),
            Content::Sequence(items) => Content::Sequence(
                items.iter().enumerate().map(|(i, item)| item.moved_to(&path.index(i))).collect(),
            ),
            Content::Mapping(entries) => {
                Content::Mapping(entries.iter().map(|entry| entry.moved_to(path)).collect())
            }
        };
        Self { at: self.at.with_path(path.clone()), tag: self.tag.clone(), content }
    }
}

impl Entry {
    pub(crate) fn moved_to(&self, path: &Path) -> Self {
        let path = path.key(&self.key);
        Self {
            key: self.key.clone(),
            value: self.value.moved_to(&path),
            at: self.at.with_path(path),
        }
    }
}

/// The first characters of a text, so that a message stays one line.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    let line: String =
        text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST).is_some() { format!("{line}…") } else { line }
}
