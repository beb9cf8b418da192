//! What the engine must know of a database family, without knowing its name.

use std::fmt::Debug;
use std::sync::Arc;

use pando_sql::Syntax;
use pando_sql::ast::DefineAction;

use crate::alone::Alone;
use crate::clock::Clock;
use crate::column::Column;
use crate::effects::Effects;
use crate::error::{Error, Result};
use crate::folding::Folding;
use crate::guard::Guard;
use crate::health::Health;
use crate::own_session::OwnSession;
use crate::presentation::Presentation;
use crate::relation::Relations;
use crate::request::Parameter;
use crate::transfer::Transfer;
use crate::two_phase::TwoPhase;
use crate::undo::Undo;
use crate::value::{Kind, Value};
use crate::waits::Waits;

pub use crate::facts::{Facts, Own, OwnCursor};
pub use crate::table::TableColumn;

/// All of a family's traits together.
pub trait Dialect: Language + Metadata + Ordering + Variables + OwnSession {}

impl<T: Language + Metadata + Ordering + Variables + OwnSession> Dialect for T {}

/// Values that a column takes as they are, so that it does not matter whether a server looks at them when it plans a statement or for each of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None is known.
    Nothing,
    /// Whole numbers from the first to the second.
    Numbers(i64, i64),
    /// Strings of so many bytes.
    Texts(usize),
}

impl Takes {
    /// Any whole number.
    pub const ANY_NUMBER: Self = Self::Numbers(i64::MIN, i64::MAX);

    /// Whether this is one of them.
    pub fn takes(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Numbers(least, most), Value::Int(number)) => (least..=most).contains(number),
            (Self::Texts(most), Value::Text(text)) => text.len() <= most,
            _ => false,
        }
    }
}

/// The language itself.
pub trait Language: Send + Sync + Debug {
    /// `mysql`, `postgres`, `sqlite`, … Units and doors of one family exchange rows without a look inside.
    fn family(&self) -> &'static str;

    /// Lexical and grammatical switches.
    fn syntax(&self) -> &'static Syntax;

    /// An identifier, quoted so that any name is safe.
    fn quote(&self, name: &str) -> String;

    /// A literal of this value.
    fn literal(&self, value: &Value) -> String;

    /// A whole number ([`Value::Int`]) of a statement's text as a parameter that means the same there: of the type that the number itself has; or a string
    /// ([`Value::Text`]) that is assigned to a column that [`Language::lifts_into`] names. `None` where statements given as text are to stay so.
    fn lifted(&self, _value: Value) -> Option<Parameter> {
        None
    }

    /// Whether a whole number compared with this column, or added to it, may become a parameter. `None` is a column not known here.
    fn lifts_beside(&self, _column: Option<&TableColumn>) -> bool {
        false
    }

    /// Which values may become parameters where they are assigned to this column. `None` is a column not known here.
    fn lifts_into(&self, _column: Option<&TableColumn>) -> Takes {
        Takes::Nothing
    }

    /// Whether a whole number added to a column may become a parameter, too.
    fn lifts_sums(&self) -> bool {
        true
    }

    /// The number of a type that every server has, by its name as a statement writes it; 0 leaves the type open. `None` where it is not known here.
    fn type_number(&self, _name: &str) -> Option<u32> {
        None
    }

