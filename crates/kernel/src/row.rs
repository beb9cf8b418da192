//! Rows in wire form, and the one trait that looks inside them.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};

use crate::column::{Column, Columns};
use crate::error::{Error, ErrorKind, Result};
use crate::value::Value;

/// A run of whole rows as the storage unit framed them: never a part of a row, never empty.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The frames, headers included, one after the other.
    pub bytes: Bytes,
    /// How many rows.
    pub count: u32,
}

/// A field of a new row.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// The wire bytes of a field that another row of the same codec and column format holds; `None` is NULL.
    Raw(Option<&'a [u8]>),
    /// A value to be written in the column's format.
    Value(&'a Value),
}

/// A field as a key is made of it: what needs no copy is not copied.
#[derive(Debug, Clone, PartialEq)]
pub enum Glimpse<'a> {
    /// [`Value::Int`].
    Int(i64),
    /// The bytes of [`Value::Text`] or [`Value::Bytes`] where they stand. That text is UTF-8 is not checked.
    Octets(&'a [u8]),
    /// Whatever had to be decoded.
    Value(Value),
}

/// Reads and writes rows of one wire form. Pure. One implementation per form (text rows, binary rows, …).
pub trait RowCodec: Send + Sync + Debug {
    /// Name of the form. Two codecs with the same name read each other's frames when the columns agree.
    fn form(&self) -> &'static str;

    /// Splits the first frame off `frames`: returns the length of the whole frame in bytes and the row's body inside it.
    /// Large rows may span several wire packets; the body is then assembled.
    ///
    /// # Errors
    /// `Protocol` when the bytes are not whole frames.
    fn next<'a>(&self, frames: &'a [u8]) -> Result<(usize, std::borrow::Cow<'a, [u8]>)>;

    /// Byte range of each field inside a row's body, in column order; `None` is NULL. `out` is cleared first.
    ///
    /// # Errors
    /// `Protocol` when the body does not hold as many fields as there are columns.
    fn fields(
        &self,
        columns: &[Column],
        body: &[u8],
        out: &mut Vec<Option<std::ops::Range<usize>>>,
    ) -> Result<()>;

    /// Decodes one field.
    ///
    /// # Errors
    /// `Value` when the bytes are not a value of the column's type.
    fn value(&self, column: &Column, field: Option<&[u8]>) -> Result<Value>;

    /// Decodes one field that is not NULL, as far as needed to compare it.
    ///
    /// # Errors
    /// As [`RowCodec::value`].
    fn glimpse<'a>(&self, column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
        self.value(column, Some(field)).map(Glimpse::Value)
    }

    /// Appends one framed row.
    ///
    /// # Errors
    /// `Value` when a value cannot be written as its column's type; `TooLarge` when the row would not fit the protocol.
    fn write(&self, columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()>;
}

impl Rows {
    /// Calls `each` with the body of every row, in order.
    ///
    /// # Errors
    /// What the codec or `each` returns first.
    pub fn for_each(
        &self,
        columns: &Columns,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut rest = &self.bytes[..];
        while !rest.is_empty() {
            let (length, body) = columns.codec.next(rest)?;
            each(&body)?;
            rest = rest.get(length..).ok_or_else(|| {
                Error::new(ErrorKind::Protocol("a row is longer than its chunk".into()))
            })?;
        }
        Ok(())
    }
}

/// The whole number that so many plain digits at most, and perhaps a minus, are; `None` when it is anything else, to be read with more care.
///
/// At most 18 digits: all of those fit.
pub fn plain_digits(field: &[u8], most: usize) -> Option<i64> {
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > most.min(18) {
        return None;
    }
    let mut number = 0i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if negative { -number } else { number })
}

/// The form of rows that Pando makes itself and of storage units without a wire protocol: for each field a tag byte, and for
/// everything but NULL its bytes. A frame is a little-endian `u32` body length and the body.
#[derive(Debug, Default, Clone, Copy)]
pub struct NeutralCodec;

