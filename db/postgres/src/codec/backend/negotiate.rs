//! NegotiateProtocolVersion: not everything asked for is spoken.

use bytes::{BufMut, BytesMut};

use crate::codec::{Fault, Malformed, Reader, body, put_cstr};

/// NegotiateProtocolVersion.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-NEGOTIATEPROTOCOLVERSION>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiate<'a> {
    /// The newest version the server speaks for the major version asked for.
    pub version: u32,
    /// The protocol options (`_pq_.…`) it does not know.
    pub unknown: Vec<&'a str>,
}

impl<'a> Negotiate<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<Negotiate<'a>, Malformed> {
        let mut reader = Reader::new("NegotiateProtocolVersion", body);
        let version = reader.u32()?;
        let Ok(count) = usize::try_from(reader.i32()?) else {
            return reader.fail(Fault::BadCount);
        };
        let mut unknown = Vec::new();
        for _ in 0..count {
            unknown.push(reader.text()?);
        }
        reader.end().map(|()| Negotiate { version, unknown })
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        buf.put_u8(b'v');
        body(buf, |buf| {
            buf.put_u32(self.version);
            // Bounded by the startup packet the names came in.
            buf.put_i32(i32::try_from(self.unknown.len()).unwrap_or(i32::MAX));
            self.unknown.iter().for_each(|name| put_cstr(buf, name.as_bytes()));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negotiation_has_these_bytes_and_comes_back() {
        let negotiate = Negotiate { version: 3 << 16, unknown: vec!["_pq_.x"] };
        let mut buf = BytesMut::new();
        negotiate.encode(&mut buf);
        assert_eq!(&buf[..], b"v\0\0\0\x13\0\x03\0\0\0\0\0\x01_pq_.x\0");
        assert_eq!(Negotiate::decode(&buf[5..]), Ok(negotiate));
        for len in 5..buf.len() {
            assert!(Negotiate::decode(&buf[5..len]).is_err());
        }
    }

    #[test]
    fn a_lying_count_is_refused_without_memory_for_it() {
        assert!(Negotiate::decode(&[0, 3, 0, 0, 0x7f, 0xff, 0xff, 0xff]).is_err());
        assert!(Negotiate::decode(&[0, 3, 0, 0, 0xff, 0xff, 0xff, 0xff]).is_err());
    }
}
