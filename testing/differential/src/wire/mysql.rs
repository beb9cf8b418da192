//! MySQL and MariaDB: COM_QUERY and COM_STMT. <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>

use std::collections::HashMap;

use super::auth::{USER, mysql as answer};
use super::stream::{Reader, Stream};
use super::{Call, Cell, Client, Column, Failure, Fault, Mode, Parameter, Place, Reply};

/// LONG_PASSWORD, FOUND_ROWS is left out, LONG_FLAG, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
const CAPABILITIES: u32 = 1 | 4 | 8 | 0x200 | 0x2000 | 0x8000 | 0x8_0000;
const UTF8MB4_GENERAL: u8 = 45;
/// Statements kept prepared on a connection.
const KEPT: usize = 40;

#[derive(Debug)]
pub(crate) struct MySql {
    stream: Stream,
    sequence: u8,
    /// Number of the statement and how many parameters it has.
    prepared: HashMap<String, (u32, u16)>,
}

impl MySql {
    pub(crate) fn connect(place: &Place) -> Result<Self, Fault> {
        let stream = Stream::connect(place.port)?;
        let mut own = Self { stream, sequence: 0, prepared: HashMap::new() };
        own.log_in(&place.database)?;
        Ok(own)
    }

    fn log_in(&mut self, database: &str) -> Result<(), Fault> {
        let greeting = self.packet()?;
        let (scramble, plugin) = greeted(&greeting)?;
        let proof = answer(&plugin, &scramble)?;
        let mut body = CAPABILITIES.to_le_bytes().to_vec();
        body.extend((1_u32 << 24).to_le_bytes());
        body.push(UTF8MB4_GENERAL);
        body.extend([0; 23]);
        body.extend(USER.as_bytes());
        body.push(0);
        body.push(u8::try_from(proof.len()).unwrap_or(0));
        body.extend(proof);
        for text in [database, &plugin] {
            body.extend(text.as_bytes());
            body.push(0);
        }
        self.put(&body)?;
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0) => return Ok(()),
                Some(0xff) => return Err(format!("login: {}", failure(&packet)?)),
                Some(0xfe) => {
                    let mut reader = Reader(packet.get(1..).unwrap_or_default());
                    let plugin = reader.text()?;
                    let proof = answer(&plugin, reader.0.get(..20).unwrap_or_default())?;
                    self.put(&proof)?;
                }
                // caching_sha2_password was content with the hash.
                Some(1) if packet.get(1) == Some(&3) => {}
                _ => return Err("login: the server wants the password itself".to_owned()),
            }
        }
    }

    fn packet(&mut self) -> Result<Vec<u8>, Fault> {
        let mut whole = Vec::new();
        loop {
            let [a, b, c, sequence] = self.stream.take()?;
            self.sequence = sequence.wrapping_add(1);
            let size = u32::from_le_bytes([a, b, c, 0]) as usize;
            whole.extend(self.stream.take_all(size)?);
            if size < 0xff_ffff {
                return Ok(whole);
            }
        }
    }

    fn put(&mut self, body: &[u8]) -> Result<(), Fault> {
        let size = u32::try_from(body.len()).unwrap_or(u32::MAX);
        if size >= 0xff_ffff {
            return Err("the statement is too long for this client".to_owned());
        }
        let [a, b, c, _] = size.to_le_bytes();
        self.stream.out().extend([a, b, c, self.sequence]);
        self.stream.out().extend(body);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.flush()
    }

    fn command(&mut self, code: u8, body: &[u8]) -> Result<(), Fault> {
        self.sequence = 0;
        self.put(&[&[code], body].concat())
    }

    /// Ends with the answer to COM_STMT_EXECUTE under way, or with the error of preparing.
    fn execute(&mut self, call: &Call) -> Result<Option<Failure>, Fault> {
        let (id, wanted) = match self.prepared.get(&call.sql) {
            Some(known) => *known,
            None => match self.prepare_answer()? {
                Ok(known) => {
                    self.prepared.insert(call.sql.clone(), known);
                    known
                }
                Err(failed) => return Ok(Some(failed)),
            },
        };
        self.send_execute(call, id, wanted)?;
        Ok(None)
    }

    fn prepare_answer(&mut self) -> Result<Result<(u32, u16), Failure>, Fault> {
        let packet = self.packet()?;
        if packet.first() == Some(&0xff) {
            return Ok(Err(failure(&packet)?));
        }
        let mut reader = Reader(&packet);
        reader.bytes(1)?;
        let id = u32::from_le_bytes(reader.array()?);
        let columns = u16::from_le_bytes(reader.array()?);
        let parameters = u16::from_le_bytes(reader.array()?);
        for count in [parameters, columns] {
            if count > 0 {
                for _ in 0..=count {
                    self.packet()?;
                }
            }
        }
        Ok(Ok((id, parameters)))
    }

    fn send_execute(&mut self, call: &Call, id: u32, wanted: u16) -> Result<(), Fault> {
        let parameters = &call.parameters;
        if usize::from(wanted) != parameters.len() {
            return Err(format!("{wanted} parameters are wanted, {} given", parameters.len()));
        }
        let mut body = id.to_le_bytes().to_vec();
        body.push(0);
        body.extend(1_u32.to_le_bytes());
        if !parameters.is_empty() {
            let mut nulls = vec![0_u8; parameters.len().div_ceil(8)];
            let (mut kinds, mut values) = (Vec::new(), Vec::new());
            for (at, parameter) in parameters.iter().enumerate() {
                match parameter {
                    Parameter::Null => {
                        nulls[at / 8] |= 1 << (at % 8);
                        kinds.extend([6, 0]);
                    }
                    Parameter::Whole(number) => {
                        kinds.extend([8, 0]);
                        values.extend(number.to_le_bytes());
                    }
                    Parameter::Float(number) => {
                        kinds.extend([5, 0]);
                        values.extend(number.to_le_bytes());
                    }
                    Parameter::Text(text) => {
                        kinds.extend([253, 0]);
                        put_text(&mut values, text);
                    }
                }
            }
            body.extend(nulls);
            body.push(1);
            body.extend(kinds);
            body.extend(values);
        }
        self.command(0x17, &body)
    }

    fn read_result(&mut self, is_binary: bool) -> Result<Reply, Fault> {
        let packet = self.packet()?;
        let mut reader = Reader(&packet);
        let count = match packet.first() {
            Some(0) => {
                reader.bytes(1)?;
                return Ok(Reply::Done(format!("{} rows", counted(&mut reader)?)));
            }
            Some(0xff) => return Ok(Reply::Failed(failure(&packet)?)),
            Some(0xfb) => return Err("LOCAL INFILE was not asked for".to_owned()),
            _ => counted(&mut reader)?,
        };
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(described(&self.packet()?)?);
        }
        self.packet()?;
        let mut rows = Vec::new();
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0xff) => return Ok(Reply::Failed(failure(&packet)?)),
                Some(0xfe) if packet.len() < 9 => break,
                _ if is_binary => rows.push(binary_row(&packet, &columns)?),
                _ => rows.push(text_row(&packet, columns.len())?),
            }
        }
        let columns = columns.into_iter().map(|(column, _)| column).collect();
        Ok(Reply::Rows { columns, rows, tag: String::new() })
    }
}

