//! What a client answers to an authentication request. All of them share one tag.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, put_cstr, put_value, tagged};

/// Decodes a PasswordMessage: the password in clear, or the text of an MD5 answer.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-PASSWORDMESSAGE>
///
/// # Errors
/// A body that breaks the protocol.
pub fn password(body: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new("PasswordMessage", body);
    let password = reader.cstr()?;
    reader.end().map(|()| password)
}

/// Appends a PasswordMessage.
pub fn encode_password(buf: &mut BytesMut, password: &[u8]) {
    tagged(buf, b'p', |buf| put_cstr(buf, password));
}

/// SASLInitialResponse.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-SASLINITIALRESPONSE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaslInitial<'a> {
    /// The mechanism chosen.
    pub mechanism: &'a str,
    /// The first data of the mechanism; `None` when it has none.
    pub data: Option<&'a [u8]>,
}

impl<'a> SaslInitial<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<SaslInitial<'a>, Malformed> {
        let mut reader = Reader::new("SASLInitialResponse", body);
        let mechanism = reader.text()?;
        let data = reader.value()?;
        reader.end().map(|()| SaslInitial { mechanism, data })
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'p', |buf| {
            put_cstr(buf, self.mechanism.as_bytes());
            put_value(buf, self.data);
        });
    }
}

/// Appends a SASLResponse.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-SASLRESPONSE>
pub fn encode_sasl(buf: &mut BytesMut, data: &[u8]) {
    tagged(buf, b'p', |buf| buf.put_slice(data));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        encode_password(&mut buf, b"pw");
        assert_eq!(&buf[..], b"p\0\0\0\x07pw\0");
        assert_eq!(password(&buf[5..]), Ok(&b"pw"[..]));
        assert!(password(b"pw").is_err());
        assert!(password(b"pw\0\0").is_err());
    }

    #[test]
    fn the_first_sasl_answer_has_these_bytes_and_comes_back() {
        let initial = SaslInitial { mechanism: "SCRAM-SHA-256", data: Some(b"n,,") };
        let mut buf = BytesMut::new();
        initial.encode(&mut buf);
        assert_eq!(&buf[..], b"p\0\0\0\x19SCRAM-SHA-256\0\0\0\0\x03n,,");
        assert_eq!(SaslInitial::decode(&buf[5..]), Ok(initial));
        for len in 5..buf.len() {
            assert!(SaslInitial::decode(&buf[5..len]).is_err());
        }
    }

    #[test]
    fn later_sasl_answers_are_the_data_alone() {
        let mut buf = BytesMut::new();
        encode_sasl(&mut buf, b"c=biws");
        assert_eq!(&buf[..], b"p\0\0\0\x0ac=biws");
    }
}
