//! A client and a storage unit that speak MySQL's protocol.

use std::io;

use bytes::{Bytes, BytesMut};
use pando_mysql::codec::{
    Capabilities, Column, ColumnDefinition, CommandCode, Execute, HEADER_LEN, Handshake,
    HandshakeResponse, OkHeader, OkPacket, Outbound, ParameterType, PrepareOk, SslRequest, Status,
    frame_payload_len, put_lenenc_bytes,
};

use super::client::{Dialogue, Replies};
use super::wire::Peer;
use super::{Mode, ROW};
use crate::Outcome;
use crate::shop::{Family, POINT_SELECT};

/// What client and server of the scripts can do: what the vendors' own libraries of today ask for.
const CAPABILITIES: Capabilities = Capabilities(
    Capabilities::LONG_PASSWORD.0
        | Capabilities::LONG_FLAG.0
        | Capabilities::CONNECT_WITH_DB.0
        | Capabilities::PROTOCOL_41.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::MULTI_STATEMENTS.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::DEPRECATE_EOF.0,
);
const PLUGIN: &[u8] = b"mysql_native_password";
const LONG: u8 = 3;
const STRING: u8 = 254;

fn packets(sequence: u8, fill: impl FnOnce(&mut Outbound)) -> Bytes {
    let mut out = Outbound::new();
    out.restart(sequence);
    fill(&mut out);
    out.buffer_mut().split().freeze()
}

fn command(code: CommandCode, body: &[u8]) -> Bytes {
    packets(0, |out| out.packet(|out| code.encode(body, out)))
}

/// A login and the point select, in text or prepared once.
///
/// # Errors
/// None so far.
pub(super) fn dialogue(mode: Mode, times: u32) -> Outcome<Dialogue> {
    let response = HandshakeResponse {
        head: SslRequest { capabilities: CAPABILITIES, max_packet: 1 << 24, charset: 255 },
        user: b"test",
        auth: b"",
        database: b"shop",
        plugin: PLUGIN,
        attributes: b"",
    };
    let mut opening = vec![packets(1, |out| out.packet(|out| response.encode(out)))];
    let request = match mode {
        Mode::Text => command(CommandCode::Query, POINT_SELECT.as_bytes()),
        Mode::Prepared => {
            opening.push(command(CommandCode::Prepare, Family::MySql.prepared().as_bytes()));
            let long = ParameterType { type_id: LONG, unsigned: false };
            let id = 50_127_u32.to_le_bytes();
            packets(0, |out| {
                out.packet(|out| Execute::encode(1, &[(long, Some(&id[..]))], out));
            })
        }
    };
    let farewell = command(CommandCode::Quit, &[]);
    Ok(Dialogue { opening: opening.into(), first: false, request, times, farewell })
}

/// Walks the packets of replies.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The request was a COM_STMT_PREPARE.
    prepares: bool,
    /// Packets of the reply so far.
    seen: u32,
    /// Definitions to come, after a COM_STMT_PREPARE.
    owed: u16,
}

impl Ends {
    fn packet(&mut self, payload: &[u8]) -> io::Result<bool> {
        self.seen += 1;
        let first = payload.first().copied().unwrap_or_default();
        if first == 0xFF {
            return Err(io::Error::other(String::from_utf8_lossy(payload).into_owned()));
        }
        if self.seen > 1 {
            self.owed = self.owed.saturating_sub(1);
            return Ok(if self.prepares { self.owed == 0 } else { first == 0xFE });
        }
        if self.prepares
            && let Ok(prepared) = PrepareOk::decode(payload)
        {
            self.owed = prepared.columns + prepared.parameters;
            return Ok(self.owed == 0);
        }
        // A greeting, an OK; else the number of columns.
        Ok(matches!(first, 0x0A | 0x00))
    }
}

impl Replies for Ends {
    fn begins(&mut self, request: &[u8]) {
        let code = request.get(HEADER_LEN).copied();
        *self = Self {
            prepares: code == Some(CommandCode::Prepare as u8) && request.get(3) == Some(&0),
            seen: 0,
            owed: 0,
        };
    }

    fn ends(&mut self, piece: &[u8]) -> io::Result<bool> {
        let mut rest = piece;
        let mut ended = false;
        while let Some(header) = rest.first_chunk::<HEADER_LEN>() {
            let end = HEADER_LEN + frame_payload_len(*header);
            let payload = rest.get(HEADER_LEN..end);
            let payload = payload.ok_or_else(|| io::Error::other("a packet in two pieces"))?;
            ended = self.packet(payload)?;
            rest = rest.get(end..).unwrap_or_default();
        }
        Ok(ended)
    }
}

/// A server that has the one row.
#[derive(Debug)]
pub(super) struct Unit {
    greeted: bool,
    text: Bytes,
    binary: Bytes,
    prepared: Bytes,
    /// The columns of the table.
    catalogue: Bytes,
    /// No row.
    nothing: Bytes,
}

