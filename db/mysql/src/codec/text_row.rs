//! Rows in the text protocol.

use std::ops::Range;

use super::malformed::Malformed;
use super::reader::Reader;

/// A row whose fields are length-encoded strings.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_row.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRow<'a>(pub &'a [u8]);

impl TextRow<'_> {
    /// The byte range of each of `columns` fields, without the length prefix; `None` is NULL. Clears `out` first.
    ///
    /// # Errors
    /// `Malformed` when the row has fewer or more fields.
    pub fn fields(
        &self,
        columns: usize,
        out: &mut Vec<Option<Range<usize>>>,
    ) -> Result<(), Malformed> {
        out.clear();
        let mut reader = Reader::new("text row", self.0);
        for _ in 0..columns {
            let field = reader.nullable_bytes("field")?;
            let end = self.0.len() - reader.remaining();
            out.push(field.map(|bytes| end - bytes.len()..end));
        }
        if reader.is_empty() {
            return Ok(());
        }
        let extra = reader.remaining() as u64;
        Err(reader.fault("bytes after the last field", super::Fault::Value(extra)))
    }
}

/// Bytes that a field of `len` bytes takes in a text row, prefix included.
pub fn text_value_len(len: usize) -> usize {
    let prefix = match len {
        0..=0xFA => 1,
        0xFB..=0xFFFF => 3,
        0x1_0000..=0xFF_FFFF => 4,
        _ => 9,
    };
    prefix + len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_nulls_are_found() {
        let mut out = Vec::new();
        let row = TextRow(&[1, b'1', 0xFB, 0, 2, b'a', b'b']);
        row.fields(4, &mut out).unwrap();
        assert_eq!(out, [Some(1..2), None, Some(4..4), Some(5..7)]);
    }

    #[test]
    fn too_few_and_too_many_fields_are_refused() {
        let mut out = Vec::new();
        assert!(TextRow(&[1, b'1']).fields(2, &mut out).is_err());
        assert!(TextRow(&[1, b'1', 1, b'2']).fields(1, &mut out).is_err());
        assert!(TextRow(&[200, b'1']).fields(1, &mut out).is_err());
    }

    #[test]
    fn the_length_of_a_field_counts_its_prefix() {
        for (len, expected) in [(0, 1), (250, 251), (251, 254), (0xFFFF, 0x1_0002)] {
            assert_eq!(text_value_len(len), expected);
        }
    }
}
