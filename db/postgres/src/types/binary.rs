//! Values in each type's own binary form (its `send` and `recv` functions in the server).

use bigdecimal::{BigDecimal, ToPrimitive};
use bytes::{BufMut, Bytes, BytesMut};
use pando_kernel::{Error, ErrorKind, Result, Value};

use super::temporal::Zone;
use super::{invalid, invalid_binary, numeric, oid, temporal, text};

/// Reads a value's binary form.
pub(super) fn decode(oid: u32, bytes: &[u8]) -> Result<Value> {
    let value = match oid {
        oid::BOOL => array::<1>(bytes).map(|[byte]| Value::Bool(byte != 0)),
        oid::INT2 => array(bytes).map(|raw| Value::Int(i16::from_be_bytes(raw).into())),
        oid::INT4 => array(bytes).map(|raw| Value::Int(i32::from_be_bytes(raw).into())),
        oid::INT8 => array(bytes).map(|raw| Value::Int(i64::from_be_bytes(raw))),
        oid::OID => array(bytes).map(|raw| Value::Int(u32::from_be_bytes(raw).into())),
        oid::FLOAT4 => array(bytes).map(|raw| Value::Float(f32::from_be_bytes(raw).into())),
        oid::FLOAT8 => array(bytes).map(|raw| Value::Float(f64::from_be_bytes(raw))),
        oid::NUMERIC => numeric::decode(bytes),
        oid::UUID => array(bytes).map(|raw| Value::Text(uuid(raw))),
        oid::JSONB => bytes.strip_prefix(&[1]).and_then(utf8),
        oid::TEXT
        | oid::VARCHAR
        | oid::BPCHAR
        | oid::NAME
        | oid::UNKNOWN
        | oid::JSON
        | oid::XML => utf8(bytes),
        oid::CHAR => array(bytes).map(|[byte]| Value::Text(text::one_byte(byte))),
        oid::DATE | oid::TIME | oid::TIMETZ | oid::TIMESTAMP | oid::TIMESTAMPTZ | oid::INTERVAL => {
            time(oid, bytes).map(Value::Text)
        }
        _ => Some(Value::Bytes(Bytes::copy_from_slice(bytes))),
    };
    value.ok_or_else(|| invalid_binary(oid))
}

/// Appends a value's binary form.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn encode(oid: u32, value: &Value, out: &mut BytesMut) -> Result<()> {
    match oid {
        oid::BOOL => out.put_u8(u8::from(boolean(value)?)),
        oid::INT2 => out.put_i16(integer(oid, value)?),
        oid::INT4 => out.put_i32(integer(oid, value)?),
        oid::INT8 => out.put_i64(integer(oid, value)?),
        oid::OID => out.put_u32(integer(oid, value)?),
        oid::FLOAT4 => out.put_f32(float(oid, value)? as f32),
        oid::FLOAT8 => out.put_f64(float(oid, value)?),
        oid::NUMERIC => decimal(value, out)?,
        oid::UUID => out.put_slice(&parse_uuid(value)?),
        oid::DATE | oid::TIME | oid::TIMESTAMP | oid::TIMESTAMPTZ => put_time(oid, value, out)?,
        oid::JSONB => {
            out.put_u8(1);
            text::encode(oid, value, out);
        }
        oid::TEXT
        | oid::VARCHAR
        | oid::BPCHAR
        | oid::NAME
        | oid::UNKNOWN
        | oid::JSON
        | oid::XML => text::encode(oid, value, out),
        oid::CHAR => match value {
            Value::Text(text) => out.put_u8(text::to_byte(text)),
            other => return Err(no_binary(oid, other)),
        },
        oid::BYTEA => match value {
            Value::Bytes(bytes) => out.put_slice(bytes),
            Value::Text(text) => out.put_slice(text.as_bytes()),
            other => text::encode(oid::TEXT, other, out),
        },
        _ => match value {
            // An opaque value that came in binary goes out as it came.
            Value::Bytes(bytes) => out.put_slice(bytes),
            other => return Err(no_binary(oid, other)),
        },
    }
    Ok(())
}

