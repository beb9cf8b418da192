//! SQLite as a language and a catalogue. The SQL it gets is written in a client's language, so its own is the union of what it can read.

use std::sync::Arc;

use pando_kernel::dialect::{
    CLIENT_LANGUAGE, Compare, Comparison, Equality, Facts, Language, Metadata, Ordering,
    TableColumn, TransactionVerb, VariableEffect, Variables,
};
use pando_kernel::own_session::OwnSession;
use pando_kernel::presentation::Presentation;
use pando_kernel::{Column, Dialect, Error, Guard, Kind, Result, Value};
use pando_sql::{Syntax, TokenKind, tokenize};

use crate::catalog;
use crate::literal::{hex, text_literal};
use crate::tongue::Tongue;
use crate::types::declared;

pub(crate) const FAMILY: &str = "sqlite";

/// The dialect of family `sqlite`. It reads what is the same in all languages, until it is asked for the one of a door.
#[derive(Debug, Clone, Copy, Default)]
pub struct SqliteDialect {
    tongue: Tongue,
}

impl SqliteDialect {
    /// The dialect of one door.
    pub(crate) fn speaking(tongue: Tongue) -> Self {
        Self { tongue }
    }

    pub(crate) fn tongue(&self) -> Tongue {
        self.tongue
    }
}

impl Language for SqliteDialect {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn syntax(&self) -> &'static Syntax {
        self.tongue.syntax()
    }

    fn guard(&self) -> Option<&dyn Guard> {
        Some(self)
    }

    fn quote(&self, name: &str) -> String {
        let mark = if self.syntax().double_quoted_strings { "`" } else { "\"" };
        format!("{mark}{}{mark}", name.replace(mark, &mark.repeat(2)))
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Bool(truth) => i32::from(*truth).to_string(),
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) if number.is_nan() => "NULL".to_owned(),
            Value::Float(number) if number.is_infinite() => {
                if *number > 0.0 { "9e999" } else { "-9e999" }.to_owned()
            }
            Value::Float(number) => format!("{number:e}"),
            Value::Decimal(number) => number.to_plain_string(),
            Value::Text(text) => text_literal(text),
            Value::Bytes(bytes) => format!("X'{}'", hex(bytes)),
        }
    }

    fn transaction(&self, verb: &TransactionVerb<'_>) -> Option<String> {
        Some(match verb {
            TransactionVerb::BeforeBegin(_) => return None,
            // A transaction that reads first and writes later could not wait for a lock (SQLite fails it at once), so writers queue up front.
            TransactionVerb::Begin(modes) if modes.iter().any(|mode| mode == "READ ONLY") => {
                "BEGIN DEFERRED".to_owned()
            }
            TransactionVerb::Begin(_) => "BEGIN IMMEDIATE".to_owned(),
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
        false
    }

    fn spoken_at(&self, door: &str) -> Option<Arc<dyn Dialect>> {
        let tongue = Tongue::of(door)?;
        Some(Arc::new(Self::speaking(tongue)))
    }
}

impl Metadata for SqliteDialect {
    fn columns_query(&self, schema: Option<&str>, table: &str) -> String {
        let vendors = schema.and_then(|schema| catalog::columns_query(schema, table, self.tongue));
        if let Some(query) = vendors {
            return query;
        }
        let table = text_literal(table);
        format!(
            "SELECT c.name, c.type, c.[notnull], c.pk, \
             (SELECT count(*) FROM pragma_table_xinfo({table}) AS k WHERE k.pk > 0), \
             (SELECT m.sql FROM sqlite_master AS m WHERE m.name = {table} COLLATE NOCASE AND m.type IN ('table', 'view')) \
             FROM pragma_table_xinfo({table}) AS c WHERE c.hidden <> 1 ORDER BY c.cid"
        )
    }

    fn read_column(&self, row: &[Value]) -> Result<TableColumn> {
        let [
            Value::Text(name),
            Value::Text(type_name),
            Value::Int(not_null),
            Value::Int(key),
            Value::Int(keys),
            definition,
        ] = row
        else {
            return Err(Error::internal("a catalogue row of SQLite has another shape"));
        };
        let definition = if let Value::Text(sql) = definition { sql } else { "" };
        let rowid = !ends_with(definition, &["WITHOUT", "ROWID"]);
        let is_rowid = rowid && *key > 0 && *keys == 1 && type_name.eq_ignore_ascii_case("INTEGER");
        let kind = declared(type_name).kind;
        let collation =
            if kind == Kind::Text { collation(definition, name) } else { String::new() };
        Ok(TableColumn {
            name: name.clone(),
            kind,
            type_name: type_name.clone(),
            collation,
            collate: String::new(),
            zone: None,
            primary_key: *key > 0,
            auto_increment: is_rowid,
            nullable: *not_null == 0 && !is_rowid,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        })
    }

    fn presentation(&self) -> Option<&dyn Presentation> {
        match self.tongue {
            Tongue::Any => None,
            Tongue::MySql | Tongue::Postgres => Some(self),
        }
    }

    fn indexes_query(&self) -> Option<String> {
        Some("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'".into())
    }

    fn names_query(&self) -> Option<String> {
        Some("SELECT tbl_name, name, 'index' FROM sqlite_master WHERE type = 'index'".into())
    }

    fn default_schema(&self) -> Option<&'static str> {
        (self.tongue == Tongue::Postgres).then_some("public")
    }

    fn settled_queries(&self, columns: &str, table: &str, most: usize) -> Vec<String> {
        // There is one writer at a time: this waits for him.
        let query = format!("SELECT {columns} FROM {table} LIMIT {most}");
        vec!["BEGIN IMMEDIATE".to_owned(), query]
    }

    fn tables_query(&self) -> String {
        "SELECT NULL, name FROM sqlite_master WHERE type IN ('table', 'view') \
         AND name NOT LIKE 'sqlite#_%' ESCAPE '#' ORDER BY name"
            .to_owned()
    }

    fn serves_every_door(&self) -> bool {
        true
    }
}

