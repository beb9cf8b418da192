//! Statements that a session keeps: those it has named, and the templates it used last.

use pando_kernel::Statements;

use crate::reading::Kept;
use crate::templates::AtHand;

/// Statements that a session keeps.
#[derive(Debug, Default)]
pub(in crate::session) struct Memory {
    /// Prepared, by the names that the client gave them.
    pub(in crate::session) named: Statements,
    /// What all its prepared statements take.
    pub(in crate::session) kept: Kept,
    /// The templates used last.
    pub(in crate::session) at_hand: AtHand,
}
