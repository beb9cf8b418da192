//! How the catalogues of the storage units are shown as the one of the logical database: actual tables under their logic names, each logic
//! table once, physical databases under the logical one's name.

use std::fmt::Debug;
use std::sync::Arc;

use pando_sql::ast::{Ident, ObjectName, Show, Statement};
use pando_sql::{Edits, Release};

use crate::actual::ActualNames;
use crate::catalog::Catalog;
use crate::column::Native;
use crate::declared::DeclaredType;
use crate::error::{Error, ErrorKind, Result, ServerError};
use crate::facts::Facts;
use crate::oids::Oids;
use crate::request::Parameter;
use crate::route::Need;
use crate::value::Value;

/// What a family knows of its own catalogue. Pure, as all of planning is.
pub trait Presentation: Figured + Retold + Send + Sync + Debug {
    /// The part of a table's (or a column owner's) name that names a database; `None` when it is not written, or names one of the vendor's own.
    fn database_part<'a>(&self, parts: &'a [Ident]) -> Option<&'a Ident>;

    /// What stands in the catalogue relation of this name; `None` when it is not the vendor's own.
    fn holding(&self, name: &ObjectName) -> Option<Holding>;

    /// Which storage unit alone can answer a question about the catalogue. `parameters` are the bound ones, none while they are not known.
    fn asked(&self, stmt: &Statement, parameters: &[Parameter]) -> Asked;

    /// What must be changed in a text about the catalogue so that one unit answers with its part of the logical database.
    ///
    /// # Errors
    /// `Refused` when the statement cannot be answered so.
    fn present(&self, stmt: &Statement, view: &View<'_>) -> Result<Presented>;

    /// As [`Presentation::present`], for a statement whose parameters are bound. Also gives those anew whose values name tables, by their place.
    ///
    /// # Errors
    /// As there.
    fn present_bound(
        &self,
        stmt: &Statement,
        view: &View<'_>,
        _parameters: &[Parameter],
    ) -> Result<(Presented, Vec<(usize, Value)>)> {
        Ok((self.present(stmt, view)?, Vec::new()))
    }

    /// The statement that answers a SHOW from the catalogue instead, in logic names; `None` leaves the SHOW as it is. `text` is the whole SHOW.
    ///
    /// # Errors
    /// `UnknownDatabase`, `NoDatabase`, and `Refused` for a database other than the current one.
    fn restate(&self, text: &str, show: &Show, facts: &Facts) -> Result<Option<String>>;

    /// The version that clients are told for storage units of these (there may be none): what all of them can do. `None` leaves the door's own.
    fn version(&self, _servers: &[Arc<str>]) -> Option<String> {
        None
    }

    /// What a server of this version goes by when it meets a comment that is for some versions only; `None` where it does not say.
    fn release(&self, _server: &str) -> Option<Release> {
        None
    }

    /// The same of units that tell no version.
    fn own_release(&self) -> Option<Release> {
        None
    }

    /// What is said of a table that does not exist, where servers name the database with it. `table` is as written.
    fn missing_table(&self, _database: &str, _table: &str) -> Option<ServerError> {
        None
    }

    /// The same of what DROP names and nobody has.
    fn missing_to_drop(&self, _database: &str, _names: &[String]) -> Option<ServerError> {
        None
    }

    /// Lets a storage unit's error or notice name logic tables, their indexes and constraints. What stands in it of the client's values stays as it is.
    fn in_logic_names(&self, _told: &mut ServerError, _names: &ActualNames) {}

    /// The query for the warnings of the statement before it on its connection, where servers remember them.
    fn warnings(&self) -> Option<&'static str> {
        None
    }

    /// The query for the rows that the statement before it on its connection would have had without its LIMIT, where servers count them when asked.
    fn found_rows(&self) -> Option<&'static str> {
        None
    }

    /// The number and the text under which an error is told to clients, where they may ask for it again.
    fn error_told(&self, _kind: &ErrorKind) -> Option<(u32, String)> {
        None
    }

    /// One of the vendor's own databases that a session may make its current one, as the vendor spells it.
    fn own_database(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// What a maintenance verb (`ANALYZE TABLE`) answers about each of its tables; `None` when it is none, or answers nothing.
    fn maintained(&self, _verb: &str) -> Option<Maintained> {
        None
    }

    /// The number under which a relation of the unit of this place is shown, where relations have numbers.
    fn relation_number(&self, own: u32, _unit: usize) -> u32 {
        own
    }
}

/// How a family tells tables and columns that are stored otherwise than clients see them. Pure, too.
pub trait Retold {
    /// How the family describes a column of a type, where it is declared with that and described as `stored`.
    fn native(&self, _declared: DeclaredType, stored: &Native) -> Native {
        *stored
    }

    /// What answers a SHOW about a table some of whose columns clients see under other names or not at all; `None` where
    /// nothing answers it as they are seen.
    ///
    /// # Errors
    /// As [`Presentation::restate`].
    fn restate_turned(
        &self,
        _text: &str,
        _show: &Show,
        _facts: &Facts,
    ) -> Result<Option<Restated>> {
        Ok(None)
    }

