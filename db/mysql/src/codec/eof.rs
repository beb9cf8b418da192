//! EOF: the end of column definitions or rows for clients without `DEPRECATE_EOF`.

use bytes::{BufMut, BytesMut};

use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::status::Status;

/// EOF packet.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_eof_packet.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Eof {
    /// Number of warnings.
    pub warnings: u16,
    /// State after the command.
    pub status: Status,
}

impl Eof {
    /// True when a payload is an EOF and not a row that begins with the byte 0xFE.
    pub fn is_one(payload: &[u8]) -> bool {
        payload.first() == Some(&0xFE) && payload.len() < 9
    }

    /// Reads a payload that starts with 0xFE.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("EOF packet", payload);
        let header = reader.u8("header")?;
        if header != 0xFE {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        Ok(Self { warnings: reader.u16("warnings")?, status: Status(reader.u16("status")?) })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(0xFE);
        out.put_u16_le(self.warnings);
        out.put_u16_le(self.status.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eof_comes_back_and_cuts_are_refused() {
        let eof = Eof { warnings: 3, status: Status::AUTOCOMMIT };
        let mut out = BytesMut::new();
        eof.encode(&mut out);
        assert_eq!(out[..], [0xFE, 3, 0, 2, 0]);
        assert_eq!(Eof::decode(&out).unwrap(), eof);
        for cut in 0..out.len() {
            assert!(Eof::decode(&out[..cut]).is_err());
        }
    }

    #[test]
    fn a_row_with_a_huge_first_field_is_no_eof() {
        assert!(!Eof::is_one(&[0xFE, 0, 0, 0, 1, 0, 0, 0, 0, b'x']));
        assert!(Eof::is_one(&[0xFE, 0, 0, 2, 0]));
    }
}
