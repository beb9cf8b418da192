//! The joint for rooms: what they do with statements, and what they may look at.

use std::fmt::Debug;
use std::sync::Arc;

use pando_sql::ast::Statement;

use crate::cells::CellMap;
use crate::changes::Changes;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::logic::{self, LogicColumns, ShowsColumns, StoredName};
use crate::mirror;
use crate::request::Parameter;
use crate::route::{Environment, Need, Place, Route, Target, UnitName};
use crate::session::TransactionState;
use crate::shortcut::Shortcut;
use crate::table::TableColumn;
use crate::value::Value;
use crate::worker::Worker;

pub use crate::admission::{
    Admission, Deadline, Entry, Footprint, Gauge, Lends, Meters, Permit, Permits, RowLimit, Waiting,
};
pub use crate::catalog::{Catalog, Names, OwnNames, Routines, Spellings};
pub use crate::table::{DataNode, LogicTable, TableKind};

/// What a room is, apart from statements. Every method but the name may be left out.
pub trait Room: Send + Sync + Debug {
    /// Configuration key, metric label and EXPLAIN label.
    fn name(&self) -> &'static str;

    /// What it knows about tables, for catalogue answers and for other rooms.
    fn tables(&self) -> Vec<LogicTable> {
        Vec::new()
    }

    /// The groups of storage units that it makes.
    fn groups(&self) -> Groups {
        Groups::default()
    }

    /// What it shows of tables' columns, if it has any stored otherwise than clients see them. Every room, and the
    /// engine, then plan by what clients see; `rewrite` puts the stored names and values in the place of these.
    ///
    /// Statements over rows that were read first are evaluated by a server over what is stored: the reads go past such a
    /// room, and the statement over them through its `rewrite`.
    fn columns(&self) -> Option<&dyn ShowsColumns> {
        None
    }

    /// The storage units whose statements are run a second time elsewhere, and how. A mirror is no place, and none of the
    /// database's units: nothing but copies runs there.
    fn mirrors(&self) -> Vec<mirror::Settings> {
        Vec::new()
    }
}

/// Groups of storage units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// Those that stand under one name in other rooms' routes.
    pub places: Vec<Place>,
    /// Storage units that lead none of these groups and are in one: copies of another, or what was led from before.
    /// What they hold is their leader's to end.
    pub followers: Vec<UnitName>,
    /// Storage units, or groups of them, that stand behind places for the statements of the other [`Environment`]: they have tables
    /// alike, and rows of their own. They are no places, no part of the database's units, and the catalogue asks
    /// none of them; definitions reach them too.
    pub shadows: Vec<Place>,
}

/// What a room does with statements. Pure: no I/O, no clock of its own, no globals. What it needs is in `self` (its
/// validated rule) or in the context.
///
/// The engine walks all rooms of a database in order for each step. A room writes the methods that it has something to
/// do in, and no others.
pub trait Feature: Room {
    /// Claims the statement when no room has, else narrows or redirects the route; refuses what cannot be done right.
    ///
    /// # Errors
    /// `ShardingValue`, `Refused`, `UnknownTable`.
    fn route(&self, _ctx: &Context<'_>, _stmt: &Statement, _route: &mut Route) -> Result<()> {
        Ok(())
    }

    /// Changes the statement for one target: its text, and values in it.
    ///
    /// The statement is the client's, in the names that clients know, as planning has it by then: a `*` over tables of
    /// which some columns are not as they are stored, and the list of an INSERT into one that has none, are written out
    /// (but TABLE t, and a `*` over a join by USING or of things without a name); the database's own name is gone; rows
    /// of several units may need further select items, or an order, which stand in it as well ([`Changes::is_added`]).
    /// Steps of a statement come as statements of their own. Of what is read for an assembly a room that shows columns
    /// sees nothing ([`Room::columns`]), and of the statement over it all. Names that a room writes are those of the units:
    /// no other room sees them, so a table's name in front of one is to be copied only where it is an alias.
    ///
    /// Of COPY FROM and LOAD DATA it names the fields of the lines that are stored as others ([`Changes::field`]), the
    /// same for every target: a room that names none has them sent as they come.
    ///
    /// # Errors
    /// `Refused`.
    fn rewrite(
        &self,
        _ctx: &Context<'_>,
        _stmt: &Statement,
        _to: &Target,
        _changes: &mut Changes,
    ) -> Result<()> {
        Ok(())
    }

    /// Which cells of the statement's rows are told otherwise than they are stored. Asked once for each plan, after
    /// routing, and never of definitions; of COPY TO the query that gives its rows. It must not hang on the values of
    /// literals and parameters, as plans are kept for others.
    ///
    /// # Errors
    /// `Refused` where the answer would hold stored values that cannot be told right.
    fn shown(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Result<Vec<CellMap>> {
        Ok(Vec::new())
    }

    /// What of the statement's route holds for every value of its literals and parameters. The engine checks it against the route itself before it
    /// relies on it; it is asked anew when the database or what is known of its tables changes. A room that says
    /// nothing here sees each statement.
    fn shortcut(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Shortcut {
        Shortcut::None
    }

    /// Which environment a client's statement is for, with all that it runs as: rows that are read for it, steps, images of what
    /// it changes. `None` where the room has nothing to say of that. Asked before the statement is planned;
    /// what it runs as is then planned with the answer ([`SessionView::environment`]). Without the values of its parameters it
    /// refuses nothing for their sake.
    ///
    /// # Errors
    /// `Refused` where it is for both.
    fn environment(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Result<Found> {
        Ok(Ok(None))
    }

    /// Who says of each execution whether it may take place, if anybody of this room does.
    fn admission(&self) -> Option<&dyn Admission> {
        None
    }
}

/// The environment of a statement, if a room keeps two apart; what must be known first.
pub type Found = std::result::Result<Option<Environment>, Need>;

/// What a room may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The logical database: its units and rooms.
    pub database: &'a Database,
    /// Tables and columns as far as known.
    pub catalog: &'a dyn Catalog,
    /// The language of the statement, and of its storage units.
    pub dialect: &'a dyn Dialect,
    /// The bound parameters; `None` while a statement is only prepared or previewed without values.
    pub parameters: Option<&'a [Parameter]>,
    /// The session.
    pub session: &'a SessionView,
    /// Wall clock and randomness for generated keys.
    pub source: &'a dyn Source,
}

impl Context<'_> {
    /// The value of parameter `index` (from 0), when bound.
    pub fn parameter(&self, index: u32) -> Option<&Value> {
        self.parameters?.get(index as usize).map(|parameter| &parameter.value)
    }
}

/// Where time and randomness come from.
pub trait Source: Send + Sync + Debug {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_millis(&self) -> i64;