impl Client for MySql {
    fn send(&mut self, call: &Call) -> Result<(), Fault> {
        if call.mode == Mode::Text {
            return self.command(3, call.sql.as_bytes());
        }
        if self.prepared.contains_key(&call.sql) {
            // Everything is sent when it is this statement's turn to be read.
            return Ok(());
        }
        if self.prepared.len() >= KEPT {
            let ids: Vec<u32> = self.prepared.drain().map(|(_, (id, _))| id).collect();
            for id in ids {
                self.command(0x19, &id.to_le_bytes())?;
            }
        }
        self.command(0x16, call.sql.as_bytes())
    }

    fn receive(&mut self, call: &Call) -> Result<Reply, Fault> {
        if call.mode == Mode::Text {
            return self.read_result(false);
        }
        match self.execute(call)? {
            Some(failed) => Ok(Reply::Failed(failed)),
            None => self.read_result(true),
        }
    }
}

fn greeted(packet: &[u8]) -> Result<(Vec<u8>, String), Fault> {
    if packet.first() == Some(&0xff) {
        return Err(format!("greeting: {}", failure(packet)?));
    }
    let mut reader = Reader(packet.get(1..).unwrap_or_default());
    reader.text()?;
    reader.bytes(4)?;
    let mut scramble = reader.bytes(8)?.to_vec();
    // Filler, low capabilities, character set, status, high capabilities, length of the scramble, ten bytes of nothing.
    reader.bytes(1 + 2 + 1 + 2 + 2 + 1 + 10)?;
    scramble.extend(reader.bytes(12)?);
    reader.bytes(1)?;
    Ok((scramble, reader.text()?))
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let size = text.len();
    match u8::try_from(size) {
        Ok(short) if short < 251 => out.push(short),
        _ => {
            out.push(0xfd);
            out.extend(&u32::try_from(size).unwrap_or(0).to_le_bytes()[..3]);
        }
    }
    out.extend(text.as_bytes());
}

