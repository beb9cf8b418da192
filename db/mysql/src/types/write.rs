//! Values to wire bytes.

use std::borrow::Cow;
use std::fmt::Write as _;

use bigdecimal::{BigDecimal, ToPrimitive};
use bytes::{BufMut, BytesMut};
use pando_kernel::{Column, Error, ErrorKind, Format, Parameter, Result, Value};

use super::temporal::{Clock, Stamp};
use super::{ColumnType, FAMILY, flag};
use crate::codec::{ParameterType, put_lenenc_bytes};

fn unwritable(column: &Column, value: &Value) -> Error {
    let name = &column.name;
    Error::new(ErrorKind::Value(format!("{value:?} cannot be written to column `{name}`")))
}

/// A double as MySQL prints it: plain between 1e-15 and 1e15, else with an exponent.
pub fn float_text(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-15..1e15).contains(&size) {
        return format!("{number:e}");
    }
    number.to_string()
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

/// Appends a field of a binary row in the form of its column's type. NULL appends nothing: the row's bitmap tells it.
///
/// # Errors
/// `Value` when the value cannot be written as that type.
pub fn write_binary(column: &Column, value: &Value, out: &mut BytesMut) -> Result<()> {
    if value.is_null() {
        return Ok(());
    }
    let wrong = || unwritable(column, value);
    let unsigned = column.native.flags & flag::UNSIGNED != 0;
    match ColumnType::of(&column.native) {
        ColumnType::Null => {}
        ColumnType::Tiny | ColumnType::Bool => {
            put_integer::<1>(value, unsigned, out).ok_or_else(wrong)?
        }
        ColumnType::Short => put_integer::<2>(value, unsigned, out).ok_or_else(wrong)?,
        ColumnType::Year => put_integer::<2>(value, true, out).ok_or_else(wrong)?,
        ColumnType::Long | ColumnType::Int24 => {
            put_integer::<4>(value, unsigned, out).ok_or_else(wrong)?;
        }
        ColumnType::LongLong => put_integer::<8>(value, unsigned, out).ok_or_else(wrong)?,
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

fn integer(value: &Value) -> Option<i128> {
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

fn put_integer<const N: usize>(value: &Value, unsigned: bool, out: &mut BytesMut) -> Option<()> {
    let number = integer(value)?;
    let bits = N as u32 * 8;
    let (least, most) = if unsigned {
        (0, (1i128 << bits) - 1)
    } else {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    };
    if number < least || number > most {
        return None;
    }
    out.put_slice(number.to_le_bytes().first_chunk::<N>()?);
    Some(())
}

fn put_bits(column: &Column, value: &Value, out: &mut BytesMut) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::super::{glimpse_binary, glimpse_text, read_binary, read_text};
    use super::*;
    use pando_kernel::{Glimpse, Kind, Native};

    fn column(column_type: ColumnType, flags: u16, charset: u16) -> Column {
        let mut column = Column::computed("c", column_type.kind(flags, charset));
        column.native = Native {
            family: FAMILY,
            type_id: column_type as u32,
            flags,
            charset,
            length: 64,
            ..Native::default()
        };
        column
    }

    fn strip(column_type: ColumnType, out: &[u8]) -> &[u8] {
        let mut reader = crate::codec::Reader::new("test", out);
        let len = crate::codec::binary_value_len(column_type as u8, &mut reader).unwrap();
        reader.bytes("field", len).unwrap()
    }

    /// What a glimpse has seen must be what the whole value is.
    fn check(glimpse: Glimpse<'_>, value: &Value, context: &str) {
        match (glimpse, value) {
            (Glimpse::Int(number), value) => assert_eq!(*value, Value::Int(number), "{context}"),
            (Glimpse::Octets(octets), Value::Text(text)) => {
                assert_eq!(text.as_bytes(), octets, "{context}");
            }
            (Glimpse::Octets(octets), value) => {
                assert_eq!(*value, Value::Bytes(octets.to_vec().into()), "{context}");
            }
            (Glimpse::Value(seen), value) => assert_eq!(*value, seen, "{context}"),
        }
    }

    #[test]
    fn values_survive_both_forms() {
        use ColumnType as T;
        let cases = [
            (T::Tiny, 0, 63, Value::Int(-128)),
            (T::Tiny, flag::UNSIGNED, 63, Value::UInt(255)),
            (T::Short, 0, 63, Value::Int(-32_768)),
            (T::Int24, 0, 63, Value::Int(-8_388_608)),
            (T::Long, flag::UNSIGNED, 63, Value::UInt(4_294_967_295)),
            (T::LongLong, 0, 63, Value::Int(i64::MIN)),
            (T::LongLong, flag::UNSIGNED, 63, Value::UInt(u64::MAX)),
            (T::Float, 0, 63, Value::Float(0.1)),
            (T::Double, 0, 63, Value::Float(-1.5e300)),
            (T::NewDecimal, 0, 63, Value::Decimal("-12345678901234567890.1230".parse().unwrap())),
            (T::Date, 0, 63, Value::Text("2026-01-31".into())),
            (T::DateTime, 0, 63, Value::Text("2026-01-31 00:00:00".into())),
            (T::Timestamp, 0, 63, Value::Text("2026-01-31 13:45:01".into())),
            (T::Time, 0, 63, Value::Text("-838:59:59".into())),
            (T::Year, flag::UNSIGNED, 63, Value::UInt(2026)),
            (T::Bit, flag::UNSIGNED, 63, Value::UInt(1 << 63)),
            (T::VarString, 0, 45, Value::Text("héllo".into())),
            (T::Blob, 0, 63, Value::Bytes(vec![0, 255].into())),
            (T::Blob, 0, 45, Value::Text(String::new())),
            (T::Json, 0, 63, Value::Text("{\"a\": 1}".into())),
            (T::String, flag::ENUM, 45, Value::Text("red".into())),
        ];
        for (column_type, flags, charset, value) in cases {
            let column = column(column_type, flags, charset);
            let mut out = BytesMut::new();
            write_binary(&column, &value, &mut out).unwrap();
            let field = strip(column_type, &out);
            let context = format!("{column_type:?}");
            assert_eq!(read_binary(&column, field).unwrap(), value, "binary {context}");
            check(glimpse_binary(&column, field).unwrap(), &value, &context);
            let mut out = BytesMut::new();
            write_text(&column, &value, &mut out).unwrap();
            let field = strip(T::VarString, &out);
            assert_eq!(read_text(&column, field).unwrap(), value, "text {context}");
            check(glimpse_text(&column, field).unwrap(), &value, &context);
        }
    }

    #[test]
    fn numbers_out_of_a_types_range_are_refused() {
        let mut out = BytesMut::new();
        let tiny = column(ColumnType::Tiny, 0, 63);
        assert!(write_binary(&tiny, &Value::Int(128), &mut out).is_err());
        let unsigned = column(ColumnType::LongLong, flag::UNSIGNED, 63);
        assert!(write_binary(&unsigned, &Value::Int(-1), &mut out).is_err());
        assert!(write_binary(&unsigned, &Value::Text("x".into()), &mut out).is_err());
        assert!(out.is_empty());
    }

    #[test]
    fn doubles_print_as_the_server_prints_them() {
        let cases = [
            (1e15, "1e15"),
            (1e14, "100000000000000"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e-16, "1e-16"),
            (0.0, "0"),
            (3.0, "3"),
        ];
        for (number, expected) in cases {
            assert_eq!(float_text(number), expected);
        }
    }

    #[test]
    fn a_parameter_of_this_protocol_keeps_its_type_and_bytes() {
        let parameter = Parameter {
            value: Value::Int(7),
            native: Native { family: FAMILY, type_id: 3, ..Native::default() },
            format: Format::Binary,
            raw: Some(vec![7, 0, 0, 0].into()),
        };
        let mut out = BytesMut::new();
        let sent = put_parameter(&parameter, &mut out);
        assert_eq!(sent, ParameterType { type_id: 3, unsigned: false });
        assert_eq!(out[..], [7, 0, 0, 0]);
        let mut out = BytesMut::new();
        let sent = put_parameter(&Parameter::made(Value::Text("ab".into())), &mut out);
        assert_eq!((sent.type_id, &out[..]), (253, &[2, b'a', b'b'][..]));
    }

    #[test]
    fn a_columns_kind_decides_how_text_is_read() {
        let column = Column::computed("n", Kind::Int);
        assert_eq!(read_text(&column, b"12").unwrap(), Value::Int(12));
        assert!(read_text(&column, b"x").is_err());
        assert!(read_text(&Column::computed("t", Kind::Text), &[0xFF]).is_err());
    }
}
