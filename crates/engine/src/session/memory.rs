//! Statements that a session keeps: those it has named, and the templates it used last.

use pando_kernel::Statements;

use crate::templates::AtHand;

/// Statements that a session keeps.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Prepared, by the names that the client gave them.
    pub(super) named: Statements,
    /// The templates used last.
    pub(super) at_hand: AtHand,
}