fn counted(reader: &mut Reader<'_>) -> Result<u64, Fault> {
    let size = match reader.array::<1>()?[0] {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        small => return Ok(u64::from(small)),
    };
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(reader.bytes(size)?);
    Ok(u64::from_le_bytes(bytes))
}

fn sized<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Fault> {
    let size = usize::try_from(counted(reader)?).map_err(|_| "a length beyond memory")?;
    reader.bytes(size)
}

/// Flags that belong to the type of a value: UNSIGNED, ENUM, SET. The others, BINARY too, differ on one server from plan to plan.
const KIND_FLAGS: u16 = 32 | 256 | 2048;

fn described(packet: &[u8]) -> Result<(Column, u8), Fault> {
    let mut reader = Reader(packet);
    for _ in 0..4 {
        sized(&mut reader)?;
    }
    let name = String::from_utf8_lossy(sized(&mut reader)?).into_owned();
    sized(&mut reader)?;
    reader.bytes(1)?;
    let charset = u16::from_le_bytes(reader.array()?);
    // The greatest length: on one server, too, it is another one where a temporary table is used.
    reader.bytes(4)?;
    let kind = reader.array::<1>()?[0];
    let flags = u16::from_le_bytes(reader.array()?) & KIND_FLAGS;
    let mut decimals = reader.array::<1>()?[0];
    if matches!(kind, 249..=254) {
        // For texts it says nothing, and MariaDB says 39 or 0 as the plan goes.
        decimals = 0;
    }
    // TINY, MEDIUM, LONG and plain BLOB follow from the greatest length, too.
    let told = if matches!(kind, 249..=252) { 252 } else { kind };
    let kind_words = format!("type {told} charset {charset} flags {flags} decimals {decimals}");
    Ok((Column { name, kind: kind_words }, kind))
}

fn text_row(packet: &[u8], columns: usize) -> Result<Vec<Cell>, Fault> {
    let mut reader = Reader(packet);
    let mut cells = Vec::with_capacity(columns);
    for _ in 0..columns {
        if reader.0.first() == Some(&0xfb) {
            reader.bytes(1)?;
            cells.push(None);
        } else {
            cells.push(Some(sized(&mut reader)?.to_vec()));
        }
    }
    Ok(cells)
}

fn binary_row(packet: &[u8], columns: &[(Column, u8)]) -> Result<Vec<Cell>, Fault> {
    let mut reader = Reader(packet);
    reader.bytes(1)?;
    let nulls = reader.bytes((columns.len() + 9) / 8)?;
    let mut cells = Vec::with_capacity(columns.len());
    for (at, (_, kind)) in columns.iter().enumerate() {
        let bit = at + 2;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            cells.push(None);
            continue;
        }
        let bytes = match kind {
            1 => reader.bytes(1)?,
            2 | 13 => reader.bytes(2)?,
            3 | 4 | 9 => reader.bytes(4)?,
            5 | 8 => reader.bytes(8)?,
            7 | 10 | 11 | 12 => {
                let size = usize::from(reader.array::<1>()?[0]);
                reader.bytes(size)?
            }
            _ => sized(&mut reader)?,
        };
        cells.push(Some(bytes.to_vec()));
    }
    Ok(cells)
}

fn failure(packet: &[u8]) -> Result<Failure, Fault> {
    let mut reader = Reader(packet);
    reader.bytes(1)?;
    let code = u16::from_le_bytes(reader.array()?).to_string();
    let mut state = String::new();
    if reader.0.first() == Some(&b'#') {
        reader.bytes(1)?;
        state = String::from_utf8_lossy(reader.bytes(5)?).into_owned();
    }
    Ok(Failure { code, state, message: String::from_utf8_lossy(reader.0).into_owned() })
}
