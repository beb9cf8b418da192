//! A client and a storage unit that speak PostgreSQL's protocol.

use std::collections::HashMap;
use std::io;

use bytes::{Bytes, BytesMut};
use pando_kernel::Format;
use pando_postgres::codec::backend::{
    Authentication, Column, DataRow, KeyData, ParameterDescription, ParameterStatus, ReadyForQuery,
    RowDescription, Status, encode_bind_complete, encode_close_complete, encode_command_complete,
    encode_parse_complete,
};
use pando_postgres::codec::frontend::{
    Binding, Describe, Execute, Named, Parse, Query, encode_sync, encode_terminate, put,
};
use pando_postgres::codec::{Malformed, frame, startup};
use pando_postgres::types::oid;

use super::client::{Dialogue, Replies};
use super::wire::Peer;
use super::{LIMIT, Mode, Question, RANGE, ROW, Within};
use crate::Outcome;
use crate::shop::{self, Family, POINT_SELECT};

impl Question {
    fn text(self) -> &'static str {
        match self {
            Self::Point => POINT_SELECT,
            Self::Limited => shop::LIMITED,
            Self::Range => shop::RANGE,
        }
    }

    /// The same with parameters, and their values.
    fn prepared(self) -> (&'static str, &'static [&'static [u8]]) {
        match self {
            Self::Point => (Family::Postgres.prepared(), &[b"50127"]),
            Self::Limited => {
                ("SELECT id, k, c FROM sbtest1 WHERE k >= $1 ORDER BY k, id LIMIT 10", &[b"49852"])
            }
            Self::Range => (
                "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c",
                &[b"50127", b"50226"],
            ),
        }
    }

    /// What a unit is asked by this text.
    fn of(text: &[u8]) -> Self {
        let has = |what: &[u8]| text.windows(what.len()).any(|part| part == what);
        match (has(b" LIMIT "), has(b" BETWEEN ")) {
            (true, _) => Self::Limited,
            (_, true) => Self::Range,
            (false, false) => Self::Point,
        }
    }
}

/// What a unit is asked.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Client(Question),
    /// The table's columns.
    Catalogue,
    /// What has effects on connections, and rows that stand where no rule looks: there is nothing.
    Nothing,
}

impl Asked {
    fn by(text: &[u8]) -> Self {
        if text.starts_with(b"SELECT c FROM ") || text.starts_with(b"SELECT id, k, c FROM ") {
            Self::Client(Question::of(text))
        } else if text.starts_with(b"SELECT a.attname") {
            Self::Catalogue
        } else {
            Self::Nothing
        }
    }
}

