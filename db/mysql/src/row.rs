//! The kernel's view of text and binary rows: framed packets, fields by byte range.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{BufMut, BytesMut};
use pando_kernel::{Cell, Column, Error, ErrorKind, Glimpse, Result, RowCodec, Value};

use crate::codec::{
    BinaryRow, HEADER_LEN, MAX_FRAME, TextRow, frame_payload_len, put_lenenc_bytes, seal,
};
use crate::error::malformed;
use crate::types::{self, ColumnType};

/// Rows of the text protocol, framed.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextRows;

/// Rows of the binary protocol, framed.
#[derive(Debug, Clone, Copy, Default)]
pub struct BinaryRows;

/// The largest row either codec writes, in bytes: the protocol's own bound on a packet.
const MAX_ROW: usize = 1 << 30;

impl RowCodec for TextRows {
    fn form(&self) -> &'static str {
        "mysql text"
    }

    fn next<'a>(&self, frames: &'a [u8]) -> Result<(usize, Cow<'a, [u8]>)> {
        next_packet(frames)
    }

    fn fields(
        &self,
        columns: &[Column],
        body: &[u8],
        out: &mut Vec<Option<Range<usize>>>,
    ) -> Result<()> {
        TextRow(body).fields(columns.len(), out).map_err(malformed)
    }

    fn value(&self, column: &Column, field: Option<&[u8]>) -> Result<Value> {
        field.map_or(Ok(Value::Null), |field| types::read_text(column, field))
    }

    fn glimpse<'a>(&self, column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
        types::glimpse_text(column, field)
    }

    fn write(&self, columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()> {
        framed(columns, cells, out, |out| {
            for (column, cell) in columns.iter().zip(cells) {
                match cell {
                    Cell::Raw(None) => out.put_u8(0xFB),
                    Cell::Raw(Some(raw)) => put_lenenc_bytes(out, raw),
                    Cell::Value(value) => types::write_text(column, value, out)?,
                }
            }
            Ok(())
        })
    }
}

impl RowCodec for BinaryRows {
    fn form(&self) -> &'static str {
        "mysql binary"
    }

    fn next<'a>(&self, frames: &'a [u8]) -> Result<(usize, Cow<'a, [u8]>)> {
        next_packet(frames)
    }

    fn fields(
        &self,
        columns: &[Column],
        body: &[u8],
        out: &mut Vec<Option<Range<usize>>>,
    ) -> Result<()> {
        let types = columns.iter().map(|column| ColumnType::of(&column.native) as u8);
        BinaryRow(body).fields(types, out).map_err(malformed)
    }

    fn value(&self, column: &Column, field: Option<&[u8]>) -> Result<Value> {
        field.map_or(Ok(Value::Null), |field| types::read_binary(column, field))
    }

    fn glimpse<'a>(&self, column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
        types::glimpse_binary(column, field)
    }

    fn write(&self, columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()> {
        framed(columns, cells, out, |out| {
            out.put_u8(0);
            let bitmap = out.len();
            out.put_bytes(0, (columns.len() + 9) / 8);
            for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
                match cell {
                    Cell::Raw(None) | Cell::Value(Value::Null) => {
                        let bit = index + 2;
                        if let Some(byte) = out.get_mut(bitmap + bit / 8) {
                            *byte |= 1 << (bit % 8);
                        }
                    }
                    Cell::Raw(Some(raw)) => {
                        types::put_binary_raw(ColumnType::of(&column.native), raw, out);
                    }
                    Cell::Value(value) => types::write_binary(column, value, out)?,
                }
            }
            Ok(())
        })
    }
}

