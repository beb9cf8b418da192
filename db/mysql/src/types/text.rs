//! Values as characters, as they stand in rows of the text protocol.

use std::borrow::Cow;
use std::fmt::Write as _;

use bigdecimal::{BigDecimal, ToPrimitive};
use bytes::{BufMut, Bytes, BytesMut};
use pando_kernel::row::plain_digits;
use pando_kernel::{Column, Error, ErrorKind, Glimpse, Kind, Result, Value};

use super::ColumnType;
use crate::codec::put_lenenc_bytes;

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

fn other(column: &Column, field: &[u8], text: &str) -> Value {
    if ColumnType::of(&column.native) == ColumnType::Geometry {
        return Value::Bytes(Bytes::copy_from_slice(field));
    }
    Value::Text(text.to_owned())
}

/// Appends a field of a text row.
///
/// # Errors
/// `Value` when a number does not fit a BIT column.
pub fn write_text(column: &Column, value: &Value, out: &mut BytesMut) -> Result<()> {
    if ColumnType::of(&column.native) == ColumnType::Bit && !value.is_null() {
        return put_bits(column, value, out);
    }
    if let Value::Int(number) = value {
        put_digits(*number, out);
        return Ok(());
    }
    match text_of(value) {
        Some(text) => put_lenenc_bytes(out, &text),
        None => out.put_u8(0xFB),
    }
    Ok(())
}

/// Integers are what merging writes most: no string in between.
fn put_digits(number: i64, out: &mut BytesMut) {
    let at = out.len();
    out.put_u8(0);
    // Writing to a buffer that grows cannot fail.
    let _ = write!(out, "{number}");
    let len = out.len() - at - 1;
    if let Some(prefix) = out.get_mut(at) {
        *prefix = len as u8;
    }
}

/// The text form of a value; `None` for NULL.
pub fn text_of(value: &Value) -> Option<Cow<'_, [u8]>> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(true) => Cow::Borrowed(b"1"),
        Value::Bool(false) => Cow::Borrowed(b"0"),
        Value::Int(number) => Cow::Owned(number.to_string().into_bytes()),
        Value::UInt(number) => Cow::Owned(number.to_string().into_bytes()),
        Value::Float(number) => Cow::Owned(float_text(*number).into_bytes()),
        Value::Decimal(number) => Cow::Owned(number.to_plain_string().into_bytes()),
        Value::Text(text) => Cow::Borrowed(text.as_bytes()),
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
    })
}

/// A double as MySQL prints it: plain between 1e-15 and 1e15, else with an exponent.
pub fn float_text(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-15..1e15).contains(&size) {
        return format!("{number:e}");
    }
    number.to_string()
}

pub(super) fn put_bits(column: &Column, value: &Value, out: &mut BytesMut) -> Result<()> {
    if let Value::Bytes(bytes) = value {
        put_lenenc_bytes(out, bytes);
        return Ok(());
    }
    let number = integer(value)
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| unwritable(column, value))?;
    let len = usize::try_from(column.native.length.clamp(1, 64)).unwrap_or(64).div_ceil(8);
    let all = number.to_be_bytes();
    let (high, low) = all.split_at(all.len() - len);
    if high.iter().any(|byte| *byte != 0) {
        return Err(unwritable(column, value));
    }
    put_lenenc_bytes(out, low);
    Ok(())
}

pub(super) fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some((*number).into()),
        Value::UInt(number) => Some((*number).into()),
        Value::Bool(truth) => Some((*truth).into()),
        Value::Decimal(number) => whole(number),
        Value::Text(text) => text.parse().ok(),
        Value::Float(number) => (number.fract() == 0.0).then(|| number.to_i128()).flatten(),
        Value::Null | Value::Bytes(_) => None,
    }
}

fn whole(number: &BigDecimal) -> Option<i128> {
    if number.is_integer() { number.to_i128() } else { None }
}

/// The number of a BIT field: up to eight bytes, most significant first.
pub(super) fn bits(field: &[u8]) -> Option<u64> {
    if field.len() > 8 {
        return None;
    }
    Some(field.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

pub(super) fn unreadable(what: &str, name: &str) -> Error {
    Error::new(ErrorKind::Value(format!("column `{name}` does not hold {what}")))
}

pub(super) fn unwritable(column: &Column, value: &Value) -> Error {
    let name = &column.name;
    Error::new(ErrorKind::Value(format!("{value:?} cannot be written to column `{name}`")))
}
