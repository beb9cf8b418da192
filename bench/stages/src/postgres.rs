//! PostgreSQL's codec: what clients send, and rows from units to clients.

use std::hint::black_box;

use bytes::BytesMut;
use pando_kernel::{Cell, Column, Format, Kind, Native, RowCodec, Value};
use pando_postgres::codec::backend::{Backend, Column as Described, RowDescription};
use pando_postgres::codec::frontend::{Binding, Execute, Frontend, Parse, Query, encode_sync, put};
use pando_postgres::codec::{Malformed, frame};
use pando_postgres::row::DataRows;
use pando_postgres::types::{FAMILY, oid};

use crate::Outcome;
use crate::shop::{self, Family};
use crate::stage::{self, Stage};

/// Rows of one chunk.
const ROWS: u32 = 100;

pub(crate) const STAGES: &[Stage] = &[
    stage::of("codec/postgres/decode-query", "message", |n| decode(&query(), n)),
    stage::of("codec/postgres/decode-parse-sync", "request", |n| decode(&parse()?, n)),
    stage::of("codec/postgres/decode-bind-execute-sync", "request", |n| decode(&bind()?, n)),
    stage::of("codec/postgres/decode-row-description", "message", describe),
    rows("rows/postgres/encode-raw", |n| encode(Value::Null, n)),
    rows("rows/postgres/encode-values", |n| encode(Value::Int(50_127), n)),
    rows("rows/postgres/look-inside", look),
    rows("rows/postgres/forward", forward),
];

const fn rows(name: &'static str, run: fn(u32) -> Outcome) -> Stage {
    Stage { times: 50, each: ROWS, ..stage::of(name, "row", run) }
}

fn query() -> BytesMut {
    let mut out = BytesMut::new();
    Query { text: shop::POINT_SELECT }.encode(&mut out);
    out
}

fn parse() -> Outcome<BytesMut> {
    let mut out = BytesMut::new();
    Parse::encode(&mut out, "s", Family::Postgres.prepared(), &[oid::INT4])?;
    encode_sync(&mut out);
    Ok(out)
}

fn bind() -> Outcome<BytesMut> {
    let mut out = BytesMut::new();
    let binding = Binding { portal: "", statement: "s", formats: &[], count: 1, results: &[] };
    let value = |_, out: &mut BytesMut| {
        put(out, Some(b"50127"));
        Ok::<(), Malformed>(())
    };
    binding.encode(&mut out, value)?;
    Execute { portal: "", max_rows: 0 }.encode(&mut out);
    encode_sync(&mut out);
    Ok(out)
}

fn decode(messages: &[u8], times: u32) -> Outcome {
    for _ in 0..times {
        let mut rest = black_box(messages);
        while let Some((header, body)) = frame::frame(rest, 1 << 20)? {
            black_box(Frontend::decode(header.tag, body)?);
            rest = rest.get(header.total..).unwrap_or_default();
        }
    }
    Ok(())
}

fn describe(times: u32) -> Outcome {
    let column = Described {
        name: b"c",
        table: 16_385,
        attribute: 3,
        oid: oid::BPCHAR,
        size: -1,
        modifier: 124,
        format: Format::Text,
    };
    let mut out = BytesMut::new();
    RowDescription::encode(&mut out, [column].into_iter())?;
    for _ in 0..times {
        let (header, body) = frame::frame(black_box(&out), 1 << 20)?.ok_or("no frame")?;
        if let Backend::RowDescription(found) = Backend::decode(header.tag, body)? {
            for column in found.columns() {
                black_box(column);
            }
        }
    }
    Ok(())
}

fn columns() -> Vec<Column> {
    let column = |name: &str, kind: Kind, type_id: u32| {
        let native = Native { family: FAMILY, type_id, modifier: -1, ..Native::default() };
        Column { native, ..Column::computed(name, kind) }
    };
    vec![
        column("id", Kind::Int, oid::INT4),
        column("k", Kind::Int, oid::INT4),
        column("c", Kind::Text, oid::BPCHAR),
    ]
}

/// Three columns, the first of them this value, or copied as it stands when that is NULL.
fn encode(value: Value, times: u32) -> Outcome {
    let columns = columns();
    let text = "c".repeat(119);
    let given = Cell::Value(&value);
    let first = if value.is_null() { Cell::Raw(Some(b"50127")) } else { given };
    let cells = [first, first, Cell::Raw(Some(text.as_bytes()))];
    let mut out = BytesMut::with_capacity(32 << 10);
    for _ in 0..times {
        out.clear();
        for _ in 0..ROWS {
            DataRows.write(&columns, black_box(&cells), &mut out)?;
        }
    }
    Ok(())
}

fn chunk() -> Outcome<BytesMut> {
    let text = "c".repeat(119);
    let cells =
        [Cell::Raw(Some(b"50127")), Cell::Raw(Some(b"49852")), Cell::Raw(Some(text.as_bytes()))];
    let mut out = BytesMut::new();
    for _ in 0..ROWS {
        DataRows.write(&columns(), &cells, &mut out)?;
    }
    Ok(out)
}

/// Finds all fields and decodes the first, as a merge does with a key.
fn look(times: u32) -> Outcome {
    let (columns, chunk) = (columns(), chunk()?);
    let key = columns.first().ok_or("no column")?;
    let mut fields = Vec::new();
    for _ in 0..times {
        let mut rest = black_box(&chunk[..]);
        while !rest.is_empty() {
            let (length, body) = DataRows.next(rest)?;
            DataRows.fields(&columns, &body, &mut fields)?;
            let field = fields.first().cloned().flatten().and_then(|range| body.get(range));
            black_box(DataRows.value(key, field)?);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    Ok(())
}

/// Steps over rows from one header to the next.
fn forward(times: u32) -> Outcome {
    let chunk = chunk()?;
    for _ in 0..times {
        black_box(frame::run(black_box(&chunk), b'D', 1 << 20)?);
    }
    Ok(())
}
