//! How rows go out to a client: as they came when they already stand in the client's form.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use pando_kernel::{Column, Columns, Error, ErrorKind, Format, Result, Rows, ServerError};

use super::end::own;
use super::output::Output;
use crate::codec::backend::{Column as Described, RowDescription};
use crate::codec::frame::LARGE_LIMIT;
use crate::row::FORM;
use crate::types::{self, FAMILY};

/// The columns a client sees, and how rows become such.
#[derive(Debug)]
pub(super) struct Shape {
    /// What the rows come with.
    source: Columns,
    /// What the client was or will be told; `None` when that is what they come with, and their frames go out unchanged.
    target: Option<Vec<Target>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target {
    oid: u32,
    format: Format,
}

impl Target {
    /// What a column comes as.
    fn of(column: &Column) -> Target {
        Target { oid: oid(column), format: column.format }
    }
}

impl Shape {
    /// Rows as they come where they are this family's own, else as text.
    pub(super) fn simple(source: Columns) -> Shape {
        let own = source.codec.form() == FORM;
        let target = |(_, column): (usize, &Column)| Target {
            oid: oid(column),
            format: if own { column.format } else { Format::Text },
        };
        let target = Shape::target(&source, &source.list, target);
        Shape { source, target }
    }

    /// Rows in the formats asked for, with the types the client was told when it was.
    ///
    /// # Errors
    /// SQLSTATE 0A000 when the result has other columns than the client was told.
    pub(super) fn asked(
        source: Columns,
        formats: &[Format],
        told: Option<&[Column]>,
    ) -> Result<Shape> {
        let is_other = |told: &[Column]| {
            let mut both = told.iter().zip(source.list.iter());
            // What is computed may be called otherwise by each way of computing it.
            let is_changed = |told: &Column, own: &Column| {
                told.native.relation != 0 && told.name != own.name || is_retyped(told, own)
            };
            told.len() != source.list.len() || both.any(|(told, own)| is_changed(told, own))
        };
        if told.is_some_and(is_other) {
            return Err(changed());
        }
        check(formats, source.list.len())?;
        let target = |(index, column): (usize, &Column)| Target {
            oid: oid(column),
            format: format(formats, index),
        };
        let target = Shape::target(&source, told.unwrap_or(&source.list), target);
        Ok(Shape { source, target })
    }

    /// What the client is told of these columns, as many as the source has, unless the rows come so.
    fn target(
        source: &Columns,
        told: &[Column],
        target: impl Fn((usize, &Column)) -> Target,
    ) -> Option<Vec<Target>> {
        let targets = || told.iter().enumerate().map(&target);
        let mut both = source.list.iter().zip(targets());
        let same = both.all(|(column, target)| target == Target::of(column));
        (!same || source.codec.form() != FORM).then(|| targets().collect())
    }

