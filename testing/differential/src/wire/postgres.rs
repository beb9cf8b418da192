//! PostgreSQL: simple and extended protocol. <https://www.postgresql.org/docs/current/protocol-flow.html>

use std::collections::HashMap;
use std::fmt::Write as _;

use super::auth::{SCRAM_BARE, USER, scram};
use super::stream::{Reader, Stream};
use super::{Call, Cell, Client, Column, Failure, Fault, Mode, Parameter, Place, Reply};

/// Statements kept prepared on a connection.
const KEPT: usize = 40;

#[derive(Debug)]
pub(crate) struct Postgres {
    stream: Stream,
    prepared: HashMap<String, String>,
    made: usize,
}

impl Postgres {
    pub(crate) fn connect(place: &Place) -> Result<Self, Fault> {
        let mut own =
            Self { stream: Stream::connect(place.port)?, prepared: HashMap::new(), made: 0 };
        let mut body = 0x0003_0000_u32.to_be_bytes().to_vec();
        let settings = [
            ("user", USER),
            ("database", place.database.as_str()),
            ("client_encoding", "UTF8"),
            ("TimeZone", "UTC"),
            ("DateStyle", "ISO, MDY"),
        ];
        for (name, value) in settings {
            text(&mut body, name);
            text(&mut body, value);
        }
        body.push(0);
        own.stream.out().extend(length(body.len()));
        own.stream.out().extend(body);
        own.stream.flush()?;
        own.log_in()?;
        Ok(own)
    }