/// Appends one packet whose payload `fill` writes; takes it back when that fails.
fn framed(
    columns: &[Column],
    cells: &[Cell<'_>],
    out: &mut BytesMut,
    fill: impl FnOnce(&mut BytesMut) -> Result<()>,
) -> Result<()> {
    if columns.len() != cells.len() {
        return Err(Error::internal("a row must have as many cells as columns"));
    }
    let start = out.len();
    out.put_u32_le(0);
    let filled = fill(out).and_then(|()| {
        if out.len() - start > MAX_ROW {
            return Err(Error::new(ErrorKind::TooLarge("a row exceeds 1 GiB".into())));
        }
        Ok(())
    });
    match filled {
        Ok(()) => {
            seal(out, start, 0);
        }
        Err(_) => out.truncate(start),
    }
    filled
}

/// The whole packet at the start of `frames`: its length with all headers, and its joined payload.
fn next_packet(frames: &[u8]) -> Result<(usize, Cow<'_, [u8]>)> {
    let (mut length, first) = next_frame(frames)?;
    if first.len() < MAX_FRAME {
        return Ok((length, Cow::Borrowed(first)));
    }
    let mut joined = first.to_vec();
    loop {
        let (more, part) = next_frame(frames.get(length..).unwrap_or_default())?;
        length += more;
        joined.extend_from_slice(part);
        if part.len() < MAX_FRAME {
            return Ok((length, Cow::Owned(joined)));
        }
    }
}

fn next_frame(frames: &[u8]) -> Result<(usize, &[u8])> {
    let short = || Error::protocol("truncated row packet");
    let header = frames.first_chunk::<HEADER_LEN>().ok_or_else(short)?;
    let length = HEADER_LEN + frame_payload_len(*header);
    frames.get(HEADER_LEN..length).map(|payload| (length, payload)).ok_or_else(short)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pando_kernel::{Columns, Kind, Native, Rows};

    use super::*;

    fn columns(codec: Arc<dyn RowCodec>) -> Columns {
        let column = |name: &str, column_type: ColumnType, charset| {
            let mut column = Column::computed(name, column_type.kind(0, charset));
            column.native = Native {
                family: types::FAMILY,
                type_id: column_type as u32,
                charset,
                ..Native::default()
            };
            column
        };
        let list = vec![
            column("id", ColumnType::LongLong, 63),
            column("name", ColumnType::VarString, 45),
            column("born", ColumnType::Date, 63),
            column("data", ColumnType::Blob, 63),
        ];
        Columns { list: list.into(), codec }
    }

    fn check(codec: Arc<dyn RowCodec>, data: usize) {
        let columns = columns(codec);
        let rows = [
            [
                Value::Int(-1),
                Value::Text("héllo".into()),
                Value::Text("2026-01-31".into()),
                Value::Bytes(vec![9; data].into()),
            ],
            [Value::Null, Value::Null, Value::Null, Value::Null],
        ];
        let mut out = BytesMut::new();
        for row in &rows {
            let cells: Vec<_> = row.iter().map(Cell::Value).collect();
            columns.codec.write(&columns.list, &cells, &mut out).unwrap();
        }
        let mut copy = BytesMut::new();
        let mut fields = Vec::new();
        let mut read = Vec::new();
        Rows { bytes: out.clone().freeze(), count: 2 }
            .for_each(&columns, |body| {
                columns.codec.fields(&columns.list, body, &mut fields)?;
                let raw: Vec<_> =
                    fields.iter().map(|range| range.clone().map(|range| &body[range])).collect();
                for (column, raw) in columns.list.iter().zip(&raw) {
                    read.push(columns.codec.value(column, *raw)?);
                }
                let cells: Vec<_> = raw.into_iter().map(Cell::Raw).collect();
                columns.codec.write(&columns.list, &cells, &mut copy)
            })
            .unwrap();
        assert_eq!(read, rows.concat());
        assert_eq!(copy, out);
    }

    #[test]
    fn rows_survive_both_forms_and_copies_of_raw_fields_are_equal() {
        for data in [0, 10, 300] {
            check(Arc::new(TextRows), data);
            check(Arc::new(BinaryRows), data);
        }
    }

    #[test]
    fn a_row_over_sixteen_mebibytes_spans_frames() {
        check(Arc::new(TextRows), MAX_FRAME + 5);
        check(Arc::new(BinaryRows), MAX_FRAME - 10);
    }

    #[test]
    fn truncated_frames_are_refused() {
        let columns = columns(Arc::new(TextRows));
        let cells = [Cell::Raw(None), Cell::Raw(Some(b"x")), Cell::Raw(None), Cell::Raw(None)];
        let mut out = BytesMut::new();
        TextRows.write(&columns.list, &cells, &mut out).unwrap();
        for cut in 0..out.len() {
            assert!(TextRows.next(&out[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_type_leaves_nothing_behind() {
        let list = vec![Column::computed("a", Kind::Int), Column::computed("b", Kind::Int)];
        let mut out = BytesMut::from(&b"before"[..]);
        assert!(TextRows.write(&list, &[Cell::Raw(None)], &mut out).is_err());
        let columns = columns(Arc::new(BinaryRows));
        let text = Value::Text("x".into());
        let cells = [Cell::Value(&text), Cell::Raw(None), Cell::Raw(None), Cell::Raw(None)];
        assert!(BinaryRows.write(&columns.list, &cells, &mut out).is_err());
        assert_eq!(out[..], b"before"[..]);
    }
}
