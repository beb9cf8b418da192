//! Rows as DataRow frames: looked into only where a stage must.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{BufMut, BytesMut};
use pando_kernel::{Cell, Column, Error, ErrorKind, Glimpse, Result, RowCodec, Value};

use crate::codec::backend::DataRow;
use crate::codec::frame::{self, LARGE_LIMIT};
use crate::types;

/// The name of this form of rows.
pub const FORM: &str = "postgres";

/// Reads and writes DataRow frames; each column says itself whether it is text or binary.
#[derive(Debug, Default, Clone, Copy)]
pub struct DataRows;

impl RowCodec for DataRows {
    fn form(&self) -> &'static str {
        FORM
    }

    fn next<'a>(&self, frames: &'a [u8]) -> Result<(usize, Cow<'a, [u8]>)> {
        match frame::frame(frames, LARGE_LIMIT)? {
            Some((header, body)) if header.tag == b'D' => Ok((header.total, Cow::Borrowed(body))),
            Some(_) => Err(Error::protocol("a frame among rows is no row")),
            None => Err(Error::protocol("truncated row")),
        }
    }

    fn fields(
        &self,
        columns: &[Column],
        body: &[u8],
        out: &mut Vec<Option<Range<usize>>>,
    ) -> Result<()> {
        out.clear();
        let row = DataRow::decode(body)?;
        if row.len() != columns.len() {
            return Err(Error::protocol("a row has another number of fields than columns"));
        }
        let mut fields = row.fields();
        while let Some(field) = fields.next() {
            // The field ends where the rest begins.
            let end = body.len() - fields.rest().len();
            out.push(field?.map(|bytes| end - bytes.len()..end));
        }
        Ok(())
    }

    fn value(&self, column: &Column, field: Option<&[u8]>) -> Result<Value> {
        field.map_or(Ok(Value::Null), |bytes| {
            types::decode(column.native.type_id, column.format, bytes)
        })
    }

    fn glimpse<'a>(&self, column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
        types::glimpse(column.native.type_id, column.format, field)
    }

    fn write(&self, columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()> {
        let start = out.len();
        let outcome = append(columns, cells, out);
        if outcome.is_err() {
            out.truncate(start);
        }
        outcome
    }
}

fn append(columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()> {
    if columns.len() != cells.len() {
        return Err(Error::internal("a row must have as many cells as columns"));
    }
    let count = u16::try_from(cells.len())
        .map_err(|_| Error::new(ErrorKind::TooLarge("a row has too many columns".into())))?;
    let start = out.len();
    out.put_u8(b'D');
    out.put_u32(0);
    out.put_u16(count);
    for (column, cell) in columns.iter().zip(cells) {
        match cell {
            Cell::Raw(raw) => crate::codec::put_value(out, *raw),
            Cell::Value(value) => {
                let oid = types::oid_of(&column.native, column.kind);
                types::encode_sized(oid, column.format, value, out)?;
            }
        }
    }
    let length = out.len() - start - 1;
    match u32::try_from(length) {
        Ok(wire) if length <= LARGE_LIMIT => {
            out[start + 1..start + 5].copy_from_slice(&wire.to_be_bytes());
            Ok(())
        }
        Ok(_) | Err(_) => Err(Error::new(ErrorKind::TooLarge("a row exceeds 1 GiB".into()))),
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::{Format, Kind, Native};

    use super::*;
    use crate::types::oid;

    fn column(type_id: u32, format: Format) -> Column {
        let native = Native { family: types::FAMILY, type_id, ..Native::default() };
        Column { format, native, ..Column::computed("c", types::kind(type_id)) }
    }

    #[test]
    fn a_row_comes_back_as_it_was_written() {
        let columns = [
            column(oid::INT4, Format::Binary),
            column(oid::TEXT, Format::Text),
            column(oid::TEXT, Format::Text),
        ];
        let (seven, null) = (Value::Int(7), Value::Null);
        let cells = [Cell::Value(&seven), Cell::Raw(Some(b"x")), Cell::Value(&null)];
        let mut out = BytesMut::new();
        DataRows.write(&columns, &cells, &mut out).unwrap();
        assert_eq!(&out[..], b"D\0\0\0\x17\0\x03\0\0\0\x04\0\0\0\x07\0\0\0\x01x\xff\xff\xff\xff");
        let (length, body) = DataRows.next(&out).unwrap();
        assert_eq!(length, out.len());
        let mut fields = Vec::new();
        DataRows.fields(&columns, &body, &mut fields).unwrap();
        assert_eq!(fields, [Some(6..10), Some(14..15), None]);
        let first = DataRows.value(&columns[0], Some(&body[6..10])).unwrap();
        assert_eq!(first, seven);
    }

    #[test]
    fn derived_columns_are_cut_by_writing_fewer_cells() {
        let columns = [column(oid::INT4, Format::Text), column(oid::INT4, Format::Text)];
        let mut out = BytesMut::new();
        let cells = [Cell::Raw(Some(b"1")), Cell::Raw(Some(b"2"))];
        DataRows.write(&columns, &cells, &mut out).unwrap();
        let mut fields = Vec::new();
        DataRows.fields(&columns, &out[5..], &mut fields).unwrap();
        let mut cut = BytesMut::new();
        let kept = [Cell::Raw(fields[0].clone().map(|range| &out[5..][range]))];
        DataRows.write(&columns[..1], &kept, &mut cut).unwrap();
        assert_eq!(&cut[..], b"D\0\0\0\x0b\0\x01\0\0\0\x011");
    }

    #[test]
    fn broken_rows_are_refused() {
        let columns = [column(oid::INT4, Format::Text)];
        let mut fields = Vec::new();
        assert!(DataRows.next(b"D\0\0\0\x0b\0\x01").is_err());
        assert!(DataRows.next(b"Z\0\0\0\x05I").is_err());
        assert!(DataRows.fields(&columns, b"\0\x02\0\0\0\0\0\0\0\0", &mut fields).is_err());
        assert!(DataRows.fields(&columns, b"\0\x01\0\0\0\x09a", &mut fields).is_err());
        assert!(DataRows.fields(&columns, b"\0\x01\xff\xff\xff\xffx", &mut fields).is_err());
    }

    #[test]
    fn a_row_that_fails_leaves_nothing_behind() {
        let columns = [column(oid::INT2, Format::Binary)];
        let mut out = BytesMut::from(&b"before"[..]);
        let big = Value::Int(1 << 40);
        assert!(DataRows.write(&columns, &[Cell::Value(&big)], &mut out).is_err());
        assert_eq!(&out[..], b"before");
    }

    #[test]
    fn columns_of_another_family_are_written_as_their_kind() {
        let mut out = BytesMut::new();
        let column = Column::computed("c", Kind::Bytes);
        let bytes = Value::Bytes(vec![1].into());
        DataRows.write(&[column], &[Cell::Value(&bytes)], &mut out).unwrap();
        assert_eq!(&out[11..], b"\\x01");
    }
}
