//! What a rule finds.

use std::fmt;

/// Where a rule does not hold and what to do; the rule's name is added by [`check`](super::check).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(super) rule: &'static str,
    /// A file or folder from the root, with `:line` where there is one.
    pub(super) place: String,
    pub(super) message: String,
}

impl Violation {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule: "", place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [{}] {}", self.place, self.rule, self.message)
    }
}