/// A login and the question, in text or prepared once, in a transaction or not.
///
/// # Errors
/// When it cannot be written.
pub(super) fn dialogue(
    question: Question,
    mode: Mode,
    within: Within,
    times: u32,
) -> Outcome<Dialogue> {
    let mut login = BytesMut::new();
    startup::encode(&mut login, &[("user", "test"), ("database", "shop")]);
    let mut opening = vec![login.freeze()];
    let mut request = BytesMut::new();
    match mode {
        Mode::Text => Query { text: question.text() }.encode(&mut request),
        Mode::Prepared => {
            let (text, values) = question.prepared();
            let mut prepare = BytesMut::new();
            Parse::encode(&mut prepare, "s", text, &[]).map_err(said)?;
            Describe(Named::Statement("s")).encode(&mut prepare);
            encode_sync(&mut prepare);
            opening.push(prepare.freeze());
            let count = values.len();
            let binding = Binding { portal: "", statement: "s", formats: &[], count, results: &[] };
            let value = |at: usize, out: &mut BytesMut| {
                put(out, values.get(at).copied());
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

/// What is told of a question's columns, and its rows with their completion.
#[derive(Debug)]
struct Answer {
    described: Bytes,
    rows: Bytes,
}

impl Answer {
    fn new(columns: &[(&'static str, u32)], rows: &[Vec<Vec<u8>>]) -> io::Result<Self> {
        let (mut head, mut out) = (BytesMut::new(), BytesMut::new());
        described(&mut head, columns)?;
        for fields in rows {
            let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
            row(&mut out, &fields)?;
        }
        encode_command_complete(&mut out, &format!("SELECT {}", rows.len()));
        Ok(Self { described: head.freeze(), rows: out.freeze() })
    }

    /// Sorted as the question says.
    fn to(question: Question) -> io::Result<Self> {
        const C: (&str, u32) = ("c", oid::BPCHAR);
        let number = |n: u64| n.to_string().into_bytes();
        match question {
            Question::Point => Self::new(&[C], &[vec![ROW.to_vec()]]),
            Question::Limited => {
                let row = |n| vec![number(50_000 + n), number(49_852 + n), ROW.to_vec()];
                let rows: Vec<_> = (0..LIMIT).map(row).collect();
                Self::new(&[("id", oid::INT4), ("k", oid::INT4), C], &rows)
            }
            Question::Range => {
                // The first is the one that a client looks for.
                let (head, tail) = ROW.split_at(11);
                let first: u64 = String::from_utf8_lossy(head).parse().map_err(io::Error::other)?;
                let row = |n| vec![[&number(first + n), tail].concat()];
                Self::new(&[C], &(0..RANGE).map(row).collect::<Vec<_>>())
            }
        }
    }
}

/// A server that has the rows.
#[derive(Debug)]
pub(super) struct Unit {
    greeted: bool,
    /// To each question of a client's.
    answers: [Answer; 3],
    /// The columns of the table.
    catalogue: Answer,
    /// No row.
    nothing: Answer,
    /// What its prepared statements ask.
    prepared: HashMap<Vec<u8>, Asked>,
    /// What the statement bound last asks.
    bound: Asked,
    /// Outside of a transaction, and inside.
    ready: [Bytes; 2],
    in_transaction: bool,
    /// The statement parsed last begins a transaction.
    begins: bool,
}

/// What is asked of the table's columns: name, type, written type, collation, primary key, generated, nullable, other collation,
/// table and place, and no default by the clock.
const CATALOGUE: [[&str; 11]; 4] = [
    ["id", "23", "integer", "", "t", "t", "f", "", "16385", "1", "f"],
    ["k", "23", "integer", "", "f", "f", "f", "", "16385", "2", "f"],
    ["c", "1042", "character(120)", "C", "f", "f", "f", "", "16385", "3", "f"],
    ["pad", "1042", "character(60)", "C", "f", "f", "f", "", "16385", "4", "f"],
];
const CATALOGUE_TYPES: [u32; 11] = [
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
    oid::BOOL,
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

/// A text that ends with a zero byte, and what follows.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (bytes.get(..end).unwrap_or_default(), bytes.get(end + 1..).unwrap_or_default())
}

impl Unit {
    /// Writes its answers down beforehand.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn new() -> io::Result<Self> {
        let ready = [Status::Idle, Status::Transaction].map(|status| {
            let mut ready = BytesMut::new();
            ReadyForQuery(status).encode(&mut ready);
            ready.freeze()
        });
        let catalogue: Vec<Vec<Vec<u8>>> = CATALOGUE
            .iter()
            .map(|fields| fields.iter().map(|field| field.as_bytes().to_vec()).collect())
            .collect();
        Ok(Self {
            greeted: false,
            answers: [
                Answer::to(Question::Point)?,
                Answer::to(Question::Limited)?,
                Answer::to(Question::Range)?,
            ],
            catalogue: Answer::new(&CATALOGUE_TYPES.map(|oid| ("f", oid)), &catalogue)?,
            nothing: Answer::new(&[("f", oid::TEXT)], &[])?,
            prepared: HashMap::new(),
            bound: Asked::Nothing,
            ready,
            in_transaction: false,
            begins: false,
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

    fn answer(&self, asked: Asked) -> &Answer {
        let [point, limited, range] = &self.answers;
        match asked {
            Asked::Client(Question::Point) => point,
            Asked::Client(Question::Limited) => limited,
            Asked::Client(Question::Range) => range,
            Asked::Catalogue => &self.catalogue,
            Asked::Nothing => &self.nothing,
        }
    }

    fn asked(&self, statement: &[u8]) -> Asked {
        self.prepared.get(statement).copied().unwrap_or(Asked::Nothing)
    }

    fn query(&mut self, body: &[u8], out: &mut BytesMut) -> io::Result<()> {
        if body.starts_with(b"SELECT pg_catalog.length(") {
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
                    let (name, text) = split(body);
                    self.prepared.insert(name.to_vec(), Asked::by(text));
                    encode_parse_complete(out);
                }
                b'B' => {
                    let (_portal, rest) = split(body);
                    self.bound = self.asked(split(rest).0);
                    encode_bind_complete(out);
                }
                b'D' => {
                    let mut asked = self.bound;
                    if let [b'S', name @ ..] = body {
                        asked = self.asked(split(name).0);
                        let is_range = matches!(asked, Asked::Client(Question::Range));
                        let of = if is_range { &[23, 23][..] } else { &[23] };
                        ParameterDescription::encode(out, of).map_err(said)?;
                    }
                    out.extend_from_slice(&self.answer(asked).described);
                }
                b'E' if self.begins => {
                    self.in_transaction = true;
                    encode_command_complete(out, "BEGIN");
                }
                b'E' => out.extend_from_slice(&self.answer(self.bound).rows),
                b'C' => encode_close_complete(out),
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