impl RowCodec for NeutralCodec {
    fn form(&self) -> &'static str {
        "neutral"
    }

    fn next<'a>(&self, frames: &'a [u8]) -> Result<(usize, std::borrow::Cow<'a, [u8]>)> {
        let short = || Error::protocol("truncated neutral row");
        let (head, rest) = frames.split_first_chunk::<4>().ok_or_else(short)?;
        let length = u32::from_le_bytes(*head) as usize;
        let body = rest.get(..length).ok_or_else(short)?;
        Ok((4 + length, std::borrow::Cow::Borrowed(body)))
    }

    fn fields(
        &self,
        columns: &[Column],
        body: &[u8],
        out: &mut Vec<Option<std::ops::Range<usize>>>,
    ) -> Result<()> {
        out.clear();
        let short = || Error::protocol("truncated neutral field");
        let mut at = 0usize;
        for _ in columns {
            let tag = *body.get(at).ok_or_else(short)?;
            if tag == neutral::NULL {
                out.push(None);
                at += 1;
                continue;
            }
            let length = neutral::payload_length(body.get(at..).ok_or_else(short)?)?;
            let end = at + length;
            if end > body.len() {
                return Err(short());
            }
            out.push(Some(at..end));
            at = end;
        }
        if at == body.len() {
            Ok(())
        } else {
            Err(Error::protocol("neutral row with extra fields"))
        }
    }

    fn value(&self, _column: &Column, field: Option<&[u8]>) -> Result<Value> {
        field.map_or(Ok(Value::Null), neutral::decode)
    }

    fn glimpse<'a>(&self, _column: &Column, field: &'a [u8]) -> Result<Glimpse<'a>> {
        match field {
            [neutral::TEXT | neutral::BYTES, _, _, _, _, octets @ ..] => {
                Ok(Glimpse::Octets(octets))
            }
            _ => neutral::decode(field).map(Glimpse::Value),
        }
    }

    fn write(&self, columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()> {
        if columns.len() != cells.len() {
            return Err(Error::internal("a row must have as many cells as columns"));
        }
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        for cell in cells {
            match cell {
                Cell::Raw(None) => out.extend_from_slice(&[neutral::NULL]),
                Cell::Raw(Some(raw)) => out.extend_from_slice(raw),
                Cell::Value(value) => neutral::encode(value, out)?,
            }
        }
        let length = u32::try_from(out.len() - start - 4)
            .map_err(|_| Error::new(ErrorKind::TooLarge("a row exceeds 4 GiB".into())))?;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }
}

/// The neutral form's fields.
mod neutral {
    use bytes::{BufMut, Bytes, BytesMut};

    use crate::error::{Error, ErrorKind, Result};
    use crate::value::Value;

    pub(super) const NULL: u8 = 0;
    const BOOL: u8 = 1;
    const INT: u8 = 2;
    const UINT: u8 = 3;
    const FLOAT: u8 = 4;
    const DECIMAL: u8 = 5;
    pub(super) const TEXT: u8 = 6;
    pub(super) const BYTES: u8 = 7;

    fn short() -> Error {
        Error::protocol("truncated neutral field")
    }

    /// Length of the field at the start of `bytes`, tag included.
    pub(super) fn payload_length(bytes: &[u8]) -> Result<usize> {
        match bytes.first() {
            Some(&NULL) => Ok(1),
            Some(&BOOL) => Ok(2),
            Some(&(INT | UINT | FLOAT)) => Ok(9),
            Some(&(DECIMAL | TEXT | BYTES)) => {
                let head = bytes.get(1..).and_then(<[u8]>::first_chunk::<4>).ok_or_else(short)?;
                Ok(5 + u32::from_le_bytes(*head) as usize)
            }
            _ => Err(Error::protocol("unknown neutral field tag")),
        }
    }

    pub(super) fn decode(field: &[u8]) -> Result<Value> {
        let (&tag, rest) = field.split_first().ok_or_else(short)?;
        let eight = || rest.first_chunk::<8>().copied().ok_or_else(short);
        let long = || rest.get(4..).ok_or_else(short);
        let text = || {
            long().and_then(|bytes| {
                std::str::from_utf8(bytes).map_err(|_| Error::protocol("text is not UTF-8"))
            })
        };
        Ok(match tag {
            BOOL => Value::Bool(rest.first().copied().ok_or_else(short)? != 0),
            INT => Value::Int(i64::from_le_bytes(eight()?)),
            UINT => Value::UInt(u64::from_le_bytes(eight()?)),
            FLOAT => Value::Float(f64::from_le_bytes(eight()?)),
            DECIMAL => Value::Decimal(
                text()?.parse().map_err(|_| Error::protocol("a decimal cannot be read"))?,
            ),
            TEXT => Value::Text(text()?.to_owned()),
            BYTES => Value::Bytes(Bytes::copy_from_slice(long()?)),
            _ => return Err(Error::protocol("unknown neutral field tag")),
        })
    }

