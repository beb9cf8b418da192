//! Texts that run prepared, their whole numbers lifted out as parameters: which, and how their rows become those of the text.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use foldhash::fast::RandomState;
use pando_kernel::{Cell, Column, Error, Result, RowCodec, Value};

use crate::row::{BinaryRows, TextRows};
use crate::types::{ColumnType, flag};

/// How often a connection runs a text as it is before it prepares it: that costs a way to the server and back.
const TEXTS: u8 = 2;
/// Texts that are counted at a time.
const COUNTED: usize = 256;

/// Errors of a prepare that are the statement's own, with which it is over: the server ends, somebody has ended it, or it has waited in vain.
const FINAL: [u32; 7] = [1053, 1205, 1213, 1317, 1927, 1969, 3024];

/// How often texts have come that are not prepared.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Of these definitions.
    era: u64,
    /// `None` is a text that the server does not prepare, or whose rows cannot be told.
    counts: HashMap<Arc<str>, Option<u8>, RandomState>,
}

impl Counts {
    /// Whether a text that is not prepared is to be prepared now; counts it.
    pub(super) fn suffice(&mut self, sql: &Arc<str>, era: u64) -> bool {
        if self.era != era {
            self.era = era;
            self.counts.clear();
        }
        match self.counts.get_mut(sql) {
            Some(None) => false,
            Some(Some(count)) if *count < TEXTS => {
                *count += 1;
                false
            }
            Some(Some(_)) => true,
            None => {
                if self.counts.len() >= COUNTED {
                    self.counts.clear();
                }
                self.counts.insert(Arc::clone(sql), Some(1));
                false
            }
        }
    }

    /// Nothing has come yet: what was prepared is no longer, for others' settings.
    pub(super) fn clear(&mut self) {
        self.counts.clear();
    }

    /// It is not to be prepared.
    pub(super) fn give_up(&mut self, sql: &Arc<str>) {
        self.counts.insert(Arc::clone(sql), None);
    }
}

/// Whether a text may still do what its prepared form could not, as the server refused to prepare it with this error.
pub(super) fn may_fare_better(number: u32) -> bool {
    !FINAL.contains(&number)
}

/// Whether the binary form of all these columns gives their text to the byte. Floating point numbers are written by the server's own rules, and numbers
/// filled with zeros are as wide as they were defined.
pub(super) fn tells(columns: &[Column]) -> bool {
    use ColumnType as T;
    columns.iter().all(|column| {
        let known = u8::try_from(column.native.type_id).ok().and_then(T::from_byte);
        let is_exact = |known| !matches!(known, T::Float | T::Double | T::Year | T::Null | T::Bool);
        column.native.flags & flag::ZEROFILL == 0 && known.is_some_and(is_exact)
    })
}

/// Whether the bytes of a value are the same in both forms.
fn is_raw(column: &Column) -> bool {
    !matches!(
        ColumnType::of(&column.native),
        ColumnType::Tiny
            | ColumnType::Short
            | ColumnType::Long
            | ColumnType::LongLong
            | ColumnType::Int24
            | ColumnType::Timestamp
            | ColumnType::Timestamp2
            | ColumnType::Date
            | ColumnType::NewDate
            | ColumnType::Time
            | ColumnType::Time2
            | ColumnType::DateTime
            | ColumnType::DateTime2
    )
}

/// Framed rows of the binary protocol as those of the text protocol. `columns` are the result's, of which [`tells`] holds.
///
/// # Errors
/// `Protocol` for rows that are not what their columns say.
pub(super) fn as_text(columns: &[Column], rows: &[u8]) -> Result<Bytes> {
    // Whatever is wrong with them, what follows cannot be trusted.
    written(columns, rows).map_err(|error| Error::protocol(error.to_string()))
}

