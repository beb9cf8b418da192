//! Rows of a SHOW whose fields name actual tables, told in logic names.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::dialect::Dialect;
use pando_kernel::feature::Database;
use pando_kernel::presentation::Shown;
use pando_sql::ast::{Kind, Show};

use crate::plan::shown_at;

/// What is needed to retell the rows of one SHOW.
#[derive(Debug)]
pub(in crate::session) struct Retelling {
    dialect: Arc<dyn Dialect>,
    show: Show,
    tables: Vec<Shown>,
}

impl Retelling {
    /// `None` when the statement's rows can stay.
    pub(in crate::session) fn of(database: &Database, kind: &Kind, unit: &str) -> Option<Self> {
        let Kind::Show(show) = kind else { return None };
        database.dialect.presentation()?;
        let dialect = Arc::clone(&database.dialect);
        let tables = shown_at(database, unit);
        Some(Self { dialect, show: (**show).clone(), tables })
    }

    /// What is told in the place of a field; `None` when it can stay.
    pub(in crate::session) fn field(&self, column: &str, value: Value) -> Option<Value> {
        let text = match value {
            Value::Text(text) => text,
            Value::Bytes(bytes) => String::from_utf8(bytes.into()).ok()?,
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_) => return None,
        };
        let presentation = self.dialect.presentation()?;
        presentation.retell(&self.show, column, &text, &self.tables).map(Value::Text)
    }
}