    /// What a field of a SHOW's answer is told as; `None` leaves it. `label` is the column's.
    fn retell(
        &self,
        _show: &Show,
        _label: &str,
        _field: &str,
        _telling: &Telling<'_>,
    ) -> Option<String> {
        None
    }
}

/// What a family asks of the parts of sharded tables. Pure, too.
pub trait Figured {
    /// The question to one unit that [`Need::Figures`] stands for: `asked` is what is said there, and `parts` is the
    /// unit with its parts of sharded tables as its tables, of which those are not hidden that stand for all. `None`
    /// where the unit has nothing to tell. Every row is of one part, and what [`Presentation::present`] reads.
    fn figures_question(&self, _asked: &str, _parts: &View<'_>) -> Option<String> {
        None
    }
}

/// What the storage units have told of the parts of tables, that is a table's only all together: how much room they
/// take, how many rows they have.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// As in [`Need::Figures`].
    pub asked: Arc<str>,
    /// What was told, a row for each part.
    pub rows: Vec<Figure>,
}

/// What one unit has told of one part.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The unit's place among the database's units.
    pub unit: usize,
    /// The row.
    pub row: Vec<Value>,
}

/// What a maintenance statement answers. The first column is the table as `database.table`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Maintained {
    /// Rows of messages. Equal ones of a table's nodes are one. What is said of a table that does not exist is the rest of such rows.
    Messages {
        /// The labels.
        labels: [&'static str; 4],
        /// Second to fourth column of each row, `{}` for the table.
        missing: Vec<[String; 3]>,
    },
    /// One number per table, NULL for one that does not exist; those of its nodes add up, modulo 2³².
    Checksums {
        /// The labels.
        labels: [&'static str; 2],
    },
}

/// What the rows of a catalogue relation are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// Tables and what belongs to them: each unit has rows of its own.
    Tables,
    /// Types, settings, schemas, …: every unit has the same rows.
    Shared,
}

/// Whom a question about the catalogue is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Nobody in particular.
    Anyone,
    /// The unit that shows this table (as written, quotes off): the server itself looks the name up.
    Table(String),
    /// The unit of this number, when one unit must be chosen: the text holds an object's number that is shown by it.
    Number(usize),
}

/// What presenting gives.
#[derive(Debug)]
pub enum Presented {
    /// These changes; none when the text can stay.
    Edits(Edits),
    /// Something must be found out first.
    Needs(Need),
}

/// One storage unit's part of the logical database.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The logical database.
    pub database: &'a str,
    /// The session: user, databases it can see.
    pub facts: &'a Facts,
    /// The unit's place among the database's units; the first (0) also shows what is the same on all.
    pub number: usize,
    /// The unit's tables that are not simply shown under their own names.
    pub tables: &'a [Shown],
    /// The columns of the unit's tables that clients see under other names or not at all. What would tell them as they
    /// are stored is refused.
    pub columns: &'a [ShownColumn],
    /// What the unit's numbers of types are shown as; `None` where that is as they are.
    pub numbers: Option<&'a Oids>,
    /// Columns of the vendor's relations are found under `schema.relation`.
    pub catalog: &'a dyn Catalog,
}

/// How an actual table of one unit is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name in the unit.
    pub actual: Arc<str>,
    /// The logic table it belongs to.
    pub logic: Arc<str>,
    /// It is not shown: another actual table stands for the logic one.
    pub hidden: bool,
}

/// How a column of one unit's table is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownColumn {
    /// The table's name in the unit.
    pub table: Arc<str>,
    /// The column's name there.
    pub stored: Arc<str>,
    /// Its name for clients; `None` where it is not shown.
    pub logic: Option<Arc<str>>,
    /// Its type for clients; `None` where that is the stored one's.
    pub declared: Option<DeclaredType>,
    /// The column whose keys stand on this one, as clients see it.
    pub keys_of: Option<Arc<str>>,
}

impl ShownColumn {
    /// What keys and indexes on it name for clients; `None` where they see nothing of it.
    pub fn key_name(&self) -> Option<&str> {
        self.logic.as_deref().or(self.keys_of.as_deref())
    }
}

/// How the names in an answer of one unit are told.
#[derive(Debug, Clone, Copy)]
pub struct Telling<'a> {
    /// Its tables that are not simply shown under their own names.
    pub tables: &'a [Shown],
    /// Its columns that clients see under other names or not at all.
    pub columns: &'a [ShownColumn],
    /// The session.
    pub facts: &'a Facts,
}

/// What answers a SHOW about a table some of whose columns clients see under other names or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restated {
    /// The SHOW itself, whose fields [`Presentation::retell`] tells anew.
    AsItIs,
    /// This statement.
    Text(String),
}

/// The refusal of a question about the catalogue whose answer would name columns as they are stored.
pub fn tells_stored_columns(what: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "`{what}` tells columns as they are stored, and some of this database are called otherwise"
        ),
        "ask for columns in `information_schema.columns`",
    )
}
