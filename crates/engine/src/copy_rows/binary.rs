//! The binary form of COPY: <https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.4>

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{Columns, Format, Value};

use super::change::{Changed, FieldChanges, Standing, bounded, raw};
use super::{MAX_RECORD, malformed};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// A stream's beginning: the signature, no flags, no extension.
pub(super) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A stream's end.
pub(super) const TRAILER: &[u8] = &[0xff, 0xff];
/// The flag of streams with a column of object numbers, which servers no longer write.
const WITH_OIDS: u32 = 1 << 16;
/// Longest extension of a header, in bytes; none is known.
const MAX_EXTENSION: usize = 64 << 10;

/// The length of a stream's header; `None` while it has not come whole.
///
/// # Errors
/// 22P04 when it is none.
pub(super) fn header_length(data: &[u8]) -> Result<Option<usize>> {
    let known = data.len().min(SIGNATURE.len());
    if data[..known] != SIGNATURE[..known] {
        return Err(malformed("COPY file signature not recognized", None));
    }
    let (Some(flags), Some(extension)) = (word(data, 11), word(data, 15)) else { return Ok(None) };
    if flags & WITH_OIDS != 0 {
        return Err(malformed("invalid COPY file header (WITH OIDS)", None));
    }
    let extension = usize::try_from(extension).unwrap_or(usize::MAX);
    if extension > MAX_EXTENSION {
        return Err(malformed("invalid COPY file header (wrong length)", None));
    }
    let whole = HEADER.len() + extension;
    Ok((data.len() >= whole).then_some(whole))
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Tuples out of chunks that may end anywhere.
#[derive(Debug, Default)]
pub(crate) struct Tuples {
    rest: BytesMut,
    begun: bool,
    ended: bool,
    /// How far the first tuple has been looked at, and how many of its fields are still to come.
    seen: usize,
    left: usize,
}

impl Tuples {
    pub(super) fn push(&mut self, data: &Bytes) {
        if !self.ended {
            self.rest.extend_from_slice(data);
        }
    }

    /// The next whole tuple.
    ///
    /// # Errors
    /// 22P04 for broken data, and for data that ends inside a tuple; `TooLarge` for a tuple over 64 MiB.
    pub(super) fn next(&mut self, last: bool) -> Result<Option<Bytes>> {
        if !self.begun && !self.ended {
            match header_length(&self.rest)? {
                Some(length) => {
                    drop(self.rest.split_to(length));
                    self.begun = true;
                }
                None if last => return Err(malformed("COPY file signature not recognized", None)),
                None => return Ok(None),
            }
        }
        if self.ended {
            return Ok(None);
        }
        match self.cut()? {
            Some(tuple) => Ok(Some(tuple)),
            None if last && !self.ended && !self.rest.is_empty() => {
                Err(malformed("unexpected EOF in COPY data", None))
            }
            None => Ok(None),
        }
    }

    fn cut(&mut self) -> Result<Option<Bytes>> {
        if self.seen == 0 {
            let Some(count) = self.rest.first_chunk::<2>() else { return Ok(None) };
            match i16::from_be_bytes(*count) {
                -1 => {
                    self.ended = true;
                    self.rest.clear();
                    return Ok(None);
                }
                count => {
                    self.left = usize::try_from(count)
                        .map_err(|_| malformed("a tuple has a negative number of fields", None))?;
                    self.seen = 2;
                }
            }
        }
        while self.left > 0 {
            let Some(length) = word(&self.rest, self.seen) else { return Ok(None) };
            let length = field_length(length)?.unwrap_or(0);
            let end = self.seen + 4 + length;
            if end > MAX_RECORD {
                return Err(
                    ErrorKind::TooLarge("a tuple of bulk data exceeds 64 MiB".into()).into()
                );
            }
            if end > self.rest.len() {
                return Ok(None);
            }
            self.seen = end;
            self.left -= 1;
        }
        let tuple = self.rest.split_to(self.seen).freeze();
        self.seen = 0;
        Ok(Some(tuple))
    }
}

/// The length of a field; `None` is NULL.
fn field_length(word: u32) -> Result<Option<usize>> {
    match word.cast_signed() {
        -1 => Ok(None),
        length => {
            usize::try_from(length).map(Some).map_err(|_| malformed("invalid field size", None))
        }
    }
}

/// The fields of a whole tuple. A value of a type that cannot be read here stays bytes: it may be none that routing looks at.
pub(super) fn fields(tuple: &[u8], columns: Option<&Columns>) -> Result<Vec<Value>> {
    let broken = || Error::internal("a tuple without its fields");
    let columns = columns.ok_or_else(|| Error::internal("bulk data without its columns"))?;
    let count = tuple.first_chunk::<2>().map_or(0, |count| i16::from_be_bytes(*count));
    let (mut at, mut values) = (2, Vec::new());
    for i in 0..usize::try_from(count).unwrap_or(0) {
        let length = field_length(word(tuple, at).ok_or_else(broken)?)?;
        at += 4;
        let Some(length) = length else {
            values.push(Value::Null);
            continue;
        };
        let raw = tuple.get(at..at + length).ok_or_else(broken)?;
        at += length;
        let value = columns.list.get(i).and_then(|column| {
            let mut column = column.clone();
            column.format = Format::Binary;
            columns.codec.value(&column, Some(raw)).ok()
        });
        values.push(value.unwrap_or_else(|| Value::Bytes(raw.to_vec().into())));
    }
    Ok(values)
}

/// A whole tuple with a further field in front, whose one column is given.
///
/// # Errors
/// `Value` for a value that its type cannot hold, `TooLarge` for a tuple over 64 MiB.
pub(super) fn led(tuple: &[u8], value: &Value, column: Option<&Columns>) -> Result<Bytes> {
    let missing = || Error::internal("a field of no column");
    let columns = column.ok_or_else(missing)?;
    let mut column = columns.list.first().ok_or_else(missing)?.clone();
    column.format = Format::Binary;
    let (count, fields) = tuple
        .split_first_chunk::<2>()
        .ok_or_else(|| Error::internal("a tuple without its fields"))?;
    let count = i16::from_be_bytes(*count)
        .checked_add(1)
        .ok_or_else(|| ErrorKind::TooLarge("a tuple has too many fields".into()))?;
    let mut out = BytesMut::with_capacity(tuple.len() + 12);
    out.extend_from_slice(&count.to_be_bytes());
    put_field(raw(columns, column, value)?.as_deref(), &mut out)?;
    out.extend_from_slice(fields);
    bounded(out)
}

/// A whole tuple with some of its fields written anew; all others keep their bytes.
///
/// # Errors
/// `Value` for a field that cannot be turned or written, `TooLarge` for a tuple over 64 MiB.
pub(super) fn changed(tuple: &[u8], changes: &FieldChanges) -> Result<Changed> {
    let broken = || Error::internal("a tuple without its fields");
    let count = tuple.first_chunk::<2>().map_or(0, |count| i16::from_be_bytes(*count));
    let count = usize::try_from(count).unwrap_or(0);
    if count != changes.come() {
        return Ok(Changed::Miscounted(count));
    }
    let go = i16::try_from(changes.go());
    let go = go.map_err(|_| ErrorKind::TooLarge("a tuple has too many fields".into()))?;
    let mut out = BytesMut::with_capacity(tuple.len() + tuple.len() / 2);
    out.extend_from_slice(&go.to_be_bytes());
    let mut at = 2;
    for place in 0..count {
        let length = field_length(word(tuple, at).ok_or_else(broken)?)?;
        let end = at + 4 + length.unwrap_or(0);
        let whole = tuple.get(at..end).ok_or_else(broken)?;
        at = end;
        let Some(Standing { change, into }) = changes.at(place) else {
            out.extend_from_slice(whole);
            continue;
        };
        if change.keeps {
            out.extend_from_slice(whole);
        }
        let value = match length {
            None => Value::Null,
            Some(_) => changes.value(change, &whole[4..], Format::Binary)?,
        };
        let first = into + usize::from(change.keeps);
        for (into, value) in (first..).zip(changes.values(change, &value)?) {
            let raw = changes.raw(Standing { change, into }, &value, Format::Binary)?;
            put_field(raw.as_deref(), &mut out)?;
        }
    }
    bounded(out).map(Changed::Record)
}

/// A field with its length; `None` is NULL.
pub(super) fn put_field(field: Option<&[u8]>, out: &mut BytesMut) -> Result<()> {
    let length = field.map_or(Ok(-1), |field| i32::try_from(field.len()));
    let length = length.map_err(|_| ErrorKind::TooLarge("a field is too long".into()))?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(field.unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(tuples: &[&[Option<&[u8]>]]) -> Vec<u8> {
        let mut out = HEADER.to_vec();
        for tuple in tuples {
            out.extend_from_slice(&u16::try_from(tuple.len()).unwrap().to_be_bytes());
            for field in *tuple {
                match field {
                    None => out.extend_from_slice(&(-1i32).to_be_bytes()),
                    Some(field) => {
                        out.extend_from_slice(&u32::try_from(field.len()).unwrap().to_be_bytes());
                        out.extend_from_slice(field);
                    }
                }
            }
        }
        out.extend_from_slice(TRAILER);
        out
    }

    #[test]
    fn tuples_may_be_cut_anywhere() {
        let whole = stream(&[&[Some(b"abc"), None], &[Some(b""), Some(b"x")]]);
        for step in [1, 2, 3, 7, whole.len()] {
            let mut tuples = Tuples::default();
            let mut lengths = Vec::new();
            for chunk in whole.chunks(step) {
                tuples.push(&Bytes::copy_from_slice(chunk));
                while let Some(tuple) = tuples.next(false).unwrap() {
                    lengths.push(tuple.len());
                }
            }
            assert_eq!(tuples.next(true).unwrap(), None);
            assert_eq!(lengths, [13, 11], "in steps of {step}");
        }
    }

    #[test]
    fn broken_streams_are_refused() {
        let mut long = stream(&[]);
        long[18] = 0xff;
        long[16] = 0xff;
        let mut negative = HEADER.to_vec();
        negative.extend_from_slice(&[0, 1, 0xff, 0xff, 0xff, 0xfe]);
        let mut short = stream(&[&[Some(b"abc")]]);
        short.truncate(HEADER.len() + 8);
        for data in [b"1\tx\n".to_vec(), Vec::new(), long, negative, short, HEADER[..12].to_vec()] {
            let mut tuples = Tuples::default();
            tuples.push(&Bytes::from(data.clone()));
            let mut result = tuples.next(true);
            while matches!(result, Ok(Some(_))) {
                result = tuples.next(true);
            }
            assert!(result.is_err(), "{data:?}");
        }
    }
}
