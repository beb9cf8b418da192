//! The language of MySQL and MariaDB, as the engine needs to know it.

mod alone;
mod clock;
mod counters;
mod effects;
mod folding;
mod health;
mod locks;
mod metadata;
mod ordering;
mod query_tables;
mod refill;
mod relations;
mod sequences;
mod transfer;
mod two_phase;
mod undo;
mod variables;
mod views;
mod waits;

use std::fmt::Write as _;

use pando_kernel::dialect::{Language, TableColumn, Takes, TransactionVerb};
use pando_kernel::{Guard, Kind, Parameter, Value};
use pando_sql::{Fold, Placeholder, Syntax};

use crate::types::{FAMILY, float_text};

pub(crate) use variables::{AT_LOGIN, IDLE, collation_of_login, latin1_collation, string_of};

/// The dialect of MySQL and MariaDB.
#[derive(Debug, Clone, Copy, Default)]
pub struct MySql;

/// The version text a door tells: a MySQL 8.0 that every driver knows how to treat, and who really answers.
pub const SERVER_VERSION: &str = concat!("8.0.36-Pando-", env!("CARGO_PKG_VERSION"));

/// The lexical and grammatical switches with MySQL's default SQL mode. Modes that change them cannot be set.
pub static SYNTAX: Syntax = Syntax {
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

impl Language for MySql {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn syntax(&self) -> &'static Syntax {
        &SYNTAX
    }

    fn guard(&self) -> Option<&dyn Guard> {
        Some(self)
    }

    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Bool(true) => "TRUE".to_owned(),
            Value::Bool(false) => "FALSE".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) => float_literal(*number),
            Value::Decimal(number) => number.to_plain_string(),
            Value::Text(text) => text_literal(text),
            Value::Bytes(bytes) => {
                bytes.iter().fold("X'".to_owned(), |mut text, byte| {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{byte:02X}");
                    text
                }) + "'"
            }
        }
    }

    /// A literal is a `BIGINT`. Negative ones stay: beside an unsigned column a server gives a parameter that column's type.
    fn lifted(&self, value: Value) -> Option<Parameter> {
        matches!(value, Value::Int(0..)).then(|| Parameter::made(value))
    }

    /// Integers only: beside a text a number compares as a floating point number, a parameter as a text. A year takes two digits for four.
    fn lifts_beside(&self, column: Option<&TableColumn>) -> bool {
        let is_integer = |column: &TableColumn| {
            let name = column.type_name.to_ascii_lowercase();
            matches!(column.kind, Kind::Int | Kind::UInt)
                && !["bit", "year"].iter().any(|other| name.starts_with(other))
        };
        column.is_some_and(is_integer)
    }

    /// What a number is told beside it, it is told where it is stored, too.
    fn lifts_into(&self, column: Option<&TableColumn>) -> Takes {
        if self.lifts_beside(column) { Takes::ANY_NUMBER } else { Takes::Nothing }
    }

    /// An error says which sum is out of range, and MySQL a parameter as `?`.
    fn lifts_sums(&self) -> bool {
        false
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
            // An isolation level is set by a statement of its own, before the transaction.
            TransactionVerb::BeforeBegin(modes) => {
                let level = modes.iter().find(|mode| mode.starts_with("ISOLATION"))?;
                format!("SET TRANSACTION {level}")
            }
            TransactionVerb::Begin(modes) => {
                let others = modes.iter().filter(|mode| !mode.starts_with("ISOLATION"));
                let others: Vec<&str> = others.map(String::as_str).collect();
                format!("START TRANSACTION {}", others.join(", ")).trim_end().to_owned()
            }
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
}

/// A literal with an exponent is a double; without one it would be a decimal.
fn float_literal(number: f64) -> String {
    let text = float_text(number);
    if text.contains('e') { text } else { format!("{text}e0") }
}

fn text_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    for letter in text.chars() {
        match letter {
            '\'' => literal.push_str("''"),
            '\\' => literal.push_str("\\\\"),
            '\0' => literal.push_str("\\0"),
            other => literal.push(other),
        }
    }
    literal.push('\'');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_safe_and_of_the_right_type() {
        let cases = [
            (Value::Null, "NULL"),
            (Value::Int(-1), "-1"),
            (Value::Float(1.5), "1.5e0"),
            (Value::Float(1e20), "1e20"),
            (Value::Text("a'b\\c\0".into()), "'a''b\\\\c\\0'"),
            (Value::Bytes(vec![0, 255].into()), "X'00FF'"),
            (Value::Decimal("1.50".parse().unwrap()), "1.50"),
        ];
        for (value, expected) in cases {
            assert_eq!(MySql.literal(&value), expected);
        }
        assert_eq!(MySql.quote("a`b"), "`a``b`");
    }

    #[test]
    fn transaction_verbs_have_their_texts() {
        let read_only = ["READ ONLY".to_owned(), "WITH CONSISTENT SNAPSHOT".to_owned()];
        let isolation = ["ISOLATION LEVEL SERIALIZABLE".to_owned()];
        let cases = [
            (TransactionVerb::Begin(&[]), Some("START TRANSACTION")),
            (
                TransactionVerb::Begin(&read_only),
                Some("START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT"),
            ),
            (TransactionVerb::Begin(&isolation), Some("START TRANSACTION")),
            (
                TransactionVerb::BeforeBegin(&isolation),
                Some("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
            ),
            (TransactionVerb::BeforeBegin(&read_only), None),
            (TransactionVerb::RollbackTo("s`1"), Some("ROLLBACK TO SAVEPOINT `s``1`")),
        ];
        for (verb, expected) in cases {
            assert_eq!(MySql.transaction(&verb).as_deref(), expected);
        }
    }
}
