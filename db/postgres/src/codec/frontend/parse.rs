//! Parse: prepare a statement.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, count, put_cstr, tagged};

/// Parse.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-PARSE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parse<'a> {
    /// The statement's name; empty is the unnamed one.
    pub name: &'a str,
    /// One statement.
    pub text: &'a str,
    types: &'a [u8],
}

impl<'a> Parse<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol, or a text that is not UTF-8.
    pub fn decode(body: &'a [u8]) -> Result<Parse<'a>, Malformed> {
        let mut reader = Reader::new("Parse", body);
        let name = reader.text()?;
        let text = reader.text()?;
        let count = reader.count()?;
        let types = reader.bytes(count * 4)?;
        reader.end().map(|()| Parse { name, text, types })
    }

    /// Oids of the first parameters' types, in parameter order; 0 leaves the choice to the server.
    /// May be shorter than the list of parameters.
    pub fn types(&self) -> impl ExactSizeIterator<Item = u32> + 'a {
        self.types.as_chunks::<4>().0.iter().map(|oid| u32::from_be_bytes(*oid))
    }

    /// Appends the frame for these parts.
    ///
    /// # Errors
    /// More types than a 16-bit count can say.
    pub fn encode(
        buf: &mut BytesMut,
        name: &str,
        text: &str,
        types: &[u32],
    ) -> Result<(), Malformed> {
        let len = count("Parse", types.len())?;
        tagged(buf, b'P', |buf| {
            put_cstr(buf, name.as_bytes());
            put_cstr(buf, text.as_bytes());
            buf.put_u16(len);
            types.iter().for_each(|oid| buf.put_u32(*oid));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parse_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        Parse::encode(&mut buf, "s", "SELECT $1", &[23]).unwrap();
        assert_eq!(&buf[..], b"P\0\0\0\x16s\0SELECT $1\0\0\x01\0\0\0\x17");
        let parse = Parse::decode(&buf[5..]).unwrap();
        assert_eq!((parse.name, parse.text), ("s", "SELECT $1"));
        assert_eq!(parse.types().collect::<Vec<_>>(), [23]);
        for len in 5..buf.len() {
            assert!(Parse::decode(&buf[5..len]).is_err());
        }
    }

    #[test]
    fn a_lying_count_is_refused() {
        assert!(Parse::decode(b"\0\0\xff\xff\0\0\0\x17").is_err());
        assert!(Parse::decode(b"\0\0\0\0\0\0\0\x17").is_err());
    }

    #[test]
    fn too_many_types_are_not_sent() {
        assert!(Parse::encode(&mut BytesMut::new(), "", "", &[0; 65_536]).is_err());
    }
}
