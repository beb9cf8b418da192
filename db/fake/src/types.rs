//! Columns and rows for scripts, written short.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::dialect::TableColumn;
use pando_kernel::{
    Cell, Column, Columns, Error, Kind, NeutralCodec, Result, RowCodec, Rows, Value,
};

/// Every kind with its name, as scripts and the catalogue rows of [`crate::FakeDialect`] spell it.
const NAMES: [(Kind, &str); 12] = [
    (Kind::Bool, "bool"),
    (Kind::Int, "int"),
    (Kind::UInt, "uint"),
    (Kind::Decimal, "decimal"),
    (Kind::Float, "float"),
    (Kind::Text, "text"),
    (Kind::Bytes, "bytes"),
    (Kind::Date, "date"),
    (Kind::Time, "time"),
    (Kind::Timestamp, "timestamp"),
    (Kind::TimestampTz, "timestamptz"),
    (Kind::Other, "other"),
];

/// The kind of this name.
///
/// # Errors
/// `Internal` when no kind has this name.
pub fn kind_from_name(name: &str) -> Result<Kind> {
    NAMES
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(kind, _)| *kind)
        .ok_or_else(|| Error::internal(format!("no kind is called `{name}`")))
}

/// The name of a kind; [`kind_from_name`] reads it back.
pub fn kind_name(kind: Kind) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == kind).map_or("other", |(_, name)| name)
}

/// Columns of a result in the neutral form, from (label, kind) pairs in order.
pub fn columns(list: &[(&str, Kind)]) -> Columns {
    let list = list.iter().map(|(name, kind)| Column::computed(*name, *kind)).collect();
    Columns { list, codec: Arc::new(NeutralCodec) }
}

/// Rows in the neutral form; each must have one value per column.
///
/// # Errors
/// `Internal` when a row has another width.
pub fn neutral_rows(columns: &Columns, rows: &[Vec<Value>]) -> Result<Rows> {
    let mut bytes = BytesMut::new();
    for row in rows {
        let cells: Vec<Cell<'_>> = row.iter().map(Cell::Value).collect();
        NeutralCodec.write(&columns.list, &cells, &mut bytes)?;
    }
    let count =
        u32::try_from(rows.len()).map_err(|_| Error::internal("too many rows in one chunk"))?;
    Ok(Rows { bytes: bytes.freeze(), count })
}

/// A nullable column of an actual table, in no key and of no collation.
pub fn table_column(name: &str, kind: Kind) -> TableColumn {
    TableColumn {
        name: name.to_owned(),
        kind,
        type_name: kind_name(kind).to_owned(),
        collation: String::new(),
        collate: String::new(),
        zone: None,
        primary_key: false,
        auto_increment: false,
        nullable: true,
        invisible: false,
        attribute: Default::default(),
        timed: None,
    }
}
