//! Rows in the binary protocol of prepared statements.

use std::ops::Range;

use super::malformed::{Fault, Malformed};
use super::reader::Reader;

/// A row whose fields are in the binary form of their types.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinaryRow<'a>(pub &'a [u8]);

/// The null bitmap of rows leaves its first two bits unused.
const NULL_OFFSET: usize = 2;

impl BinaryRow<'_> {
    /// The byte range of each field, `types` giving the type bytes in column order; `None` is NULL. Ranges of
    /// variable-length types leave out the length prefix. Clears `out` first.
    ///
    /// # Errors
    /// `Malformed` when the row does not hold exactly these fields.
    pub fn fields(
        &self,
        types: impl ExactSizeIterator<Item = u8>,
        out: &mut Vec<Option<Range<usize>>>,
    ) -> Result<(), Malformed> {
        out.clear();
        let mut reader = Reader::new("binary row", self.0);
        let header = reader.u8("header")?;
        if header != 0 {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        let bitmap = reader.bytes("null bitmap", (types.len() + 7 + NULL_OFFSET) / 8)?;
        for (index, type_id) in types.enumerate() {
            let bit = index + NULL_OFFSET;
            if bitmap.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1) {
                out.push(None);
                continue;
            }
            let len = binary_value_len(type_id, &mut reader)?;
            let start = self.0.len() - reader.remaining();
            reader.bytes("field", len)?;
            out.push(Some(start..start + len));
        }
        if reader.is_empty() {
            return Ok(());
        }
        let extra = reader.remaining() as u64;
        Err(reader.fault("bytes after the last field", Fault::Value(extra)))
    }
}

/// The length in bytes of a value of this type at the cursor, which is moved past the length prefix if the type has
/// one. Dates and times keep their own length byte out of the range as well.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html#sect_protocol_binary_resultset_row_value>
///
/// # Errors
/// `Malformed` for a truncated prefix or an unknown type.
pub fn binary_value_len(type_id: u8, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    use crate::types::ColumnType as T;
    let Some(column_type) = T::from_byte(type_id) else {
        return Err(reader.fault("type", Fault::Value(u64::from(type_id))));
    };
    Ok(match column_type {
        T::Null => 0,
        T::Tiny | T::Bool => 1,
        T::Short | T::Year => 2,
        T::Long | T::Int24 | T::Float => 4,
        T::LongLong | T::Double => 8,
        T::Date | T::DateTime | T::Timestamp | T::NewDate => temporal_len(reader, &[0, 4, 7, 11])?,
        T::Timestamp2 | T::DateTime2 => temporal_len(reader, &[0, 4, 7, 11])?,
        T::Time | T::Time2 => temporal_len(reader, &[0, 8, 12])?,
        T::Decimal
        | T::NewDecimal
        | T::VarChar
        | T::Bit
        | T::Vector
        | T::Json
        | T::Enum
        | T::Set
        | T::TinyBlob
        | T::MediumBlob
        | T::LongBlob
        | T::Blob
        | T::VarString
        | T::String
        | T::Geometry => {
            let len = reader.lenenc_int("field length")?;
            usize::try_from(len).map_err(|_| reader.fault("field", Fault::Truncated))?
        }
    })
}

fn temporal_len(reader: &mut Reader<'_>, allowed: &[u8]) -> Result<usize, Malformed> {
    let len = reader.u8("length of a date or time")?;
    if allowed.contains(&len) {
        return Ok(usize::from(len));
    }
    Err(reader.fault("length of a date or time", Fault::Value(u64::from(len))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_fixed_and_variable_types_are_found() {
        // Columns: bigint, varchar, NULL int, datetime without a time of day.
        let row = [0, 0b0001_0000, 1, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b', 4, 0xEA, 7, 1, 31];
        let mut out = Vec::new();
        BinaryRow(&row).fields([8, 253, 3, 12].into_iter(), &mut out).unwrap();
        assert_eq!(out, [Some(2..10), Some(11..13), None, Some(14..18)]);
        for cut in 0..row.len() {
            let result = BinaryRow(&row[..cut]).fields([8, 253, 3, 12].into_iter(), &mut out);
            assert!(result.is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn lying_lengths_and_unknown_types_are_refused() {
        let mut out = Vec::new();
        assert!(BinaryRow(&[0, 0, 200, b'a']).fields([253].into_iter(), &mut out).is_err());
        assert!(BinaryRow(&[0, 0, 5, 1, 1, 1, 1, 1]).fields([12].into_iter(), &mut out).is_err());
        assert!(BinaryRow(&[0, 0, 1]).fields([99].into_iter(), &mut out).is_err());
        assert!(BinaryRow(&[0, 0, 1, 2]).fields([1].into_iter(), &mut out).is_err());
    }
}