    fn log_in(&mut self) -> Result<(), Fault> {
        loop {
            let (tag, body) = self.message()?;
            let mut reader = Reader(&body);
            match tag {
                b'R' => match u32::from_be_bytes(reader.array()?) {
                    0 | 12 => {}
                    10 => {
                        let first = format!("n,,{SCRAM_BARE}");
                        let mut answer = b"SCRAM-SHA-256\0".to_vec();
                        answer.extend(size(first.len()));
                        answer.extend(first.as_bytes());
                        self.put(b'p', &answer);
                        self.stream.flush()?;
                    }
                    11 => {
                        let answer = scram(&String::from_utf8_lossy(reader.0))?;
                        self.put(b'p', answer.as_bytes());
                        self.stream.flush()?;
                    }
                    other => return Err(format!("login wants method {other}")),
                },
                b'E' => return Err(format!("login: {}", failure(&body)?)),
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Result<(u8, Vec<u8>), Fault> {
        let [tag, a, b, c, d] = self.stream.take()?;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let size = length.checked_sub(4).ok_or("a message shorter than its length")?;
        Ok((tag, self.stream.take_all(size)?))
    }

    fn put(&mut self, tag: u8, body: &[u8]) {
        let out = self.stream.out();
        out.push(tag);
        out.extend(length(body.len()));
        out.extend(body);
    }

    /// The name under which the statement is prepared; a Parse goes out if it is new.
    fn prepare(&mut self, sql: &str) -> String {
        if let Some(name) = self.prepared.get(sql) {
            return name.clone();
        }
        if self.prepared.len() >= KEPT {
            let names: Vec<String> = self.prepared.drain().map(|(_, name)| name).collect();
            for name in names {
                let mut body = b"S".to_vec();
                text(&mut body, &name);
                self.put(b'C', &body);
            }
        }
        self.made += 1;
        let name = format!("s{}", self.made);
        let mut body = Vec::new();
        text(&mut body, &name);
        text(&mut body, sql);
        body.extend([0, 0]);
        self.put(b'P', &body);
        self.prepared.insert(sql.to_owned(), name.clone());
        name
    }

    fn bind(&mut self, name: &str, parameters: &[Parameter], mode: Mode) {
        let mut body = vec![0];
        text(&mut body, name);
        body.extend([0, 0]);
        body.extend(u16::try_from(parameters.len()).unwrap_or(u16::MAX).to_be_bytes());
        for parameter in parameters {
            match parameter.words() {
                None => body.extend((-1_i32).to_be_bytes()),
                Some(words) => {
                    body.extend(size(words.len()));
                    body.extend(words.as_bytes());
                }
            }
        }
        body.extend([0, 1, 0, u8::from(mode == Mode::Binary)]);
        self.put(b'B', &body);
        self.put(b'D', b"P\0");
        self.put(b'E', &[0, 0, 0, 0, 0]);
        self.put(b'S', &[]);
    }
}

impl Client for Postgres {
    fn send(&mut self, call: &Call) -> Result<(), Fault> {
        if call.mode == Mode::Text {
            let mut body = Vec::with_capacity(call.sql.len() + 1);
            text(&mut body, &call.sql);
            self.put(b'Q', &body);
        } else {
            let name = self.prepare(&call.sql);
            self.bind(&name, &call.parameters, call.mode);
        }
        self.stream.flush()
    }

    fn receive(&mut self, call: &Call) -> Result<Reply, Fault> {
        let (mut columns, mut rows, mut tags) = (None, Vec::new(), String::new());
        let mut failed = None;
        loop {
            let (tag, body) = self.message()?;
            match tag {
                b'T' => columns = Some(described(&body)?),
                b'D' => rows.push(row(&body)?),
                b'C' => {
                    tags.push_str(&Reader(&body).text()?);
                }
                b'I' => tags.push_str("empty"),
                b'E' => failed = Some(failure(&body)?),
                b'G' | b'H' | b'W' => return Err("COPY was not asked for".to_owned()),
                b'Z' => break,
                _ => {}
            }
        }
        if let Some(failed) = failed {
            // A statement that was never parsed has no name.
            self.prepared.remove(&call.sql);
            return Ok(Reply::Failed(failed));
        }
        Ok(match columns {
            Some(columns) => Reply::Rows { columns, rows, tag: tags },
            None => Reply::Done(tags),
        })
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.as_bytes());
    out.push(0);
}

fn size(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes()
}

fn length(bytes: usize) -> [u8; 4] {
    size(bytes + 4)
}

fn described(body: &[u8]) -> Result<Vec<Column>, Fault> {
    let mut reader = Reader(body);
    let count = u16::from_be_bytes(reader.array()?);
    let mut columns = Vec::new();
    for _ in 0..count {
        let name = reader.text()?;
        // Which table's which column: another one on each server.
        reader.bytes(6)?;
        let oid = u32::from_be_bytes(reader.array()?);
        let size = i16::from_be_bytes(reader.array()?);
        let modifier = i32::from_be_bytes(reader.array()?);
        let format = u16::from_be_bytes(reader.array()?);
        // Users' types have the numbers that their database gave them.
        const FIRST_OF_USERS: u32 = 16_384;
        let shown = if oid < FIRST_OF_USERS { oid.to_string() } else { "of a user".to_owned() };
        let mut kind = format!("oid {shown} size {size} modifier {modifier}");
        if format != 0 {
            let _ = write!(kind, " format {format}");
        }
        columns.push(Column { name, kind });
    }
    Ok(columns)
}

fn row(body: &[u8]) -> Result<Vec<Cell>, Fault> {
    let mut reader = Reader(body);
    let count = u16::from_be_bytes(reader.array()?);
    let mut cells = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let size = i32::from_be_bytes(reader.array()?);
        cells.push(match usize::try_from(size) {
            Ok(size) => Some(reader.bytes(size)?.to_vec()),
            Err(_) => None,
        });
    }
    Ok(cells)
}

fn failure(body: &[u8]) -> Result<Failure, Fault> {
    let mut reader = Reader(body);
    let (mut state, mut message) = (String::new(), String::new());
    loop {
        match reader.array::<1>()?[0] {
            0 => break,
            b'C' => state = reader.text()?,
            b'M' => message = reader.text()?,
            _ => drop(reader.text()?),
        }
    }
    Ok(Failure { code: state.clone(), state, message })
}
