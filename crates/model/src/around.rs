//! What the model is told about the world, as plain data and pure functions.

use std::fmt;

use pando_config::{Database, Environment, Errors, Global, Problem, Vendor};
use pando_distsql::Language;
use pando_kernel::AlgorithmKind;
use pando_kernel::feature::LogicTable;

/// Builds the rooms of a database without connecting anywhere, and gives what they know about tables: how the model learns what can be
/// served, and where sharded tables lie.
pub type Rooms<'a> = &'a dyn Fn(&Database) -> Result<Vec<LogicTable>, Errors>;

/// The problems of settings for the whole server that cannot be served; none when all can.
pub type Settings<'a> = &'a dyn Fn(&Global) -> Vec<Problem>;

/// What a change is validated with.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Fills the placeholders of documents while they are checked. The model keeps them as they are written.
    pub environment: Environment<'a>,
    /// What `HOST=…, PORT=…, DB=…` means: the vendor behind the front door that the statement came through.
    pub vendor: Vendor,
    /// The statements there are: those about rules that rooms bring among them.
    pub language: &'a Language,
    /// Asked about every changed database that has a storage unit.
    pub rooms: Rooms<'a>,
    /// Asked about every changed global configuration.
    pub settings: Settings<'a>,
}

impl fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Around").field("vendor", &self.vendor).finish_non_exhaustive()
    }
}

/// What running things say, for answers.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// As for changes.
    pub around: Around<'a>,
    /// The single tables that clients can use, in the order they shall be shown: [`Singles::served`](crate::Singles).
    pub single_tables: &'a [SingleTable],
    /// Tables that no rule names or clients cannot use: [`Singles::unloaded`](crate::Singles).
    pub unloaded: &'a [SingleTable],
    /// The instances of the cluster; of a server that stands alone, itself.
    pub nodes: &'a [ComputeNode],
    /// Which of them answers.
    pub own: usize,
    /// Replicas that are out of work; all others are in work.
    pub disabled: &'a [ReadUnit],
    /// What algorithms rules may name, in the order they shall be shown.
    pub algorithms: &'a [AlgorithmKind],
    /// The present moment as exports tell it, such as `2026-11-21T20:30:00`.
    pub now: &'a str,
}

impl<'a> Facts<'a> {
    /// No facts but the means to read the model.
    pub fn none(around: Around<'a>) -> Self {
        Self {
            around,
            single_tables: &[],
            unloaded: &[],
            nodes: &[],
            own: 0,
            disabled: &[],
            algorithms: &[],
            now: "",
        }
    }
}

/// A table that stands in one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleTable {
    /// Its name.
    pub table: String,
    /// The storage unit or group.
    pub unit: String,
    /// The schema, where units have any.
    pub schema: Option<String>,
}

/// One instance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComputeNode {
    /// Unique in the cluster.
    pub id: String,
    /// `PROXY`, or `JDBC` for one in an application's process.
    pub kind: String,
    /// Where it listens.
    pub host: String,
    /// The port it listens on.
    pub port: u16,
    /// `OK` or `CIRCUIT_BREAK`.
    pub status: String,
    /// `Standalone` or `Cluster`.
    pub mode: String,
    /// The worker id of key generators; absent when none is leased.
    pub worker_id: Option<u32>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its version.
    pub version: String,
    /// The repository that its configuration is kept in, and its properties; absent without one.
    pub repository: Option<(String, Vec<(String, String)>)>,
}

/// A replica in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadUnit {
    /// The logical database.
    pub database: String,
    /// The group.
    pub group: String,
    /// The storage unit.
    pub unit: String,
}
