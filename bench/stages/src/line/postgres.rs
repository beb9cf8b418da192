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

use super::client::{Dialogue, Replies};
use super::wire::Peer;
use super::{Mode, ROW};
use crate::Outcome;
use crate::shop::{Family, POINT_SELECT};

/// A login and the point select, in text or prepared once.
///
/// # Errors
/// When it cannot be written.
pub(super) fn dialogue(mode: Mode, times: u32) -> Outcome<Dialogue> {
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
    ready: Bytes,
}

impl Unit {
    /// Writes its answers down beforehand.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn new() -> io::Result<Self> {
        let column = Column {
            name: b"c",
            table: 16_385,
            attribute: 3,
            oid: 1042,
            size: -1,
            modifier: 124,
            format: Format::Text,
        };
        let mut described = BytesMut::new();
        RowDescription::encode(&mut described, [column].into_iter()).map_err(said)?;
        let mut rows = BytesMut::new();
        DataRow::encode(&mut rows, [Some(ROW)].into_iter()).map_err(said)?;
        encode_command_complete(&mut rows, "SELECT 1");
        let mut ready = BytesMut::new();
        ReadyForQuery(Status::Idle).encode(&mut ready);
        let (described, rows, ready) = (described.freeze(), rows.freeze(), ready.freeze());
        Ok(Self { greeted: false, described, rows, ready })
    }

    fn welcome(&mut self, out: &mut BytesMut) {
        self.greeted = true;
        Authentication::Ok.encode(out);
        let facts = [("server_version", "15.14"), ("client_encoding", "UTF8")];
        for (name, value) in facts {
            ParameterStatus { name, value: value.as_bytes() }.encode(out);
        }
        KeyData { process: 1, key: &[0, 0, 0, 1] }.encode(out);
        out.extend_from_slice(&self.ready);
    }

    fn query(&self, body: &[u8], out: &mut BytesMut) -> io::Result<()> {
        if !body.starts_with(b"SELECT c FROM sbtest1_") {
            let text = String::from_utf8_lossy(body).into_owned();
            return Err(io::Error::other(format!("the unit does not know `{text}`")));
        }
        out.extend_from_slice(&self.described);
        out.extend_from_slice(&self.rows);
        out.extend_from_slice(&self.ready);
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
                b'P' => encode_parse_complete(out),
                b'B' => encode_bind_complete(out),
                b'D' => {
                    if body.first() == Some(&b'S') {
                        ParameterDescription::encode(out, &[23]).map_err(said)?;
                    }
                    out.extend_from_slice(&self.described);
                }
                b'E' => out.extend_from_slice(&self.rows),
                b'S' => out.extend_from_slice(&self.ready),
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
