//! OK: a command succeeded, or (with the EOF header) the rows are over.

use bytes::{BufMut, BytesMut};

use super::capabilities::Capabilities;
use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::status::Status;
use super::writer::{put_lenenc_bytes, put_lenenc_int};

/// The first byte of an OK packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OkHeader {
    /// 0x00: a command succeeded.
    Ok,
    /// 0xFE: the end of rows, when EOF packets are not used.
    EndOfRows,
}

/// OK packet.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OkPacket<'a> {
    /// Rows affected.
    pub affected: u64,
    /// The last generated `AUTO_INCREMENT` value, 0 when none.
    pub last_insert_id: u64,
    /// State after the command.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// Human readable text, such as `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: &'a [u8],
    /// The block of session state changes; empty when none.
    pub session_state: &'a [u8],
}

impl<'a> OkPacket<'a> {
    /// Reads a payload that starts with 0x00 or 0xFE.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new("OK packet", payload);
        match reader.u8("header")? {
            0x00 | 0xFE => {}
            other => return Err(reader.fault("header", Fault::Value(u64::from(other)))),
        }
        let affected = reader.lenenc_int("affected rows")?;
        let last_insert_id = reader.lenenc_int("last insert id")?;
        let status = Status(reader.u16("status")?);
        let warnings = reader.u16("warnings")?;
        let mut ok = Self { affected, last_insert_id, status, warnings, ..Self::default() };
        if !capabilities.has(Capabilities::SESSION_TRACK) {
            ok.info = untracked_info(reader);
        } else if !reader.is_empty() {
            ok.info = reader.lenenc_bytes("info")?;
            if status.has(Status::SESSION_CHANGED) && !reader.is_empty() {
                ok.session_state = reader.lenenc_bytes("session state changes")?;
            }
        }
        Ok(ok)
    }

    /// Appends the payload. Without `SESSION_TRACK` in `capabilities` the state changes are left out.
    pub fn encode(&self, header: OkHeader, capabilities: Capabilities, out: &mut BytesMut) {
        out.put_u8(match header {
            OkHeader::Ok => 0x00,
            OkHeader::EndOfRows => 0xFE,
        });
        put_lenenc_int(out, self.affected);
        put_lenenc_int(out, self.last_insert_id);
        let tracked = capabilities.has(Capabilities::SESSION_TRACK);
        let changed = tracked && !self.session_state.is_empty();
        let status = self.status.without(Status::SESSION_CHANGED);
        out.put_u16_le((status | changed.then_some(Status::SESSION_CHANGED)).0);
        out.put_u16_le(self.warnings);
        if changed {
            put_lenenc_bytes(out, self.info);
            put_lenenc_bytes(out, self.session_state);
        } else if !self.info.is_empty() {
            put_lenenc_bytes(out, self.info);
        }
    }
}

/// The manual says `string<EOF>`, but servers send, and their own clients expect, a length in front here too.
fn untracked_info(mut reader: Reader<'_>) -> &[u8] {
    let rest = reader.clone().take_rest();
    match reader.lenenc_bytes("info") {
        Ok(info) if reader.is_empty() => info,
        Ok(_) | Err(_) => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ok_comes_back_with_and_without_tracking() {
        let ok = OkPacket {
            affected: 300,
            last_insert_id: 70_000,
            status: Status::AUTOCOMMIT | Status::SESSION_CHANGED,
            warnings: 2,
            info: b"Rows matched: 300",
            session_state: &[1, 2, 1, b's'],
        };
        let tracking = Capabilities::PROTOCOL_41 | Capabilities::SESSION_TRACK;
        let mut out = BytesMut::new();
        ok.encode(OkHeader::Ok, tracking, &mut out);
        assert_eq!(OkPacket::decode(&out, tracking).unwrap(), ok);
        let mut plain = BytesMut::new();
        ok.encode(OkHeader::EndOfRows, Capabilities::PROTOCOL_41, &mut plain);
        assert_eq!(plain[0], 0xFE);
        let read = OkPacket::decode(&plain, Capabilities::PROTOCOL_41).unwrap();
        assert_eq!(read.info, ok.info);
        assert_eq!(read.status, Status::AUTOCOMMIT);
        assert_eq!(plain[plain.len() - 18], 17);
        assert!(read.session_state.is_empty());
    }

    #[test]
    fn the_manuals_example_is_read() {
        let ok = OkPacket::decode(&[0, 0, 0, 2, 0, 0, 0], Capabilities::PROTOCOL_41).unwrap();
        assert_eq!(ok, OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() });
    }

    #[test]
    fn truncated_and_lying_oks_are_refused() {
        let tracking = Capabilities::SESSION_TRACK;
        let whole = [0, 1, 0, 2, 0x40, 0, 0, 1, b'i', 4, 1, 2, 1, b's'];
        for cut in [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 13] {
            assert!(OkPacket::decode(&whole[..cut], tracking).is_err(), "cut at {cut}");
        }
        assert!(OkPacket::decode(&[0, 0, 0, 2, 0, 0, 0, 200, b'x'], tracking).is_err());
        assert!(OkPacket::decode(&[9, 0, 0, 2, 0, 0, 0], tracking).is_err());
    }
}
