//! Authentication*: the steps of a login. All of them share one tag.

use bytes::{BufMut, BytesMut};

use crate::codec::{Fault, Malformed, Reader, put_cstr, tagged};

/// A step of the login.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-AUTHENTICATIONOK>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// Logged in.
    Ok,
    /// The server wants the password as it is.
    Cleartext,
    /// The server wants the password hashed with this salt.
    Md5([u8; 4]),
    /// The server offers these SASL mechanisms.
    Sasl(Mechanisms<'a>),
    /// Data of the mechanism; the client answers.
    SaslContinue(&'a [u8]),
    /// Last data of the mechanism.
    SaslFinal(&'a [u8]),
    /// A method that is not spoken here (Kerberos, GSSAPI, SSPI), by its code.
    Other(u32),
}

/// A borrowed list of SASL mechanism names, in the server's order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanisms<'a>(&'a [u8]);

impl<'a> Mechanisms<'a> {
    /// Whether the server offers `name`.
    pub fn offers(&self, name: &str) -> bool {
        self.iter().any(|mechanism| mechanism == name.as_bytes())
    }

    /// The names in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.0.split(|byte| *byte == 0).take_while(|name| !name.is_empty())
    }
}

impl<'a> Authentication<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<Authentication<'a>, Malformed> {
        let mut reader = Reader::new("Authentication", body);
        let step = match reader.u32()? {
            0 => Authentication::Ok,
            3 => Authentication::Cleartext,
            5 => {
                let salt = reader.u32()?;
                Authentication::Md5(salt.to_be_bytes())
            }
            10 => Authentication::Sasl(mechanisms(&mut reader)?),
            11 => Authentication::SaslContinue(reader.rest()),
            12 => Authentication::SaslFinal(reader.rest()),
            code => {
                reader.rest();
                Authentication::Other(code)
            }
        };
        reader.end().map(|()| step)
    }

    /// Appends the frame. [`Authentication::Sasl`] is sent by [`encode_sasl`](Self::encode_sasl).
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'R', |buf| match self {
            Authentication::Ok => buf.put_u32(0),
            Authentication::Cleartext => buf.put_u32(3),
            Authentication::Md5(salt) => {
                buf.put_u32(5);
                buf.put_slice(salt);
            }
            Authentication::Sasl(Mechanisms(names)) => {
                buf.put_u32(10);
                buf.put_slice(names);
            }
            Authentication::SaslContinue(data) => {
                buf.put_u32(11);
                buf.put_slice(data);
            }
            Authentication::SaslFinal(data) => {
                buf.put_u32(12);
                buf.put_slice(data);
            }
            Authentication::Other(code) => buf.put_u32(*code),
        });
    }

    /// Appends an AuthenticationSASL frame that offers `mechanisms`.
    pub fn encode_sasl(buf: &mut BytesMut, mechanisms: &[&str]) {
        tagged(buf, b'R', |buf| {
            buf.put_u32(10);
            mechanisms.iter().for_each(|name| put_cstr(buf, name.as_bytes()));
            buf.put_u8(0);
        });
    }
}

fn mechanisms<'a>(reader: &mut Reader<'a>) -> Result<Mechanisms<'a>, Malformed> {
    let names = Reader::rest(&mut reader.clone());
    while !reader.cstr()?.is_empty() {}
    if reader.is_empty() { Ok(Mechanisms(names)) } else { reader.fail(Fault::Trailing) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(step: Authentication<'_>, expected: &[u8]) {
        let mut buf = BytesMut::new();
        step.encode(&mut buf);
        assert_eq!(&buf[..], expected);
        assert_eq!(Authentication::decode(&buf[5..]), Ok(step));
    }

    #[test]
    fn the_steps_have_these_bytes_and_come_back() {
        check(Authentication::Ok, b"R\0\0\0\x08\0\0\0\0");
        check(Authentication::Cleartext, b"R\0\0\0\x08\0\0\0\x03");
        check(Authentication::Md5(*b"salt"), b"R\0\0\0\x0c\0\0\0\x05salt");
        check(Authentication::SaslContinue(b"r=x"), b"R\0\0\0\x0b\0\0\0\x0br=x");
        check(Authentication::SaslFinal(b"v=x"), b"R\0\0\0\x0b\0\0\0\x0cv=x");
        check(Authentication::Other(7), b"R\0\0\0\x08\0\0\0\x07");
    }

    #[test]
    fn mechanisms_are_a_list_that_ends() {
        let mut buf = BytesMut::new();
        Authentication::encode_sasl(&mut buf, &["A", "B"]);
        assert_eq!(&buf[..], b"R\0\0\0\x0d\0\0\0\x0aA\0B\0\0");
        let Ok(Authentication::Sasl(names)) = Authentication::decode(&buf[5..]) else {
            panic!("no list")
        };
        assert!(names.offers("A") && names.offers("B") && !names.offers("C"));
        assert!(Authentication::decode(&buf[5..buf.len() - 1]).is_err());
        assert!(Authentication::decode(b"\0\0\0\x0aA\0\0B\0").is_err());
    }

    #[test]
    fn broken_steps_are_refused() {
        assert!(Authentication::decode(b"\0\0\0").is_err());
        assert!(Authentication::decode(b"\0\0\0\x05sal").is_err());
        assert!(Authentication::decode(b"\0\0\0\0x").is_err());
    }
}