    /// The text of a transaction verb; `None` when the family has no such thing.
    fn transaction(&self, verb: &TransactionVerb<'_>) -> Option<String>;

    /// Whether an error inside a transaction block fails the whole block until its end.
    fn error_fails_transaction(&self) -> bool;

    /// How distributed transactions end on the family's servers; `None` where they cannot take part in any.
    fn two_phase(&self) -> Option<&dyn TwoPhase> {
        None
    }

    /// How rows of one place stand as a table in a statement of another; `None` where they cannot.
    fn relations(&self) -> Option<&dyn Relations> {
        None
    }

    /// How rows that were read are written by another statement; `None` where they cannot.
    fn transfer(&self) -> Option<&dyn Transfer> {
        None
    }

    /// How changes that are committed are taken back by images of their rows; `None` where they cannot.
    fn undo(&self) -> Option<&dyn Undo> {
        None
    }

    /// How numbers of sequences are asked for; `None` where there are no sequences.
    fn sequences(&self) -> Option<&dyn crate::sequences::Sequences> {
        None
    }

    /// What statements may reach beside the tables of their database; `None` where there is nothing beside.
    fn guard(&self) -> Option<&dyn Guard> {
        None
    }

    /// How servers tell who waits for whom; `None` where nobody waits for others for long.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    /// The same family, read as clients of this door (named by its family) write it: for families that serve every door. `None` where one reading
    /// serves all. A session that uses it keeps [`CLIENT_LANGUAGE`] set to the door's family, so that the storage unit reads its statements likewise.
    fn spoken_at(&self, _door: &str) -> Option<Arc<dyn Dialect>> {
        None
    }
}

/// The session variable that tells a storage unit in which door's language the statements of a session are written.
pub const CLIENT_LANGUAGE: &str = "pando_client_language";

/// What the names of session variables begin with that hold a transaction mode for the whole session; the value is the mode's words.
pub const MODE: &str = "transaction mode ";

/// A verb of transaction control, towards a storage unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionVerb<'a> {
    /// What must be said in front of `Begin` for these modes, where the family cannot say it in one statement.
    BeforeBegin(&'a [String]),
    /// Begins, with one upper-cased mode each (`READ ONLY`, `ISOLATION LEVEL SERIALIZABLE`, …).
    Begin(&'a [String]),
    /// Commits.
    Commit,
    /// Rolls back.
    Rollback,
    /// Sets a savepoint.
    Savepoint(&'a str),
    /// Releases one.
    Release(&'a str),
    /// Rolls back to one.
    RollbackTo(&'a str),
}

/// Reading the catalogue of a storage unit.
pub trait Metadata: Send + Sync + Debug {
    /// A query (text, one row per column, in table order) that tells the columns of an actual table of the current database. `schema` narrows where
    /// the family has schemas inside a database.
    fn columns_query(&self, schema: Option<&str>, table: &str) -> String;

    /// Reads a row of [`Metadata::columns_query`].
    ///
    /// # Errors
    /// `Internal` when the row has another shape.
    fn read_column(&self, row: &[Value]) -> Result<TableColumn>;

    /// A query whose rows are (schema or NULL, table name) of every table and view of the current database that is not the vendor's own. A third column
    /// that is true is about what every unit has alike, such as a sequence: the first unit's counts. A fourth, where
    /// the family has schemas, tells where the schema comes among those that a fresh connection looks into: a number,
    /// or NULL where it does not.
    fn tables_query(&self) -> String;

    /// How views are told; `None` where none may stand for several tables.
    fn views(&self) -> Option<&dyn crate::views::ViewTexts> {
        None
    }

    /// How it is known which statements may leave something on their connections; `None` where none that a client may send does.
    fn effects(&self) -> Option<&dyn Effects> {
        None
    }

    /// How the temporary tables of a connection are known; `None` where there are none for clients.
    fn temporaries(&self) -> Option<crate::temporary::Kept> {
        None
    }

    /// Statements, the last one a query for `columns` of up to so many rows of a table (quoted, with its schema where it needs one). What open
    /// transactions have written counts, or makes them fail after a moment. Their connection is used for nothing else and closed.
    fn settled_queries(&self, columns: &str, table: &str, most: usize) -> Vec<String>;

    /// Columns that tables may have beside those that [`Metadata::columns_query`] tells, in lower case.
    fn hidden_columns(&self) -> &'static [&'static str] {
        &[]
    }

    /// A query with one row and one column, which is true when the connection's user has this privilege of CHECK_PRIVILEGES in the current database;
    /// `None` for a word that is none.
    fn privilege_query(&self, privilege: &str) -> Option<String> {
        privilege.eq_ignore_ascii_case("NONE").then(|| "SELECT 1".to_owned())
    }

    /// How the family's catalogue is shown as the logical database's; `None` shows it as it stands.
    fn presentation(&self) -> Option<&dyn Presentation> {
        None
    }

    /// How numbers that each server gives by itself are known, and changed in values; `None` where clients are told none.
    fn oid_rules(&self) -> Option<&dyn crate::oids::OidRules> {
        None
    }

    /// How a server is asked for its part in its cluster; `None` where it has none: it answers, or it does not.
    fn health(&self) -> Option<&dyn Health> {
        None
    }

    /// A query whose rows are (name, table name) of what statements name without its table: every index or trigger of
    /// the current database; `None` where these are always named together with it.
    fn indexes_query(&self) -> Option<String> {
        None
    }

    /// A query whose rows are (table name, name, `index` or `constraint`) of all that has a name in the current database's tables, a key as both;
    /// `None` where nothing is named after its table.
    fn names_query(&self) -> Option<String> {
        None
    }

    /// A query whose rows are (function name) of every aggregate that users have made; `None` where they cannot make any that Pando can know of.
    fn aggregates_query(&self) -> Option<String> {
        None
    }

    /// For a family that can leave checks to the end of a transaction: a query whose one value says whether anything in the current database may be left so, and
    /// the statement that has all of it checked at once.
    fn deferred(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// A query for constraints of these names, each its parts from left to right as the catalogue writes them: rows (place in the list, whether the
    /// constraint has an actual table's name behind its own). `None` where no statement names constraints but those of its table.
    fn constraints_query(&self, _names: &[Vec<String>]) -> Option<String> {
        None
    }

    /// The schema in which tables stand whose names say none; `None` where a database has no schemas, but is one.
    fn default_schema(&self) -> Option<&'static str> {
        None
    }

    /// A statement about a logic table, with one row or more for each of its indexes, and the label of the column with their names; `None` where
    /// there is no such statement.
    fn indexes_of(&self, _table: &str) -> Option<(String, &'static str)> {
        None
    }

    /// Whether index names must be unique in their schema (otherwise in their table only).
    fn index_names_are_global(&self) -> bool {
        true
    }

    /// Whether a server makes names for indexes that are given none.
    fn names_indexes(&self) -> bool {
        false
    }

    /// Whether servers read `(SELECT … FROM a UNION ALL SELECT … FROM b)` in FROM as they read a table: conditions, order and limit of the
    /// statement reach the tables and their indexes.
    fn reads_unions_as_tables(&self) -> bool {
        false
    }

    /// Whether servers report keys that an INSERT itself gives like generated ones.
    fn reports_given_keys(&self) -> bool {
        false
    }

    /// Whether a definition (DDL) commits the open transaction.
    fn definitions_commit(&self) -> bool {
        false
    }

    /// Whether one statement of this action (DROP, TRUNCATE) takes a list of tables.
    fn lists_tables(&self, _action: DefineAction) -> bool {
        false
    }

    /// Whether a statement that begins with this upper-cased word, and defines nothing, takes a list of tables and says nothing of each that is not said of all.
    fn lists_tables_behind(&self, _verb: &str) -> bool {
        false
    }

    /// Whether servers of this version drop the tables of a list that are there before they say that others are not.
    fn drops_the_others(&self, _version: &str) -> bool {
        false
    }

    /// Whether storage units of this family can serve clients of every door (their rows are turned into the door's own).
    fn serves_every_door(&self) -> bool {
        false
    }
}

/// How the family sorts and compares, so that merging agrees with it.
pub trait Ordering: Send + Sync + Debug {
    /// Whether NULL sorts before everything else in ascending order.
    fn nulls_first(&self) -> bool;

    /// How values of a column can be compared outside the server. `info` is the table's column when the item is one. `text` is the SQL text of the sort item.
    fn comparison(&self, text: &str, info: Option<&TableColumn>) -> Comparison;

    /// How values of a result's column compare, known once its type is (for items whose comparison is `ByResult`).
    ///
    /// # Errors
    /// `Refused` when the order cannot be reproduced.
    fn compare_result(&self, column: &Column) -> Result<Compare>;

    /// Whether sums of this result column keep all that an average of the same values is computed from.
    fn averages(&self, _sum: &Column) -> bool {
        true
    }

    /// Whether partial sums of this result column are added up as numbers are.
    fn adds(&self, _sum: &Column) -> bool {
        true
    }

    /// Whether the sum of quotients is the sum of its parts' sums as they are shown.
    fn adds_quotients(&self) -> bool {
        true
    }

    /// When two values of a column of text are equal: they must then live on one shard.
    fn equality(&self, _column: &TableColumn) -> Equality {
        Equality::Exact
    }
}

/// When a server calls two texts of a column equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equality {
    /// When they are the same octets.
    Exact,
    /// When they are the same octets up to spaces at the end.
    Padded,
    /// When they fold to the same text: case, accents and what else the collation does not tell apart do not count.
    Folded(Folding),
    /// By rules of its own that are not known here.
    Loose,
}

/// What merging needs to compare a sort, group or distinct item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The value itself, so.
    Value(Compare),
    /// Add this derived select item (for example a weight string); its bytes compare.
    Derive(String),
    /// Add this derived select item, a number that tells more than the value as it is sent.
    DeriveNumber(String),
    /// Only known from the result's column type: ask [`Ordering::compare_result`] then; `derive` is added to the select list in case the type is text.
    ByResult {
        /// The derived select item whose bytes compare, used when the column turns out to be text.
        derive: Option<String>,
    },
    /// The order cannot be reproduced, with the reason.
    Refuse(String),
}

/// How two decoded values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// As numbers (also booleans).
    Number,
    /// As bytes: octets, C and binary collations, and temporal text in standard form.
    Bytes,
    /// As bytes; spaces at the end do not count.
    Padded,
    /// As bytes of weight strings, which the dialect has padded where the collation pads.
    Weight,
    /// As instants, times or dates given in the vendor's text form that does not sort bytewise.
    Temporal(Kind),
}

/// What decides which table a name without a schema means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NamesBy {
    /// Session variables, in lower case.
    pub settings: &'static [&'static str],
    /// A query whose rows are the schemas, first to last, that are looked into by the settings of its connection;
    /// `None` where a database has no schemas.
    pub path_query: Option<&'static str>,
}

