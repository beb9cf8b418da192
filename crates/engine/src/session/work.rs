//! A session's transaction, and what decides how the next one begins and ends.

use pando_kernel::TransactionType;
use pando_transaction::Transaction;

use super::altered::Touched;
use super::base::Base;
use super::definition::Own;
use super::verbs::Opened;
use super::view::Planning;

/// A session's transaction, and what is known of the one under way.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) transaction: Transaction,
    /// What it has done on units that have committed already, when it is of type BASE.
    pub(super) base: Base,
    /// How the session's next transactions end, when it has chosen.
    pub(super) kind: Option<TransactionType>,
    /// Who opened the transaction.
    pub(super) opened: Opened,
    pub(super) autocommit: bool,
    pub(super) modes: Modes,
    /// What the open transaction's statements have done that settles its modes.
    pub(super) touched: Touched,
    pub(super) definitions: Definitions,
    /// The open transaction was asked of a table while no database was chosen.
    pub(super) names_tables: bool,
    /// What planning is told of the statement under way.
    pub(super) planning: Planning,
}

/// Transaction modes that are not those of the open transaction.
#[derive(Debug, Default)]
pub(super) struct Modes {
    /// For the next transaction only.
    pub(super) next: Vec<String>,
    /// For all that the session begins.
    pub(super) session: Vec<String>,
    /// The session's when the open transaction began.
    pub(super) at_begin: Vec<String>,
}

/// What the open transaction and the statement under way define.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The open transaction has changed definitions.
    pub(super) own: Option<Own>,
    /// A definition is under way, of which other instances have not been told.
    pub(super) under_way: bool,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            transaction: Transaction::default(),
            base: Base::default(),
            kind: None,
            opened: Opened::Client,
            autocommit: true,
            modes: Modes::default(),
            touched: Touched::default(),
            definitions: Definitions::default(),
            names_tables: false,
            planning: Planning::default(),
        }
    }
}
