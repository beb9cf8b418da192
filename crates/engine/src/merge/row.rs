//! A row on its way through the merge, and how to look into it.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use pando_kernel::column::Columns;
use pando_kernel::error::{Error, Result};
use pando_kernel::row::{Cell, Glimpse};
use pando_kernel::value::Value;

use super::key::{Key, KeySpec};
use super::number::Number;

/// One row: its frame as the stream gave it, and what differs from that.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The frame, in the form of the merge's [`Layout`].
    pub(super) frame: Bytes,
    /// Of the keys it is sorted by: how many of the first are equal to those of the row before; 0 when it is not sorted.
    pub(super) equal: usize,
    /// Fields that are not those of the frame, by column.
    pub(super) changed: Vec<(usize, Field)>,
}

/// A field that an aggregate gave, or that was computed.
#[derive(Debug, Clone)]
pub(super) enum Field {
    /// Wire bytes of another row; `None` is NULL.
    Raw(Option<Bytes>),
    /// A value to be written in the column's format.
    Value(Value),
}

impl Row {
    /// A row as it came, not sorted.
    pub(super) fn plain(frame: Bytes) -> Self {
        Self { frame, equal: 0, changed: Vec::new() }
    }

    fn changed(&self, column: usize) -> Option<&Field> {
        self.changed.iter().find(|(at, _)| *at == column).map(|(_, field)| field)
    }

    /// Bytes it holds in memory, roughly.
    pub(super) fn memory(&self) -> usize {
        let text = |field: &Field| match field {
            Field::Value(Value::Text(text)) => text.len(),
            Field::Value(_) | Field::Raw(_) => 0,
        };
        let changed =
            self.changed.iter().map(|(_, field)| size_of::<(usize, Field)>() + text(field));
        size_of::<Self>() + self.frame.len() + changed.sum::<usize>()
    }
}

/// The form of the rows inside the merge: that of the first stream.
#[derive(Debug)]
pub(super) struct Layout {
    /// All columns, derived ones included.
    pub(super) all: Columns,
    /// The columns the client sees.
    pub(super) output: Columns,
    fields: Vec<Option<Range<usize>>>,
}

impl Layout {
    /// A layout; `output` are the first of `all`.
    pub(super) fn new(all: Columns, output: Columns) -> Self {
        Self { all, output, fields: Vec::new() }
    }