fn ends_with(sql: &str, words: &[&str]) -> bool {
    let Ok(tokens) = tokenize(sql, Tongue::Any.syntax()) else { return false };
    let tail = tokens.list.len().checked_sub(words.len()).and_then(|at| tokens.list.get(at..));
    tail.is_some_and(|tail| {
        tail.iter().zip(words).all(|(token, word)| token.span.of(sql).eq_ignore_ascii_case(word))
    })
}

/// The collation a CREATE TABLE text gives a column, upper-cased; `BINARY` when it gives none. SQLite's catalogue tells it nowhere else.
fn collation(sql: &str, column: &str) -> String {
    let binary = "BINARY".to_owned();
    let Ok(tokens) = tokenize(sql, Tongue::Any.syntax()) else { return binary };
    let (mut depth, mut starts, mut inside) = (0, false, false);
    let mut list = tokens.list.iter();
    while let Some(token) = list.next() {
        let text = token.span.of(sql);
        match text {
            "(" => {
                depth += 1;
                starts |= depth == 1;
            }
            ")" => depth -= 1,
            "," if depth == 1 => (starts, inside) = (true, false),
            _ if starts => {
                inside = unquoted(text, token.kind).eq_ignore_ascii_case(column);
                starts = false;
            }
            _ if inside
                && token.kind == TokenKind::Word
                && text.eq_ignore_ascii_case("COLLATE") =>
            {
                let name = list.next().map(|token| unquoted(token.span.of(sql), token.kind));
                return name.map_or(binary, |name| name.to_ascii_uppercase());
            }
            _ => {}
        }
    }
    binary
}

fn unquoted(text: &str, kind: TokenKind) -> String {
    if kind != TokenKind::QuotedIdentifier {
        return text.to_owned();
    }
    let mark = text.get(..1).unwrap_or("");
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    inner.replace(&mark.repeat(2), mark)
}

impl Ordering for SqliteDialect {
    fn nulls_first(&self) -> bool {
        true
    }

