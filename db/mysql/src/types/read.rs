//! Wire bytes to values.

use bytes::Bytes;
use pando_kernel::row::plain_digits;
use pando_kernel::{Column, Error, ErrorKind, Glimpse, Kind, Result, Value};

use super::temporal::{Clock, Stamp};
use super::{ColumnType, flag};
use crate::codec::ParameterType;

fn unreadable(what: &str, name: &str) -> Error {
    Error::new(ErrorKind::Value(format!("column `{name}` does not hold {what}")))
}

/// Decodes a field of a text row.
///
/// # Errors
/// `Value` when the bytes are not a value of the column's type.
pub fn read_text(column: &Column, field: &[u8]) -> Result<Value> {
    let name = &column.name;
    if ColumnType::of(&column.native) == ColumnType::Bit {
        return bits(field).map(Value::UInt).ok_or_else(|| unreadable("bits", name));
    }
    if column.kind == Kind::Bytes {
        return Ok(Value::Bytes(Bytes::copy_from_slice(field)));
    }
    let text = std::str::from_utf8(field).map_err(|_| unreadable("UTF-8", name))?;
    let parsed = match column.kind {
        Kind::Int => text.parse().ok().map(Value::Int),
        Kind::UInt => text.parse().ok().map(Value::UInt),
        Kind::Bool => text.parse::<i64>().ok().map(|number| Value::Bool(number != 0)),
        Kind::Float => text.parse().ok().map(Value::Float),
        Kind::Decimal => Value::decimal(text),
        Kind::Text
        | Kind::Bytes
        | Kind::Date
        | Kind::Time
        | Kind::Timestamp
        | Kind::TimestampTz
        | Kind::Other => return Ok(other(column, field, text)),
    };
    parsed.ok_or_else(|| unreadable("a number", name))
}

/// Decodes a field of a text row as far as needed to compare it.
///
/// # Errors
/// As [`read_text`].
pub fn glimpse_text<'a>(column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
    let plain = !matches!(ColumnType::of(&column.native), ColumnType::Bit | ColumnType::Geometry);
    match column.kind {
        Kind::Text | Kind::Bytes if plain => return Ok(Glimpse::Octets(field)),
        Kind::Int if plain => {
            if let Some(number) = plain_digits(field, 18) {
                return Ok(Glimpse::Int(number));
            }
        }
        Kind::Text
        | Kind::Bytes
        | Kind::Int
        | Kind::UInt
        | Kind::Bool
        | Kind::Float
        | Kind::Decimal
        | Kind::Date
        | Kind::Time
        | Kind::Timestamp
        | Kind::TimestampTz
        | Kind::Other => {}
    }
    read_text(column, field).map(Glimpse::Value)
}

/// Decodes a field of a binary row as far as needed to compare it.
///
/// # Errors
/// As [`read_binary`].
pub fn glimpse_binary<'a>(column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
    let column_type = ColumnType::of(&column.native);
    if matches!(
        column_type,
        ColumnType::VarChar
            | ColumnType::VarString
            | ColumnType::String
            | ColumnType::TinyBlob
            | ColumnType::MediumBlob
            | ColumnType::LongBlob
            | ColumnType::Blob
    ) && matches!(column.kind, Kind::Text | Kind::Bytes)
    {
        return Ok(Glimpse::Octets(field));
    }
    read_binary(column, field).map(Glimpse::Value)
}

fn other(column: &Column, field: &[u8], text: &str) -> Value {
    if ColumnType::of(&column.native) == ColumnType::Geometry {
        return Value::Bytes(Bytes::copy_from_slice(field));
    }
    Value::Text(text.to_owned())
}

/// Decodes a field of a binary row (without its length prefix).
///
/// # Errors
/// `Value` when the bytes are not a value of the column's type.
pub fn read_binary(column: &Column, field: &[u8]) -> Result<Value> {
    let native = &column.native;
    let column_type = ColumnType::of(native);
    let unsigned = native.flags & flag::UNSIGNED != 0;
    match column_type {
        ColumnType::Geometry | ColumnType::Vector => {
            return Ok(Value::Bytes(Bytes::copy_from_slice(field)));
        }
        ColumnType::Year => {
            let year = little_endian(field, true).and_then(|year| u64::try_from(year).ok());
            return year.map(Value::UInt).ok_or_else(|| unreadable("a year", &column.name));
        }
        ColumnType::Decimal
        | ColumnType::NewDecimal
        | ColumnType::Bit
        | ColumnType::VarChar
        | ColumnType::Json
        | ColumnType::Enum
        | ColumnType::Set
        | ColumnType::TinyBlob
        | ColumnType::MediumBlob
        | ColumnType::LongBlob
        | ColumnType::Blob
        | ColumnType::VarString
        | ColumnType::String => return read_text(column, field),
        ColumnType::Tiny
        | ColumnType::Short
        | ColumnType::Long
        | ColumnType::Float
        | ColumnType::Double
        | ColumnType::Null
        | ColumnType::Timestamp
        | ColumnType::LongLong
        | ColumnType::Int24
        | ColumnType::Date
        | ColumnType::Time
        | ColumnType::DateTime
        | ColumnType::NewDate
        | ColumnType::Timestamp2
        | ColumnType::DateTime2
        | ColumnType::Time2
        | ColumnType::Bool => {}
    }
    fixed(column_type, unsigned, Some(native.decimals), field)
        .ok_or_else(|| unreadable("a value of its type", &column.name))
}

