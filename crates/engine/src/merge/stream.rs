//! One storage unit's rows, chunk by chunk or frame by frame, in the form of the first unit's rows.

use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use pando_kernel::column::{Column, Columns, Format};
use pando_kernel::error::{Error, Result};
use pando_kernel::row::{Cell, Rows};
use pando_kernel::value::{Kind, Value};

use super::RowSource;

/// One input of the merge.
#[derive(Debug)]
pub(super) struct Stream<S> {
    /// Dropped as soon as it has ended, so that what it holds is free before the others end.
    source: Option<S>,
    chunk: Bytes,
    /// Its own columns, when its rows must be written anew to stand beside those of the first stream.
    foreign: Option<Foreign>,
}

/// Columns of another form.
#[derive(Debug)]
struct Foreign {
    columns: Columns,
    /// Which fields may stay as they are.
    stays: Vec<bool>,
}

/// Parts of one answer with so many columns and so many.
fn uneven(one: usize, other: usize) -> Error {
    Error::unmerged(
        30001,
        format!("storage units answered with {one} and {other} columns"),
        "give the actual tables the same columns, or name the columns instead of `*`",
    )
}

/// Longer labels may be the text of an actual statement, cut by the server.
const LABEL: usize = 128;

/// Whether rows with these columns may stand among those with the columns `first`: as many of them, and each of the same name. Actual tables whose columns have
/// come into another order (a definition that was given to one storage unit only) would else show values under others' names. Letters' case does not count: where
/// a label is the definition's, it may be written otherwise there.
///
/// # Errors
/// `Refused` when they differ.
pub(crate) fn alike(first: &[Column], other: &[Column]) -> Result<()> {
    if first.len() != other.len() {
        return Err(uneven(first.len(), other.len()));
    }
    let same = |one: &str, other: &str| {
        one == other
            || one.len().max(other.len()) > LABEL
            || one.to_lowercase() == other.to_lowercase()
    };
    match first.iter().zip(other).find(|(one, other)| !same(&one.name, &other.name)) {
        None => Ok(()),
        Some((one, other)) => Err(Error::unmerged(
            30001,
            format!(
                "storage units answered with column `{}` and `{}` in one place",
                one.name, other.name
            ),
            "give the actual tables the same columns in the same order, or name the columns instead of `*`",
        )),
    }
}

impl<S: RowSource> Stream<S> {
    /// A stream whose rows shall look as if they had the columns `form`, of which only the first `visible` are for the client. The columns are as many.
    pub(super) fn new(source: S, columns: Columns, form: &Columns, visible: usize) -> Self {
        let same =
            Arc::ptr_eq(&columns.list, &form.list) && columns.codec.form() == form.codec.form();
        let stays = if same { Vec::new() } else { staying(&columns, form, visible) };
        let foreign = (!stays.iter().all(|stays| *stays)).then_some(Foreign { columns, stays });
        Self { source: Some(source), chunk: Bytes::new(), foreign }
    }

    /// The next chunk; `None` at the end, again and again.
    pub(super) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
        form: &Columns,
    ) -> Poll<Result<Option<Rows>>> {
        let Some(source) = &mut self.source else {
            return Poll::Ready(Ok(None));
        };
        let Some(rows) = ready!(source.poll_rows(cx))? else {
            self.source = None;
            return Poll::Ready(Ok(None));
        };
        Poll::Ready(match &self.foreign {
            None => Ok(Some(rows)),
            Some(foreign) => translate(&rows, foreign, form).map(Some),
        })
    }

    /// Bytes of rows that have come and have not been given.
    pub(super) fn at_hand(&self) -> usize {
        self.chunk.len()
    }

    /// The next row's frame; `None` at the end, again and again.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
        form: &Columns,
    ) -> Poll<Result<Option<Bytes>>> {
        while self.chunk.is_empty() {
            match ready!(self.poll_chunk(cx, form))? {
                Some(rows) => self.chunk = rows.bytes,
                None => return Poll::Ready(Ok(None)),
            }
        }
        let (length, _) = form.codec.next(&self.chunk)?;
        if length == 0 || length > self.chunk.len() {
            return Poll::Ready(Err(Error::protocol("a row is longer than its chunk")));
        }
        Poll::Ready(Ok(Some(self.chunk.split_to(length))))
    }
}

/// Whether the wire bytes of a field mean the same in both columns.
fn interchangeable(a: &Column, b: &Column) -> bool {
    let native = a.native.family == b.native.family && a.native.type_id == b.native.type_id;
    // The same user-defined type has another number on each server.
    a.format == b.format
        && a.kind == b.kind
        && (a.format == Format::Text || a.kind == Kind::Other || native)
}

/// Which fields of rows with the columns `from` may stand as they are among rows with the columns `to`. Weights are octets, whatever a server calls them.
fn staying(from: &Columns, to: &Columns, visible: usize) -> Vec<bool> {
    let same_form = from.codec.form() == to.codec.form();
    let octets = |column: &Column| matches!(column.kind, Kind::Text | Kind::Bytes);
    let pairs = from.list.iter().zip(to.list.iter()).enumerate();
    pairs
        .map(|(at, (a, b))| {
            let weights = at >= visible && octets(a) && octets(b) && a.format == b.format;
            same_form && (weights || interchangeable(a, b))
        })
        .collect()
}

/// Writes every row anew in another form; fields whose bytes mean the same there stay as they are.
fn translate(rows: &Rows, foreign: &Foreign, to: &Columns) -> Result<Rows> {
    let Foreign { columns: from, stays } = foreign;
    let mut bytes = BytesMut::with_capacity(rows.bytes.len());
    let mut fields = Vec::new();
    let mut count = 0;
    rows.for_each(from, |body| {
        from.codec.fields(&from.list, body, &mut fields)?;
        let raw = |field: &Option<Range<usize>>| {
            let range = field.clone();
            let bytes = range.map(|range| {
                body.get(range).ok_or_else(|| Error::protocol("a field leaves its row"))
            });
            bytes.transpose()
        };
        let values: Vec<Option<Value>> = from
            .list
            .iter()
            .zip(&fields)
            .zip(stays)
            .map(|((column, field), stays)| match stays {
                true => Ok(None),
                false => from.codec.value(column, raw(field)?).map(Some),
            })
            .collect::<Result<_>>()?;
        let cells: Vec<Cell<'_>> = values
            .iter()
            .zip(&fields)
            .map(|(value, field)| match value {
                Some(value) => Ok(Cell::Value(value)),
                None => raw(field).map(Cell::Raw),
            })
            .collect::<Result<_>>()?;
        to.codec.write(&to.list, &cells, &mut bytes)?;
        count += 1;
        Ok(())
    })?;
    Ok(Rows { bytes: bytes.freeze(), count })
}