    fn comparison(&self, text: &str, info: Option<&TableColumn>) -> Comparison {
        if text.to_ascii_uppercase().contains("COLLATE") {
            return Comparison::Refuse(format!("the order of `{text}` is not known"));
        }
        let Some(info) = info else {
            return Comparison::ByResult { derive: None };
        };
        match (info.kind, info.collation.as_str()) {
            (Kind::Text, "" | "BINARY") => Comparison::Value(Compare::Bytes),
            // The collation folds what `lower` folds: ASCII letters.
            (Kind::Text, "NOCASE") => Comparison::Derive(format!("lower({text})")),
            (Kind::Text, "RTRIM") => Comparison::Derive(format!("rtrim({text})")),
            (Kind::Text, other) => {
                Comparison::Refuse(format!("the order of collation `{other}` is not known"))
            }
            (kind, _) => {
                compare(kind).map_or(Comparison::ByResult { derive: None }, Comparison::Value)
            }
        }
    }

    fn equality(&self, column: &TableColumn) -> Equality {
        match column.collation.as_str() {
            "" | "BINARY" => Equality::Exact,
            "RTRIM" => Equality::Padded,
            _ => Equality::Loose,
        }
    }

    fn compare_result(&self, column: &Column) -> Result<Compare> {
        compare(column.kind).ok_or_else(|| {
            Error::unmerged(
                30001,
                format!(
                    "the order of column `{}` is not known: its values share no type",
                    column.name
                ),
                "cast it to one type",
            )
        })
    }
}

/// Dates and times are text in standard form, and compare so in SQLite too.
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

impl OwnSession for SqliteDialect {}

impl Variables for SqliteDialect {
    fn set(&self, name: &str, value: &str) -> Result<VariableEffect> {
        if name == "autocommit" {
            let value = value.trim_matches('\'').to_ascii_lowercase();
            return Ok(VariableEffect::Autocommit(matches!(&*value, "1" | "on" | "true")));
        }
        if self.tongue == Tongue::MySql && matches!(name, "last_insert_id" | "identity") {
            return VariableEffect::last_insert_id(value);
        }
        let shown = name == CLIENT_LANGUAGE || catalog::is_known_setting(name, self.tongue);
        Ok(if shown { VariableEffect::Replay } else { VariableEffect::Ignore })
    }

    fn set_statement(&self, variables: &[(String, String)]) -> String {
        let language = variables.iter().find(|(name, _)| name == CLIENT_LANGUAGE);
        language.map_or_else(
            || "/* SQLite has no session variables of its own */".to_owned(),
            |(name, value)| format!("SET {name} = '{}'", value.trim_matches('\'')),
        )
    }

    fn mode_variable(&self, mode: &str) -> Option<(String, String)> {
        let level = mode.strip_prefix("ISOLATION LEVEL ")?;
        let (name, level) = match self.tongue {
            Tongue::MySql => ("transaction_isolation", level.replace(' ', "-")),
            Tongue::Postgres => ("default_transaction_isolation", level.to_lowercase()),
            Tongue::Any => return None,
        };
        Some((name.to_owned(), format!("'{level}'")))
    }

