//! The lines of COPY TO as the client is told of them: fields that are stored otherwise are turned, and the header has
//! the client's names.

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, Result};
use pando_sql::ast::Copy;

use super::encode::{csv_line, quoted, text_line};
use super::form::{self, Form};
use super::write::Quoting;
use super::{Changed, FieldChanges, Records, binary};

/// A stream under way to the client.
#[derive(Debug)]
pub(crate) struct Retell {
    records: Records,
    changes: FieldChanges,
    /// Comes in front of the first line.
    head: Option<Bytes>,
    /// The header of the binary form, which is not told alone, until it has been told.
    front: BytesMut,
}

impl Retell {
    /// For a COPY TO. The changes are those of its columns.
    ///
    /// # Errors
    /// `Refused` for a form that is not known.
    pub(crate) fn new(copy: &Copy, changes: FieldChanges) -> Result<Self> {
        let mut changes = changes;
        let (mut head, mut front) = (None, BytesMut::new());
        if form::is_binary(copy) {
            front.extend_from_slice(binary::HEADER);
        } else {
            let form = Form::of_copy(copy)?;
            // A server writes any other mark as it writes a value of the same letters.
            if form.quote.is_none() && form.null != b"\\N" {
                return Err(form::refused("COPY TO in text with another mark for NULL"));
            }
            if form.quote.is_some() {
                let forced = quoted(copy)?;
                changes.forced = changes.names().iter().map(|name| forced.has(name)).collect();
            }
            head = (form.skip > 0).then(|| header(&form, changes.names()));
        }
        Ok(Self { records: Records::of_copy(copy)?, changes, head, front })
    }

    /// What comes in front of the first line.
    pub(crate) fn head(&mut self) -> Option<Bytes> {
        self.head.take()
    }

    /// A piece of the stream. Returns the whole records that are there with it, one piece each.
    ///
    /// # Errors
    /// What a room says of a value that it cannot tell; 22P04 and `Internal` for what is no such stream.
    pub(crate) fn data(&mut self, data: &Bytes) -> Result<Vec<Bytes>> {
        self.records.push(data);
        let mut out = Vec::new();
        while let Some(record) = self.records.next(false)? {
            out.push(self.told(&record)?);
        }
        Ok(out)
    }

    /// The stream is at its end. Returns what is left of it.
    ///
    /// # Errors
    /// As [`Retell::data`].
    pub(crate) fn end(&mut self) -> Result<Vec<Bytes>> {
        let mut out = Vec::new();
        while let Some(record) = self.records.next(true)? {
            out.push(self.told(&record)?);
        }
        if matches!(self.records, Records::Tuples(_)) {
            out.push(self.behind_front(Bytes::from_static(binary::TRAILER)));
        }
        Ok(out)
    }

    fn told(&mut self, record: &Bytes) -> Result<Bytes> {
        match self.records.changed(record, &self.changes)? {
            Changed::Record(record) => Ok(self.behind_front(record)),
            Changed::Miscounted(_) => {
                Err(Error::protocol("a line of COPY has other fields than its table"))
            }
        }
    }

    /// As a server does it, the header goes with what comes first.
    fn behind_front(&mut self, record: Bytes) -> Bytes {
        if self.front.is_empty() {
            return record;
        }
        self.front.extend_from_slice(&record);
        self.front.split().freeze()
    }
}

/// A line of the columns' names.
fn header(form: &Form, names: &[String]) -> Bytes {
    let mut out = BytesMut::new();
    let fields = names.iter().map(|name| Some(name.as_bytes()));
    match form.quote {
        None => text_line(form, fields, &mut out),
        Some(_) => {
            let quoting = Quoting { is_single: names.len() == 1, is_forced: false };
            csv_line(form, fields.map(|field| (field, quoting)), &mut out);
        }
    }
    out.freeze()
}
