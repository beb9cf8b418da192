//! PostgreSQL's types: which kind of values each holds, and values to bytes and back.
//!
//! What is not in the table (enums, arrays, geometry, …) is opaque: text stays text, binary stays
//! octets. <https://www.postgresql.org/docs/current/datatype.html>

mod binary;
mod catalogue;
pub(crate) mod declared;
mod numeric;
pub mod oid;
pub use catalogue::{FIRST_OWN, catalogue_name};
pub(crate) mod temporal;
mod text;

use bytes::{BufMut, BytesMut};
use pando_kernel::row::plain_digits;
use pando_kernel::{Error, ErrorKind, Format, Glimpse, Kind, Native, Result, Value};

/// The family's name in [`Native`].
pub const FAMILY: &str = "postgres";

/// The kind of values that columns of this type hold.
pub fn kind(oid: u32) -> Kind {
    match oid {
        oid::BOOL => Kind::Bool,
        oid::INT2 | oid::INT4 | oid::INT8 | oid::OID => Kind::Int,
        oid::FLOAT4 | oid::FLOAT8 => Kind::Float,
        oid::NUMERIC => Kind::Decimal,
        oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::CHAR | oid::UNKNOWN => Kind::Text,
        oid::BYTEA => Kind::Bytes,
        oid::DATE => Kind::Date,
        oid::TIME => Kind::Time,
        oid::TIMESTAMP => Kind::Timestamp,
        oid::TIMESTAMPTZ => Kind::TimestampTz,
        // The order of uuid, json, interval and timetz is not that of their text.
        _ => Kind::Other,
    }
}

/// The type that stands for a kind when a column comes from another family or from Pando itself.
pub fn of_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Bool => oid::BOOL,
        Kind::Int => oid::INT8,
        Kind::UInt | Kind::Decimal => oid::NUMERIC,
        Kind::Float => oid::FLOAT8,
        Kind::Text | Kind::Other => oid::TEXT,
        Kind::Bytes => oid::BYTEA,
        Kind::Date => oid::DATE,
        Kind::Time => oid::TIME,
        Kind::Timestamp => oid::TIMESTAMP,
        Kind::TimestampTz => oid::TIMESTAMPTZ,
    }
}

/// The type of a column for a client of this family: its own, or the one that stands for its kind.
pub fn oid_of(native: &Native, kind: Kind) -> u32 {
    if native.family == FAMILY && native.type_id != 0 { native.type_id } else { of_kind(kind) }
}

/// Bytes of a value of this type, as RowDescription tells them; −1 when they vary.
pub fn size(oid: u32) -> i16 {
    match oid {
        oid::BOOL | oid::CHAR => 1,
        oid::INT2 => 2,
        oid::INT4 | oid::OID | oid::FLOAT4 | oid::DATE => 4,
        oid::INT8 | oid::FLOAT8 | oid::TIME | oid::TIMESTAMP | oid::TIMESTAMPTZ => 8,
        oid::TIMETZ => 12,
        oid::UUID | oid::INTERVAL => 16,
        oid::NAME => 64,
        oid::UNKNOWN => -2,
        _ => -1,
    }
}

/// Reads one value; `oid` 0 means that the type is not known.
///
/// # Errors
/// `Value` when the bytes are no value of the type.
pub fn decode(oid: u32, format: Format, bytes: &[u8]) -> Result<Value> {
    match format {
        Format::Text => text::decode(oid, bytes),
        Format::Binary => binary::decode(oid, bytes),
    }
}

/// Reads one value as far as needed to compare it.
///
/// # Errors
/// As [`decode`].
pub fn glimpse(oid: u32, format: Format, bytes: &[u8]) -> Result<Glimpse<'_>> {
    let digits = match (oid, format) {
        (oid::INT2, Format::Text) => 4,
        (oid::INT4, Format::Text) => 9,
        (oid::INT8, Format::Text) => 18,
        (oid::BYTEA, Format::Binary) => return Ok(Glimpse::Octets(bytes)),
        _ if kind(oid) == Kind::Text => return Ok(Glimpse::Octets(bytes)),
        _ => 0,
    };
    match plain_digits(bytes, digits) {
        Some(number) => Ok(Glimpse::Int(number)),
        None => decode(oid, format, bytes).map(Glimpse::Value),
    }
}

/// Appends one value, without its length; the caller writes NULL.
///
/// # Errors
/// `Value` when it cannot be written as this type.
pub fn encode(oid: u32, format: Format, value: &Value, out: &mut BytesMut) -> Result<()> {
    match format {
        Format::Text => {
            text::encode(oid, value, out);
            Ok(())
        }
        Format::Binary => binary::encode(oid, value, out),
    }
}

/// Appends one value with its length; NULL is length −1.
///
/// # Errors
/// As [`encode`]; `TooLarge` above 2 GiB. Nothing is appended then.
pub fn encode_sized(oid: u32, format: Format, value: &Value, out: &mut BytesMut) -> Result<()> {
    if value.is_null() {
        out.put_i32(-1);
        return Ok(());
    }
    let start = out.len();
    out.put_i32(0);
    let outcome = encode(oid, format, value, out).and_then(|()| {
        i32::try_from(out.len() - start - 4)
            .map_err(|_| Error::new(ErrorKind::TooLarge("a value exceeds 2 GiB".into())))
    });
    match outcome {
        Ok(length) => {
            out[start..start + 4].copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// A value that cannot be read or written: names the type as PostgreSQL does.
fn invalid(oid: u32, what: &str) -> Error {
    let shown: String = what.chars().take(64).collect();
    let message = format!("invalid input syntax for type {}: \"{shown}\"", oid::name(oid));
    Error::new(ErrorKind::Value(message))
}

fn invalid_binary(oid: u32) -> Error {
    let message = format!("incorrect binary data format for type {}", oid::name(oid));
    Error::new(ErrorKind::Value(message))
}

#[cfg(test)]
mod tests;
