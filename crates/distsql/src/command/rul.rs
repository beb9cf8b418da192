//! Statements about a statement.

use super::Name;

/// One utility. A held statement is its text, white space and semicolons around it taken off; its place is where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rul {
    /// The plan of a statement.
    Preview(Name),
    /// The tree of a statement.
    Parse(Name),
    /// A statement in a standard form.
    Format(Name),
    /// The lines of this crate's table whose name fits a pattern, or all.
    Help(Option<String>),
}
