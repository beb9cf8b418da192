//! What the fuzz targets share: values that were read must be writable and come back equal.

pub mod marked;

use bytes::BytesMut;
use pando_kernel::{Cell, Column, RowCodec, Value};

/// A sequence of choices taken from the front of a target's input.
#[derive(Debug)]
pub struct Choices<'a>(pub &'a [u8]);

impl<'a> Choices<'a> {
    /// The next byte; 0 when there is none.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// The next four bytes, least significant first; missing ones are 0.
    pub fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// The longest text that a value of `read` bytes may become. An exponent of a few digits must not turn into gigabytes.
const fn longest(read: usize) -> usize {
    200_000 + 40 * read
}

/// Walks frames as the merge stage does, decodes every field, and writes each row anew: as raw bytes, which must read the same, and as
/// values, which may be refused but must not grow without bound.
pub fn walk_rows(codec: &dyn RowCodec, columns: &[Column], frames: &[u8]) {
    let mut rest = frames;
    let mut ranges = Vec::new();
    while !rest.is_empty() {
        let Ok((length, body)) = codec.next(rest) else { return };
        assert!(length > 0 && length <= rest.len(), "a frame of {length} bytes in {}", rest.len());
        if codec.fields(columns, &body, &mut ranges).is_ok() {
            assert_eq!(ranges.len(), columns.len());
            let raw: Vec<Option<&[u8]>> =
                ranges.iter().map(|range| range.clone().map(|range| &body[range])).collect();
            rewrite(codec, columns, &raw);
        }
        rest = &rest[length..];
    }
}

fn rewrite(codec: &dyn RowCodec, columns: &[Column], raw: &[Option<&[u8]>]) {
    let read: usize = raw.iter().flatten().map(|field| field.len()).sum();
    let values: Vec<Option<Value>> =
        columns.iter().zip(raw).map(|(column, field)| codec.value(column, *field).ok()).collect();
    let mut out = BytesMut::new();
    let cells: Vec<Cell<'_>> = raw.iter().map(|field| Cell::Raw(*field)).collect();
    if codec.write(columns, &cells, &mut out).is_ok() {
        let (length, body) = codec.next(&out).expect("a row just written is a frame");
        assert_eq!(length, out.len());
        let mut again = Vec::new();
        codec.fields(columns, &body, &mut again).expect("a row just written has its fields");
        for (range, field) in again.into_iter().zip(raw) {
            assert_eq!(range.map(|range| &body[range]), *field, "a raw field changed on its way");
        }
    }
    let Some(values) = values.into_iter().collect::<Option<Vec<Value>>>() else { return };
    let cells: Vec<Cell<'_>> = values.iter().map(Cell::Value).collect();
    out.clear();
    if codec.write(columns, &cells, &mut out).is_err() {
        assert!(out.is_empty(), "a refused row left {} bytes", out.len());
    }
    assert!(out.len() <= longest(read), "{read} bytes became {}", out.len());
}
