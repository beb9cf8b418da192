//! What a governor asks of the process that it governs.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pando_config::{Database, Errors, Global, Problem, StorageUnit};
use pando_distsql::command::Status;
use pando_kernel::error::Result;
use pando_kernel::feature::LogicTable;
use pando_kernel::runtime::BoxFuture;
use pando_kernel::{Offer, Value};

use crate::cluster::Cluster;

/// Transactions in doubt as they concern storage units that are to go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// Those that have a part there or are decided there, each with its storage unit.
    pub transactions: Vec<(String, String)>,
    /// The storage units that did not answer.
    pub silent: Vec<String>,
}

/// The process: builds rooms, opens pools, serves. The governor decides what.
pub trait House: Refiller {
    /// Builds the rooms of a database that has storage units, without connecting anywhere, and says what tables they know.
    ///
    /// # Errors
    /// Every problem.
    fn rooms(&self, database: &Database) -> Result<Vec<LogicTable>, Errors>;

    /// How something of a served database stands now: the cells of SHOW STATUS FROM STORAGE UNITS, LIMIT RULES, CIRCUIT BREAKERS, MIRROR RULES.
    fn states(&self, database: &str, of: Status) -> Vec<Vec<Option<String>>>;

    /// The list of rooms: from it follow the rules that are served, and the algorithms that they may name.
    fn offers(&self) -> &'static [Offer];

    /// The problems of settings of the whole server that cannot be served; none when all can.
    fn settings(&self, global: &Global) -> Vec<Problem>;

    /// Serves this configuration from the next statement on. Databases that are the same `Arc` as before keep what is known of their tables.
    ///
    /// # Errors
    /// `Configuration`; what was served before goes on.
    fn serve(&self, served: &Served) -> Result<()>;

    /// Connects to a storage unit that may not be served yet, and looks whether its user has these privileges (as written after CHECK_PRIVILEGES).
    ///
    /// # Errors
    /// `Unavailable`, `Server`, `Timeout`; `Refused` for a privilege that is missing or not known.
    fn connects<'a>(
        &'a self,
        unit: &'a StorageUnit,
        privileges: &'a [String],
    ) -> BoxFuture<'a, Result<()>>;

    /// Which worker id key generators may use from now on; none for the time being when it is `None`.
    fn lease(&self, lease: Option<Lease>);

    /// The tables that stand on the storage units of a database now; it need not be served yet.
    ///
    /// # Errors
    /// `Unavailable`, `Server`, `Timeout`.
    fn tables<'a>(&'a self, database: &'a Database) -> BoxFuture<'a, Result<Vec<Found>>>;

    /// How many rows an actual table has, up to [`MOST_COUNTED`] and one more. Rows of open transactions count, or are an error after a moment.
    ///
    /// # Errors
    /// As [`House::tables`]; `Server` when somebody keeps the table from being counted.
    fn rows<'a>(&'a self, database: &'a Database, table: &'a Found)
    -> BoxFuture<'a, Result<usize>>;

    /// A row of an actual table that a sharding rule would not look for there, in words; `None` when none was found among the first [`MOST_PLACED`].
    ///
    /// # Errors
    /// As [`House::rows`].
    fn misplaced<'a>(
        &'a self,
        database: &'a Database,
        table: &'a str,
        node: &'a Found,
    ) -> BoxFuture<'a, Result<Option<String>>>;

    /// Why these actual tables have not the same rows; `None` when they have.
    ///
    /// # Errors
    /// As [`House::rows`].
    fn differ<'a>(
        &'a self,
        database: &'a Database,
        tables: &'a [Found],
    ) -> BoxFuture<'a, Result<Option<String>>>;

    /// What is in doubt on these storage units of a served database, or waits for what they decide.
    fn unsettled<'a>(
        &'a self,
        database: &'a Database,
        units: &'a [String],
    ) -> BoxFuture<'a, Unsettled>;
}

