//! Statements that a session keeps: those it has named, and the templates it used last.

use pando_kernel::Statements;

use crate::reading::Kept;
use crate::templates::AtHand;

/// Statements that a session keeps.
#[derive(Debug, Default)]
pub(in crate::session) struct Memory {
    /// Prepared, by the names that the client gave them.
    named: Statements,
    /// What all its prepared statements take.
    kept: Kept,
    /// The templates used last.
    at_hand: AtHand,
}

impl Memory {
    /// Prepared statements, by the names that the client gave them.
    pub(in crate::session) fn named(&self) -> &Statements {
        &self.named
    }

    pub(in crate::session) fn named_mut(&mut self) -> &mut Statements {
        &mut self.named
    }

    /// What all its prepared statements take.
    pub(in crate::session) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The templates used last.
    pub(in crate::session) fn at_hand(&self) -> &AtHand {
        &self.at_hand
    }

    pub(in crate::session) fn at_hand_mut(&mut self) -> &mut AtHand {
        &mut self.at_hand
    }
}
