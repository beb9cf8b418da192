//! ErrorResponse and NoticeResponse: the same fields under two tags.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, put_cstr, tagged};

/// ErrorResponse or NoticeResponse.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-ERRORRESPONSE>
/// <https://www.postgresql.org/docs/current/protocol-error-fields.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice<'a> {
    bytes: &'a [u8],
}

impl<'a> Notice<'a> {
    /// Decodes a body; `message` is the name for errors.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(message: &'static str, body: &'a [u8]) -> Result<Notice<'a>, Malformed> {
        let mut reader = Reader::new(message, body);
        while reader.u8()? != 0 {
            reader.cstr()?;
        }
        reader.end().map(|()| Notice { bytes: body })
    }

    /// Field codes and values in the order sent.
    pub fn fields(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut reader = Reader::new("ErrorResponse", self.bytes);
        std::iter::from_fn(move || match reader.u8() {
            Ok(0) | Err(_) => None,
            Ok(code) => reader.cstr().ok().map(|value| (code, value)),
        })
    }

    /// The value of the field with code `code`, for example `b'C'` for the SQLSTATE.
    pub fn get(&self, code: u8) -> Option<&'a [u8]> {
        self.fields().find(|(found, _)| *found == code).map(|(_, value)| value)
    }
}

/// Appends an ErrorResponse with these fields.
pub fn encode_error(buf: &mut BytesMut, fields: &[(u8, &str)]) {
    encode(buf, b'E', fields);
}

/// Appends a NoticeResponse with these fields.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-NOTICERESPONSE>
pub fn encode_notice(buf: &mut BytesMut, fields: &[(u8, &str)]) {
    encode(buf, b'N', fields);
}

fn encode(buf: &mut BytesMut, tag: u8, fields: &[(u8, &str)]) {
    tagged(buf, tag, |buf| {
        for (code, value) in fields {
            buf.put_u8(*code);
            put_cstr(buf, value.as_bytes());
        }
        buf.put_u8(0);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        encode_error(&mut buf, &[(b'S', "ERROR"), (b'C', "42P01"), (b'M', "no")]);
        assert_eq!(&buf[..], b"E\0\0\0\x17SERROR\0C42P01\0Mno\0\0");
        let error = Notice::decode("ErrorResponse", &buf[5..]).unwrap();
        assert_eq!(error.get(b'C'), Some(&b"42P01"[..]));
        assert_eq!(error.get(b'D'), None);
        assert_eq!(error.fields().count(), 3);
        for len in 5..buf.len() {
            assert!(Notice::decode("ErrorResponse", &buf[5..len]).is_err());
        }
    }

    #[test]
    fn a_notice_has_its_own_tag() {
        let mut buf = BytesMut::new();
        encode_notice(&mut buf, &[]);
        assert_eq!(&buf[..], b"N\0\0\0\x05\0");
        assert!(Notice::decode("NoticeResponse", b"\0\0").is_err());
    }

    #[test]
    fn a_zero_byte_in_a_value_forges_no_field() {
        let mut buf = BytesMut::new();
        encode_error(&mut buf, &[(b'M', "no\0CHACKED")]);
        let error = Notice::decode("ErrorResponse", &buf[5..]).unwrap();
        assert_eq!(error.get(b'C'), None);
    }
}
