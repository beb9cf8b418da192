//! Rows of a SHOW whose fields name actual tables, told in logic names.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::dialect::Dialect;
use pando_kernel::dialect::Facts;
use pando_kernel::feature::Database;
use pando_kernel::presentation::{Shown, ShownColumn, Telling};
use pando_sql::ast::{Kind, Show};

use crate::plan::{columns_at, shown_at};

/// What is needed to retell the rows of one SHOW.
#[derive(Debug)]
pub(in crate::session) struct Retelling {
    dialect: Arc<dyn Dialect>,
    show: Show,
    tables: Vec<Shown>,
    columns: Vec<ShownColumn>,
    facts: Arc<Facts>,
}

impl Retelling {
    /// `None` when the statement's rows can stay.
    pub(in crate::session) fn of(
        database: &Database,
        facts: &Arc<Facts>,
        kind: &Kind,
        unit: &str,
    ) -> Option<Self> {
        let Kind::Show(show) = kind else { return None };
        database.dialect.presentation()?;
        let dialect = Arc::clone(&database.dialect);
        let (tables, columns) = (shown_at(database, unit), columns_at(database, unit));
        let (show, facts) = ((**show).clone(), Arc::clone(facts));
        Some(Self { dialect, show, tables, columns, facts })
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
        let telling = Telling { tables: &self.tables, columns: &self.columns, facts: &self.facts };
        presentation.retell(&self.show, column, &text, &telling).map(Value::Text)
    }
}
