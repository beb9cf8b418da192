//! Character sets that clients speak: UTF-8, and latin1, which is the default of MariaDB's client library.
//!
//! Pando and storage units speak UTF-8 to each other; what a latin1 client sends and gets is translated here.

use std::borrow::Cow;

use pando_kernel::{Column, Native, Value};
use pando_sql::{read_latin1, write_latin1};

use crate::dialect::latin1_collation;
use crate::types::{BINARY_CHARSET, ColumnType, FAMILY};

/// `latin1_swedish_ci`.
const LATIN1_SWEDISH: u16 = 8;

/// The character set of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Charset {
    /// `utf8mb4` and its parts, and `binary`: as stored.
    #[default]
    Utf8,
    /// `latin1`.
    Latin1,
}

/// What a client sends and what it wants to get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Charsets {
    /// `character_set_client`.
    pub(super) client: Charset,
    /// `character_set_results`.
    pub(super) results: Charset,
}

impl Charsets {
    /// Takes note of a variable the client is told.
    pub(super) fn note(&mut self, variable: &str, value: &str) {
        match variable {
            "character_set_client" => self.client = Charset::named(value),
            "character_set_results" => self.results = Charset::named(value),
            _ => {}
        }
    }
}

impl From<Charset> for Charsets {
    fn from(both: Charset) -> Self {
        Self { client: both, results: both }
    }
}

impl Charset {
    /// That of the collation a client logs in with; `None` when Pando does not speak it.
    ///
    /// What no server knows stands for the server's default, as on the servers.
    ///
    /// Source: `information_schema.COLLATIONS` of MySQL 8.0 and MariaDB 10.11, which agree on these numbers.
    pub(super) fn of_collation(number: u16) -> Option<Self> {
        match number {
            number if latin1_collation(number).is_some() => Some(Self::Latin1),
            0 | 11 | 17 | 33 | 45 | 46 | 63 | 65 | 76 | 83 => Some(Self::Utf8),
            1..=99 | 101..=124 | 128..=151 | 159..=183 | 248..=250 => None,
            _ => Some(Self::Utf8),
        }
    }

    fn named(name: &str) -> Self {
        if name == "latin1" { Self::Latin1 } else { Self::Utf8 }
    }

    /// What a client wrote, as UTF-8; `None` when it is none.
    pub(super) fn read(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self.translated(bytes) {
            Some(text) => Some(text.into()),
            None => std::str::from_utf8(bytes).ok().map(Cow::from),
        }
    }

    /// What a client wrote, where that has other octets in UTF-8.
    pub(super) fn translated(self, bytes: &[u8]) -> Option<String> {
        (self == Self::Latin1 && !bytes.is_ascii()).then(|| read_latin1(bytes))
    }

    /// UTF-8 as the client reads it: `?` stands for what its character set does not have.
    pub(super) fn write(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self == Self::Utf8 || text.is_ascii() {
            return text.into();
        }
        write_latin1(&String::from_utf8_lossy(text)).into()
    }

    /// Whether a column's fields are translated, as a server of this family has sent them: texts, and JSON, which is described as binary.
    pub(super) fn translates(self, column: &Column) -> bool {
        let is_json = column.native.type_id == ColumnType::Json as u32;
        self != Self::Utf8 && (column.native.charset != BINARY_CHARSET || is_json)
    }

    /// A field of such a column as the client reads it.
    pub(super) fn field<'a>(self, column: &Column, field: &'a [u8]) -> Cow<'a, [u8]> {
        if self.translates(column) { self.write(field) } else { field.into() }
    }

    /// A value as the client reads it.
    pub(super) fn value(self, value: Value) -> Value {
        match (self, &value) {
            (Self::Latin1, Value::Text(text)) => {
                Value::Bytes(self.write(text.as_bytes()).into_owned().into())
            }
            _ => value,
        }
    }

    /// The column as a client with this character set is told of it: each letter takes one byte.
    pub(super) fn described(self, column: &Column) -> Column {
        let native = &column.native;
        if native.family != FAMILY || native.charset == BINARY_CHARSET || self == Self::Utf8 {
            return column.clone();
        }
        let letters =
            if is_of_four_bytes(native.charset) { native.length / 4 } else { native.length };
        let is_blob =
            (ColumnType::TinyBlob as u32..=ColumnType::Blob as u32).contains(&native.type_id);
        let length = if is_blob { native.length } else { letters };
        let native = Native { charset: LATIN1_SWEDISH, length, ..*native };
        Column { native, ..column.clone() }
    }
}

/// Collations of `utf8mb4`.
fn is_of_four_bytes(collation: u16) -> bool {
    matches!(collation, 45 | 46 | 224..=247 | 255..=323)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_latin1_become_question_marks() {
        assert_eq!(*Charset::Latin1.write("aé€漢😀".as_bytes()), *b"a\xE9\x80??");
        assert_eq!(*Charset::Utf8.write("漢".as_bytes()), *"漢".as_bytes());
    }

    #[test]
    fn a_login_in_another_character_set_is_known() {
        for (number, expected) in [
            (8, Some(Charset::Latin1)),
            (47, Some(Charset::Latin1)),
            (0, Some(Charset::Utf8)),
            (33, Some(Charset::Utf8)),
            (45, Some(Charset::Utf8)),
            (63, Some(Charset::Utf8)),
            (255, Some(Charset::Utf8)),
            (28, None),
            (51, None),
            (35, None),
            (128, None),
            (249, None),
        ] {
            assert_eq!(Charset::of_collation(number), expected, "{number}");
        }
    }
}
