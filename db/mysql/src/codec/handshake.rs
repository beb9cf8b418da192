//! The server's first packet.

use bytes::{BufMut, BytesMut};

use super::capabilities::Capabilities;
use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::status::Status;
use super::writer::put_nul;

/// Handshake version 10.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake<'a> {
    /// The server's version text.
    pub version: &'a [u8],
    /// The connection's number, for KILL.
    pub connection: u32,
    /// The random bytes of the authentication, without a closing zero; at least 8, as a rule 20.
    pub scramble: &'a [u8],
    /// What the server can do.
    pub capabilities: Capabilities,
    /// Default collation, low byte.
    pub charset: u8,
    /// State flags.
    pub status: Status,
    /// Default authentication plugin; empty when the server names none.
    pub plugin: &'a [u8],
}

/// Bytes of the scramble that precede the capabilities.
const FIRST_PART: usize = 8;

impl<'a> Handshake<'a> {
    /// Reads a payload; `scramble` receives the random bytes, which the packet keeps in two places.
    ///
    /// # Errors
    /// `Malformed`; another protocol version than 10 is one.
    pub fn decode(payload: &'a [u8], scramble: &'a mut Vec<u8>) -> Result<Self, Malformed> {
        let mut reader = Reader::new("handshake", payload);
        let protocol = reader.u8("protocol version")?;
        if protocol != 10 {
            return Err(reader.fault("protocol version", Fault::Value(u64::from(protocol))));
        }
        let version = reader.nul_bytes("server version")?;
        let connection = reader.u32("connection number")?;
        scramble.clear();
        scramble.extend_from_slice(reader.bytes("scramble", FIRST_PART)?);
        reader.u8("filler")?;
        let low = reader.u16("capabilities")?;
        let mut handshake = Self {
            version,
            connection,
            scramble: &[],
            capabilities: Capabilities::from_halves(u32::from(low), 0),
            charset: 0,
            status: Status::default(),
            plugin: &[],
        };
        if !reader.is_empty() {
            handshake.charset = reader.u8("character set")?;
            handshake.status = Status(reader.u16("status")?);
            let high = reader.u16("upper capabilities")?;
            let total = usize::from(reader.u8("scramble length")?);
            reader.bytes("reserved", 6)?;
            let extended = reader.u32("MariaDB's capabilities")?;
            let common = u32::from(low) | u32::from(high) << 16;
            handshake.capabilities = Capabilities::from_halves(common, 0);
            if !handshake.capabilities.has(Capabilities::LONG_PASSWORD) {
                handshake.capabilities = Capabilities::from_halves(common, extended);
            }
            if handshake.capabilities.has(Capabilities::SECURE_CONNECTION) {
                let len = total.saturating_sub(FIRST_PART).max(13).min(reader.remaining());
                let part = reader.bytes("second scramble", len)?;
                scramble.extend_from_slice(part.strip_suffix(&[0]).unwrap_or(part));
            }
            if handshake.capabilities.has(Capabilities::PLUGIN_AUTH) {
                // Some old servers leave out the name's zero byte.
                let rest = reader.take_rest();
                let end = memchr::memchr(0, rest).unwrap_or(rest.len());
                handshake.plugin = rest.get(..end).unwrap_or(rest);
            }
        }
        handshake.scramble = scramble;
        Ok(handshake)
    }

    /// Appends the payload. The scramble must have 20 bytes.
    pub fn encode(&self, out: &mut BytesMut) {
        let (first, second) = self.scramble.split_at(self.scramble.len().min(FIRST_PART));
        out.put_u8(10);
        put_nul(out, self.version);
        out.put_u32_le(self.connection);
        out.put_slice(first);
        out.put_u8(0);
        out.put_u16_le(self.capabilities.common() as u16);
        out.put_u8(self.charset);
        out.put_u16_le(self.status.0);
        out.put_u16_le((self.capabilities.common() >> 16) as u16);
        out.put_u8(self.scramble.len() as u8 + 1);
        out.put_slice(&[0; 6]);
        out.put_u32_le(self.capabilities.extended());
        put_nul(out, second);
        put_nul(out, self.plugin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BytesMut {
        let mut out = BytesMut::new();
        Handshake {
            version: b"8.0.36-Pando",
            connection: 7,
            scramble: b"abcdefghijklmnopqrst",
            capabilities: Capabilities::PLUGIN_AUTH | Capabilities::SECURE_CONNECTION,
            charset: 45,
            status: Status::AUTOCOMMIT,
            plugin: b"caching_sha2_password",
        }
        .encode(&mut out);
        out
    }

    #[test]
    fn a_handshake_comes_back() {
        let out = sample();
        let mut scramble = Vec::new();
        let handshake = Handshake::decode(&out, &mut scramble).unwrap();
        assert_eq!(handshake.version, b"8.0.36-Pando");
        assert_eq!(handshake.connection, 7);
        assert_eq!(handshake.scramble, b"abcdefghijklmnopqrst");
        assert_eq!(handshake.plugin, b"caching_sha2_password");
        assert!(handshake.capabilities.has(Capabilities::PLUGIN_AUTH));
    }

    #[test]
    fn capabilities_of_mariadb_travel_only_where_it_says_who_it_is() {
        let own = Capabilities::EXTENDED_METADATA | Capabilities::SECURE_CONNECTION;
        for (sent, expected) in [
            (own, own),
            (own | Capabilities::LONG_PASSWORD, {
                Capabilities::SECURE_CONNECTION | Capabilities::LONG_PASSWORD
            }),
        ] {
            let mut out = BytesMut::new();
            let sample = Handshake {
                version: b"10.11.14-MariaDB",
                connection: 7,
                scramble: b"abcdefghijklmnopqrst",
                capabilities: sent,
                charset: 45,
                status: Status::AUTOCOMMIT,
                plugin: b"",
            };
            sample.encode(&mut out);
            let mut scramble = Vec::new();
            let read = Handshake::decode(&out, &mut scramble).unwrap();
            assert_eq!(read, Handshake { capabilities: expected, ..sample });
        }
    }

    #[test]
    fn truncated_handshakes_are_refused() {
        let out = sample();
        let end_of_reserved = 1 + 13 + 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10;
        for cut in 0..end_of_reserved {
            let lower_half_only = cut == 1 + 13 + 4 + 8 + 1 + 2;
            let result = Handshake::decode(&out[..cut], &mut Vec::new()).is_ok();
            assert_eq!(result, lower_half_only, "cut at {cut}");
        }
    }

    #[test]
    fn another_protocol_version_is_refused() {
        let mut scramble = Vec::new();
        let fault = Handshake::decode(b"\x095.0\0", &mut scramble).unwrap_err();
        assert_eq!(fault.fault, Fault::Value(9));
    }
}
