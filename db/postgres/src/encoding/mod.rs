//! Encodings of clients: a door speaks them, all else is UTF-8.
//! <https://www.postgresql.org/docs/current/multibyte.html>

mod names;
mod single_byte;
mod tables;
mod unconvertible;

use std::borrow::Cow;

use pando_kernel::Error;

use single_byte::SingleByte;
pub(crate) use unconvertible::not_utf8;
use unconvertible::{Unconvertible, invalid};

/// What a client's texts are written in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Encoding {
    /// As units speak.
    #[default]
    Utf8,
    /// Nothing is converted: what is no UTF-8 is refused, what is read comes as UTF-8.
    SqlAscii,
    /// One byte a character.
    SingleByte(&'static SingleByte),
}

/// What a name of an encoding means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Named {
    /// One that is spoken.
    Spoken(Encoding),
    /// One that servers know and doors do not speak.
    Unspoken,
    /// None.
    Unknown,
}

impl Encoding {
    /// The encoding of this name, in any of the spellings that a server takes.
    pub(crate) fn named(name: &str) -> Named {
        let Some(name) = names::canonical(name) else { return Named::Unknown };
        let single = || tables::ALL.iter().find(|one| one.name() == name);
        match name {
            "UTF8" => Named::Spoken(Encoding::Utf8),
            "SQL_ASCII" => Named::Spoken(Encoding::SqlAscii),
            _ => match single() {
                Some(one) => Named::Spoken(Encoding::SingleByte(one)),
                None => Named::Unspoken,
            },
        }
    }

    /// Its name as the server spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF8",
            Encoding::SqlAscii => "SQL_ASCII",
            Encoding::SingleByte(one) => one.name(),
        }
    }

    /// Whether bytes are the same in it as in UTF-8.
    pub(crate) fn is_plain(self) -> bool {
        match self {
            Encoding::Utf8 | Encoding::SqlAscii => true,
            Encoding::SingleByte(_) => false,
        }
    }

    /// A client's text as UTF-8. Of plain encodings nothing is looked at.
    ///
    /// # Errors
    /// SQLSTATE 22P05 for bytes that mean no character, 22021 for a zero.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
        match self {
            Encoding::SingleByte(_) if bytes.contains(&0) => Err(invalid(self.name(), &[0])),
            Encoding::SingleByte(one) if !bytes.is_ascii() => {
                Ok(Cow::Owned(one.decode(bytes).map_err(Unconvertible::error)?.into_bytes()))
            }
            Encoding::Utf8 | Encoding::SqlAscii | Encoding::SingleByte(_) => Ok(bytes.into()),
        }
    }

    /// A text of UTF-8 for the client.
    ///
    /// # Errors
    /// SQLSTATE 22P05 for a character without an equivalent, 22021 for what is no UTF-8.
    pub(crate) fn encode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
        match self {
            Encoding::SingleByte(one) if !bytes.is_ascii() => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Owned(one.encode(text).map_err(Unconvertible::error)?)),
                Err(_) => Err(not_utf8(bytes)),
            },
            Encoding::Utf8 | Encoding::SqlAscii | Encoding::SingleByte(_) => Ok(bytes.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::ErrorKind;

    use super::*;

    fn spoken(name: &str) -> Encoding {
        match Encoding::named(name) {
            Named::Spoken(encoding) => encoding,
            other @ (Named::Unspoken | Named::Unknown) => panic!("{name}: {other:?}"),
        }
    }

    fn message(error: &Error) -> (String, String) {
        let ErrorKind::Server(said) = error.kind() else { panic!("{error}") };
        (said.sqlstate.clone(), said.message.clone())
    }

    #[test]
    fn names_are_spelled_as_servers_take_them() {
        for (name, expected) in [
            ("latin1", "LATIN1"),
            ("ISO-8859-1", "LATIN1"),
            ("iso_8859_15", "LATIN9"),
            ("Windows-1252", "WIN1252"),
            ("koi8", "KOI8R"),
            ("win", "WIN1251"),
            ("alt", "WIN866"),
            ("unicode", "UTF8"),
            ("utf-8", "UTF8"),
            ("SQL_ASCII", "SQL_ASCII"),
        ] {
            assert_eq!(spoken(name).name(), expected, "{name}");
        }
        assert!(matches!(Encoding::named("shift-jis"), Named::Unspoken));
        assert!(matches!(Encoding::named("mule_internal"), Named::Unspoken));
        for name in ["", "default", "latin11", "utf16", "'utf8'x"] {
            assert!(matches!(Encoding::named(name), Named::Unknown), "{name}");
        }
    }

    #[test]
    fn every_byte_that_means_a_character_is_that_characters_byte() {
        for one in tables::ALL {
            let encoding = Encoding::SingleByte(one);
            let known = (1..=255).filter(|byte| encoding.decode(&[*byte]).is_ok());
            let mut count = 0;
            for byte in known {
                let text = encoding.decode(&[byte]).unwrap().into_owned();
                assert_eq!(encoding.encode(&text).unwrap(), vec![byte], "{} {byte}", one.name());
                count += 1;
            }
            assert!(count > 200, "{} {count}", one.name());
        }
    }

    #[test]
    fn what_has_no_equivalent_is_told_as_servers_do() {
        let euro = spoken("latin1").encode("a€".as_bytes()).unwrap_err();
        let says = "character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"";
        assert_eq!(message(&euro), ("22P05".into(), says.into()));
        let hole = spoken("win1252").decode(b"a\x81").unwrap_err();
        let says = "character with byte sequence 0x81 in encoding \"WIN1252\" has no equivalent in encoding \"UTF8\"";
        assert_eq!(message(&hole), ("22P05".into(), says.into()));
        let zero = spoken("latin9").decode(b"a\0").unwrap_err();
        let says = "invalid byte sequence for encoding \"LATIN9\": 0x00";
        assert_eq!(message(&zero), ("22021".into(), says.into()));
        let high = spoken("latin2").encode("𝄞".as_bytes()).unwrap_err();
        assert_eq!(message(&high).0, "22P05");
    }

    #[test]
    fn bytes_that_are_no_utf8_are_told_as_servers_do() {
        for (bytes, told) in [
            (&b"a\xe9'"[..], "0xe9 0x27"),
            (b"\xff\xff", "0xff"),
            (b"\xc3(x", "0xc3 0x28"),
            (b"\xf0\x9f\x98zz", "0xf0 0x9f 0x98 0x7a"),
        ] {
            let says = format!("invalid byte sequence for encoding \"UTF8\": {told}");
            assert_eq!(message(&not_utf8(bytes)), ("22021".into(), says));
        }
    }

    #[test]
    fn what_is_plain_is_left_as_it_is() {
        for name in ["utf8", "sql_ascii"] {
            let bytes = spoken(name).encode("€".as_bytes()).unwrap().into_owned();
            assert_eq!(bytes, "€".as_bytes());
            assert_eq!(spoken(name).decode(b"\xff").unwrap().into_owned(), b"\xff");
        }
        assert_eq!(spoken("latin9").encode("€".as_bytes()).unwrap().into_owned(), b"\xa4");
    }
}
