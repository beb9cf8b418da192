//! The one text of a value of a declared type: equal values have equal texts, so that what is stored of them is equal.

mod moment;
mod number;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{DeclaredType, Value};
use pando_sql::Fold;

/// What is declared of an encrypted column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) declared: DeclaredType,
    /// How its servers read names, which tells the family.
    pub(crate) fold: Fold,
}

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A value that is stored: it is made one of the column's as its server would.
    Store,
    /// A value that is compared: it stays what it is, and is equal to none where the column could not hold it.
    Compare,
}

impl Declared {
    /// A value's text; `column` is for errors.
    ///
    /// # Errors
    /// `Value` for what cannot be read as the type, `OutOfRange` and `TooLong` for what it does not hold, `Refused` for
    /// what servers read in ways of their own.
    pub(crate) fn text(self, column: &str, value: &Value, aim: Aim) -> Result<String> {
        let reader = Reader { column, aim, is_mysql: self.fold == Fold::Keep };
        match self.declared {
            DeclaredType::Text { most } => reader.text(value, most),
            DeclaredType::Char { length } => reader.blank_padded(value, length),
            DeclaredType::Int { octets, unsigned } => reader.whole(value, octets, unsigned),
            DeclaredType::Decimal { digits, scale } => reader.decimal(value, digits, scale),
            DeclaredType::Date => reader.date(value),
            DeclaredType::Time { places } => reader.time(value, places),
            DeclaredType::Timestamp { places } => reader.timestamp(value, places),
            DeclaredType::Bool => reader.boolean(value),
            DeclaredType::Uuid => reader.uuid(value),
        }
    }

    /// What a client is told of a text that was stored; of one that another program has written, as it would have been.
    ///
    /// # Errors
    /// `Value` for one that is none of the type's.
    pub(crate) fn value(self, text: String) -> Result<Value> {
        if let DeclaredType::Text { .. } = self.declared {
            return Ok(Value::Text(text));
        }
        if let DeclaredType::Char { length } = self.declared
            && self.fold == Fold::Lower
        {
            let blanks = (length as usize).saturating_sub(text.chars().count());
            return Ok(Value::Text(text + &" ".repeat(blanks)));
        }
        let text = self.text("a decrypted value", &Value::Text(text), Aim::Store)?;
        let wrong = || Error::new(ErrorKind::Value("a decrypted value is none of its type".into()));
        match self.declared {
            DeclaredType::Int { unsigned: false, .. } => {
                text.parse().map(Value::Int).map_err(|_| wrong())
            }
            DeclaredType::Int { unsigned: true, .. } => {
                text.parse().map(Value::UInt).map_err(|_| wrong())
            }
            DeclaredType::Decimal { .. } => Value::decimal(&text).ok_or_else(wrong),
            DeclaredType::Bool => Ok(Value::Bool(text == "true")),
            DeclaredType::Text { .. }
            | DeclaredType::Char { .. }
            | DeclaredType::Date
            | DeclaredType::Time { .. }
            | DeclaredType::Timestamp { .. }
            | DeclaredType::Uuid => Ok(Value::Text(text)),
        }
    }
}

/// Reads values for one column.
#[derive(Debug, Clone, Copy)]
struct Reader<'a> {
    column: &'a str,
    aim: Aim,
    is_mysql: bool,
}

