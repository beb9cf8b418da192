//! The server asks for a file of the client.

use bytes::{BufMut, BytesMut};

use super::malformed::{Fault, Malformed};
use super::reader::Reader;

/// LOCAL INFILE request. The client answers with packets of the file's content and an empty packet at its end.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_local_infile_request.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalInfile<'a> {
    /// The file's name as in the statement.
    pub file: &'a [u8],
}

impl<'a> LocalInfile<'a> {
    /// Reads a payload that starts with 0xFB.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("local infile request", payload);
        let header = reader.u8("header")?;
        if header != 0xFB {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        Ok(Self { file: reader.take_rest() })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(0xFB);
        out.put_slice(self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back() {
        let mut out = BytesMut::new();
        LocalInfile { file: b"/tmp/data.csv" }.encode(&mut out);
        assert_eq!(LocalInfile::decode(&out).unwrap().file, b"/tmp/data.csv");
        assert!(LocalInfile::decode(&[]).is_err());
        assert!(LocalInfile::decode(&[0]).is_err());
    }
}
