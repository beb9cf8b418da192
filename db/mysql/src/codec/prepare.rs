//! The answer to COM_STMT_PREPARE.

use bytes::{BufMut, BytesMut};

use super::malformed::{Fault, Malformed};
use super::reader::Reader;

/// COM_STMT_PREPARE_OK. Parameter and column definitions follow in their own packets.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrepareOk {
    /// The statement's number on this connection.
    pub statement: u32,
    /// Columns of its result, 0 when it returns none.
    pub columns: u16,
    /// Placeholders in it.
    pub parameters: u16,
    /// Number of warnings.
    pub warnings: u16,
}

impl PrepareOk {
    /// Reads a payload that starts with 0x00.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("prepare response", payload);
        let header = reader.u8("header")?;
        if header != 0 {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        let statement = reader.u32("statement")?;
        let columns = reader.u16("number of columns")?;
        let parameters = reader.u16("number of parameters")?;
        reader.u8("filler")?;
        let warnings = if reader.remaining() >= 2 { reader.u16("warnings")? } else { 0 };
        Ok(Self { statement, columns, parameters, warnings })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(0);
        out.put_u32_le(self.statement);
        out.put_u16_le(self.columns);
        out.put_u16_le(self.parameters);
        out.put_u8(0);
        out.put_u16_le(self.warnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prepare_response_comes_back_and_cuts_are_refused() {
        let ok = PrepareOk { statement: 258, columns: 2, parameters: 1, warnings: 0 };
        let mut out = BytesMut::new();
        ok.encode(&mut out);
        assert_eq!(out[..], [0, 2, 1, 0, 0, 2, 0, 1, 0, 0, 0, 0]);
        assert_eq!(PrepareOk::decode(&out).unwrap(), ok);
        for cut in 0..10 {
            assert!(PrepareOk::decode(&out[..cut]).is_err(), "cut at {cut}");
        }
    }
}