fn no_binary(oid: u32, value: &Value) -> Error {
    let message = format!(
        "a value of type {} (oid {oid}) cannot be written in binary form: {}",
        oid::name(oid),
        shown(value)
    );
    Error::new(ErrorKind::Value(message))
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn utf8(bytes: &[u8]) -> Option<Value> {
    std::str::from_utf8(bytes).ok().map(|text| Value::Text(text.to_owned()))
}

fn time(oid: u32, bytes: &[u8]) -> Option<String> {
    let micros = || bytes.first_chunk().map(|raw| i64::from_be_bytes(*raw));
    let word = |at: usize| bytes.get(at..at + 4).and_then(array).map(i32::from_be_bytes);
    match (oid, bytes.len()) {
        (oid::DATE, 4) => word(0).map(temporal::date),
        (oid::TIME, 8) => temporal::time(micros()?),
        (oid::TIMETZ, 12) => temporal::time_tz(micros()?, word(8)?),
        (oid::TIMESTAMP, 8) => Some(temporal::timestamp(micros()?, "")),
        (oid::TIMESTAMPTZ, 8) => Some(temporal::timestamp(micros()?, "+00")),
        (oid::INTERVAL, 16) => Some(temporal::interval(micros()?, word(8)?, word(12)?)),
        _ => None,
    }
}

fn put_time(oid: u32, value: &Value, out: &mut BytesMut) -> Result<()> {
    let Value::Text(text) = value else { return Err(invalid(oid, &shown(value))) };
    let bad = || invalid(oid, text);
    match oid {
        oid::DATE => out.put_i32(temporal::parse_date(text).ok_or_else(bad)?),
        oid::TIME => out.put_i64(temporal::parse_time(text).ok_or_else(bad)?),
        _ => {
            let zone = if oid == oid::TIMESTAMPTZ { Zone::With } else { Zone::Without };
            out.put_i64(temporal::parse_timestamp(text, zone).ok_or_else(bad)?);
        }
    }
    Ok(())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn boolean(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Int(number) => Ok(*number != 0),
        Value::UInt(number) => Ok(*number != 0),
        other => match text::decode(oid::BOOL, shown(other).as_bytes())? {
            Value::Bool(value) => Ok(value),
            other => Err(invalid(oid::BOOL, &shown(&other))),
        },
    }
}

fn integer<T: TryFrom<i64>>(oid: u32, value: &Value) -> Result<T> {
    let number = match value {
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Int(number) => Some(*number),
        Value::UInt(number) => i64::try_from(*number).ok(),
        Value::Decimal(number) if number.is_integer() => number.to_i64(),
        Value::Text(text) => text.trim().parse().ok(),
        Value::Null | Value::Decimal(_) | Value::Float(_) | Value::Bytes(_) => None,
    };
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| invalid(oid, &shown(value)))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn float(oid: u32, value: &Value) -> Result<f64> {
    match value {
        Value::Float(number) => Ok(*number),
        other => shown(other).trim().parse().map_err(|_| invalid(oid, &shown(other))),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn decimal(value: &Value, out: &mut BytesMut) -> Result<()> {
    let written = match value {
        Value::Int(number) => numeric::encode(&BigDecimal::from(*number), out),
        Value::UInt(number) => numeric::encode(&BigDecimal::from(*number), out),
        Value::Decimal(number) => numeric::encode(number, out),
        other => match text::decode(oid::NUMERIC, shown(other).as_bytes())? {
            Value::Decimal(number) => numeric::encode(&number, out),
            Value::Float(number) => numeric::encode_special(number, out),
            _ => None,
        },
    };
    written.ok_or_else(|| invalid(oid::NUMERIC, &shown(value)))
}

fn uuid(raw: [u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in raw.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn parse_uuid(value: &Value) -> Result<[u8; 16]> {
    let text = shown(value);
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !matches!(c, '-' | '{' | '}'))
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()
        .unwrap_or_default();
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |sum, d| sum << 4 | d)).collect();
    match bytes.try_into() {
        Ok(bytes) if digits.len() == 32 => Ok(bytes),
        Ok(_) | Err(_) => Err(invalid(oid::UUID, &text)),
    }
}

/// A value's text, for reading it as another type and for messages.
fn shown(value: &Value) -> String {
    let mut out = BytesMut::new();
    text::encode(oid::TEXT, value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
