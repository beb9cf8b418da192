//! A session's transaction, and what decides how the next one begins and ends.

pub(in crate::session) mod base;
pub(in crate::session) mod change_modes;
pub(in crate::session) mod deadlock;
pub(in crate::session) mod deferred;
pub(in crate::session) mod definition;
pub(in crate::session) mod modes;
pub(in crate::session) mod serializable;
pub(in crate::session) mod snapshot;
pub(in crate::session) mod table_lock;
pub(in crate::session) mod temporary;
pub(in crate::session) mod units;
pub(in crate::session) mod verbs;

use pando_kernel::TransactionType;
use pando_transaction::Transaction;

use crate::session::run::context::Planning;
use crate::session::transaction::base::Base;
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::definition::Own;
use crate::session::transaction::verbs::Opened;

/// A session's transaction, and what is known of the one under way.
#[derive(Debug)]
pub(in crate::session) struct Work {
    pub(in crate::session) transaction: Transaction,
    /// What it has done on units that have committed already, when it is of type BASE.
    pub(in crate::session) base: Base,
    /// How the session's next transactions end, when it has chosen.
    pub(in crate::session) kind: Option<TransactionType>,
    /// Who opened the transaction.
    pub(in crate::session) opened: Opened,
    pub(in crate::session) autocommit: bool,
    pub(in crate::session) modes: Modes,
    /// What the open transaction's statements have done that settles its modes.
    pub(in crate::session) touched: Touched,
    pub(in crate::session) definitions: Definitions,
    /// The open transaction was asked of a table while no database was chosen.
    pub(in crate::session) names_tables: bool,
    /// What planning is told of the statement under way.
    pub(in crate::session) planning: Planning,
}

/// Transaction modes that are not those of the open transaction.
#[derive(Debug, Default)]
pub(in crate::session) struct Modes {
    /// For the next transaction only.
    pub(in crate::session) next: Vec<String>,
    /// For all that the session begins.
    pub(in crate::session) session: Vec<String>,
    /// The session's when the open transaction began.
    pub(in crate::session) at_begin: Vec<String>,
}

/// What the open transaction and the statement under way define.
#[derive(Debug, Default)]
pub(in crate::session) struct Definitions {
    /// The open transaction has changed definitions.
    pub(in crate::session) own: Option<Own>,
    /// A definition is under way, of which other instances have not been told.
    pub(in crate::session) under_way: bool,
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
