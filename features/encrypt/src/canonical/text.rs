//! Characters.

use pando_kernel::Value;
use pando_kernel::error::{Error, ErrorKind, Result};

use super::{Aim, Reader};

impl Reader<'_> {
    pub(super) fn text(&self, value: &Value, most: Option<u32>) -> Result<String> {
        let text = self.characters(value)?;
        match most {
            Some(most) if self.aim != Aim::Compare => self.cut(text, most, "character varying"),
            Some(_) | None => Ok(text),
        }
    }

    pub(super) fn blank_padded(&self, value: &Value, length: u32) -> Result<String> {
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
        if is_blank || self.aim == Aim::Cast {
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
}
