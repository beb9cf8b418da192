//! The description of a result's columns.

use std::sync::Arc;

use crate::row::RowCodec;
use crate::value::Kind;

/// How a value is written on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// As characters.
    #[default]
    Text,
    /// In the vendor's binary form.
    Binary,
}

/// A vendor's own description of a type. Zero where the vendor has no such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Native {
    /// Which database family the other fields belong to: the `Dialect::family` name.
    pub family: &'static str,
    /// Type OID, or the type byte of a column definition.
    pub type_id: u32,
    /// Declared length in the vendor's unit.
    pub length: i64,
    /// Type modifier.
    pub modifier: i32,
    /// Flags of a column definition.
    pub flags: u16,
    /// Character set (collation) number.
    pub charset: u16,
    /// Decimals of a column definition.
    pub decimals: u8,
    /// The relation's OID, 0 when the column is computed.
    pub relation: u32,
    /// The attribute's number in the relation.
    pub attribute: i16,
}

/// Where a column of a table stands, by the vendor's numbers; zeros where the vendor has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attribute {
    /// As [`Native::relation`].
    pub relation: u32,
    /// As [`Native::attribute`].
    pub number: i16,
}

/// One column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The label the client sees.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// How its values are written in the rows that follow.
    pub format: Format,
    /// The vendor's own description.
    pub native: Native,
    /// What the vendor says of the type besides, in its own form (MariaDB's names of types and formats); empty where
    /// it says nothing.
    pub extended: Box<[u8]>,
    /// Table alias; empty when computed or unknown.
    pub table: String,
    /// The table's own name; empty when computed or unknown.
    pub origin_table: String,
    /// The column's own name; empty when computed or unknown.
    pub origin_name: String,
    /// The database (schema) of the table; empty when unknown.
    pub schema: String,
}

impl Column {
    /// A column of computed values in text form that no vendor described.
    pub fn computed(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            format: Format::Text,
            native: Native::default(),
            extended: Box::default(),
            table: String::new(),
            origin_table: String::new(),
            origin_name: String::new(),
            schema: String::new(),
        }
    }
}

/// The columns of a result and the form its rows come in.
#[derive(Debug, Clone)]
pub struct Columns {
    /// In select-list order; may be empty (PostgreSQL allows `SELECT FROM t`). Shared: most replies of a statement have the columns of the one before.
    pub list: Arc<[Column]>,
    /// Reads and writes the rows that follow.
    pub codec: Arc<dyn RowCodec>,
}