/// Decodes a parameter (without its length prefix).
///
/// # Errors
/// `Value` when the bytes are not a value of the type.
pub fn parameter_value(parameter_type: ParameterType, raw: &[u8]) -> Result<Value> {
    let wrong = || {
        let ParameterType { type_id, .. } = parameter_type;
        Error::new(ErrorKind::Value(format!("a parameter of type {type_id} cannot be read")))
    };
    let column_type = ColumnType::from_byte(parameter_type.type_id).ok_or_else(wrong)?;
    let utf8 = || std::str::from_utf8(raw).ok();
    let value = match column_type {
        ColumnType::Decimal | ColumnType::NewDecimal => utf8().and_then(Value::decimal),
        ColumnType::VarChar
        | ColumnType::VarString
        | ColumnType::String
        | ColumnType::Json
        | ColumnType::Enum
        | ColumnType::Set => Some(text_or_bytes(raw)),
        // Blobs carry text as often as octets; what is not UTF-8 is octets for sure.
        ColumnType::TinyBlob
        | ColumnType::MediumBlob
        | ColumnType::LongBlob
        | ColumnType::Blob
        | ColumnType::Geometry
        | ColumnType::Vector => Some(Value::Bytes(Bytes::copy_from_slice(raw))),
        ColumnType::Bit => bits(raw).map(Value::UInt),
        ColumnType::Year => {
            little_endian(raw, true).and_then(|year| u64::try_from(year).ok()).map(Value::UInt)
        }
        ColumnType::Tiny
        | ColumnType::Short
        | ColumnType::Long
        | ColumnType::Float
        | ColumnType::Double
        | ColumnType::Null
        | ColumnType::Timestamp
        | ColumnType::LongLong
        | ColumnType::Int24
        | ColumnType::Date
        | ColumnType::Time
        | ColumnType::DateTime
        | ColumnType::NewDate
        | ColumnType::Timestamp2
        | ColumnType::DateTime2
        | ColumnType::Time2
        | ColumnType::Bool => fixed(column_type, parameter_type.unsigned, None, raw),
    };
    value.ok_or_else(wrong)
}

fn text_or_bytes(raw: &[u8]) -> Value {
    match std::str::from_utf8(raw) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(Bytes::copy_from_slice(raw)),
    }
}

/// Numbers, dates and times in binary form; `None` when the bytes do not fit the type.
fn fixed(
    column_type: ColumnType,
    unsigned: bool,
    decimals: Option<u8>,
    field: &[u8],
) -> Option<Value> {
    match column_type {
        ColumnType::Null => Some(Value::Null),
        ColumnType::Bool => field.first().map(|byte| Value::Bool(*byte != 0)),
        ColumnType::Float => {
            let number = f32::from_le_bytes(field.try_into().ok()?);
            // The shortest text of the single keeps 0.1 from becoming 0.10000000149011612.
            number.to_string().parse().ok().map(Value::Float)
        }
        ColumnType::Double => Some(Value::Float(f64::from_le_bytes(field.try_into().ok()?))),
        ColumnType::Date | ColumnType::NewDate => {
            Stamp::from_binary(field).map(|stamp| Value::Text(stamp.date_text()))
        }
        ColumnType::DateTime
        | ColumnType::DateTime2
        | ColumnType::Timestamp
        | ColumnType::Timestamp2 => {
            Stamp::from_binary(field).map(|stamp| Value::Text(stamp.text(decimals)))
        }
        ColumnType::Time | ColumnType::Time2 => {
            Clock::from_binary(field).map(|clock| Value::Text(clock.text(decimals)))
        }
        ColumnType::Tiny
        | ColumnType::Short
        | ColumnType::Long
        | ColumnType::LongLong
        | ColumnType::Int24 => {
            let number = little_endian(field, unsigned)?;
            if unsigned {
                u64::try_from(number).ok().map(Value::UInt)
            } else {
                i64::try_from(number).ok().map(Value::Int)
            }
        }
        ColumnType::Decimal
        | ColumnType::Year
        | ColumnType::VarChar
        | ColumnType::Bit
        | ColumnType::Vector
        | ColumnType::Json
        | ColumnType::NewDecimal
        | ColumnType::Enum
        | ColumnType::Set
        | ColumnType::TinyBlob
        | ColumnType::MediumBlob
        | ColumnType::LongBlob
        | ColumnType::Blob
        | ColumnType::VarString
        | ColumnType::String
        | ColumnType::Geometry => None,
    }
}

fn little_endian(field: &[u8], unsigned: bool) -> Option<i128> {
    Some(match (field.len(), unsigned) {
        (1, true) => u8::from_le_bytes(field.try_into().ok()?).into(),
        (1, false) => i8::from_le_bytes(field.try_into().ok()?).into(),
        (2, true) => u16::from_le_bytes(field.try_into().ok()?).into(),
        (2, false) => i16::from_le_bytes(field.try_into().ok()?).into(),
        (4, true) => u32::from_le_bytes(field.try_into().ok()?).into(),
        (4, false) => i32::from_le_bytes(field.try_into().ok()?).into(),
        (8, true) => u64::from_le_bytes(field.try_into().ok()?).into(),
        (8, false) => i64::from_le_bytes(field.try_into().ok()?).into(),
        _ => return None,
    })
}

/// The number of a BIT field: up to eight bytes, most significant first.
fn bits(field: &[u8]) -> Option<u64> {
    if field.len() > 8 {
        return None;
    }
    Some(field.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}
