//! What a statement was warned of, in rows.

use pando_kernel::{Column, Value};

/// Rows as the unit gave them, under its own labels.
#[derive(Debug, Default)]
pub(in crate::session) struct Warnings {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Value>>,
    /// How many there were, also of those that are not kept.
    pub(super) count: u64,
}

impl Warnings {
    /// The first that speaks of more than style.
    pub(in crate::session) fn first(&self) -> Option<String> {
        let is_warning = |row: &&Vec<Value>| matches!(row.first(), Some(Value::Text(level)) if !level.eq_ignore_ascii_case("note"));
        self.rows.iter().find(is_warning).map(|row| match row.last() {
            Some(Value::Text(message)) => message.clone(),
            _ => String::new(),
        })
    }

    pub(super) fn errors(&self) -> u64 {
        self.rows.iter().filter(|row| is_error(row)).count() as u64
    }
}

pub(in crate::session) fn is_error(row: &[Value]) -> bool {
    matches!(row.first(), Some(Value::Text(level)) if level.eq_ignore_ascii_case("error"))
}
