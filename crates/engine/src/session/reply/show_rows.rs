//! Rows of a SHOW whose fields name actual tables, told in logic names.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::dialect::Dialect;
use pando_kernel::error::Result;
use pando_kernel::feature::Database;
use pando_kernel::presentation::Shown;
use pando_kernel::row::{Cell, Rows};
use pando_kernel::{Columns, Value};
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
    pub(in crate::session) fn of(
        database: &Database,
        kind: &Kind,
        unit: &str,
    ) -> Option<Box<Self>> {
        let Kind::Show(show) = kind else { return None };
        database.dialect.presentation()?;
        let dialect = Arc::clone(&database.dialect);
        let tables = shown_at(database, unit);
        Some(Box::new(Self { dialect, show: (**show).clone(), tables }))
    }

    /// The rows anew.
    ///
    /// # Errors
    /// `Protocol` and `Value` for rows that cannot be read or written.
    pub(in crate::session) fn rows(&self, columns: &Columns, rows: Rows) -> Result<Rows> {
        let Some(presentation) = self.dialect.presentation() else { return Ok(rows) };
        let mut out = BytesMut::with_capacity(rows.bytes.len());
        let mut fields = Vec::new();
        rows.for_each(columns, |body| {
            columns.codec.fields(&columns.list, body, &mut fields)?;
            let mut told: Vec<Option<Value>> = Vec::with_capacity(fields.len());
            for (column, field) in columns.list.iter().zip(&fields) {
                let raw = field.clone().and_then(|range| body.get(range));
                let text = match columns.codec.value(column, raw)? {
                    Value::Text(text) => Some(text),
                    Value::Bytes(bytes) => String::from_utf8(bytes.into()).ok(),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Int(_)
                    | Value::UInt(_)
                    | Value::Float(_)
                    | Value::Decimal(_) => None,
                };
                let new = text.and_then(|text| {
                    presentation.retell(&self.show, &column.name, &text, &self.tables)
                });
                told.push(new.map(Value::Text));
            }
            let cells: Vec<Cell<'_>> = told
                .iter()
                .zip(&fields)
                .map(|(told, field)| match told {
                    Some(value) => Cell::Value(value),
                    None => Cell::Raw(field.clone().and_then(|range| body.get(range))),
                })
                .collect();
            columns.codec.write(&columns.list, &cells, &mut out)
        })?;
        Ok(Rows { bytes: out.freeze(), count: rows.count })
    }
}