    fn sized(tag: u8, bytes: &[u8], out: &mut BytesMut) -> Result<()> {
        let length = u32::try_from(bytes.len())
            .map_err(|_| Error::new(ErrorKind::TooLarge("a field exceeds 4 GiB".into())))?;
        out.put_u8(tag);
        out.put_u32_le(length);
        out.put_slice(bytes);
        Ok(())
    }

    pub(super) fn encode(value: &Value, out: &mut BytesMut) -> Result<()> {
        match value {
            Value::Null => out.put_u8(NULL),
            Value::Bool(v) => out.put_slice(&[BOOL, u8::from(*v)]),
            Value::Int(v) => {
                out.put_u8(INT);
                out.put_i64_le(*v);
            }
            Value::UInt(v) => {
                out.put_u8(UINT);
                out.put_u64_le(*v);
            }
            Value::Float(v) => {
                out.put_u8(FLOAT);
                out.put_f64_le(*v);
            }
            Value::Decimal(v) => sized(DECIMAL, v.to_plain_string().as_bytes(), out)?,
            Value::Text(v) => sized(TEXT, v.as_bytes(), out)?,
            Value::Bytes(v) => sized(BYTES, v, out)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::value::Kind;

    fn columns(count: usize) -> Columns {
        let list = (0..count).map(|i| Column::computed(format!("c{i}"), Kind::Other)).collect();
        Columns { list, codec: Arc::new(NeutralCodec) }
    }

    #[test]
    fn every_value_survives_the_neutral_form() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(-3),
            Value::UInt(u64::MAX),
            Value::Float(1.5),
            Value::Decimal("12345678901234567890.123".parse().unwrap()),
            Value::Text("héllo".into()),
            Value::Bytes(Bytes::from_static(&[0, 255])),
        ];
        let columns = columns(values.len());
        let cells: Vec<Cell<'_>> = values.iter().map(Cell::Value).collect();
        let mut out = BytesMut::new();
        columns.codec.write(&columns.list, &cells, &mut out).unwrap();
        let rows = Rows { bytes: out.freeze(), count: 1 };
        let mut seen = 0;
        rows.for_each(&columns, |body| {
            let mut fields = Vec::new();
            columns.codec.fields(&columns.list, body, &mut fields)?;
            for ((field, expected), column) in fields.iter().zip(&values).zip(columns.list.iter()) {
                let raw = field.clone().map(|range| &body[range]);
                assert_eq!(&columns.codec.value(column, raw)?, expected);
                if let Some(raw) = raw {
                    let glimpse = columns.codec.glimpse(column, raw)?;
                    match (glimpse, expected) {
                        (Glimpse::Octets(octets), Value::Text(text)) => {
                            assert_eq!(text.as_bytes(), octets);
                        }
                        (Glimpse::Octets(octets), Value::Bytes(bytes)) => {
                            assert_eq!(bytes, octets);
                        }
                        (glimpse, expected) => {
                            assert_eq!(glimpse, Glimpse::Value(expected.clone()));
                        }
                    }
                }
                seen += 1;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, 8);
    }

    #[test]
    fn only_plain_digits_are_read_at_a_glance() {
        for (field, most, expected) in [
            (&b"0"[..], 18, Some(0)),
            (b"-12", 2, Some(-12)),
            (b"123", 2, None),
            (b"999999999999999999", 99, Some(999_999_999_999_999_999)),
            (b"9999999999999999999", 99, None),
            (b"", 18, None),
            (b"-", 18, None),
            (b"+1", 18, None),
            (b" 1", 18, None),
            (b"1.0", 18, None),
        ] {
            assert_eq!(plain_digits(field, most), expected, "{field:?}");
        }
    }

    #[test]
    fn truncated_neutral_rows_are_refused() {
        let columns = columns(1);
        let mut out = BytesMut::new();
        columns.codec.write(&columns.list, &[Cell::Value(&Value::Int(1))], &mut out).unwrap();
        for cut in 0..out.len() {
            assert!(columns.codec.next(&out[..cut]).is_err(), "cut at {cut}");
        }
        let mut fields = Vec::new();
        assert!(columns.codec.fields(&columns.list, &[6, 255, 0, 0, 0, 1], &mut fields).is_err());
    }
}
