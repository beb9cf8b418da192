//! A client and a storage unit that speak PostgreSQL's protocol.

use std::io;

use bytes::{Bytes, BytesMut};
use pando_kernel::Format;
use pando_postgres::codec::backend::{
    Authentication, Column, DataRow, KeyData, ParameterDescription, ParameterStatus, ReadyForQuery,
    RowDescription, Status, encode_bind_complete, encode_command_complete, encode_parse_complete,
};
use pando_postgres::codec::frontend::{
    Binding, Describe, Execute, Named, Parse, Query, encode_sync, encode_terminate, put,
};
use pando_postgres::codec::{Malformed, frame, startup};
use pando_postgres::types::oid;

use super::client::{Dialogue, Replies};
use super::wire::Peer;
use super::{Mode, ROW, Within};
use crate::Outcome;
use crate::shop::{Family, POINT_SELECT};

/// A login and the point select, in text or prepared once, in a transaction or not.
///
/// # Errors
/// When it cannot be written.
pub(super) fn dialogue((mode, within): (Mode, Within), times: u32) -> Outcome<Dialogue> {
    let mut login = BytesMut::new();
    startup::encode(&mut login, &[("user", "test"), ("database", "shop")]);
    let mut opening = vec![login.freeze()];
    let mut request = BytesMut::new();
    match mode {
        Mode::Text => Query { text: POINT_SELECT }.encode(&mut request),
        Mode::Prepared => {
            let mut prepare = BytesMut::new();
            Parse::encode(&mut prepare, "s", Family::Postgres.prepared(), &[]).map_err(said)?;
            Describe(Named::Statement("s")).encode(&mut prepare);
            encode_sync(&mut prepare);
            opening.push(prepare.freeze());
            let binding =
                Binding { portal: "", statement: "s", formats: &[], count: 1, results: &[] };
            let value = |_, out: &mut BytesMut| {
                put(out, Some(b"50127"));
                Ok::<(), Malformed>(())
            };
            binding.encode(&mut request, value).map_err(said)?;
            Execute { portal: "", max_rows: 0 }.encode(&mut request);
            encode_sync(&mut request);
        }
    }
    if within == Within::Transaction {
        let mut begin = BytesMut::new();
        Query { text: "BEGIN" }.encode(&mut begin);
        opening.push(begin.freeze());
    }
    let mut farewell = BytesMut::new();
    encode_terminate(&mut farewell);
    Ok(Dialogue {
        opening: opening.into(),
        first: true,
        request: request.freeze(),
        times,
        farewell: farewell.freeze(),
    })
}

fn said(fault: Malformed) -> io::Error {
    io::Error::other(format!("{fault:?}"))
}

/// A reply ends with ReadyForQuery, always the last message of a piece.
#[derive(Debug, Default)]
pub(super) struct Ends;

impl Replies for Ends {
    fn begins(&mut self, _request: &[u8]) {}

    fn ends(&mut self, piece: &[u8]) -> io::Result<bool> {
        if piece.first() == Some(&b'E') {
            return Err(io::Error::other(String::from_utf8_lossy(piece).into_owned()));
        }
        Ok(piece
            .len()
            .checked_sub(6)
            .is_some_and(|at| piece.get(at..at + 5) == Some(b"Z\0\0\0\x05")))
    }
}

/// A server that has the one row.
#[derive(Debug)]
pub(super) struct Unit {
    greeted: bool,
    described: Bytes,
    rows: Bytes,
    /// Outside of a transaction, and inside.
    ready: [Bytes; 2],
    in_transaction: bool,
    /// The statement parsed last begins a transaction.
    begins: bool,
    /// The columns of the table.
    catalogue: Bytes,
}

/// What is asked of the table's columns: name, type, written type, collation, primary key, generated, nullable, other collation,
/// table and place.
const CATALOGUE: [[&str; 10]; 4] = [
    ["id", "23", "integer", "", "t", "t", "f", "", "16385", "1"],
    ["k", "23", "integer", "", "f", "f", "f", "", "16385", "2"],
    ["c", "1042", "character(120)", "C", "f", "f", "f", "", "16385", "3"],
    ["pad", "1042", "character(60)", "C", "f", "f", "f", "", "16385", "4"],
];
const CATALOGUE_TYPES: [u32; 10] = [
    oid::TEXT,
    oid::INT8,
    oid::TEXT,
    oid::TEXT,
    oid::BOOL,
    oid::BOOL,
    oid::BOOL,
    oid::TEXT,
    oid::INT8,
    oid::INT8,
];

