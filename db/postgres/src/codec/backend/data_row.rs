//! DataRow: a row.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, count, put_value, tagged};

/// DataRow.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-DATAROW>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRow<'a> {
    count: usize,
    fields: &'a [u8],
}

/// Walks the fields of a row.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    left: usize,
    reader: Reader<'a>,
}

impl<'a> DataRow<'a> {
    /// Decodes a body; the fields are checked while they are walked.
    ///
    /// # Errors
    /// A body without its count.
    pub fn decode(body: &'a [u8]) -> Result<DataRow<'a>, Malformed> {
        let mut reader = Reader::new("DataRow", body);
        let count = reader.count()?;
        Ok(DataRow { count, fields: reader.rest() })
    }

    /// How many fields the row says it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the row has no field.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The fields in order; `None` is NULL. Ends with an error where the row breaks the protocol.
    pub fn fields(&self) -> Fields<'a> {
        Fields { left: self.count, reader: Reader::new("DataRow", self.fields) }
    }

    /// Appends a frame with these fields.
    ///
    /// # Errors
    /// More fields than a 16-bit count can say.
    pub fn encode<'f>(
        buf: &mut BytesMut,
        fields: impl ExactSizeIterator<Item = Option<&'f [u8]>>,
    ) -> Result<(), Malformed> {
        let len = count("DataRow", fields.len())?;
        tagged(buf, b'D', |buf| {
            buf.put_u16(len);
            fields.for_each(|field| put_value(buf, field));
        });
        Ok(())
    }
}

impl<'a> Fields<'a> {
    /// What has not been walked yet, with the lengths.
    pub fn rest(&self) -> &'a [u8] {
        self.reader.clone().rest()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Option<&'a [u8]>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            // Bytes after the last field are a broken row as well.
            return match self.reader.rest() {
                [] => None,
                _ => Some(self.reader.fail(crate::codec::Fault::Trailing)),
            };
        }
        self.left -= 1;
        let field = self.reader.value();
        if field.is_err() {
            self.left = 0;
            self.reader.rest();
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(body: &[u8]) -> Result<Vec<Option<&[u8]>>, Malformed> {
        DataRow::decode(body)?.fields().collect()
    }

    #[test]
    fn a_row_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        let fields = [Some(&b"1"[..]), None, Some(&b""[..])];
        DataRow::encode(&mut buf, fields.into_iter()).unwrap();
        assert_eq!(&buf[..], b"D\0\0\0\x13\0\x03\0\0\0\x011\xff\xff\xff\xff\0\0\0\0");
        assert_eq!(walk(&buf[5..]), Ok(fields.to_vec()));
        for len in 5..buf.len() {
            assert!(walk(&buf[5..len]).is_err(), "{len} bytes were taken for the row");
        }
    }

    #[test]
    fn broken_rows_are_refused() {
        assert!(walk(&[0, 1, 0x7f, 0xff, 0xff, 0xff]).is_err());
        assert!(walk(&[0, 1, 0xff, 0xff, 0xff, 0xf0]).is_err());
        assert!(walk(&[0, 0, 1]).is_err());
        assert!(walk(&[0xff, 0xff]).is_err());
    }
}
