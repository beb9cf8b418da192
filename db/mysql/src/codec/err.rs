//! ERR: a command failed.

use bytes::{BufMut, BytesMut};

use super::malformed::{Fault, Malformed};
use super::reader::Reader;

/// ERR packet.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// The error number.
    pub code: u16,
    /// SQLSTATE; `HY000` when the packet has none, as before a login.
    pub sqlstate: [u8; 5],
    /// The text.
    pub message: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    /// Reads a payload that starts with 0xFF.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("ERR packet", payload);
        let header = reader.u8("header")?;
        if header != 0xFF {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        let code = reader.u16("code")?;
        let mut sqlstate = *b"HY000";
        if reader.peek() == Some(b'#') {
            reader.u8("SQLSTATE marker")?;
            sqlstate.copy_from_slice(reader.bytes("SQLSTATE", 5)?);
        }
        Ok(Self { code, sqlstate, message: reader.take_rest() })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(0xFF);
        out.put_u16_le(self.code);
        out.put_u8(b'#');
        out.put_slice(&self.sqlstate);
        out.put_slice(self.message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_back() {
        let err = ErrPacket { code: 1096, sqlstate: *b"HY000", message: b"No tables used" };
        let mut out = BytesMut::new();
        err.encode(&mut out);
        assert_eq!(out[..9], [0xFF, 0x48, 0x04, b'#', b'H', b'Y', b'0', b'0', b'0']);
        assert_eq!(ErrPacket::decode(&out).unwrap(), err);
    }

    #[test]
    fn an_error_before_login_has_no_state() {
        let err = ErrPacket::decode(b"\xFF\x10\x04Too many connections").unwrap();
        assert_eq!((err.code, err.message), (1040, &b"Too many connections"[..]));
    }

    #[test]
    fn truncated_errors_are_refused() {
        for cut in [0, 1, 2] {
            assert!(ErrPacket::decode(&b"\xFF\x10\x04"[..cut]).is_err());
        }
        assert!(ErrPacket::decode(b"\xFF\x10\x04#HY0").is_err());
    }
}
