//! The columns of a result: names and declared types from SQLite, kinds of computed columns from the first rows.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::{
    Cell, Column, Columns, Format, Kind, Native, NeutralCodec, Result, RowCodec, Rows, Value,
};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};

use crate::dialect::FAMILY;
use crate::types::{Declared, common, declared, value};

/// The columns of a result as far as known.
#[derive(Debug)]
pub(crate) struct Shape {
    list: Vec<Column>,
    declared: Vec<Declared>,
    /// Nothing is declared for these: their values decide.
    open: Vec<bool>,
}

impl Shape {
    pub(crate) fn of(statement: &Statement<'_>) -> Self {
        let mut shape = Self { list: Vec::new(), declared: Vec::new(), open: Vec::new() };
        let metadata = statement.columns_with_metadata();
        for (column, origin) in statement.columns().zip(metadata) {
            let known = column.decl_type().map(declared);
            let text = |text: Option<&str>| text.unwrap_or("").to_owned();
            let own = known.unwrap_or(Declared::OPEN);
            shape.list.push(Column {
                name: column.name().to_owned(),
                kind: own.kind,
                format: Format::Text,
                native: Native {
                    family: FAMILY,
                    length: own.length,
                    decimals: own.scale.unwrap_or(0),
                    ..Native::default()
                },
                extended: Box::default(),
                table: text(origin.table_name()),
                origin_table: text(origin.table_name()),
                origin_name: text(origin.origin_name()),
                schema: String::new(),
            });
            shape.declared.push(own);
            shape.open.push(known.is_none());
        }
        shape
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.contains(&true)
    }

    /// Fills in what the statement tells of the open columns.
    pub(crate) fn learn(&mut self, told: &[Option<Declared>]) {
        for (at, told) in told.iter().enumerate() {
            if let Some(told) = told
                && self.open.get(at) == Some(&true)
            {
                self.open[at] = false;
                self.declared[at] = *told;
                self.list[at].kind = told.kind;
                self.list[at].native.decimals = told.scale.unwrap_or(0);
            }
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.list.len()
    }

    /// Decides the open columns by the first rows and brings those rows in line.
    pub(crate) fn settle(&mut self, first: &mut [Vec<Value>]) {
        for (at, _) in self.open.iter().enumerate().filter(|(_, open)| **open) {
            let kind = common(first.iter().filter_map(|row| row.get(at)));
            self.list[at].kind = kind;
            self.declared[at] = Declared::of(kind);
            if kind == Kind::Float {
                for value in first.iter_mut().filter_map(|row| row.get_mut(at)) {
                    if let Value::Int(number) = value {
                        *value = Value::Float(*number as f64);
                    }
                }
            }
        }
    }

    pub(crate) fn columns(&self) -> Columns {
        Columns { list: self.list.as_slice().into(), codec: Arc::new(NeutralCodec) }
    }

    /// The row's values, one per column.
    pub(crate) fn read(&self, row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
        let declared = self.declared.iter().enumerate();
        declared.map(|(at, declared)| Ok(value(row.get_ref(at)?, *declared))).collect()
    }
}

/// Bytes a row will take, roughly.
pub(crate) fn weight(row: &Row<'_>, columns: usize) -> usize {
    let field = |at| match row.get_ref(at) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len() + 5,
        Ok(ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_)) | Err(_) => 9,
    };
    (0..columns).map(field).sum()
}

/// Rows on their way to the reader.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: BytesMut,
    count: u32,
}

impl Chunk {
    pub(crate) const ROWS: u32 = 512;
    pub(crate) const BYTES: usize = 64 << 10;

    pub(crate) fn add(&mut self, shape: &Shape, row: &[Value]) -> Result<()> {
        let cells: Vec<Cell<'_>> = row.iter().map(Cell::Value).collect();
        NeutralCodec.write(&shape.list, &cells, &mut self.bytes)?;
        self.count += 1;
        Ok(())
    }

    pub(crate) fn full(&self) -> bool {
        self.count >= Self::ROWS || self.bytes.len() >= Self::BYTES
    }

    /// What it holds, leaving it empty; `None` when it holds nothing.
    pub(crate) fn take(&mut self) -> Option<Rows> {
        let chunk = std::mem::take(self);
        (chunk.count > 0).then(|| Rows { bytes: chunk.bytes.freeze(), count: chunk.count })
    }
}
