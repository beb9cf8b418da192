//! Query: a text with any number of statements.

use bytes::BytesMut;

use crate::codec::{Malformed, Reader, put_cstr, tagged};

/// Query.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-QUERY>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// The statements, separated by semicolons; may be empty.
    pub text: &'a str,
}

impl<'a> Query<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol, or a text that is not UTF-8.
    pub fn decode(body: &'a [u8]) -> Result<Query<'a>, Malformed> {
        let mut reader = Reader::new("Query", body);
        let text = reader.text()?;
        reader.end().map(|()| Query { text })
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'Q', |buf| put_cstr(buf, self.text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Fault;

    #[test]
    fn a_query_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        Query { text: "SELECT 1" }.encode(&mut buf);
        assert_eq!(&buf[..], b"Q\0\0\0\x0dSELECT 1\0");
        assert_eq!(Query::decode(&buf[5..]), Ok(Query { text: "SELECT 1" }));
    }

    #[test]
    fn broken_texts_are_refused() {
        let fault = |body| Query::decode(body).map_err(|error| error.fault);
        assert_eq!(fault(b"SELECT 1"), Err(Fault::Unterminated));
        assert_eq!(fault(b"SELECT 1\0;"), Err(Fault::Trailing));
        assert_eq!(fault(b"\xff\0"), Err(Fault::NotUtf8));
        assert_eq!(fault(b""), Err(Fault::Unterminated));
    }
}
