//! Execute: run a portal.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, put_cstr, tagged};

/// Execute.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-EXECUTE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Execute<'a> {
    /// The portal's name; empty is the unnamed one.
    pub portal: &'a str,
    /// The most rows to answer with before PortalSuspended; 0 means no limit, and so does a
    /// negative number, as in PostgreSQL.
    pub max_rows: i32,
}

impl<'a> Execute<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<Execute<'a>, Malformed> {
        let mut reader = Reader::new("Execute", body);
        let portal = reader.text()?;
        let max_rows = reader.i32()?;
        reader.end().map(|()| Execute { portal, max_rows })
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'E', |buf| {
            put_cstr(buf, self.portal.as_bytes());
            buf.put_i32(self.max_rows);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execute_has_these_bytes_and_comes_back() {
        let execute = Execute { portal: "p", max_rows: 10 };
        let mut buf = BytesMut::new();
        execute.encode(&mut buf);
        assert_eq!(&buf[..], b"E\0\0\0\x0ap\0\0\0\0\x0a");
        assert_eq!(Execute::decode(&buf[5..]), Ok(execute));
        for len in 5..buf.len() {
            assert!(Execute::decode(&buf[5..len]).is_err());
        }
        assert!(Execute::decode(b"p\0\0\0\0\x0a\0").is_err());
    }
}
