//! A configurable language: plain fields instead of a vendor.

use pando_kernel::dialect::{
    Compare, Comparison, Facts, Language, Metadata, Ordering, TableColumn, TransactionVerb,
    VariableEffect, Variables, variable_refused,
};
use pando_kernel::own_session::OwnSession;
use pando_kernel::presentation::Presentation;
use pando_kernel::transfer::{Field, Obstacles, Transfer};
use pando_kernel::waits::{Server, Waits};
use pando_kernel::{Column, Effectful, Effects, Error, Kind, Result, ServerError, Value};

use pando_sql::{Fold, Modes, Placeholder, Syntax};

use crate::error::server_error;
use crate::types::kind_from_name;

/// A language with backtick identifiers, double-quoted strings, backslash escapes and `?`.
pub const BACKTICK: Syntax = Syntax {
    fold: Fold::Keep,
    exact_tables: false,
    placeholder: Placeholder::Question,
    backtick_identifiers: true,
    double_quoted_strings: true,
    backslash_escapes: true,
    dollar_strings: false,
    hash_comments: true,
    dash_comment_needs_space: true,
    nested_comments: false,
    executable_comments: true,
    casts_with_colons: false,
    limit_with_comma: true,
    pipes_concatenate: false,
};

/// A language with double-quoted identifiers, dollar strings, `::` casts and `$1`.
pub const STANDARD: Syntax = Syntax {
    fold: Fold::Lower,
    exact_tables: true,
    placeholder: Placeholder::Dollar,
    backtick_identifiers: false,
    double_quoted_strings: false,
    backslash_escapes: false,
    dollar_strings: true,
    hash_comments: false,
    dash_comment_needs_space: false,
    nested_comments: true,
    executable_comments: false,
    casts_with_colons: true,
    limit_with_comma: false,
    pipes_concatenate: true,
};

/// The language of a fake unit. The default is family `fake` with [`STANDARD`].
#[derive(Debug, Clone, Copy)]
pub struct FakeDialect {
    /// What [`Language::family`] tells.
    pub family: &'static str,
    /// What [`Language::syntax`] tells.
    pub syntax: &'static Syntax,
    /// What [`Ordering::nulls_first`] tells.
    pub nulls_first: bool,
    /// What [`Language::error_fails_transaction`] tells; the backend behaves so too.
    pub error_fails_transaction: bool,
    /// Whether [`Language::transfer`] tells how rows travel.
    pub transfers: bool,
    /// Whether [`Metadata::effects`] tells of functions with effects; none has any then.
    pub has_effects: bool,
    /// Whether [`Metadata::presentation`] tells of a catalogue: clients ask for what they were warned of then, instead of being
    /// told beside the reply.
    pub counts_warnings: bool,
}

impl Default for FakeDialect {
    fn default() -> Self {
        Self {
            family: "fake",
            syntax: &STANDARD,
            nulls_first: false,
            error_fails_transaction: false,
            transfers: false,
            has_effects: false,
            counts_warnings: false,
        }
    }
}

/// What a fake unit is asked for its name.
pub const WHO_ARE_YOU: &str = "WHO ARE YOU";
/// What a fake unit is asked for what has effects.
pub const WHAT_HAS_EFFECTS: &str = "WHAT HAS EFFECTS";
/// What a fake unit is asked about waits.
pub const WHO_WAITS: &str = "WHO WAITS";

impl Waits for FakeDialect {
    fn server_query(&self) -> &'static str {
        WHO_ARE_YOU
    }

    fn read_server(&self, row: &[Value]) -> Result<Server> {
        let [Value::Text(name)] = row else { return Err(Error::internal("a name is a text")) };
        Ok(Server { name: name.as_str().into(), waits: WHO_WAITS, untold: None })
    }

    fn deadlock(&self) -> ServerError {
        let (number, sqlstate) =
            if self.error_fails_transaction { (0, "40P01") } else { (1213, "40001") };
        ServerError { number, ..server_error(sqlstate, "deadlock") }
    }
}

impl Effects for FakeDialect {
    fn query(&self) -> &'static str {
        WHAT_HAS_EFFECTS
    }

    fn read(&self, _rows: &[Vec<Value>]) -> Effectful {
        Effectful::default()
    }

    fn is_harmless(&self, _function: &str) -> bool {
        true
    }
}

impl Transfer for FakeDialect {
    fn literal(&self, field: &Field<'_>, _to: Option<&TableColumn>) -> Result<String> {
        Ok(Language::literal(self, &field.codec.value(field.column, Some(field.bytes))?))
    }

    fn typed_as(&self, _to: &TableColumn) -> String {
        String::new()
    }

    fn keep_given(&self) -> &'static str {
        ""
    }
}

impl Obstacles for FakeDialect {
    fn obstacles_query(&self, _schema: Option<&str>, table: &str) -> String {
        format!("SHOW OBSTACLES OF {}", self.quote(table))
    }
}

impl Language for FakeDialect {
    fn transfer(&self) -> Option<&dyn Transfer> {
        self.transfers.then_some(self)
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }

