//! Describe and Close: both name a statement or a portal.

use bytes::{BufMut, BytesMut};

use crate::codec::{Fault, Malformed, Reader, put_cstr, tagged};

/// A statement or a portal by name; empty is the unnamed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'a> {
    /// A prepared statement.
    Statement(&'a str),
    /// A portal.
    Portal(&'a str),
}

impl<'a> Named<'a> {
    fn decode(message: &'static str, body: &'a [u8]) -> Result<Named<'a>, Malformed> {
        let mut reader = Reader::new(message, body);
        let kind = reader.u8()?;
        let name = reader.text()?;
        match kind {
            b'S' => reader.end().map(|()| Named::Statement(name)),
            b'P' => reader.end().map(|()| Named::Portal(name)),
            _ => reader.fail(Fault::BadCode),
        }
    }

    fn encode(self, buf: &mut BytesMut, tag: u8) {
        let (kind, name) = match self {
            Named::Statement(name) => (b'S', name),
            Named::Portal(name) => (b'P', name),
        };
        tagged(buf, tag, |buf| {
            buf.put_u8(kind);
            put_cstr(buf, name.as_bytes());
        });
    }
}

/// Describe.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-DESCRIBE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Describe<'a>(
    /// What to describe.
    pub Named<'a>,
);

impl<'a> Describe<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<Describe<'a>, Malformed> {
        Named::decode("Describe", body).map(Describe)
    }

    /// Appends the frame.
    pub fn encode(self, buf: &mut BytesMut) {
        self.0.encode(buf, b'D');
    }
}

/// Close.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-CLOSE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Close<'a>(
    /// What to forget.
    pub Named<'a>,
);

impl<'a> Close<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<Close<'a>, Malformed> {
        Named::decode("Close", body).map(Close)
    }

    /// Appends the frame.
    pub fn encode(self, buf: &mut BytesMut) {
        self.0.encode(buf, b'C');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_have_these_bytes_and_come_back() {
        let mut buf = BytesMut::new();
        Describe(Named::Statement("s")).encode(&mut buf);
        assert_eq!(&buf[..], b"D\0\0\0\x07Ss\0");
        assert_eq!(Describe::decode(&buf[5..]), Ok(Describe(Named::Statement("s"))));
        buf.clear();
        Close(Named::Portal("")).encode(&mut buf);
        assert_eq!(&buf[..], b"C\0\0\0\x06P\0");
        assert_eq!(Close::decode(&buf[5..]), Ok(Close(Named::Portal(""))));
    }

    #[test]
    fn broken_bodies_are_refused() {
        let fault = |body| Describe::decode(body).map_err(|error| error.fault);
        assert_eq!(fault(b""), Err(Fault::Truncated));
        assert_eq!(fault(b"S"), Err(Fault::Unterminated));
        assert_eq!(fault(b"Xs\0"), Err(Fault::BadCode));
        assert_eq!(fault(b"Ss\0\0"), Err(Fault::Trailing));
    }
}
