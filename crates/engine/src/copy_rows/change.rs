//! Which fields of bulk data are written anew: read by the rules of their form, turned, and written by the same rules.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::changes::{Turn, TurnedField};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::row::Cell;
use pando_kernel::{CellTurn, Column, Columns, Format, Value};

use super::MAX_RECORD;

/// What becomes of a field's value.
#[derive(Debug, Clone)]
pub(crate) enum FieldTurn {
    /// As it is stored.
    Stored(Turn),
    /// As it is told.
    Told(Arc<dyn CellTurn>),
}

impl FieldTurn {
    fn of(&self, value: Value) -> Result<Value> {
        match self {
            Self::Stored(turn) => turn.of(&value),
            Self::Told(turn) => turn.value(value),
        }
    }
}

/// What stands in the place of one field.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// Its place among the fields that come, from 0.
    pub(crate) at: usize,
    /// The field itself stays, in front of what it becomes.
    pub(crate) keeps: bool,
    /// What it becomes: so many fields.
    pub(crate) turns: Vec<FieldTurn>,
}

/// The fields of a record that are written anew.
#[derive(Debug)]
pub(crate) struct FieldChanges {
    /// By place, each once.
    list: Vec<Change>,
    /// The columns' names as the client knows them: one for each field that comes.
    names: Vec<String>,
    /// The columns by whose types values are read; without them lines hold texts.
    read: Option<Columns>,
    /// The columns by whose types they are written.
    written: Option<Columns>,
    /// Which columns are quoted whatever they hold.
    pub(super) forced: Vec<bool>,
}

/// A record with its fields written anew.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// It goes on so.
    Record(Bytes),
    /// It has so many fields, and should have another number of them.
    Miscounted(usize),
}

/// A field that is being written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    /// What becomes of it.
    pub(super) change: &'a Change,
    /// The place of what it becomes among the fields that go.
    pub(super) into: usize,
}

impl FieldChanges {
    /// Of fields that come from the client. `names` are its columns; the types are needed for the binary form only.
    pub(crate) fn stored(fields: &[TurnedField], names: Vec<String>) -> Self {
        let mut list: Vec<Change> = Vec::new();
        for field in fields {
            let turn = FieldTurn::Stored(field.turn.clone());
            let known = list.iter_mut().find(|known| known.at == field.at);
            let change = match known {
                Some(known) => known,
                None => {
                    list.push(Change { at: field.at, keeps: true, turns: Vec::new() });
                    let last = list.len() - 1;
                    &mut list[last]
                }
            };
            match field.is_further {
                true => change.turns.push(turn),
                false => {
                    change.keeps = false;
                    change.turns.insert(0, turn);
                }
            }
        }
        list.sort_by_key(|change| change.at);
        Self { list, names, read: None, written: None, forced: Vec::new() }
    }

    /// Of fields that go to the client: `read` are the columns as they are stored, `written` as they are told.
    pub(crate) fn told(list: Vec<Change>, read: Columns, written: Columns) -> Self {
        let names = written.list.iter().map(|column| column.name.clone()).collect();
        let (read, written) = (Some(read), Some(written));
        Self { list, names, read, written, forced: Vec::new() }
    }

    /// The columns that values of the binary form are read and written by.
    pub(crate) fn with_types(self, read: Columns, written: Columns) -> Self {
        Self { read: Some(read), written: Some(written), ..self }
    }

    /// How many fields a record has that comes.
    pub(crate) fn come(&self) -> usize {
        self.names.len()
    }

    /// How many fields a record has that goes.
    pub(crate) fn go(&self) -> usize {
        let further = |change: &Change| change.turns.len() + usize::from(change.keeps) - 1;
        self.names.len() + self.list.iter().map(further).sum::<usize>()
    }

    /// The first field that is turned and does not come.
    pub(crate) fn beyond(&self) -> Option<usize> {
        self.list.last().map(|change| change.at).filter(|at| *at >= self.names.len())
    }

    /// The columns as the client knows them.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether lines hold values of types, and not texts.
    pub(super) fn is_typed(&self) -> bool {
        self.read.is_some()
    }

    /// What becomes of a field.
    pub(super) fn at(&self, at: usize) -> Option<Standing<'_>> {
        let mut into = at;
        for change in &self.list {
            if change.at == at {
                return Some(Standing { change, into });
            }
            if change.at > at {
                return None;
            }
            into += change.turns.len() + usize::from(change.keeps) - 1;
        }
        None
    }

    /// The values that a field's value becomes, in their order; NULL stays.
    ///
    /// # Errors
    /// What a map says, naming the column.
    pub(super) fn values(&self, change: &Change, value: &Value) -> Result<Vec<Value>> {
        let turned = change.turns.iter().map(|turn| match value.is_null() {
            true => Ok(Value::Null),
            false => turn.of(value.clone()),
        });
        turned.collect::<Result<Vec<Value>>>().map_err(|error| self.named(change, error))
    }

    /// The value of a field that has a type.
    ///
    /// # Errors
    /// `Value` for one that is none of its type, naming the column.
    pub(super) fn value(&self, change: &Change, raw: &[u8], format: Format) -> Result<Value> {
        let columns = self.read.as_ref().ok_or_else(|| Error::internal("fields without types"))?;
        let column = columns.list.get(change.at);
        let mut column = column.ok_or_else(|| Error::internal("a field of no column"))?.clone();
        column.format = format;
        let value = columns.codec.value(&column, Some(raw));
        value.map_err(|error| self.named(change, error))
    }

    /// A value as its type has it; `None` is NULL.
    ///
    /// # Errors
    /// `Value` for one that its type cannot hold, naming the column.
    pub(super) fn raw(
        &self,
        standing: Standing<'_>,
        value: &Value,
        format: Format,
    ) -> Result<Option<Vec<u8>>> {
        if value.is_null() {
            return Ok(None);
        }
        let columns =
            self.written.as_ref().ok_or_else(|| Error::internal("fields without types"))?;
        let column = columns.list.get(standing.into);
        let mut column = column.ok_or_else(|| Error::internal("a field of no column"))?.clone();
        column.format = format;
        raw(columns, column, value).map_err(|error| self.named(standing.change, error))
    }

    /// Says which column a value is of that cannot be turned.
    pub(super) fn named(&self, change: &Change, error: Error) -> Error {
        match (error.kind(), self.names.get(change.at)) {
            (ErrorKind::Value(message), Some(name)) => {
                ErrorKind::Value(format!("column `{name}`: {message}")).into()
            }
            _ => error,
        }
    }
}

/// A value as a column of these has it.
///
/// # Errors
/// `Value` for one that its type cannot hold.
pub(super) fn raw(columns: &Columns, column: Column, value: &Value) -> Result<Option<Vec<u8>>> {
    let list = [column];
    let (mut frame, mut fields) = (BytesMut::new(), Vec::new());
    columns.codec.write(&list, &[Cell::Value(value)], &mut frame)?;
    let (_, body) = columns.codec.next(&frame)?;
    columns.codec.fields(&list, &body, &mut fields)?;
    let range = fields.into_iter().next().flatten();
    Ok(range.and_then(|range| body.get(range)).map(<[u8]>::to_vec))
}

/// A record, unless it has grown beyond what a record may be.
pub(super) fn bounded(record: BytesMut) -> Result<Bytes> {
    if record.len() > MAX_RECORD {
        let message = "a record of bulk data exceeds 64 MiB with its fields as they are stored";
        return Err(ErrorKind::TooLarge(message.into()).into());
    }
    Ok(record.freeze())
}