impl Reader<'_> {
    /// What servers read in ways of their own, or do not take.
    fn wrong(&self, what: &str, instead: &str) -> Error {
        let column = self.column;
        Error::unsupported(
            30001,
            format!("the encrypted column `{column}` was given {what}"),
            instead.to_owned(),
        )
    }

    /// What is none of the type's.
    fn unreadable(&self, kind: &str, value: &str) -> Error {
        let value: String = value.chars().take(64).collect();
        Error::new(ErrorKind::Value(match self.is_mysql {
            true => format!("Incorrect {kind} value: '{value}' for column '{}'", self.column),
            false => format!("invalid input syntax for type {kind}: \"{value}\""),
        }))
    }

    fn out_of_range(&self, kind: &str) -> Error {
        Error::new(ErrorKind::OutOfRange(match self.is_mysql {
            true => format!("Out of range value for column '{}'", self.column),
            false => format!("{kind} out of range"),
        }))
    }

    fn text(&self, value: &Value, most: Option<u32>) -> Result<String> {
        let text = self.characters(value)?;
        match most {
            Some(most) if self.aim == Aim::Store => self.cut(text, most, "character varying"),
            Some(_) | None => Ok(text),
        }
    }

    fn blank_padded(&self, value: &Value, length: u32) -> Result<String> {
        let text = self.characters(value)?;
        let trimmed = text.trim_end_matches(' ');
        if self.aim == Aim::Compare && trimmed.len() != text.len() {
            return Err(self.wrong("a text with blanks at its end", "leave the blanks away"));
        }
        self.cut(trimmed.to_owned(), length, "character")
    }

    /// Blanks that are too many are dropped, anything else is too long.
    fn cut(&self, mut text: String, most: u32, kind: &str) -> Result<String> {
        let Some((end, _)) = text.char_indices().nth(most as usize) else { return Ok(text) };
        let is_blank = text.get(end..).is_some_and(|rest| rest.chars().all(|one| one == ' '));
        if is_blank {
            text.truncate(end);
            return Ok(text);
        }
        if self.aim == Aim::Compare {
            return Ok(text);
        }
        Err(Error::new(ErrorKind::TooLong(match self.is_mysql {
            true => format!("Data too long for column '{}'", self.column),
            false => format!("value too long for type {kind}({most})"),
        })))
    }

    fn characters(&self, value: &Value) -> Result<String> {
        if let Value::Text(text) = value {
            return Ok(text.clone());
        }
        if self.aim == Aim::Compare && !matches!(value, Value::Bytes(_)) {
            // Servers compare texts with numbers in ways of their own, for which they would have to read the texts.
            return Err(
                self.wrong("something else than a text to compare it with", "give it a text")
            );
        }
        Ok(match value {
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Decimal(number) => number.to_plain_string(),
            Value::Bool(is) if self.is_mysql => u8::from(*is).to_string(),
            Value::Bool(is) => is.to_string(),
            Value::Bytes(octets) if self.is_mysql && std::str::from_utf8(octets).is_ok() => {
                String::from_utf8_lossy(octets).into_owned()
            }
            Value::Bytes(_) => {
                return Err(self.wrong("octets, which are no text", "give it a text"));
            }
            Value::Float(_) => {
                return Err(self.wrong(
                    "a floating point number, which servers write in several ways",
                    "give it a text",
                ));
            }
            Value::Text(_) | Value::Null => {
                return Err(Error::internal("NULL is not encrypted"));
            }
        })
    }

    /// <https://www.postgresql.org/docs/current/datatype-boolean.html>
    fn boolean(&self, value: &Value) -> Result<String> {
        let is = match value {
            Value::Bool(is) => *is,
            Value::Text(text) => {
                let word = text.trim().to_lowercase();
                let is_short =
                    |of: &str, least: usize| word.len() >= least && of.starts_with(&word);
                match word.as_str() {
                    "1" | "on" => true,
                    "0" => false,
                    _ if is_short("true", 1) || is_short("yes", 1) => true,
                    _ if is_short("false", 1) || is_short("no", 1) || is_short("off", 2) => false,
                    _ => return Err(self.unreadable("boolean", text)),
                }
            }
            Value::Null
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => {
                return Err(self.wrong("something else than a boolean", "give it TRUE or FALSE"));
            }
        };
        Ok(is.to_string())
    }

    /// <https://www.postgresql.org/docs/current/datatype-uuid.html>
    fn uuid(&self, value: &Value) -> Result<String> {
        let Value::Text(text) = value else {
            return Err(self.wrong("something else than a UUID", "give it a text"));
        };
        let own = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
        let digits: String =
            own.chars().filter(|one| *one != '-').collect::<String>().to_lowercase();
        let is_uuid = digits.len() == 32 && digits.bytes().all(|one| one.is_ascii_hexdigit());
        if !is_uuid {
            return Err(self.unreadable("uuid", text));
        }
        let parts =
            [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part).unwrap_or_default());
        Ok(parts.join("-"))
    }
}

#[cfg(test)]
mod tests;
