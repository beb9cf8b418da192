//! Names and values with their place in the text.

use pando_sql::Span;

/// Where something stands in the statement's text. It is no part of what is said, so all places compare equal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place(pub Span);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

/// A name as it was written, without quotes. Its case is kept; whoever looks it up decides how names compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Never empty when it was parsed.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

impl Name {
    /// A name that stands in no text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), place: Place::default() }
    }
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text in quotes, or a bare word such as `XA`.
    Text(String),
    /// A number as it was written.
    Number(String),
    /// TRUE or FALSE.
    Boolean(bool),
}
