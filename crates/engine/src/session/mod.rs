//! One client's session: requests in, pieces of replies out.

mod acquire;
mod administer;
mod admission;
mod ahead;
mod alone;
mod altered;
mod assemble;
mod base;
mod bound;
mod chosen;
mod computed;
mod config;
mod copy;
mod cursor;
mod database;
mod declared;
mod deferred;
mod definition;
mod door;
mod errand;
mod finish;
mod global;
mod guard;
mod home;
mod insert_query;
mod keys;
mod limited;
mod listed;
mod local;
mod lock;
mod maintain;
mod marks;
mod modes;
mod moved;
mod needs;
mod origin;
mod outline;
mod own;
mod parted;
mod pooled;
mod prepared;
mod recall;
mod relocation;
mod reply;
mod retell;
mod round;
mod run;
mod seen;
mod serial;
mod setting;
mod status;
mod steps;
mod tag;
mod temporary;
mod text;
mod verbs;
mod victim;
mod view;
mod warnings;
mod whole;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_kernel::event::Event;
use pando_kernel::request::CursorId;
use pando_kernel::session::Login;
use pando_kernel::{Result, Statements, TransactionType};
use pando_transaction::Transaction;

use crate::handle::Handle;
use crate::house::Engine;
use crate::snapshot::{LiveDatabase, Snapshot};
use crate::templates::AtHand;
use crate::variables::Variables;
use base::Base;
use bound::{Bound, Window};
use cursor::Cursor;
use reply::Reply;
pub(crate) use setting::{answer, read_effects, undress};
use verbs::Opened;

/// A client's session.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    handle: Arc<Handle>,
    login: Login,
    snapshot: Arc<Snapshot>,
    /// The current database, or the one that answers before one is chosen.
    live: Option<Arc<LiveDatabase>>,
    transaction: Transaction,
    /// What it has done on units that have committed already, when it is of type BASE.
    base: Base,
    /// How the session's next transactions end, when it has chosen.
    transaction_type: Option<TransactionType>,
    /// Who opened the transaction.
    opened: Opened,
    autocommit: bool,
    /// Modes for the next transaction only, and for all.
    next_modes: Vec<String>,
    session_modes: Vec<String>,
    variables: Variables,
    variables_at_begin: Option<Variables>,
    modes_at_begin: Vec<String>,
    /// What was set when savepoints were made, where ROLLBACK TO takes back what was set after.
    marks: Vec<marks::Mark>,
    /// How often anything was set inside transactions: more than at a savepoint means that something was set after it.
    settings: u64,
    /// The open transaction has changed definitions.
    defined: Option<definition::Own>,
    /// A definition is under way, of which other instances have not been told.
    defining: bool,
    /// What the open transaction's statements have done that settles its modes.
    touched: altered::Touched,
    /// SET LOCAL texts of the open transaction, for units enlisted later.
    local_settings: Vec<String>,
    facts: Arc<Facts>,
    ticket: u64,
    /// Statements of the current request that are not started yet.
    queue: VecDeque<Arc<str>>,
    pending: VecDeque<Event>,
    reply: Reply,
    /// What the door is given next, when it has come before it was asked for.
    ahead: VecDeque<Result<Option<Event>>>,
    /// The current reply's rows go to the client as bulk data.
    encoder: Option<Box<crate::bulk::Encoder>>,
    /// Row limit of the current reply.
    window: Option<Window>,
    cursors: HashMap<CursorId, Cursor>,
    named: Statements,
    /// What all its prepared statements take.
    kept: crate::reading::Kept,
    sql_cursors: HashMap<String, declared::Declared>,
    last_suspended: Option<CursorId>,
    /// What the last statement was warned of.
    warnings: warnings::Warnings,
    /// The current request is a text: its end ends what it opened.
    text_request: bool,
    /// What planning is told of the statement under way.
    planning: view::Planning,
    /// The templates used last.
    at_hand: AtHand,
    /// The open transaction was asked of a table while no database was chosen.
    names_tables: bool,
    /// The session's temporary tables, and the connection that has them.
    temporary: Option<Box<temporary::Temporary>>,
}