fn written(columns: &[Column], mut rows: &[u8]) -> Result<Bytes> {
    let mut out = BytesMut::with_capacity(rows.len() + 32);
    let mut fields = Vec::with_capacity(columns.len());
    while !rows.is_empty() {
        let (length, body) = BinaryRows.next(rows)?;
        BinaryRows.fields(columns, &body, &mut fields)?;
        let mut values: Vec<(Option<&[u8]>, Option<Value>)> = Vec::with_capacity(columns.len());
        for (column, range) in columns.iter().zip(&fields) {
            let field = range.clone().and_then(|range| body.get(range));
            // Of bytes that stay as they are there is nothing to read.
            let value = (!is_raw(column)).then(|| BinaryRows.value(column, field)).transpose()?;
            values.push((field, value));
        }
        let cell = |(field, value)| match value {
            Some(value) => Cell::Value(value),
            None => Cell::Raw(field),
        };
        let cells: Vec<Cell<'_>> =
            values.iter().map(|(field, value)| cell((*field, value.as_ref()))).collect();
        TextRows.write(columns, &cells, &mut out)?;
        rows = rows.get(length..).unwrap_or_default();
    }
    Ok(out.freeze())
}

#[cfg(test)]
mod tests {
    use pando_kernel::{Format, Native};

    use super::*;
    use crate::types::FAMILY;

    fn column(column_type: ColumnType, flags: u16, decimals: u8) -> Column {
        let type_id = column_type as u32;
        let native = Native { family: FAMILY, type_id, flags, decimals, ..Native::default() };
        let kind = column_type.kind(flags, 45);
        Column { native, format: Format::Text, ..Column::computed("c", kind) }
    }

    #[test]
    fn binary_rows_become_those_of_a_text() {
        let columns = [
            column(ColumnType::Long, 0, 0),
            column(ColumnType::VarString, 0, 0),
            column(ColumnType::DateTime, 0, 3),
            column(ColumnType::Tiny, flag::UNSIGNED, 0),
        ];
        let framed = |payload: &[u8]| [&[payload.len() as u8, 0, 0, 5], payload].concat();
        let stamp = b"\x0b\xea\x07\x01\x1f\x0d\x2d\x01\x90\xd0\x03\0";
        let all = framed(&[b"\0\0\xfe\xff\xff\xff\x02ab", &stamp[..], b"\xff"].concat());
        let nothing = framed(b"\0\x3c");
        let text = as_text(&columns, &[&all[..], &nothing].concat()).unwrap();
        let expected =
            b"\x22\0\0\0\x02-2\x02ab\x172026-01-31 13:45:01.250\x03255\x04\0\0\0\xfb\xfb\xfb\xfb";
        assert_eq!(text, &expected[..]);
        for cut in 1..all.len() {
            assert!(as_text(&columns, &all[..cut]).is_err(), "cut at {cut}");
        }
        assert!(as_text(&columns[..3], &all).is_err(), "a byte too many");
    }

    #[test]
    fn what_only_the_server_can_write_is_not_told() {
        for (column_type, flags, expected) in [
            (ColumnType::Long, 0, true),
            (ColumnType::Long, flag::ZEROFILL, false),
            (ColumnType::NewDecimal, 0, true),
            (ColumnType::Float, 0, false),
            (ColumnType::Double, 0, false),
            (ColumnType::Year, 0, false),
        ] {
            let columns = [column(ColumnType::Blob, 0, 0), column(column_type, flags, 0)];
            assert_eq!(tells(&columns), expected, "{column_type:?} {flags}");
        }
        assert!(tells(&[]));
    }

    #[test]
    fn a_text_is_prepared_when_it_has_come_some_times() {
        let mut counts = Counts::default();
        let sql: Arc<str> = "SELECT ?".into();
        let asked = |counts: &mut Counts, era| [(); 4].map(|()| counts.suffice(&sql, era));
        assert_eq!(asked(&mut counts, 1), [false, false, true, true]);
        assert_eq!(asked(&mut counts, 2), [false, false, true, true], "other definitions");
        counts.give_up(&sql);
        assert_eq!(asked(&mut counts, 2), [false; 4]);
        assert_eq!(asked(&mut counts, 3), [false, false, true, true]);
        for number in 0..2 * COUNTED {
            counts.suffice(&number.to_string().into(), 3);
        }
        assert!(counts.counts.len() <= COUNTED);
    }
}
