//! The one text of a value of a declared type: equal values have equal texts, so that what is stored of them is equal.

mod moment;
mod number;
mod text;
mod word;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{DeclaredType, Value};
use pando_sql::Fold;

use number::Whole;

/// What is declared of an encrypted column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) declared: DeclaredType,
    /// How its servers read names, which tells the family.
    pub(crate) fold: Fold,
}

/// Whether a text has the form of a date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Right,
    Wrong,
}

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A value that is stored: it is made one of the column's as its server would.
    Store,
    /// A value that is compared: it stays what it is, and is equal to none where the column could not hold it.
    Compare,
    /// A value that is cast to the type: as one that is stored, and a text that is too long is cut.
    Cast,
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
            DeclaredType::Int { octets, unsigned } => {
                reader.whole(value, Whole { octets, unsigned })
            }
            DeclaredType::TinyInt1 => reader.whole(value, Whole { octets: 1, unsigned: false }),
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
        // What is wrong with the value would tell it: it may be masked.
        let wrong = || Error::new(ErrorKind::Value("a decrypted value is none of its type".into()));
        let stored = self.text("", &Value::Text(text), Aim::Store);
        let text = stored.map_err(|_| wrong())?;
        match self.declared {
            DeclaredType::Int { unsigned: false, .. } | DeclaredType::TinyInt1 => {
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

    /// What is no date or time: one that has the form of one may be none in the calendar.
    fn no_moment(&self, kind: &str, value: &str, form: Form) -> Error {
        let has_form = form == Form::Right;
        let value: String = value.chars().take(64).collect();
        let message = match (self.is_mysql, has_form) {
            (true, _) => format!("Incorrect {kind} value: '{value}' for column '{}'", self.column),
            (false, true) => format!("date/time field value out of range: \"{value}\""),
            (false, false) => format!("invalid input syntax for type {kind}: \"{value}\""),
        };
        Error::new(ErrorKind::Moment { has_form, message })
    }

    fn out_of_range(&self, kind: &str) -> Error {
        Error::new(ErrorKind::OutOfRange(match self.is_mysql {
            true => format!("Out of range value for column '{}'", self.column),
            false => format!("{kind} out of range"),
        }))
    }
}

#[cfg(test)]
mod tests;
