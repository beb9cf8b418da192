//! A session's transaction, and what decides how the next one begins and ends.

pub(in crate::session) mod attend;
pub(in crate::session) mod base;
pub(in crate::session) mod begin;
pub(in crate::session) mod channels;
pub(in crate::session) mod commit;
pub(in crate::session) mod deadlock;
pub(in crate::session) mod deferred;
pub(in crate::session) mod definition;
pub(in crate::session) mod end;
pub(in crate::session) mod environment;
pub(in crate::session) mod locks;
pub(in crate::session) mod modes;
pub(in crate::session) mod own_catalog;
pub(in crate::session) mod serializable;
pub(in crate::session) mod snapshot;
pub(in crate::session) mod table_locks;
pub(in crate::session) mod temporary;
pub(in crate::session) mod times;
pub(in crate::session) mod touched;
pub(in crate::session) mod undo_list;
pub(in crate::session) mod units;
mod work;

use pando_kernel::TransactionType;
use pando_kernel::route::Environment;
use pando_transaction::Transaction;

use crate::locked_keys::HeldKeys;
use crate::mirror::Gatherings;

use crate::session::transaction::channels::Channels;
use crate::session::transaction::locks::HeldLocks;
use crate::session::transaction::own_catalog::Own;
use crate::session::transaction::table_locks::TableLocks;
use crate::session::transaction::times::Times;
use crate::session::transaction::touched::Touched;
use crate::session::transaction::undo_list::Base;

/// How a transaction is to end, or has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum End {
    Commit,
    RollBack,
}

/// A session's transaction, and what is known of the one under way.
#[derive(Debug)]
pub(in crate::session) struct Work {
    transaction: Transaction,
    /// What it has done on units that have committed already, when it is of type BASE.
    base: Base,
    /// How the session's next transactions end, when it has chosen.
    kind: Option<TransactionType>,
    /// Who opened the transaction.
    opened: Opened,
    autocommit: bool,
    modes: Modes,
    /// What the open transaction's statements have done that settles its modes.
    touched: Touched,
    definitions: Definitions,
    /// The open transaction was asked of a table while no database was chosen.
    names_tables: bool,
    /// The statement under way only changes rows, and reads nothing but what it locks.
    only_changes: bool,
    /// When the transaction and the statement under way began.
    times: Times,
    /// The environment of the statement under way, where a room keeps two apart.
    environment: Option<Environment>,
    /// What applications lock, beyond transactions too.
    locks: HeldLocks,
    /// What LOCK TABLES has locked, boxed as hardly a session has any.
    table_locks: Option<Box<TableLocks>>,
    /// What the session listens to and tells.
    channels: Channels,
    /// Rows that the open transaction has locked one by one.
    held_keys: Option<HeldKeys>,
    /// What is kept of the open transaction for mirrors.
    gatherings: Gatherings,
}

/// Transaction modes that are not those of the open transaction.
#[derive(Debug, Default)]
pub(in crate::session) struct Modes {
    /// For the next transaction only.
    next: Vec<String>,
    /// For all that the session begins.
    session: Vec<String>,
    /// The session's when the open transaction began.
    at_begin: Vec<String>,
}

/// What the open transaction and the statement under way define.
#[derive(Debug, Default)]
pub(in crate::session) struct Definitions {
    /// The open transaction has changed definitions.
    own: Option<Own>,
    /// A definition is under way, of which other instances have not been told.
    under_way: bool,
}

/// Who opened the current transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Opened {
    /// The client, by BEGIN or with autocommit off.
    Client,
    /// The session, for one statement that writes to several units.
    Statement,
    /// The session, for one statement that runs as several.
    Steps,
    /// The session, for several statements of one request or pipeline.
    Pipeline,
}
