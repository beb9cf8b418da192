//! What is told of texts that have no equivalent in another encoding.
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>

use pando_kernel::{Error, ErrorKind, ServerError};

/// A character that one of two encodings does not have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unconvertible {
    bytes: Vec<u8>,
    from: &'static str,
    to: &'static str,
}

impl Unconvertible {
    /// A byte that means no character.
    pub(super) fn from_client(encoding: &'static str, byte: u8) -> Unconvertible {
        Unconvertible { bytes: vec![byte], from: encoding, to: "UTF8" }
    }

    /// A character without a byte.
    pub(super) fn to_client(encoding: &'static str, character: char) -> Unconvertible {
        Unconvertible { bytes: character.to_string().into_bytes(), from: "UTF8", to: encoding }
    }

    /// SQLSTATE 22P05, in the server's words.
    pub(super) fn error(self) -> Error {
        let (bytes, from, to) = (hex(&self.bytes), self.from, self.to);
        said(
            "22P05",
            format!(
                "character with byte sequence {bytes} in encoding \"{from}\" has no equivalent in encoding \"{to}\""
            ),
        )
    }
}

/// SQLSTATE 22021, as a server tells of bytes that are no UTF-8: those that the first of them asks for.
pub(crate) fn not_utf8(bytes: &[u8]) -> Error {
    let at = std::str::from_utf8(bytes).err().map_or(0, |wrong| wrong.valid_up_to());
    let wrong = bytes.get(at..).unwrap_or_default();
    let asked = match wrong.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        Some(_) | None => 1,
    };
    invalid("UTF8", wrong.get(..asked).unwrap_or(wrong))
}

/// SQLSTATE 22021: bytes that are no text of an encoding.
pub(super) fn invalid(encoding: &str, bytes: &[u8]) -> Error {
    let bytes = hex(bytes);
    said("22021", format!("invalid byte sequence for encoding \"{encoding}\": {bytes}"))
}

fn hex(bytes: &[u8]) -> String {
    let each: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    each.join(" ")
}

fn said(sqlstate: &str, message: String) -> Error {
    Error::new(ErrorKind::Server(Box::new(ServerError {
        sqlstate: sqlstate.into(),
        message,
        severity: "ERROR".into(),
        ..ServerError::default()
    })))
}