    /// The same in microseconds.
    fn now_micros(&self) -> i64 {
        self.now_millis().saturating_mul(1_000)
    }

    /// Fills the buffer with random bytes.
    fn random(&self, buffer: &mut [u8]);

    /// What keeps this process's keys apart from others'; absent where keys need not be.
    fn worker(&self) -> Option<&Worker> {
        None
    }
}

/// The session, as planning sees it.
#[derive(Debug, Clone, Default)]
pub struct SessionView {
    /// Transaction status.
    pub transaction: TransactionState,
    /// Units the session holds connections of, in the order enlisted.
    pub held: Vec<UnitName>,
    /// Set once the transaction has written.
    pub has_written: bool,
    /// Changes with each statement: lets load balancers rotate.
    pub ticket: u64,
    /// How many connections of one unit a statement outside a transaction may use; 0 is read as 1.
    pub connections_per_query: usize,
    /// The statement is only looked at, for what it concerns and answers; nothing of it runs.
    pub describes: bool,
    /// Zero in a counted column is a value like others, where it stands for a number else.
    pub keeps_zero: bool,
    /// Its rows have their numbers for the table's counted column, and the counter is behind those that they bring.
    pub is_counted: bool,
    /// Its types alone are asked of a server: what it asks about the session stays as it is written, and has the
    /// server's own type.
    pub probes: bool,
    /// It is one of several statements that a client's statement runs as: what time it is was settled with the first.
    pub keeps_time: bool,
    /// What it reads is to be one state of all units, of which copies have no part.
    pub sees_one_state: bool,
    /// The environment of the client's statement that it is or runs for; `None` while that was not asked, or no room keeps two
    /// apart.
    pub environment: Option<Environment>,
    /// Changes are noted row by row, so that they can be taken back after their commit (BASE): rows that are to be
    /// written must be known before.
    pub notes_rows: bool,
    /// Storage units whose circuit is open: what others can answer is not sent there. `None` where there is none.
    pub shut: Option<Arc<[UnitName]>>,
    /// Its temporary tables, if it has any or is about to make one.
    pub temporaries: Option<Arc<crate::temporary::Temporaries>>,
    /// Session variables that were set: lower-cased name, and the value's text as SQL. In the order they were last set.
    pub variables: Arc<[(String, String)]>,
    /// What the session knows about itself.
    pub facts: Arc<crate::facts::Facts>,
}

/// One logical database of a snapshot.
#[derive(Debug)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Its storage units, as configured.
    pub units: Vec<UnitName>,
    /// Its rooms in walking order.
    pub features: Vec<Arc<dyn Feature>>,
    /// The family of its storage units.
    pub dialect: Arc<dyn Dialect>,
}

impl Database {
    /// Whether any of its rooms has columns stored otherwise than clients see them.
    pub fn turns_columns(&self) -> bool {
        self.features.iter().any(|room| room.columns().is_some())
    }

    /// The same database as it is below the rooms that have columns stored otherwise than clients see them; `None` where
    /// it has no such room.
    pub fn below(&self) -> Option<Self> {
        self.turns_columns().then(|| Self {
            name: self.name.clone(),
            units: self.units.clone(),
            features: self
                .features
                .iter()
                .filter(|room| room.columns().is_none())
                .cloned()
                .collect(),
            dialect: Arc::clone(&self.dialect),
        })
    }

    /// The columns of a logic table (by its key) as clients see them; `None` where all are as they are stored.
    ///
    /// # Errors
    /// As [`logic::shown`].
    pub fn logic_columns(
        &self,
        table: &str,
        stored: &[TableColumn],
    ) -> Result<Option<LogicColumns>> {
        logic::shown(&self.features, table, stored)
    }

    /// The storage units and groups that stand behind places for the statements of the other environment, each once.
    pub fn shadows(&self) -> Vec<Place> {
        self.features.iter().flat_map(|room| room.groups().shadows).collect()
    }

    /// What its rooms have run a second time elsewhere.
    pub fn mirrors(&self) -> Vec<mirror::Settings> {
        self.features.iter().flat_map(|room| room.mirrors()).collect()
    }

    /// Which environment a client's statement is for, if a room keeps two apart.
    ///
    /// # Errors
    /// As [`Feature::environment`].
    pub fn environment(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Found> {
        for room in &self.features {
            match room.environment(ctx, stmt)? {
                Ok(None) => {}
                said => return Ok(said),
            }
        }
        Ok(Ok(None))
    }

    /// What stored columns are called where clients see them, if that is another name or none.
    pub fn stored_names(&self) -> Vec<StoredName> {
        logic::names(&self.features)
    }
}