    /// Appends the RowDescription.
    ///
    /// # Errors
    /// `TooLarge` when there are too many columns.
    pub(super) fn describe(&self, buf: &mut BytesMut) -> Result<()> {
        let columns = self.source.list.iter();
        match &self.target {
            None => encode(buf, columns.map(|column| (column, Target::of(column)))),
            Some(target) => encode(buf, columns.zip(target.iter().copied())),
        }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `Value` when a value cannot be written in the form asked for.
    pub(super) fn rows(&self, output: &mut Output, rows: Rows) -> Result<()> {
        let Some(target) = &self.target else {
            output.append(rows.bytes);
            return Ok(());
        };
        let mut fields = Vec::new();
        rows.for_each(&self.source, |body| self.row(output.buffer(), body, target, &mut fields))
    }

    /// Rows as their messages, as [`Shape::rows`] appends them.
    ///
    /// # Errors
    /// As [`Shape::rows`].
    pub(super) fn frames(&self, rows: Rows) -> Result<Bytes> {
        let Some(target) = &self.target else { return Ok(rows.bytes) };
        let (mut fields, mut buf) = (Vec::new(), BytesMut::new());
        rows.for_each(&self.source, |body| self.row(&mut buf, body, target, &mut fields))?;
        Ok(buf.freeze())
    }

    /// The types and formats in which the rows go out, one for each column.
    pub(super) fn forms(&self) -> Vec<(u32, Format)> {
        let all: Vec<Target> = match &self.target {
            Some(target) => target.clone(),
            None => self.source.list.iter().map(Target::of).collect(),
        };
        all.into_iter().map(|one| (one.oid, one.format)).collect()
    }

    fn row(
        &self,
        buf: &mut BytesMut,
        body: &[u8],
        target: &[Target],
        fields: &mut Vec<Option<Range<usize>>>,
    ) -> Result<()> {
        self.source.codec.fields(&self.source.list, body, fields)?;
        let start = buf.len();
        buf.put_u8(b'D');
        buf.put_u32(0);
        buf.put_u16(u16::try_from(fields.len()).unwrap_or(u16::MAX));
        for ((column, target), field) in self.source.list.iter().zip(target).zip(&*fields) {
            let field = field.clone().and_then(|range| body.get(range));
            let written = self
                .source
                .codec
                .value(column, field)
                .and_then(|value| types::encode_sized(target.oid, target.format, &value, buf));
            if let Err(error) = written {
                buf.truncate(start);
                return Err(error);
            }
        }
        let length = buf.len() - start - 1;
        match u32::try_from(length) {
            Ok(wire) if length <= LARGE_LIMIT => {
                buf[start + 1..start + 5].copy_from_slice(&wire.to_be_bytes());
                Ok(())
            }
            Ok(_) | Err(_) => {
                buf.truncate(start);
                Err(Error::new(pando_kernel::ErrorKind::TooLarge("a row exceeds 1 GiB".into())))
            }
        }
    }
}

/// Appends the RowDescription of columns that have been described but not run.
///
/// # Errors
/// SQLSTATE 08P01 when the formats do not fit; `TooLarge` when there are too many columns.
pub(super) fn describe(buf: &mut BytesMut, columns: &[Column], formats: &[Format]) -> Result<()> {
    check(formats, columns.len())?;
    let columns = columns.iter().enumerate().map(|(index, column)| {
        (column, Target { oid: oid(column), format: format(formats, index) })
    });
    encode(buf, columns)
}

fn encode<'a>(
    buf: &mut BytesMut,
    columns: impl ExactSizeIterator<Item = (&'a Column, Target)>,
) -> Result<()> {
    let described = columns.map(|(column, target)| {
        let own = column.native.family == FAMILY;
        let native = &column.native;
        let size = if own && native.length != 0 {
            i16::try_from(native.length).unwrap_or(-1)
        } else {
            types::size(target.oid)
        };
        Described {
            name: column.name.as_bytes(),
            table: if own { native.relation } else { 0 },
            attribute: if own { native.attribute } else { 0 },
            oid: target.oid,
            size,
            modifier: if own { native.modifier } else { -1 },
            format: target.format,
        }
    });
    RowDescription::encode(buf, described)?;
    Ok(())
}

/// Whether a column has another type than it had. Numbers of types that were made differ between storage units, and texts of one kind may be told as such of
/// another by another way of computing them.
fn is_retyped(told: &Column, now: &Column) -> bool {
    let is_own = |column: &Column| {
        let native = &column.native;
        native.family == FAMILY && (1..types::FIRST_OWN).contains(&native.type_id)
    };
    let is_text = |column: &Column| TEXTS.contains(&column.native.type_id);
    let is_other = told.native.type_id != now.native.type_id;
    is_own(told) && is_own(now) && is_other && !(is_text(told) && is_text(now))
}

/// `name`, `text`, `unknown`, `bpchar`, `varchar`: the same octets in every form.
const TEXTS: [u32; 5] = [19, 25, 705, 1042, 1043];

/// What drivers prepare anew for: those that do look at the name of the server's routine.
pub(super) fn changed() -> Error {
    Error::new(ErrorKind::Server(Box::new(ServerError {
        sqlstate: "0A000".into(),
        message: "cached plan must not change result type".into(),
        severity: "ERROR".into(),
        fields: vec![(b'R', "RevalidateCachedQuery".into())],
        ..ServerError::default()
    })))
}

fn oid(column: &Column) -> u32 {
    types::oid_of(&column.native, column.kind)
}

fn check(formats: &[Format], columns: usize) -> Result<()> {
    if formats.len() <= 1 || formats.len() == columns {
        return Ok(());
    }
    let message = format!(
        "bind message has {} result formats but query has {columns} columns",
        formats.len()
    );
    Err(own("08P01", message))
}

fn format(formats: &[Format], index: usize) -> Format {
    let index = if formats.len() == 1 { 0 } else { index };
    formats.get(index).copied().unwrap_or_default()
}