    /// Splits a row for [`Layout::raw`] and [`Layout::value`], which speak of the row opened last.
    ///
    /// # Errors
    /// `Protocol` when the frame is broken.
    pub(super) fn open<'a>(&mut self, frame: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let (_, body) = self.all.codec.next(frame)?;
        self.all.codec.fields(&self.all.list, &body, &mut self.fields)?;
        Ok(body)
    }

    /// The wire bytes of a field.
    ///
    /// # Errors
    /// `Protocol` when the row has no such field.
    pub(super) fn raw<'a>(&self, body: &'a [u8], column: usize) -> Result<Option<&'a [u8]>> {
        let missing = || Error::protocol("a row has fewer fields than columns");
        match self.fields.get(column).ok_or_else(missing)? {
            None => Ok(None),
            Some(range) => body.get(range.clone()).ok_or_else(missing).map(Some),
        }
    }

    /// The decoded value of a field.
    ///
    /// # Errors
    /// `Protocol` when the row has no such field, `Value` when it cannot be decoded.
    pub(super) fn value(&self, body: &[u8], column: usize) -> Result<Value> {
        let raw = self.raw(body, column)?;
        self.decode(column, raw)
    }

    /// A field as a number; `None` is NULL.
    ///
    /// # Errors
    /// As [`Layout::value`], and `Value` when it is no number.
    pub(super) fn number(&self, body: &[u8], column: usize) -> Result<Option<Number>> {
        let Some(raw) = self.raw(body, column)? else { return Ok(None) };
        let described = self.all.list.get(column);
        let described = described.ok_or_else(|| Error::internal("a number has no column"))?;
        match self.all.codec.glimpse(described, raw)? {
            Glimpse::Int(number) => Ok(Some(Number::Int(number.into()))),
            Glimpse::Value(Value::Null) => Ok(None),
            Glimpse::Value(value) => Number::of(&value).map(Some),
            Glimpse::Octets(_) => Number::of(&self.decode(column, Some(raw))?).map(Some),
        }
    }

    fn decode(&self, column: usize, raw: Option<&[u8]>) -> Result<Value> {
        let described = self.all.list.get(column);
        let described = described.ok_or_else(|| Error::internal("a key has no column"))?;
        self.all.codec.value(described, raw)
    }

    /// Puts the keys of a row as it came into `keys`; they share its bytes.
    ///
    /// # Errors
    /// As [`Layout::open`] and [`Layout::value`].
    pub(super) fn keys(
        &mut self,
        frame: &Bytes,
        specs: &[KeySpec],
        keys: &mut Vec<Key>,
    ) -> Result<()> {
        keys.clear();
        let body = self.open(frame)?;
        for spec in specs {
            let raw = self.raw(&body, spec.column)?;
            keys.push(Key::of_field(frame, &self.all, spec.column, raw, spec.compare)?);
        }
        Ok(())
    }

    /// The keys of a row, what aggregates changed included.
    ///
    /// # Errors
    /// As [`Layout::keys`].
    pub(super) fn changed_keys(&mut self, row: &Row, specs: &[KeySpec]) -> Result<Vec<Key>> {
        let mut keys = Vec::with_capacity(specs.len());
        self.keys(&row.frame, specs, &mut keys)?;
        for (key, spec) in keys.iter_mut().zip(specs) {
            let value = match row.changed(spec.column) {
                None => continue,
                Some(Field::Raw(raw)) => self.decode(spec.column, raw.as_deref())?,
                Some(Field::Value(value)) => value.clone(),
            };
            *key = Key::of(value, spec.compare)?;
        }
        Ok(keys)
    }

    /// A frame whose fields are all NULL.
    ///
    /// # Errors
    /// What the codec says.
    pub(super) fn nulls(&self) -> Result<Bytes> {
        let cells = vec![Cell::Raw(None); self.all.list.len()];
        let mut out = BytesMut::new();
        self.all.codec.write(&self.all.list, &cells, &mut out)?;
        Ok(out.freeze())
    }

    /// The frame of a row, all its columns and what was changed of them.
    ///
    /// # Errors
    /// As [`Layout::write`].
    pub(super) fn rewritten(&mut self, row: &Row) -> Result<Bytes> {
        let body = self.open(&row.frame)?;
        let cells = self.cells(row, &body, self.all.list.len())?;
        let mut out = BytesMut::new();
        self.all.codec.write(&self.all.list, &cells, &mut out)?;
        Ok(out.freeze())
    }

    /// The first fields of the row opened last, with what was changed of them.
    fn cells<'r>(&self, row: &'r Row, body: &'r [u8], count: usize) -> Result<Vec<Cell<'r>>> {
        let cell = |column| {
            Ok(match row.changed(column) {
                None => Cell::Raw(self.raw(body, column)?),
                Some(Field::Raw(raw)) => Cell::Raw(raw.as_deref()),
                Some(Field::Value(value)) => Cell::Value(value),
            })
        };
        (0..count).map(cell).collect()
    }

    /// Appends the row as the client sees it.
    ///
    /// # Errors
    /// `Protocol` when the frame is broken, `Value` when an aggregate's result cannot be written as its column's type.
    pub(super) fn write(&mut self, row: &Row, out: &mut BytesMut) -> Result<()> {
        let visible = self.output.list.len();
        if row.changed.is_empty() && visible == self.all.list.len() {
            out.extend_from_slice(&row.frame);
            return Ok(());
        }
        let body = self.open(&row.frame)?;
        let cells = self.cells(row, &body, visible)?;
        self.output.codec.write(&self.output.list, &cells, out)
    }
}
