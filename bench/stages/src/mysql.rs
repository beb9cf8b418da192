//! MySQL's codec: what clients send, and rows from units to clients.

use std::hint::black_box;

use bytes::BytesMut;
use pando_kernel::{Cell, Column, Kind, Native, RowCodec, Value};
use pando_mysql::codec::{
    Capabilities, Command, CommandCode, Execute, Inbound, Outbound, ParameterType,
};
use pando_mysql::row::{BinaryRows, TextRows};
use pando_mysql::types::FAMILY;

use crate::stage::{self, Stage};
use crate::{Failure, Outcome, shop};

/// Rows of one chunk.
const ROWS: u32 = 100;
const LONG: u8 = 3;
const STRING: u8 = 254;
const CAPABILITIES: Capabilities =
    Capabilities(Capabilities::PROTOCOL_41.0 | Capabilities::DEPRECATE_EOF.0);

pub(crate) const STAGES: &[Stage] = &[
    stage::of("codec/mysql/decode-query", "packet", |n| decode(&query(), n)),
    stage::of("codec/mysql/decode-execute", "packet", |n| decode(&execute(), n)),
    rows("rows/mysql-text/encode-raw", |n| encode(&TextRows, None, n)),
    rows("rows/mysql-text/encode-values", |n| encode(&TextRows, Some(Value::Int(50_127)), n)),
    rows("rows/mysql-text/look-inside", |n| look(&TextRows, n)),
    rows("rows/mysql-binary/encode-raw", |n| encode(&BinaryRows, None, n)),
    rows("rows/mysql-binary/encode-values", |n| encode(&BinaryRows, Some(Value::Int(50_127)), n)),
    rows("rows/mysql-binary/look-inside", |n| look(&BinaryRows, n)),
    rows("rows/mysql/forward", forward),
];

const fn rows(name: &'static str, run: fn(u32) -> Outcome) -> Stage {
    Stage { times: 50, each: ROWS, ..stage::of(name, "row", run) }
}

fn query() -> BytesMut {
    let mut out = Outbound::new();
    out.packet(|out| CommandCode::Query.encode(shop::POINT_SELECT.as_bytes(), out));
    out.buffer_mut().split()
}

fn execute() -> BytesMut {
    let mut out = Outbound::new();
    let long = ParameterType { type_id: LONG, unsigned: false };
    let id = 50_127_u32.to_le_bytes();
    out.packet(|out| Execute::encode(1, &[(long, Some(&id[..]))], out));
    out.buffer_mut().split()
}

/// From the bytes of a packet to the command and, of an execution, its parameters.
#[expect(clippy::wildcard_enum_match_arm, reason = "only one command has parameters")]
fn decode(packet: &[u8], times: u32) -> Outcome {
    let mut input = Inbound::new(1 << 20);
    for _ in 0..times {
        input.expect(0);
        input.buffer_mut().extend_from_slice(black_box(packet));
        let packet = input.next_packet()?.ok_or("no packet")?;
        match Command::decode(&packet.payload, CAPABILITIES)? {
            Command::Execute(head) => {
                black_box(Execute::decode(head, CAPABILITIES, 1, &[], |_| false)?);
            }
            other => drop(black_box(other)),
        }
    }
    Ok(())
}

fn columns() -> Vec<Column> {
    let column = |name: &str, kind: Kind, type_id: u8| {
        let type_id = u32::from(type_id);
        let native = Native { family: FAMILY, type_id, charset: 45, ..Native::default() };
        Column { native, ..Column::computed(name, kind) }
    };
    vec![
        column("id", Kind::Int, LONG),
        column("k", Kind::Int, LONG),
        column("c", Kind::Text, STRING),
    ]
}

fn write(codec: &dyn RowCodec, value: Option<&Value>, out: &mut BytesMut) -> Outcome {
    let columns = columns();
    let text = "c".repeat(119);
    // The bytes of a number as each form has them.
    let raw: &[u8] = if codec.form() == TextRows.form() { b"50127" } else { &[0xCF, 0xC3, 0, 0] };
    let first = value.map_or(Cell::Raw(Some(raw)), Cell::Value);
    let cells = [first, first, Cell::Raw(Some(text.as_bytes()))];
    for _ in 0..ROWS {
        codec.write(&columns, black_box(&cells), out)?;
    }
    Ok(())
}

fn encode(codec: &dyn RowCodec, value: Option<Value>, times: u32) -> Outcome {
    let mut out = BytesMut::with_capacity(32 << 10);
    for _ in 0..times {
        out.clear();
        write(codec, value.as_ref(), &mut out)?;
    }
    Ok(())
}

/// Finds all fields and decodes the first, as a merge does with a key.
fn look(codec: &dyn RowCodec, times: u32) -> Outcome {
    let columns = columns();
    let mut chunk = BytesMut::new();
    write(codec, None, &mut chunk)?;
    let key = columns.first().ok_or("no column")?;
    let mut fields = Vec::new();
    for _ in 0..times {
        let mut rest = black_box(&chunk[..]);
        while !rest.is_empty() {
            let (length, body) = codec.next(rest)?;
            codec.fields(&columns, &body, &mut fields)?;
            let field = fields.first().cloned().flatten().and_then(|range| body.get(range));
            black_box(codec.value(key, field)?);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    Ok(())
}

/// Steps over rows from one header to the next, and numbers them anew for the client.
fn forward(times: u32) -> Outcome {
    let mut rows = Outbound::new();
    let mut chunk = BytesMut::new();
    write(&TextRows, None, &mut chunk)?;
    rows.frames(&chunk);
    let chunk = rows.buffer_mut().split().freeze();
    let mut input = Inbound::new(1 << 20);
    let mut output = Outbound::new();
    for _ in 0..times {
        input.expect(0);
        input.buffer_mut().extend_from_slice(black_box(&chunk));
        match input.run(|first, _| first == 0xFE)? {
            pando_mysql::codec::Run::Packets(packets, _) => output.frames(&packets),
            pando_mysql::codec::Run::Ended | pando_mysql::codec::Run::Incomplete => {
                return Err(Failure::from("no rows"));
            }
        }
        black_box(output.buffer_mut()).clear();
    }
    Ok(())
}
