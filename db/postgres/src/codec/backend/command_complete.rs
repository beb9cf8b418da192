//! CommandComplete: a statement is done.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, put_cstr, put_number, tagged};

/// CommandComplete.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COMMANDCOMPLETE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandComplete<'a> {
    /// What was done and to how many rows, for example `INSERT 0 5`.
    pub tag: &'a str,
}

impl<'a> CommandComplete<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<CommandComplete<'a>, Malformed> {
        let mut reader = Reader::new("CommandComplete", body);
        let tag = reader.text()?;
        reader.end().map(|()| CommandComplete { tag })
    }

    /// The number of rows that the tag tells; `None` when it tells none (`CREATE TABLE`).
    pub fn rows(&self) -> Option<u64> {
        let space = memchr::memrchr(b' ', self.tag.as_bytes())?;
        let (words, number) = (self.tag.get(..space)?, self.tag.get(space + 1..)?);
        match words {
            "SELECT" | "INSERT 0" | "UPDATE" | "DELETE" | "MERGE" | "MOVE" | "FETCH" | "COPY" => {
                number.parse().ok()
            }
            _ => None,
        }
    }
}

/// Appends a CommandComplete frame.
pub fn encode_command_complete(buf: &mut BytesMut, tag: &str) {
    tagged(buf, b'C', |buf| put_cstr(buf, tag.as_bytes()));
}

/// Appends a CommandComplete frame whose tag is these words and a number.
pub(crate) fn encode_counted(buf: &mut BytesMut, words: &str, rows: u64) {
    tagged(buf, b'C', |buf| {
        buf.put_slice(words.as_bytes());
        buf.put_u8(b' ');
        put_number(buf, rows);
        buf.put_u8(0);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        encode_command_complete(&mut buf, "SELECT 2");
        assert_eq!(&buf[..], b"C\0\0\0\x0dSELECT 2\0");
        assert_eq!(CommandComplete::decode(&buf[5..]), Ok(CommandComplete { tag: "SELECT 2" }));
        let mut counted = BytesMut::new();
        encode_counted(&mut counted, "SELECT", 2);
        assert_eq!(counted, buf);
        assert!(CommandComplete::decode(b"SELECT 2").is_err());
        assert!(CommandComplete::decode(b"SELECT 2\0\0").is_err());
    }

    #[test]
    fn a_tag_tells_its_rows() {
        let rows = |tag| CommandComplete { tag }.rows();
        assert_eq!(rows("INSERT 0 5"), Some(5));
        assert_eq!(rows("UPDATE 0"), Some(0));
        assert_eq!(rows("SELECT 12"), Some(12));
        assert_eq!(rows("CREATE TABLE"), None);
        assert_eq!(rows("BEGIN"), None);
    }
}
