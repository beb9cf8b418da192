//! Column definitions.

use bytes::{BufMut, BytesMut};

use super::malformed::{Fault, Malformed};
use super::read::Reader;
use super::write::{put_lenenc_bytes, put_lenenc_int};

/// The fixed part of a column definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Column {
    /// Collation number; 63 is binary.
    pub charset: u16,
    /// Maximum length, in bytes of the text form.
    pub length: u32,
    /// Type byte.
    pub type_id: u8,
    /// Flags.
    pub flags: u16,
    /// Digits after the point; 31 for floats without a fixed number.
    pub decimals: u8,
}

/// Column Definition 41.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnDefinition<'a> {
    /// Database of the table, empty when computed.
    pub schema: &'a [u8],
    /// Table alias.
    pub table: &'a [u8],
    /// The table's own name.
    pub org_table: &'a [u8],
    /// Label.
    pub name: &'a [u8],
    /// The column's own name.
    pub org_name: &'a [u8],
    /// Type and limits.
    pub column: Column,
    /// The default value, only in answers to COM_FIELD_LIST.
    pub default: Option<&'a [u8]>,
}

const FIXED_LEN: u64 = 12;

impl<'a> ColumnDefinition<'a> {
    /// Reads a payload.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("column definition", payload);
        reader.lenenc_bytes("catalog")?;
        let schema = reader.lenenc_bytes("schema")?;
        let table = reader.lenenc_bytes("table")?;
        let org_table = reader.lenenc_bytes("original table")?;
        let name = reader.lenenc_bytes("name")?;
        let org_name = reader.lenenc_bytes("original name")?;
        let fixed = reader.lenenc_int("length of fixed fields")?;
        if fixed != FIXED_LEN {
            return Err(reader.fault("length of fixed fields", Fault::Value(fixed)));
        }
        let column = Column {
            charset: reader.u16("character set")?,
            length: reader.u32("column length")?,
            type_id: reader.u8("type")?,
            flags: reader.u16("flags")?,
            decimals: reader.u8("decimals")?,
        };
        reader.bytes("filler", 2)?;
        let default =
            if reader.is_empty() { None } else { reader.nullable_bytes("default value")? };
        Ok(Self { schema, table, org_table, name, org_name, column, default })
    }

    /// Appends the payload. The default value is written only when there is one.
    pub fn encode(&self, out: &mut BytesMut) {
        put_lenenc_bytes(out, b"def");
        for text in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            put_lenenc_bytes(out, text);
        }
        put_lenenc_int(out, FIXED_LEN);
        out.put_u16_le(self.column.charset);
        out.put_u32_le(self.column.length);
        out.put_u8(self.column.type_id);
        out.put_u16_le(self.column.flags);
        out.put_u8(self.column.decimals);
        out.put_u16_le(0);
        if let Some(default) = self.default {
            put_lenenc_bytes(out, default);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_comes_back_and_cuts_are_refused() {
        let definition = ColumnDefinition {
            schema: b"test",
            table: b"o",
            org_table: b"t_order_0",
            name: b"id",
            org_name: b"order_id",
            column: Column { charset: 63, length: 20, type_id: 8, flags: 0x4203, decimals: 0 },
            default: None,
        };
        let mut out = BytesMut::new();
        definition.encode(&mut out);
        assert_eq!(ColumnDefinition::decode(&out).unwrap(), definition);
        for cut in 0..out.len() {
            assert!(ColumnDefinition::decode(&out[..cut]).is_err(), "cut at {cut}");
        }
        let with_default = ColumnDefinition { default: Some(b"7"), ..definition };
        let mut out = BytesMut::new();
        with_default.encode(&mut out);
        assert_eq!(ColumnDefinition::decode(&out).unwrap(), with_default);
    }

    #[test]
    fn another_length_of_the_fixed_part_is_refused() {
        let mut out = BytesMut::new();
        ColumnDefinition::default().encode(&mut out);
        let at = out.len() - 13;
        out[at] = 11;
        assert!(ColumnDefinition::decode(&out).is_err());
    }
}
