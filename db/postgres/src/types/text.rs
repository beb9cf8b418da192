//! Values as characters: what `SELECT` prints with `DateStyle` ISO.

use std::fmt::Write as _;

use bytes::{BufMut, Bytes, BytesMut};
use pando_kernel::{Error, ErrorKind, Result, Value};

use super::{invalid, oid};

/// Reads a value's text form.
pub(super) fn decode(oid: u32, bytes: &[u8]) -> Result<Value> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = "invalid byte sequence for encoding \"UTF8\" in a value";
        return Err(Error::new(ErrorKind::Value(message.into())));
    };
    let bad = || invalid(oid, text);
    Ok(match oid {
        oid::BOOL => Value::Bool(boolean(text).ok_or_else(bad)?),
        oid::INT2 => Value::Int(text.trim().parse::<i16>().map_err(|_| bad())?.into()),
        oid::INT4 => Value::Int(text.trim().parse::<i32>().map_err(|_| bad())?.into()),
        oid::INT8 => Value::Int(text.trim().parse().map_err(|_| bad())?),
        oid::OID => Value::Int(text.trim().parse::<u32>().map_err(|_| bad())?.into()),
        oid::FLOAT4 => Value::Float(single(text).ok_or_else(bad)?),
        oid::FLOAT8 => Value::Float(float(text).ok_or_else(bad)?),
        oid::NUMERIC => numeric(text).ok_or_else(bad)?,
        oid::BYTEA => Value::Bytes(bytea(text).ok_or_else(bad)?),
        _ => Value::Text(text.to_owned()),
    })
}

/// Appends a value's text form.
pub(super) fn encode(oid: u32, value: &Value, out: &mut BytesMut) {
    match value {
        Value::Null => {}
        Value::Bool(true) => out.put_u8(b't'),
        Value::Bool(false) => out.put_u8(b'f'),
        // Another family has no booleans of its own and says 0 and 1.
        Value::Int(number) if oid == oid::BOOL => {
            out.put_u8(if *number == 0 { b'f' } else { b't' })
        }
        Value::Int(number) => write(out, number),
        Value::UInt(number) => write(out, number),
        Value::Float(number) if oid == oid::FLOAT4 => write_float(out, *number, &(*number as f32)),
        Value::Float(number) => write_float(out, *number, number),
        Value::Decimal(number) => write(out, &number.to_plain_string()),
        Value::Text(text) => out.put_slice(text.as_bytes()),
        Value::Bytes(bytes) if oid == oid::BYTEA => {
            out.put_slice(b"\\x");
            bytes.iter().for_each(|byte| write(out, &format_args!("{byte:02x}")));
        }
        Value::Bytes(bytes) => out.put_slice(bytes),
    }
}

/// A `"char"` as `charout` prints it: what is no ASCII as a backslash and three octal digits, and nothing for zero.
pub(super) fn one_byte(byte: u8) -> String {
    match byte {
        0 => String::new(),
        1..0x80 => char::from(byte).to_string(),
        0x80.. => format!("\\{byte:03o}"),
    }
}

/// The byte of a `"char"`, read as `charin` does.
pub(super) fn to_byte(text: &str) -> u8 {
    let octal = match text.as_bytes() {
        [b'\\', digits @ ..] if digits.len() == 3 => std::str::from_utf8(digits).ok(),
        _ => None,
    };
    let number = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
    number.or(text.bytes().next()).unwrap_or(0)
}

fn write(out: &mut BytesMut, value: &dyn std::fmt::Display) {
    // Writing to a buffer in memory does not fail.
    let _ = write!(out, "{value}");
}

/// Shortest text that reads back as the same number, in PostgreSQL's choice of exponents.
fn write_float(
    out: &mut BytesMut,
    number: f64,
    shortest: &(impl std::fmt::Display + std::fmt::LowerExp),
) {
    if number.is_nan() {
        return out.put_slice(b"NaN");
    }
    if number.is_infinite() {
        return out.put_slice(if number > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
    let text = format!("{shortest:e}");
    let exponent: i32 =
        text.rsplit_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    // `float8out` switches at 15 digits, `float4out` at 6.
    let limit = if size_of_val(shortest) == 4 { 6 } else { 15 };
    match text.split_once('e') {
        Some((digits, _)) if number != 0.0 && !(-4..limit).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            write(out, &format_args!("{digits}e{sign}{:02}", exponent.unsigned_abs()));
        }
        _ => write(out, shortest),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "on" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// A `real` as the value that it is: the nearest one of 24 bits. What is beyond all of them is none.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what the type does")]
fn single(text: &str) -> Option<f64> {
    let whole = float(text)?;
    let single = f64::from(whole as f32);
    (single.is_finite() || !whole.is_finite()).then_some(single)
}

fn float(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

fn numeric(text: &str) -> Option<Value> {
    let text = text.trim();
    Value::decimal(text).or_else(|| {
        // NaN and the infinities by name; a number that only overflows a float is none of them.
        let word = Some(text).filter(|text| !text.bytes().any(|b| b.is_ascii_digit()));
        word.and_then(float).map(Value::Float)
    })
}

/// Both output forms of bytea: `\x` and hex, or octal escapes.
fn bytea(text: &str) -> Option<Bytes> {
    let bytes = match text.strip_prefix("\\x") {
        Some(digits) => hex(digits.as_bytes()),
        None => escaped(text.as_bytes()),
    };
    bytes.map(Bytes::from)
}

fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

fn escaped(mut text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    while let [first, rest @ ..] = text {
        text = rest;
        if *first != b'\\' {
            bytes.push(*first);
        } else if let [b'\\', rest @ ..] = rest {
            bytes.push(b'\\');
            text = rest;
        } else {
            let (octal, rest) = rest.split_first_chunk::<3>()?;
            let valid = matches!(octal, [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7']);
            valid.then_some(())?;
            bytes.push(octal.iter().fold(0, |sum, digit| sum << 3 | (digit - b'0')));
            text = rest;
        }
    }
    Some(bytes)
}