    fn session_function(&self, name: &str, facts: &Facts) -> Option<Value> {
        let database = || Some(facts.database.clone().map_or(Value::Null, Value::Text));
        let postgres = self.tongue == Tongue::Postgres;
        if let Some(variable) = name.strip_prefix("@@") {
            return catalog::mysql_variable(variable, facts);
        }
        match name {
            "database" | "schema" | "current_database" => database(),
            "current_catalog" if postgres => database(),
            "current_schema" if postgres => Some(Value::Text("public".to_owned())),
            "version" if postgres => Some(Value::Text(catalog::POSTGRES_VERSION.to_owned())),
            "version" if self.tongue == Tongue::MySql => catalog::mysql_variable("version", facts),
            "connection_id" | "pg_backend_pid" => Some(Value::UInt(u64::from(facts.id))),
            "last_insert_id" => Some(Value::UInt(facts.last_insert_id)),
            "row_count" => Some(Value::Int(facts.row_count)),
            "found_rows" => Some(Value::UInt(facts.found_rows)),
            "user" | "session_user" | "system_user" if self.tongue == Tongue::MySql => {
                Some(Value::Text(format!("{}@{}", facts.user, facts.host)))
            }
            "current_user" if self.tongue == Tongue::MySql => {
                Some(Value::Text(format!("{}@%", facts.user)))
            }
            "user" | "current_user" | "session_user" | "current_role" => {
                Some(Value::Text(facts.user.clone()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_read_back_as_the_same_value() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let check = |value: Value, expected: rusqlite::types::Value| {
            let sql = format!("SELECT {}", SqliteDialect::default().literal(&value));
            let read = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(expected, read, "{sql}");
        };
        use rusqlite::types::Value as Stored;
        check(Value::Null, Stored::Null);
        check(Value::Bool(true), Stored::Integer(1));
        check(Value::Int(i64::MIN + 1), Stored::Integer(i64::MIN + 1));
        check(Value::Float(0.1), Stored::Real(0.1));
        check(Value::Float(f64::INFINITY), Stored::Real(f64::INFINITY));
        check(Value::Text("it's \\ \"x\" é".into()), Stored::Text("it's \\ \"x\" é".into()));
        check(Value::Text("a\0b".into()), Stored::Text("a\0b".into()));
        check(Value::Bytes(vec![0, 255].into()), Stored::Blob(vec![0, 255]));
    }

    #[test]
    fn the_catalogue_tells_columns_in_table_order() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let create = "CREATE TABLE \"my t\" (id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL COLLATE NOCASE,
            note TEXT, price DECIMAL(10,2), twice AS (price * 2))";
        connection.execute_batch(create).unwrap();
        let sql = SqliteDialect::default().columns_query(None, "my t");
        let mut statement = connection.prepare(&sql).unwrap();
        let columns: Vec<TableColumn> = statement
            .query_map([], |row| {
                let row: Vec<Value> = (0..6)
                    .map(|at| {
                        crate::types::value(row.get_ref(at).unwrap(), crate::types::Declared::OPEN)
                    })
                    .collect();
                Ok(SqliteDialect::default().read_column(&row).unwrap())
            })
            .unwrap()
            .map(|column| column.unwrap())
            .collect();
        let told: Vec<(&str, Kind, &str, bool, bool, bool)> = columns
            .iter()
            .map(|c| (&*c.name, c.kind, &*c.collation, c.primary_key, c.auto_increment, c.nullable))
            .collect();
        assert_eq!(
            told,
            [
                ("id", Kind::Int, "", true, true, false),
                ("name", Kind::Text, "NOCASE", false, false, false),
                ("note", Kind::Text, "BINARY", false, false, true),
                ("price", Kind::Decimal, "", false, false, true),
                ("twice", Kind::Other, "", false, false, true),
            ]
        );
        assert_eq!(
            SqliteDialect::default().comparison("name", columns.get(1)),
            Comparison::Derive("lower(name)".into())
        );
        let tables: String = connection
            .query_row(&SqliteDialect::default().tables_query(), [], |row| row.get(1))
            .unwrap();
        assert_eq!(tables, "my t");
    }

    #[test]
    fn a_quoted_name_is_one_name_in_the_language_of_the_door() {
        assert_eq!(SqliteDialect::default().quote("a\"b"), "\"a\"\"b\"");
        let mysql = SqliteDialect::default().spoken_at("mysql").unwrap();
        assert_eq!(mysql.quote("a`b"), "`a``b`");
        assert!(SqliteDialect::default().spoken_at("unknown").is_none());
    }

    #[test]
    fn transactions_that_may_write_queue_up_front() {
        let begin =
            |modes: &[String]| SqliteDialect::default().transaction(&TransactionVerb::Begin(modes));
        assert_eq!(begin(&[]).as_deref(), Some("BEGIN IMMEDIATE"));
        assert_eq!(begin(&["READ ONLY".to_owned()]).as_deref(), Some("BEGIN DEFERRED"));
    }
}
