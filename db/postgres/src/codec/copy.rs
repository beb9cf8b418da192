//! The copy sub-protocol: messages both sides send.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY>

use bytes::{BufMut, BytesMut};

use super::{Fault, Format, Malformed, Reader, count, format, tagged};

/// CopyInResponse, CopyOutResponse or CopyBothResponse: the data's formats.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COPYINRESPONSE>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyResponse {
    /// The format of the whole stream.
    pub format: Format,
    /// One per column, in column order.
    pub columns: Vec<Format>,
}

/// Which way the data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The client sends.
    In,
    /// The server sends.
    Out,
    /// Both send (replication).
    Both,
}

impl Direction {
    fn tag(self) -> u8 {
        match self {
            Direction::In => b'G',
            Direction::Out => b'H',
            Direction::Both => b'W',
        }
    }
}

impl CopyResponse {
    /// Decodes a body; the tag has told the direction.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &[u8]) -> Result<CopyResponse, Malformed> {
        let mut reader = Reader::new("CopyResponse", body);
        let Some(format) = format::from_code(i16::from(reader.u8()?)) else {
            return reader.fail(Fault::BadCode);
        };
        let columns = super::Formats::read(&mut reader)?.to_vec();
        reader.end()?;
        Ok(CopyResponse { format, columns })
    }

    /// Appends the frame.
    ///
    /// # Errors
    /// More columns than a 16-bit count can say.
    pub fn encode(&self, buf: &mut BytesMut, direction: Direction) -> Result<(), Malformed> {
        let columns = count("CopyResponse", self.columns.len())?;
        tagged(buf, direction.tag(), |buf| {
            buf.put_u8(u8::from(self.format == Format::Binary));
            buf.put_u16(columns);
            for column in &self.columns {
                buf.put_i16(format::code(*column));
            }
        });
        Ok(())
    }
}

/// Appends a CopyData frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COPYDATA>
pub fn encode_data(buf: &mut BytesMut, data: &[u8]) {
    tagged(buf, b'd', |buf| buf.put_slice(data));
}

/// Appends a CopyDone frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COPYDONE>
pub fn encode_done(buf: &mut BytesMut) {
    tagged(buf, b'c', |_| ());
}

/// Appends a CopyFail frame with the reason.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COPYFAIL>
pub fn encode_fail(buf: &mut BytesMut, reason: &str) {
    tagged(buf, b'f', |buf| super::put_cstr(buf, reason.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_response_has_these_bytes_and_comes_back() {
        let response =
            CopyResponse { format: Format::Text, columns: vec![Format::Text, Format::Binary] };
        let mut buf = BytesMut::new();
        response.encode(&mut buf, Direction::In).unwrap();
        assert_eq!(&buf[..], b"G\0\0\0\x0b\0\0\x02\0\0\0\x01");
        assert_eq!(CopyResponse::decode(&buf[5..]), Ok(response));
        for len in 5..buf.len() {
            assert!(CopyResponse::decode(&buf[5..len]).is_err());
        }
    }

    #[test]
    fn undefined_formats_are_refused() {
        let fault = CopyResponse::decode(&[2, 0, 0]).map_err(|error| error.fault);
        assert_eq!(fault, Err(Fault::BadCode));
    }

    #[test]
    fn data_done_and_fail_have_these_bytes() {
        let mut buf = BytesMut::new();
        encode_data(&mut buf, b"1\t2\n");
        encode_done(&mut buf);
        encode_fail(&mut buf, "no");
        assert_eq!(&buf[..], b"d\0\0\0\x081\t2\nc\0\0\0\x04f\0\0\0\x07no\0");
    }
}
