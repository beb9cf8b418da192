//! Bulk data: cutting it into records, reading the fields that routing needs, writing those anew that rooms turn, and
//! making one reply of several. All other fields are passed on byte for byte.

mod binary;
#[cfg(test)]
mod cases;
mod change;
#[cfg(test)]
mod changed_cases;
mod encode;
mod form;
mod line;
mod retell;
mod row_count;
mod splice;
mod step;
mod write;
mod written;

use bytes::Bytes;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::{Columns, Value};
use pando_sql::ast::{Copy, Load};

use binary::Tuples;
pub(crate) use change::{Change, Changed, FieldChanges, FieldTurn};
pub(crate) use encode::Encoder;
use form::Form;
use line::Lines;
pub(crate) use retell::Retell;
pub(crate) use row_count::RowCount;
pub(crate) use splice::Splice;

/// Longest record, in bytes.
const MAX_RECORD: usize = 64 << 20;

/// Records out of what a client sends.
#[derive(Debug)]
pub(crate) enum Records {
    /// Lines of text or CSV.
    Lines(Box<Lines>),
    /// Tuples of the binary form.
    Tuples(Box<Tuples>),
}

impl Records {
    /// What a COPY FROM brings.
    ///
    /// # Errors
    /// `Refused` for a form that cannot be routed, `Value` for one that is none.
    pub(crate) fn of_copy(copy: &Copy) -> Result<Self> {
        match form::is_binary(copy) {
            true => Ok(Self::Tuples(Box::default())),
            false => Ok(Self::Lines(Box::new(Lines::new(Form::of_copy(copy)?)))),
        }
    }

    /// What a LOAD DATA brings.
    ///
    /// # Errors
    /// As [`Records::of_copy`].
    pub(crate) fn of_load(load: &Load) -> Result<Self> {
        Ok(Self::Lines(Box::new(Lines::new(Form::of_load(load)?))))
    }

    /// Adds data from the client.
    pub(crate) fn push(&mut self, data: &Bytes) {
        match self {
            Self::Lines(lines) => lines.push(data),
            Self::Tuples(tuples) => tuples.push(data),
        }
    }

    /// The next whole record; at the end of the data (`last`) also one whose end is only that.
    ///
    /// # Errors
    /// `TooLarge`, and the server's own error for data that is cut off or of another form.
    pub(crate) fn next(&mut self, last: bool) -> Result<Option<Bytes>> {
        match self {
            Self::Lines(lines) => lines.next(last),
            Self::Tuples(tuples) => tuples.next(last),
        }
    }

    /// The fields of a record. `columns` are those of the table, needed for the binary form.
    ///
    /// # Errors
    /// `Value` when a field cannot be read.
    pub(crate) fn fields(&self, record: &[u8], columns: Option<&Columns>) -> Result<Vec<Value>> {
        match self {
            Self::Lines(lines) => lines.fields(record),
            Self::Tuples(_) => binary::fields(record, columns),
        }
    }

    /// The character set in which the server reads the lines, where the statement does not say.
    ///
    /// # Errors
    /// `Refused` for one that cannot be read here.
    pub(crate) fn reads_as(&mut self, charset: &str) -> Result<()> {
        match self {
            Self::Lines(lines) => lines.reads_as(charset),
            Self::Tuples(_) => Ok(()),
        }
    }

    /// What every batch begins and ends with.
    pub(crate) fn frame(&self) -> (Bytes, Bytes) {
        match self {
            Self::Lines(lines) => (lines.skipped(), Bytes::new()),
            Self::Tuples(_) => {
                (Bytes::from_static(binary::HEADER), Bytes::from_static(binary::TRAILER))
            }
        }
    }
}

/// The server's own error for bulk data that is not of the form it should have (22P04); `context` says where.
pub(crate) fn malformed(message: impl Into<String>, context: Option<String>) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        sqlstate: "22P04".into(),
        message: message.into(),
        severity: "ERROR".into(),
        fields: context.into_iter().map(|context| (b'W', context)).collect(),
        ..ServerError::default()
    }))
    .into()
}