fn described(out: &mut BytesMut, columns: &[(&'static str, u32)]) -> io::Result<()> {
    let column = |(name, oid): &(&'static str, u32)| Column {
        name: name.as_bytes(),
        table: 16_385,
        attribute: 3,
        oid: *oid,
        size: -1,
        modifier: -1,
        format: Format::Text,
    };
    RowDescription::encode(out, columns.iter().map(column)).map_err(said)
}

fn row(out: &mut BytesMut, fields: &[&[u8]]) -> io::Result<()> {
    DataRow::encode(out, fields.iter().map(|field| Some(*field))).map_err(said)
}

impl Unit {
    /// Writes its answers down beforehand.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn new() -> io::Result<Self> {
        let (mut head, mut rows) = (BytesMut::new(), BytesMut::new());
        described(&mut head, &[("c", oid::BPCHAR)])?;
        row(&mut rows, &[ROW])?;
        encode_command_complete(&mut rows, "SELECT 1");
        let ready = [Status::Idle, Status::Transaction].map(|status| {
            let mut ready = BytesMut::new();
            ReadyForQuery(status).encode(&mut ready);
            ready.freeze()
        });
        let mut catalogue = BytesMut::new();
        described(&mut catalogue, &CATALOGUE_TYPES.map(|oid| ("f", oid)))?;
        for fields in CATALOGUE {
            row(&mut catalogue, &fields.map(str::as_bytes))?;
        }
        encode_command_complete(&mut catalogue, "SELECT 4");
        Ok(Self {
            greeted: false,
            described: head.freeze(),
            rows: rows.freeze(),
            ready,
            in_transaction: false,
            begins: false,
            catalogue: catalogue.freeze(),
        })
    }

    fn welcome(&mut self, out: &mut BytesMut) {
        self.greeted = true;
        Authentication::Ok.encode(out);
        let facts = [("server_version", "15.14"), ("client_encoding", "UTF8")];
        for (name, value) in facts {
            ParameterStatus { name, value: value.as_bytes() }.encode(out);
        }
        KeyData { process: 1, key: &[0, 0, 0, 1] }.encode(out);
        out.extend_from_slice(self.ready());
    }

    fn ready(&self) -> &[u8] {
        let [outside, inside] = &self.ready;
        if self.in_transaction { inside } else { outside }
    }

    fn query(&mut self, body: &[u8], out: &mut BytesMut) -> io::Result<()> {
        if body.starts_with(b"SELECT c FROM sbtest1_") {
            out.extend_from_slice(&self.described);
            out.extend_from_slice(&self.rows);
        } else if body.starts_with(b"SELECT a.attname") {
            out.extend_from_slice(&self.catalogue);
        } else if body.starts_with(b"SELECT pg_catalog.length(") {
            // At the end of a login: nobody reads what it answers.
            encode_command_complete(out, "SELECT 1");
        } else {
            let text = String::from_utf8_lossy(body).into_owned();
            return Err(io::Error::other(format!("the unit does not know `{text}`")));
        }
        out.extend_from_slice(self.ready());
        Ok(())
    }
}

impl Peer for Unit {
    fn greet(&mut self, _out: &mut BytesMut) -> io::Result<()> {
        Ok(())
    }

    fn hear(&mut self, piece: &[u8], out: &mut BytesMut) -> io::Result<()> {
        if !self.greeted {
            self.welcome(out);
            return Ok(());
        }
        let mut rest = piece;
        while let Some((header, body)) = frame::frame(rest, 1 << 20).map_err(said)? {
            match header.tag {
                b'Q' => self.query(body, out)?,
                b'P' => {
                    self.begins = body.starts_with(b"\0BEGIN");
                    encode_parse_complete(out);
                }
                b'B' => encode_bind_complete(out),
                b'D' => {
                    if body.first() == Some(&b'S') {
                        ParameterDescription::encode(out, &[23]).map_err(said)?;
                    }
                    out.extend_from_slice(&self.described);
                }
                b'E' if self.begins => {
                    self.in_transaction = true;
                    encode_command_complete(out, "BEGIN");
                }
                b'E' => out.extend_from_slice(&self.rows),
                b'S' => out.extend_from_slice(self.ready()),
                tag => return Err(io::Error::other(format!("the unit does not know {tag}"))),
            }
            rest = rest.get(header.total..).unwrap_or_default();
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        false
    }
}