    fn family(&self) -> &'static str {
        self.family
    }

    fn syntax(&self) -> &'static Syntax {
        self.syntax
    }

    fn quote(&self, name: &str) -> String {
        let mark = if self.syntax.backtick_identifiers { "`" } else { "\"" };
        format!("{mark}{}{mark}", name.replace(mark, &mark.repeat(2)))
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Bool(true) => "TRUE".to_owned(),
            Value::Bool(false) => "FALSE".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) => format!("{number:e}"),
            Value::Decimal(number) => number.to_plain_string(),
            Value::Text(text) if self.syntax.backslash_escapes => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
            }
            Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Value::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("X'{hex}'")
            }
        }
    }

    fn transaction(&self, verb: &TransactionVerb<'_>) -> Option<String> {
        Some(match verb {
            TransactionVerb::BeforeBegin(_) => return None,
            TransactionVerb::Begin([]) => "BEGIN".to_owned(),
            TransactionVerb::Begin(modes) => format!("BEGIN {}", modes.join(" ")),
            TransactionVerb::Commit => "COMMIT".to_owned(),
            TransactionVerb::Rollback => "ROLLBACK".to_owned(),
            TransactionVerb::Savepoint(name) => format!("SAVEPOINT {}", self.quote(name)),
            TransactionVerb::Release(name) => format!("RELEASE SAVEPOINT {}", self.quote(name)),
            TransactionVerb::RollbackTo(name) => {
                format!("ROLLBACK TO SAVEPOINT {}", self.quote(name))
            }
        })
    }

    fn error_fails_transaction(&self) -> bool {
        self.error_fails_transaction
    }
}

impl Metadata for FakeDialect {
    fn presentation(&self) -> Option<&dyn Presentation> {
        self.counts_warnings.then_some(self)
    }

    fn effects(&self) -> Option<&dyn Effects> {
        self.has_effects.then_some(self)
    }

    fn columns_query(&self, schema: Option<&str>, table: &str) -> String {
        schema.map_or_else(
            || format!("SHOW COLUMNS FROM {}", self.quote(table)),
            |schema| format!("SHOW COLUMNS FROM {}.{}", self.quote(schema), self.quote(table)),
        )
    }

    fn read_column(&self, row: &[Value]) -> Result<TableColumn> {
        let [
            Value::Text(name),
            Value::Text(kind),
            Value::Text(type_name),
            Value::Text(collation),
            Value::Bool(primary_key),
            Value::Bool(auto_increment),
            Value::Bool(nullable),
        ] = row
        else {
            return Err(Error::internal("a catalogue row of a fake unit has seven fields"));
        };
        Ok(TableColumn {
            name: name.clone(),
            kind: kind_from_name(kind)?,
            type_name: type_name.clone(),
            collation: collation.clone(),
            collate: String::new(),
            zone: None,
            primary_key: *primary_key,
            auto_increment: *auto_increment,
            nullable: *nullable,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        })
    }

    fn settled_queries(&self, columns: &str, table: &str, most: usize) -> Vec<String> {
        vec![format!("SELECT {columns} FROM {table} LIMIT {most}")]
    }

    fn tables_query(&self) -> String {
        "SHOW TABLES".to_owned()
    }

    fn default_schema(&self) -> Option<&'static str> {
        self.error_fails_transaction.then_some("public")
    }
}

impl Ordering for FakeDialect {
    fn nulls_first(&self) -> bool {
        self.nulls_first
    }

    fn comparison(&self, text: &str, info: Option<&TableColumn>) -> Comparison {
        let Some(info) = info else {
            return Comparison::ByResult { derive: None };
        };
        if info.kind == Kind::Text && !info.collation.is_empty() {
            return Comparison::Derive(format!("WEIGHT_STRING({text})"));
        }
        compare(info.kind).map_or_else(
            || Comparison::Refuse(format!("the order of `{}` is not known", info.name)),
            Comparison::Value,
        )
    }

    fn compare_result(&self, column: &Column) -> Result<Compare> {
        compare(column.kind).ok_or_else(|| {
            Error::unmerged(30001, format!("the order of `{}` is not known", column.name), "")
        })
    }
}

fn compare(kind: Kind) -> Option<Compare> {
    match kind {
        Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => Some(Compare::Number),
        Kind::Text
        | Kind::Bytes
        | Kind::Date
        | Kind::Time
        | Kind::Timestamp
        | Kind::TimestampTz => Some(Compare::Bytes),
        Kind::Other => None,
    }
}

/// The variable that says how texts are read.
const SQL_MODE: &str = "sql_mode";

impl OwnSession for FakeDialect {
    /// ANSI, of all modes, is a group of those that have `||` join texts.
    fn modes(&self, told: &[(String, String)]) -> Modes {
        let pipes_concatenate = told.iter().any(|(name, mode)| name == SQL_MODE && mode == "ANSI");
        Modes { pipes_concatenate, ..Modes::default() }
    }
}

impl Variables for FakeDialect {
    fn set(&self, name: &str, value: &str) -> Result<VariableEffect> {
        match name {
            "autocommit" => Ok(VariableEffect::Autocommit(matches!(value, "1" | "ON" | "on"))),
            "reported" => Ok(VariableEffect::Report {
                name: "Reported".to_owned(),
                value: value.trim_matches('\'').to_owned(),
            }),
            "last_insert_id" => VariableEffect::last_insert_id(value),
            _ if name.starts_with("ignored") => Ok(VariableEffect::Ignore),
            _ if name.starts_with("refused") => Err(variable_refused(name, "the test says so")),
            _ => Ok(VariableEffect::Replay),
        }
    }

    fn told(&self, name: &str, value: &str) -> Vec<(String, String)> {
        match name {
            SQL_MODE => vec![(name.to_owned(), value.trim_matches('\'').to_owned())],
            _ => Vec::new(),
        }
    }

    fn set_statement(&self, variables: &[(String, String)]) -> String {
        let list: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("SET {}", list.join(", "))
    }

    fn session_function(&self, name: &str, facts: &Facts) -> Option<Value> {
        match name {
            "database" | "current_database" => {
                Some(facts.database.clone().map_or(Value::Null, Value::Text))
            }
            "connection_id" | "pg_backend_pid" => Some(Value::UInt(u64::from(facts.id))),
            "last_insert_id" => Some(Value::UInt(facts.last_insert_id)),
            _ => None,
        }
    }
}
