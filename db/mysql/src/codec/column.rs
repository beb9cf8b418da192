//! Column definitions.

use bytes::{BufMut, BytesMut};

use super::capabilities::Capabilities;
use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::writer::{put_lenenc_bytes, put_lenenc_int};

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
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html>,
/// <https://mariadb.com/kb/en/result-set-packets/#column-definition-packet>
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
    /// What MariaDB says of the type besides, as it says it: pairs of a byte (0 for a type's name, 1 for a format's)
    /// and a text. Empty of most types.
    pub extended: &'a [u8],
    /// Type and limits.
    pub column: Column,
    /// The default value, only in answers to COM_FIELD_LIST.
    pub default: Option<&'a [u8]>,
}

const FIXED_LEN: u64 = 12;

impl<'a> ColumnDefinition<'a> {
    /// Reads a payload of a server with which these capabilities were agreed on.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new("column definition", payload);
        reader.lenenc_bytes("catalog")?;
        let schema = reader.lenenc_bytes("schema")?;
        let table = reader.lenenc_bytes("table")?;
        let org_table = reader.lenenc_bytes("original table")?;
        let name = reader.lenenc_bytes("name")?;
        let org_name = reader.lenenc_bytes("original name")?;
        let extended = if capabilities.has(Capabilities::EXTENDED_METADATA) {
            reader.lenenc_bytes("extended type")?
        } else {
            &[]
        };
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
        Ok(Self { schema, table, org_table, name, org_name, extended, column, default })
    }

    /// Appends the payload for a client with which these capabilities were agreed on. The default value is written
    /// only when there is one.
    pub fn encode(&self, capabilities: Capabilities, out: &mut BytesMut) {
        put_lenenc_bytes(out, b"def");
        for text in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            put_lenenc_bytes(out, text);
        }
        if capabilities.has(Capabilities::EXTENDED_METADATA) {
            put_lenenc_bytes(out, self.extended);
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

    const PLAIN: Capabilities = Capabilities::PROTOCOL_41;
    const EXTENDED: Capabilities = Capabilities(PLAIN.0 | Capabilities::EXTENDED_METADATA.0);

    const SAMPLE: ColumnDefinition<'static> = ColumnDefinition {
        schema: b"test",
        table: b"o",
        org_table: b"t_order_0",
        name: b"id",
        org_name: b"order_id",
        extended: b"\x01\x04json",
        column: Column { charset: 63, length: 20, type_id: 8, flags: 0x4203, decimals: 0 },
        default: None,
    };

    fn written(definition: &ColumnDefinition<'_>, capabilities: Capabilities) -> BytesMut {
        let mut out = BytesMut::new();
        definition.encode(capabilities, &mut out);
        out
    }

    #[test]
    fn a_definition_comes_back_and_cuts_are_refused() {
        for (capabilities, extended) in [(PLAIN, &b""[..]), (EXTENDED, SAMPLE.extended)] {
            let out = written(&SAMPLE, capabilities);
            let expected = ColumnDefinition { extended, ..SAMPLE };
            assert_eq!(ColumnDefinition::decode(&out, capabilities).unwrap(), expected);
            for cut in 0..out.len() {
                let read = ColumnDefinition::decode(&out[..cut], capabilities);
                assert!(read.is_err(), "cut at {cut}");
            }
            let with_default = ColumnDefinition { default: Some(b"7"), ..expected };
            let out = written(&with_default, capabilities);
            assert_eq!(ColumnDefinition::decode(&out, capabilities).unwrap(), with_default);
        }
    }

    #[test]
    fn what_mariadb_says_besides_stands_before_the_fixed_part() {
        let out = written(&SAMPLE, EXTENDED);
        let fixed = [12, 63, 0, 20, 0, 0, 0, 8, 3, 0x42, 0, 0, 0];
        assert_eq!(out[out.len() - 20..], [&b"\x06\x01\x04json"[..], &fixed[..]].concat());
        let none = ColumnDefinition { extended: b"", ..SAMPLE };
        assert_eq!(written(&none, EXTENDED).len(), written(&none, PLAIN).len() + 1);
        assert_eq!(written(&none, PLAIN), written(&SAMPLE, PLAIN));
    }

    #[test]
    fn another_length_of_the_fixed_part_is_refused() {
        let mut out = written(&ColumnDefinition::default(), PLAIN);
        let at = out.len() - 13;
        out[at] = 11;
        assert!(ColumnDefinition::decode(&out, PLAIN).is_err());
    }
}
