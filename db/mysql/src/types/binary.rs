//! Values in each type's own binary form, as they stand in rows and parameters of prepared statements.

use bigdecimal::ToPrimitive;
use bytes::{BufMut, Bytes, BytesMut};
use pando_kernel::{Column, Error, ErrorKind, Format, Glimpse, Kind, Parameter, Result, Value};

use super::temporal::{Clock, Stamp};
use super::text::{bits, integer, put_bits, read_text, text_of, unreadable, unwritable};
use super::{ColumnType, FAMILY, flag};
use crate::codec::{ParameterType, put_lenenc_bytes};

/// Whether numbers have a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
}

impl Sign {
    /// By a column's flags.
    fn of(flags: u16) -> Self {
        if flags & flag::UNSIGNED != 0 { Self::Unsigned } else { Self::Signed }
    }
}

/// Decodes a field of a binary row (without its length prefix).
///
/// # Errors
/// `Value` when the bytes are not a value of the column's type.
pub fn read_binary(column: &Column, field: &[u8]) -> Result<Value> {
    let native = &column.native;
    let column_type = ColumnType::of(native);
    match column_type {
        ColumnType::Geometry | ColumnType::Vector => {
            return Ok(Value::Bytes(Bytes::copy_from_slice(field)));
        }
        ColumnType::Year => {
            let year =
                little_endian(field, Sign::Unsigned).and_then(|year| u64::try_from(year).ok());
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
    fixed(column_type, Sign::of(native.flags), Some(native.decimals), field)
        .ok_or_else(|| unreadable("a value of its type", &column.name))
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
        ColumnType::Year => little_endian(raw, Sign::Unsigned)
            .and_then(|year| u64::try_from(year).ok())
            .map(Value::UInt),
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
        | ColumnType::Bool => {
            let sign = if parameter_type.unsigned { Sign::Unsigned } else { Sign::Signed };
            fixed(column_type, sign, None, raw)
        }
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
fn fixed(column_type: ColumnType, sign: Sign, decimals: Option<u8>, field: &[u8]) -> Option<Value> {
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
            let number = little_endian(field, sign)?;
            match sign {
                Sign::Unsigned => u64::try_from(number).ok().map(Value::UInt),
                Sign::Signed => i64::try_from(number).ok().map(Value::Int),
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

fn little_endian(field: &[u8], sign: Sign) -> Option<i128> {
    Some(match (field.len(), sign) {
        (1, Sign::Unsigned) => u8::from_le_bytes(field.try_into().ok()?).into(),
        (1, Sign::Signed) => i8::from_le_bytes(field.try_into().ok()?).into(),
        (2, Sign::Unsigned) => u16::from_le_bytes(field.try_into().ok()?).into(),
        (2, Sign::Signed) => i16::from_le_bytes(field.try_into().ok()?).into(),
        (4, Sign::Unsigned) => u32::from_le_bytes(field.try_into().ok()?).into(),
        (4, Sign::Signed) => i32::from_le_bytes(field.try_into().ok()?).into(),
        (8, Sign::Unsigned) => u64::from_le_bytes(field.try_into().ok()?).into(),
        (8, Sign::Signed) => i64::from_le_bytes(field.try_into().ok()?).into(),
        _ => return None,
    })
}

/// Appends a field of a binary row in the form of its column's type. NULL appends nothing: the row's bitmap tells it.
///
/// # Errors
/// `Value` when the value cannot be written as that type.
pub fn write_binary(column: &Column, value: &Value, out: &mut BytesMut) -> Result<()> {
    if value.is_null() {
        return Ok(());
    }
    let wrong = || unwritable(column, value);
    let sign = Sign::of(column.native.flags);
    match ColumnType::of(&column.native) {
        ColumnType::Null => {}
        ColumnType::Tiny | ColumnType::Bool => {
            put_integer::<1>(value, sign, out).ok_or_else(wrong)?
        }
        ColumnType::Short => put_integer::<2>(value, sign, out).ok_or_else(wrong)?,
        ColumnType::Year => put_integer::<2>(value, Sign::Unsigned, out).ok_or_else(wrong)?,
        ColumnType::Long | ColumnType::Int24 => {
            put_integer::<4>(value, sign, out).ok_or_else(wrong)?;
        }
        ColumnType::LongLong => put_integer::<8>(value, sign, out).ok_or_else(wrong)?,
        ColumnType::Float => out.put_f32_le(float(value).ok_or_else(wrong)? as f32),
        ColumnType::Double => out.put_f64_le(float(value).ok_or_else(wrong)?),
        ColumnType::Date | ColumnType::NewDate => {
            let mut stamp = text(value).and_then(Stamp::from_text).ok_or_else(wrong)?;
            (stamp.hour, stamp.minute, stamp.second, stamp.micros) = (0, 0, 0, 0);
            stamp.put_binary(out);
        }
        ColumnType::DateTime
        | ColumnType::DateTime2
        | ColumnType::Timestamp
        | ColumnType::Timestamp2 => {
            text(value).and_then(Stamp::from_text).ok_or_else(wrong)?.put_binary(out);
        }
        ColumnType::Time | ColumnType::Time2 => {
            text(value).and_then(Clock::from_text).ok_or_else(wrong)?.put_binary(out);
        }
        ColumnType::Bit => put_bits(column, value, out)?,
        ColumnType::Decimal
        | ColumnType::NewDecimal
        | ColumnType::VarChar
        | ColumnType::Vector
        | ColumnType::Json
        | ColumnType::Enum
        | ColumnType::Set
        | ColumnType::TinyBlob
        | ColumnType::MediumBlob
        | ColumnType::LongBlob
        | ColumnType::Blob
        | ColumnType::VarString
        | ColumnType::String
        | ColumnType::Geometry => {
            if let Some(text) = text_of(value) {
                put_lenenc_bytes(out, &text);
            }
        }
    }
    Ok(())
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Bytes(_) => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Int(number) => Some(*number as f64),
        Value::UInt(number) => Some(*number as f64),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::Decimal(number) => number.to_f64(),
        Value::Text(text) => text.parse().ok(),
        Value::Null | Value::Bytes(_) => None,
    }
}

fn put_integer<const N: usize>(value: &Value, sign: Sign, out: &mut BytesMut) -> Option<()> {
    let number = integer(value)?;
    let bits = N as u32 * 8;
    let (least, most) = match sign {
        Sign::Unsigned => (0, (1i128 << bits) - 1),
        Sign::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    };
    if number < least || number > most {
        return None;
    }
    out.put_slice(number.to_le_bytes().first_chunk::<N>()?);
    Some(())
}

/// Appends the wire bytes of a binary field, with the length prefix its type needs.
pub fn put_binary_raw(column_type: ColumnType, raw: &[u8], out: &mut BytesMut) {
    match column_type {
        ColumnType::Null
        | ColumnType::Tiny
        | ColumnType::Bool
        | ColumnType::Short
        | ColumnType::Year
        | ColumnType::Long
        | ColumnType::Int24
        | ColumnType::Float
        | ColumnType::LongLong
        | ColumnType::Double => out.put_slice(raw),
        // A date's length byte is the same as the length-encoded integer.
        ColumnType::Date
        | ColumnType::DateTime
        | ColumnType::Timestamp
        | ColumnType::NewDate
        | ColumnType::Timestamp2
        | ColumnType::DateTime2
        | ColumnType::Time
        | ColumnType::Time2
        | ColumnType::Decimal
        | ColumnType::NewDecimal
        | ColumnType::VarChar
        | ColumnType::Bit
        | ColumnType::Vector
        | ColumnType::Json
        | ColumnType::Enum
        | ColumnType::Set
        | ColumnType::TinyBlob
        | ColumnType::MediumBlob
        | ColumnType::LongBlob
        | ColumnType::Blob
        | ColumnType::VarString
        | ColumnType::String
        | ColumnType::Geometry => put_lenenc_bytes(out, raw),
    }
}

/// Appends a parameter for COM_STMT_EXECUTE and returns the type it is sent as. A parameter that came over this
/// protocol keeps its type and bytes. NULL appends nothing.
pub fn put_parameter(parameter: &Parameter, out: &mut BytesMut) -> ParameterType {
    let signed =
        |column_type: ColumnType| ParameterType { type_id: column_type as u8, unsigned: false };
    let native = &parameter.native;
    if let Some(raw) = &parameter.raw
        && native.family == FAMILY
        && parameter.format == Format::Binary
    {
        let column_type = ColumnType::of(native);
        put_binary_raw(column_type, raw, out);
        let unsigned = native.flags & flag::UNSIGNED != 0;
        return ParameterType { type_id: column_type as u8, unsigned };
    }
    match &parameter.value {
        Value::Null => signed(ColumnType::Null),
        Value::Bool(truth) => {
            out.put_u8(u8::from(*truth));
            signed(ColumnType::Tiny)
        }
        Value::Int(number) => {
            out.put_i64_le(*number);
            signed(ColumnType::LongLong)
        }
        Value::UInt(number) => {
            out.put_u64_le(*number);
            ParameterType { type_id: ColumnType::LongLong as u8, unsigned: true }
        }
        Value::Float(number) => {
            out.put_f64_le(*number);
            signed(ColumnType::Double)
        }
        Value::Decimal(number) => {
            put_lenenc_bytes(out, number.to_plain_string().as_bytes());
            signed(ColumnType::NewDecimal)
        }
        Value::Text(text) => {
            put_lenenc_bytes(out, text.as_bytes());
            signed(ColumnType::VarString)
        }
        Value::Bytes(bytes) => {
            put_lenenc_bytes(out, bytes);
            signed(ColumnType::Blob)
        }
    }
}
