//! RowDescription: the columns of the rows that follow.

use bytes::{BufMut, BytesMut};

use crate::codec::{Fault, Format, Malformed, Reader, count, format, put_cstr, tagged};

/// RowDescription.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-ROWDESCRIPTION>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowDescription<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// One column of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    /// The label, in the client's encoding.
    pub name: &'a [u8],
    /// Oid of the table it comes from; 0 when it comes from none.
    pub table: u32,
    /// Number of the column in that table; 0 when it comes from none.
    pub attribute: i16,
    /// Oid of its type.
    pub oid: u32,
    /// Bytes of a value; negative when they vary.
    pub size: i16,
    /// The type's modifier, for example a length; −1 when there is none.
    pub modifier: i32,
    /// How its values stand in the rows.
    pub format: Format,
}

impl<'a> RowDescription<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<RowDescription<'a>, Malformed> {
        let mut reader = Reader::new("RowDescription", body);
        let count = reader.count()?;
        let description = RowDescription { count, bytes: body.get(2..).unwrap_or_default() };
        for _ in 0..count {
            Column::read(&mut reader)?;
        }
        reader.end().map(|()| description)
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The columns in order.
    pub fn columns(&self) -> impl Iterator<Item = Column<'a>> + use<'a> {
        let mut reader = Reader::new("RowDescription", self.bytes);
        // `decode` has walked the same bytes, so no column fails here.
        (0..self.count).map_while(move |_| Column::read(&mut reader).ok())
    }

    /// Appends a frame with these columns.
    ///
    /// # Errors
    /// More columns than a 16-bit count can say.
    pub fn encode<'c>(
        buf: &mut BytesMut,
        columns: impl ExactSizeIterator<Item = Column<'c>>,
    ) -> Result<(), Malformed> {
        let len = count("RowDescription", columns.len())?;
        tagged(buf, b'T', |buf| {
            buf.put_u16(len);
            columns.for_each(|column| column.write(buf));
        });
        Ok(())
    }
}

impl<'a> Column<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Column<'a>, Malformed> {
        Ok(Column {
            name: reader.cstr()?,
            table: reader.u32()?,
            attribute: reader.i16()?,
            oid: reader.u32()?,
            size: reader.i16()?,
            modifier: reader.i32()?,
            format: match format::from_code(reader.i16()?) {
                Some(format) => format,
                None => return reader.fail(Fault::BadCode),
            },
        })
    }

    fn write(&self, buf: &mut BytesMut) {
        put_cstr(buf, self.name);
        let mut rest = [0; 18];
        rest[0..4].copy_from_slice(&self.table.to_be_bytes());
        rest[4..6].copy_from_slice(&self.attribute.to_be_bytes());
        rest[6..10].copy_from_slice(&self.oid.to_be_bytes());
        rest[10..12].copy_from_slice(&self.size.to_be_bytes());
        rest[12..16].copy_from_slice(&self.modifier.to_be_bytes());
        rest[16..18].copy_from_slice(&format::code(self.format).to_be_bytes());
        buf.put_slice(&rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Column<'static> = Column {
        name: b"id",
        table: 16_384,
        attribute: 1,
        oid: 23,
        size: 4,
        modifier: -1,
        format: Format::Text,
    };

    #[test]
    fn a_description_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        RowDescription::encode(&mut buf, [ID].into_iter()).unwrap();
        assert_eq!(
            &buf[..],
            b"T\0\0\0\x1b\0\x01id\0\0\0\x40\0\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0"
        );
        let description = RowDescription::decode(&buf[5..]).unwrap();
        assert_eq!(description.columns().collect::<Vec<_>>(), [ID]);
        for len in 5..buf.len() {
            assert!(RowDescription::decode(&buf[5..len]).is_err());
        }
    }

    #[test]
    fn no_columns_are_a_description_too() {
        assert!(RowDescription::decode(&[0, 0]).unwrap().is_empty());
    }

    #[test]
    fn a_lying_count_is_refused() {
        assert!(RowDescription::decode(&[0xff, 0xff]).is_err());
        assert!(RowDescription::decode(&[0, 0, 0]).is_err());
    }
}