/// Session variables and functions about the session.
pub trait Variables: Send + Sync + Debug {
    /// What a SET of this variable means for a multiplexed session. `name` is lower-cased; `value` is the value's text as written.
    ///
    /// # Errors
    /// `Variable` when it cannot be had through Pando.
    fn set(&self, name: &str, value: &str) -> Result<VariableEffect>;

    /// Parameters (name, value) that the client is told beside [`VariableEffect::Report`] when a variable is set: its character sets, for instance.
    fn told(&self, _name: &str, _value: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What clients are told at first of a parameter that [`VariableEffect::Report`] tells of.
    fn shown_at_first(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// The statement that sets session variables on a storage unit's connection; `variables` are (name, value text) pairs, never empty.
    fn set_statement(&self, variables: &[(String, String)]) -> String;

    /// What a statement that a server has prepared keeps of that moment.
    fn prepares(&self) -> Prepares {
        Prepares::default()
    }

    /// The whole value of a variable (lower-cased name, value as written) of which a SET may say a part, in a session
    /// that has `set` these variables (name, value text) before; `None` where what is written is the whole.
    fn completed(&self, _name: &str, _value: &str, _set: &[(String, String)]) -> Option<String> {
        None
    }

    /// What decides which table a name means.
    fn names_by(&self) -> NamesBy {
        NamesBy::default()
    }

    /// The session variable, with its value's text, that keeps a transaction mode (upper-cased words) for the whole session; `None` where each
    /// transaction is begun with it.
    fn mode_variable(&self, _mode: &str) -> Option<(String, String)> {
        None
    }

    /// The value of a function or keyword about the session (`DATABASE()`, `current_database()`, `CONNECTION_ID()`, `LAST_INSERT_ID()`, `@@…` …), for putting
    /// it into the text as a literal; `None` leaves the text to the storage unit. `name` is lower-cased, without parentheses.
    fn session_function(&self, name: &str, facts: &Facts) -> Option<Value>;

    /// What stands for such a value in a text so that it has the type of the function itself, where a literal has another one.
    fn session_literal(&self, _name: &str, _value: &Value) -> Option<String> {
        None
    }

    /// The same for a setting that is asked for by its name: by a function of one text (`current_setting('…')`; `by` is its name in lower case), or by SHOW (`by` is
    /// `show`, or `show unset` where the session has not set it). `name` is as written.
    fn session_setting(&self, _by: &str, _name: &str, _facts: &Facts) -> Option<Value> {
        None
    }

    /// How many rows a query without a LIMIT of its own gives at most under a session's variables (name, value text); `None` is no limit.
    ///
    /// # Errors
    /// `Refused` when the value cannot be read.
    fn select_limit(&self, _variables: &[(String, String)]) -> Result<Option<u64>> {
        Ok(None)
    }

    /// How several servers are told one time; `None` where each goes by its own.
    fn clock(&self) -> Option<&dyn Clock> {
        None
    }

    /// What is told where there is no storage unit to ask; `None` tells nothing.
    fn alone(&self) -> Option<&dyn Alone> {
        None
    }
}

/// What a prepared statement keeps of the moment when its server prepared it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prepares {
    /// It goes by the settings of then, whatever is set on the connection later, until that is reset.
    pub with_settings: bool,
    /// It goes on with the types that were found for the parameters at first, whatever becomes of the columns that they
    /// stand for.
    pub keeps_types: bool,
}

/// What a SET means for the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableEffect {
    /// Kept, and set on every connection that serves the session from now on.
    Replay,
    /// `autocommit` is now so.
    Autocommit(bool),
    /// Kept like `Replay`, as another assignment that says the same.
    As {
        /// The variable that is assigned.
        name: &'static str,
        /// What is written behind it.
        value: String,
        /// Variables that are set by it as well, so that what was kept of them no longer counts.
        over: &'static [&'static str],
    },
    /// Other variables are what a connection has from its login again.
    Back {
        /// Those variables.
        names: &'static [&'static str],
        /// The assignment that says so to a storage unit.
        by: (&'static str, &'static str),
    },
    /// Nothing a storage unit needs to know.
    Ignore,
    /// The session's own, of which no storage unit hears: the client is told the new value (ParameterStatus).
    Own {
        /// The parameter's name as the protocol spells it.
        name: String,
        /// Its value, decoded.
        value: String,
    },
    /// What the session tells as its last generated key is now this.
    LastInsertId(u64),
    /// Replayed, and the client is told the new value (ParameterStatus).
    Report {
        /// The parameter's name as the protocol spells it.
        name: String,
        /// Its value, decoded.
        value: String,
    },
}

impl VariableEffect {
    /// That of `last_insert_id = value`: `LAST_INSERT_ID()` is the session's own, and no storage unit's.
    /// <https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_last_insert_id>
    ///
    /// # Errors
    /// `Refused` when the value is no whole number.
    pub fn last_insert_id(value: &str) -> Result<Self> {
        let value = value.trim();
        let number = match value.to_ascii_lowercase().as_str() {
            "true" => Some(1),
            "false" => Some(0),
            _ => value.parse().ok(),
        };
        let refused = || {
            Error::unsupported(
                30001,
                format!("`last_insert_id` cannot be set to {value}"),
                "set it to a whole number from 0 on",
            )
        };
        number.map(Self::LastInsertId).ok_or_else(refused)
    }
}

/// A refusal for a variable that would break multiplexing.
pub fn variable_refused(name: &str, why: &str) -> Error {
    Error::new(crate::error::ErrorKind::Variable(format!("variable `{name}` cannot be set: {why}")))
}