/// What is asked of the table's columns: name, type, written type, collation, key, extra, nullable, default, triggers,
/// the table's collation, the server's time zone.
const CATALOGUE: [[&str; 11]; 4] = [
    ["id", "int", "int", "", "PRI", "", "NO", "", "0", "utf8mb4_bin", "+00:00"],
    ["k", "int", "int", "", "MUL", "", "NO", "", "0", "utf8mb4_bin", "+00:00"],
    ["c", "char", "char(120)", "utf8mb4_bin", "", "", "NO", "", "0", "utf8mb4_bin", "+00:00"],
    ["pad", "char", "char(60)", "utf8mb4_bin", "", "", "NO", "", "0", "utf8mb4_bin", "+00:00"],
];

impl Unit {
    /// Writes its answers down beforehand.
    pub(super) fn new() -> Self {
        let column = Column { charset: 45, length: 480, type_id: STRING, flags: 0, decimals: 0 };
        let definition = ColumnDefinition {
            schema: b"unit_0",
            table: b"sbtest1_0",
            org_table: b"sbtest1_0",
            name: b"c",
            org_name: b"c",
            extended: b"",
            column,
            default: None,
        };
        let parameter = ColumnDefinition { name: b"?", ..ColumnDefinition::default() };
        let reply = |columns: u8, rows: &[BytesMut]| {
            packets(1, |out| {
                out.payload(&[columns]);
                (0..columns).for_each(|_| out.packet(|out| definition.encode(CAPABILITIES, out)));
                rows.iter().for_each(|row| out.payload(row));
                out.packet(|out| ok(OkHeader::EndOfRows, out));
            })
        };
        let row = |head: &[u8], fields: &[&[u8]]| {
            let mut row = BytesMut::from(head);
            fields.iter().for_each(|field| put_lenenc_bytes(&mut row, field));
            row
        };
        let text = reply(1, &[row(&[], &[ROW])]);
        let binary = reply(1, &[row(&[0, 0], &[ROW])]);
        let catalogue = reply(11, &CATALOGUE.map(|fields| row(&[], &fields.map(str::as_bytes))));
        let prepared = packets(1, |out| {
            let head = PrepareOk { statement: 1, columns: 1, parameters: 1, warnings: 0 };
            out.packet(|out| head.encode(out));
            out.packet(|out| parameter.encode(CAPABILITIES, out));
            out.packet(|out| definition.encode(CAPABILITIES, out));
        });
        let nothing = reply(2, &[]);
        Self { greeted: false, text, binary, prepared, catalogue, nothing }
    }
}

fn ok(header: OkHeader, out: &mut BytesMut) {
    let ok = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
    ok.encode(header, CAPABILITIES, out);
}

impl Peer for Unit {
    fn greet(&mut self, out: &mut BytesMut) -> io::Result<()> {
        let handshake = Handshake {
            version: b"8.0.44",
            connection: 1,
            scramble: &[7; 20],
            capabilities: CAPABILITIES,
            charset: 45,
            status: Status::AUTOCOMMIT,
            plugin: PLUGIN,
        };
        out.extend_from_slice(&packets(0, |out| out.packet(|out| handshake.encode(out))));
        Ok(())
    }

    fn hear(&mut self, piece: &[u8], out: &mut BytesMut) -> io::Result<()> {
        if !self.greeted {
            self.greeted = true;
            let welcome = packets(2, |out| out.packet(|out| ok(OkHeader::Ok, out)));
            out.extend_from_slice(&welcome);
            return Ok(());
        }
        let command = piece.get(HEADER_LEN..).unwrap_or_default();
        match command.first() {
            Some(3) if command.get(1..).is_some_and(|text| text.starts_with(b"SELECT c FROM")) => {
                out.extend_from_slice(&self.text);
            }
            Some(3) if command.get(1..).is_some_and(|text| text.starts_with(b"SELECT COLUMN_")) => {
                out.extend_from_slice(&self.catalogue);
            }
            // How it reads texts, at the login.
            Some(3) if command.get(1..).is_some_and(|text| text.starts_with(b"SET NAMES")) => {
                out.extend_from_slice(&packets(1, |out| out.packet(|out| ok(OkHeader::Ok, out))));
            }
            // What has effects on connections, and rows that stand where no rule looks: there is nothing.
            Some(3) if command.get(1..).is_some_and(|text| text.starts_with(b"SELECT ")) => {
                out.extend_from_slice(&self.nothing);
            }
            Some(0x16) => out.extend_from_slice(&self.prepared),
            Some(0x17) => out.extend_from_slice(&self.binary),
            _ => {
                let text = String::from_utf8_lossy(command).into_owned();
                return Err(io::Error::other(format!("the unit does not know `{text}`")));
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        false
    }
}
