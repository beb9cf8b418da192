//! What the engine must know of PostgreSQL's language.

mod alone;
mod clock;
mod effects;
mod health;
mod locks;
pub(crate) mod metadata;
mod notifications;
mod oids;
mod ordering;
mod query_tables;
mod refill;
mod relations;
mod sequences;
mod takes;
mod transfer;
mod triggers;
mod two_phase;
mod type_name;
mod undo;
pub(crate) mod variables;
pub(crate) mod views;
mod waits;

use std::fmt::Write as _;

use pando_kernel::dialect::{Language, TableColumn, Takes, TransactionVerb};
use pando_kernel::{Guard, Native, Parameter, Value};
use pando_sql::{Fold, Placeholder, Syntax};

use crate::types::oid;

/// The database that every server has, and that clients log in to when they want none in particular.
pub(crate) const POSTGRES: &str = "postgres";
/// The same where that is missing: tools that make databases go there then.
pub(crate) const TEMPLATE: &str = "template1";

/// PostgreSQL's language, catalogue, order and variables.
#[derive(Debug, Default, Clone, Copy)]
pub struct Postgres;

/// How PostgreSQL's texts are read.
/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html>
pub const SYNTAX: Syntax = Syntax {
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

impl Language for Postgres {
    fn family(&self) -> &'static str {
        crate::types::FAMILY
    }

    fn syntax(&self) -> &'static Syntax {
        &SYNTAX
    }

    fn guard(&self) -> Option<&dyn Guard> {
        Some(self)
    }

    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Null => "NULL".into(),
            Value::Bool(true) => "TRUE".into(),
            Value::Bool(false) => "FALSE".into(),
            Value::Int(number) => signed(number.to_string()),
            Value::UInt(number) => number.to_string(),
            Value::Decimal(number) => signed(number.to_plain_string()),
            // A bare number would be a numeric.
            Value::Float(number) if number.is_nan() => "'NaN'::float8".into(),
            Value::Float(number) if number.is_infinite() => {
                let sign = if *number < 0.0 { "-" } else { "" };
                format!("'{sign}Infinity'::float8")
            }
            Value::Float(number) => format!("'{number:e}'::float8"),
            Value::Text(text) => text_literal(text),
            Value::Bytes(bytes) => {
                let mut literal = String::with_capacity(bytes.len() * 2 + 12);
                literal.push_str("'\\x");
                for byte in bytes {
                    let _ = write!(literal, "{byte:02x}");
                }
                literal + "'::bytea"
            }
        }
    }

    fn type_number(&self, name: &str) -> Option<u32> {
        type_name::number(name)
    }

    /// A constant is an `integer` when it fits, else a `bigint` when that holds it; a minus in front belongs to it. A string has no type of its own; assigned to a
    /// text it comes to the same whether it is read as one or is one.
    /// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-CONSTANTS-NUMERIC>
    fn lifted(&self, value: Value) -> Option<Parameter> {
        let type_id = match &value {
            Value::Int(number) if i32::try_from(*number).is_ok() => oid::INT4,
            Value::Int(_) => oid::INT8,
            Value::Text(_) => oid::TEXT,
            Value::Null
            | Value::Bool(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => return None,
        };
        let native = Native { family: crate::types::FAMILY, type_id, ..Native::default() };
        Some(Parameter { native, ..Parameter::made(value) })
    }

    fn lifts_beside(&self, column: Option<&TableColumn>) -> bool {
        column.is_some_and(takes::is_number)
    }

    fn lifts_into(&self, column: Option<&TableColumn>) -> Takes {
        column.map_or(Takes::Nothing, takes::takes)
    }

    fn two_phase(&self) -> Option<&dyn pando_kernel::TwoPhase> {
        Some(self)
    }

    fn relations(&self) -> Option<&dyn pando_kernel::relation::Relations> {
        Some(self)
    }

    fn waits(&self) -> Option<&dyn pando_kernel::waits::Waits> {
        Some(self)
    }

    fn sequences(&self) -> Option<&dyn pando_kernel::sequences::Sequences> {
        Some(self)
    }

    fn transfer(&self) -> Option<&dyn pando_kernel::transfer::Transfer> {
        Some(self)
    }

    fn undo(&self) -> Option<&dyn pando_kernel::undo::Undo> {
        Some(self)
    }

    fn transaction(&self, verb: &TransactionVerb<'_>) -> Option<String> {
        Some(match verb {
            TransactionVerb::BeforeBegin(_) => return None,
            TransactionVerb::Begin([]) => "BEGIN".into(),
            TransactionVerb::Begin(modes) => format!("BEGIN {}", modes.join(" ")),
            TransactionVerb::Commit => "COMMIT".into(),
            TransactionVerb::Rollback => "ROLLBACK".into(),
            TransactionVerb::Savepoint(name) => format!("SAVEPOINT {}", self.quote(name)),
            TransactionVerb::Release(name) => format!("RELEASE SAVEPOINT {}", self.quote(name)),
            TransactionVerb::RollbackTo(name) => {
                format!("ROLLBACK TO SAVEPOINT {}", self.quote(name))
            }
        })
    }

    fn error_fails_transaction(&self) -> bool {
        true
    }
}

/// A number that may stand behind any operator: `a--1` would be a comment.
fn signed(number: String) -> String {
    if number.starts_with('-') { format!("({number})") } else { number }
}

/// A string that means the same whether or not `standard_conforming_strings` is on.
fn text_literal(text: &str) -> String {
    let text = text.replace('\'', "''");
    if text.contains('\\') {
        // The space keeps the E from growing together with a word before it.
        format!(" E'{}'", text.replace('\\', "\\\\"))
    } else {
        format!("'{text}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_so_that_none_can_break_out() {
        assert_eq!(Postgres.quote("a\"; DROP TABLE t"), "\"a\"\"; DROP TABLE t\"");
    }

    #[test]
    fn literals_mean_their_value() {
        for (value, text) in [
            (Value::Null, "NULL"),
            (Value::Int(-5), "(-5)"),
            (Value::UInt(u64::MAX), "18446744073709551615"),
            (Value::Float(1.5), "'1.5e0'::float8"),
            (Value::Float(f64::NEG_INFINITY), "'-Infinity'::float8"),
            (Value::Text("it's".into()), "'it''s'"),
            (Value::Text("a\\'b".into()), " E'a\\\\''b'"),
            (Value::Bytes(vec![0, 255].into()), "'\\x00ff'::bytea"),
        ] {
            assert_eq!(Postgres.literal(&value), text);
        }
    }

    #[test]
    fn transaction_verbs_are_postgresqls() {
        let modes = ["READ ONLY".to_owned()];
        let text = |verb| Postgres.transaction(&verb);
        assert_eq!(text(TransactionVerb::Begin(&modes)).as_deref(), Some("BEGIN READ ONLY"));
        let to = text(TransactionVerb::RollbackTo("s"));
        assert_eq!(to.as_deref(), Some("ROLLBACK TO SAVEPOINT \"s\""));
    }
}