/// Stores the rows of tables otherwise while clients go on.
pub trait Refiller: Send + Sync + Debug {
    /// The columns of a table whose rows are stored otherwise.
    ///
    /// # Errors
    /// As [`House::tables`]; `Refused` where it does not exist.
    fn orders<'a>(
        &'a self,
        database: &'a Database,
        table: &'a str,
    ) -> BoxFuture<'a, Result<Orders>>;

    /// Does a part of the work of storing a table's rows otherwise, on all of its data nodes. Each part may be done again.
    ///
    /// # Errors
    /// As [`House::tables`]; `Refused` where a table is not as it must be, before anything is changed; `Cancelled` when it
    /// is told to stop.
    ///
    /// # Cancel safety
    /// Dropping it leaves some of the nodes, or of the rows, as they were.
    fn refill<'a>(
        &'a self,
        database: &'a Database,
        table: &'a str,
        part: Refilling,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Result<()>>;
}

/// A table's rows are counted up to so many: whoever is refused wants to know whether it is a handful.
pub const MOST_COUNTED: usize = 1_000;
/// So many rows of an actual table are looked at for whether they are where a rule looks for them.
pub const MOST_PLACED: usize = 10_000;
/// Tables with more rows are not compared with each other.
pub const MOST_COMPARED: usize = 100_000;

/// A worker id for key generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// From 0 to 1023: nobody else in the cluster has it.
    pub worker: u32,
    /// Until when that is certain; `None` as long as the process lives.
    pub until: Option<Instant>,
}

/// A configuration with all its placeholders filled, ready to be served.
#[derive(Debug, Clone)]
pub struct Served {
    /// Settings of the whole server, `mode` aside.
    pub global: Arc<Global>,
    /// The databases by name.
    pub databases: Vec<Arc<Database>>,
    /// What persons and probes say beside the configuration.
    pub cluster: Arc<Cluster>,
    /// This instance's id.
    pub own: Arc<str>,
}

/// Two orders of a table's columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orders {
    /// As clients see them.
    pub told: Vec<String>,
    /// As they stand without those that are not read.
    pub standing: Vec<String>,
}

/// A part of the work of storing a table's rows otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refilling {
    /// Nothing: it is only looked whether the rest can be done.
    Check,
    /// The stored columns that are lacking are made.
    Columns,
    /// Every transaction that has changed the table before is waited for.
    Fence,
    /// What is not read of each row is brought in step with what is.
    Rows,
    /// Columns that are not read, and are about to go, take NULL, and those that are read do not where the others did not.
    Nulls,
    /// Columns that are not read go.
    Drop,
}

/// How far such work is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Which rows are behind it; kept, so that it goes on there after a kill.
    pub positions: Mutex<Positions>,
    /// Rows that are looked at in a second at most; 0 has no bound.
    pub rate: AtomicU64,
    /// Data nodes that it concerns.
    pub nodes: AtomicU64,
    /// Those of them that are done.
    pub done: AtomicU64,
    /// Rows that were looked at.
    pub seen: AtomicU64,
    /// Rows that were not in step, and are now.
    pub written: AtomicU64,
    /// It is to end.
    pub stops: AtomicBool,
}

/// Which rows of a table are in step, by what it was that made them so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Positions {
    /// Which look at the rows it is.
    pub look: RowsLook,
    /// What tells whether rows would be made in step in the same way; empty where nothing does. Of the house.
    pub made_by: Vec<String>,
    /// How far the data nodes are that have been begun with.
    pub nodes: BTreeMap<Found, Position>,
}

/// Rows are looked at twice: once more when nothing that an older rule has planned is under way any longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowsLook {
    /// Some of its rows may be written by what an older rule has planned.
    #[default]
    First,
    /// None is any more.
    Second,
}

/// How far a data node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Position {
    /// All rows up to this primary key, and the one with it, were looked at, and what was written for it is committed.
    Behind(Vec<Value>),
    /// All rows were.
    End,
}

/// A table found on a storage unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The storage unit.
    pub unit: String,
    /// The schema, where the unit's family has any.
    pub schema: Option<String>,
    /// The table as it is called there.
    pub table: String,
}
