//! BackendKeyData: what to name in a CancelRequest.

use bytes::{BufMut, BytesMut};

use crate::codec::{Fault, Malformed, Reader, tagged};

/// BackendKeyData.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-BACKENDKEYDATA>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyData<'a> {
    /// The connection's process id.
    pub process: u32,
    /// The secret; 4 bytes in protocol 3.0, up to 256 later.
    pub key: &'a [u8],
}

impl<'a> KeyData<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<KeyData<'a>, Malformed> {
        let mut reader = Reader::new("BackendKeyData", body);
        let process = reader.u32()?;
        match reader.rest() {
            key if key.len() < 4 => reader.fail(Fault::Truncated),
            key if key.len() > 256 => reader.fail(Fault::TooLong),
            key => Ok(KeyData { process, key }),
        }
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'K', |buf| {
            buf.put_u32(self.process);
            buf.put_slice(self.key);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_has_these_bytes_and_comes_back() {
        let key = KeyData { process: 9, key: b"abcd" };
        let mut buf = BytesMut::new();
        key.encode(&mut buf);
        assert_eq!(&buf[..], b"K\0\0\0\x0c\0\0\0\x09abcd");
        assert_eq!(KeyData::decode(&buf[5..]), Ok(key));
        for len in 5..buf.len() {
            assert!(KeyData::decode(&buf[5..len]).is_err());
        }
        assert!(KeyData::decode(&[0; 261]).is_err());
    }
}
