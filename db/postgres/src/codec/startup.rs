//! The first packet of a connection, which has no tag byte.

use bytes::{BufMut, BytesMut};

use super::{Fault, Malformed, Reader, body, put_cstr};

/// Protocol 3.0, the only version spoken here.
pub const PROTOCOL: u32 = 3 << 16;
const CANCEL: u32 = (1234 << 16) | 5678;
const SSL: u32 = (1234 << 16) | 5679;
const GSSENC: u32 = (1234 << 16) | 5680;
/// The longest secret key of protocol 3.2, bytes.
const KEY_LIMIT: usize = 256;

/// What a client may open a connection with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening<'a> {
    /// A login.
    Startup(Startup<'a>),
    /// A wish for TLS, answered with `S` or `N`.
    Ssl,
    /// A wish for GSSAPI encryption, answered with `N`.
    GssEnc,
    /// A wish to stop what another connection is doing.
    Cancel(Cancel<'a>),
}

/// StartupMessage.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Startup<'a> {
    /// The version asked for: major in the upper half, minor in the lower.
    pub protocol: u32,
    /// Name and value pairs in the order sent; `user` is required by the protocol.
    pub parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Startup<'a> {
    /// The major version asked for.
    pub fn major(&self) -> u32 {
        self.protocol >> 16
    }

    /// The minor version asked for.
    pub fn minor(&self) -> u32 {
        self.protocol & 0xffff
    }

    /// The last value sent for `name`.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }
}

/// CancelRequest.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-CANCELREQUEST>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancel<'a> {
    /// The process id of BackendKeyData.
    pub process: u32,
    /// The secret key of BackendKeyData; 4 bytes in protocol 3.0.
    pub key: &'a [u8],
}

/// Decodes the whole first packet, its length field included.
///
/// # Errors
/// A packet that breaks the protocol. A version that is not spoken here is no such error.
pub fn decode(packet: &[u8]) -> Result<Opening<'_>, Malformed> {
    let mut reader = Reader::new("StartupMessage", packet);
    reader.u32()?;
    match reader.u32()? {
        SSL => reader.end().map(|()| Opening::Ssl),
        GSSENC => reader.end().map(|()| Opening::GssEnc),
        CANCEL => cancel(&packet[8..]).map(Opening::Cancel),
        protocol if protocol >> 16 == 3 => parameters(protocol, reader).map(Opening::Startup),
        // Other majors may have any layout, so nothing more is read.
        protocol => Ok(Opening::Startup(Startup { protocol, parameters: Vec::new() })),
    }
}

fn cancel(bytes: &[u8]) -> Result<Cancel<'_>, Malformed> {
    let mut reader = Reader::new("CancelRequest", bytes);
    let process = reader.u32()?;
    match reader.rest() {
        key if key.len() < 4 => reader.fail(Fault::Truncated),
        key if key.len() > KEY_LIMIT => reader.fail(Fault::TooLong),
        key => Ok(Cancel { process, key }),
    }
}

fn parameters(protocol: u32, mut reader: Reader<'_>) -> Result<Startup<'_>, Malformed> {
    let mut parameters = Vec::new();
    loop {
        match reader.text()? {
            "" => break,
            name => parameters.push((name, reader.text()?)),
        }
    }
    reader.end()?;
    Ok(Startup { protocol, parameters })
}

/// Appends a StartupMessage of protocol 3.0.
pub fn encode(buf: &mut BytesMut, parameters: &[(&str, &str)]) {
    body(buf, |buf| {
        buf.put_u32(PROTOCOL);
        for (name, value) in parameters {
            put_cstr(buf, name.as_bytes());
            put_cstr(buf, value.as_bytes());
        }
        buf.put_u8(0);
    });
}

/// Appends an SSLRequest.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-SSLREQUEST>
pub fn encode_ssl(buf: &mut BytesMut) {
    body(buf, |buf| buf.put_u32(SSL));
}

/// Appends a GSSENCRequest.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-GSSENCREQUEST>
pub fn encode_gssenc(buf: &mut BytesMut) {
    body(buf, |buf| buf.put_u32(GSSENC));
}

/// Appends a CancelRequest.
pub fn encode_cancel(buf: &mut BytesMut, cancel: Cancel<'_>) {
    body(buf, |buf| {
        buf.put_u32(CANCEL);
        buf.put_u32(cancel.process);
        buf.put_slice(cancel.key);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn startup() -> BytesMut {
        let mut buf = BytesMut::new();
        encode(&mut buf, &[("user", "ann"), ("database", "shop")]);
        buf
    }

    #[test]
    fn a_login_has_these_bytes() {
        assert_eq!(&startup()[..], b"\0\0\0\x20\0\x03\0\0user\0ann\0database\0shop\0\0");
    }

    #[test]
    fn a_login_comes_back_as_it_was_sent() {
        let packet = startup();
        let Opening::Startup(startup) = decode(&packet).unwrap() else { panic!("no startup") };
        assert_eq!((startup.major(), startup.minor()), (3, 0));
        assert_eq!(startup.get("database"), Some("shop"));
        assert_eq!(startup.get("options"), None);
    }

    #[test]
    fn every_truncation_of_a_login_is_refused() {
        let packet = startup();
        for len in 0..packet.len() {
            assert!(decode(&packet[..len]).is_err(), "{len} bytes were taken for a login");
        }
    }

    #[test]
    fn the_last_of_two_equal_names_counts() {
        let mut buf = BytesMut::new();
        encode(&mut buf, &[("user", "ann"), ("user", "bob")]);
        let Opening::Startup(startup) = decode(&buf).unwrap() else { panic!("no startup") };
        assert_eq!(startup.get("user"), Some("bob"));
    }

    #[test]
    fn bytes_after_the_end_are_refused() {
        let mut packet = startup();
        packet.put_u8(7);
        assert_eq!(decode(&packet).map_err(|e| e.fault), Err(Fault::Trailing));
        assert!(decode(b"\0\0\0\x09\x04\xd2\x16\x2f\0").is_err());
    }

    #[test]
    fn requests_without_login_have_their_own_codes() {
        let mut buf = BytesMut::new();
        encode_ssl(&mut buf);
        assert_eq!(&buf[..], b"\0\0\0\x08\x04\xd2\x16\x2f");
        assert_eq!(decode(&buf), Ok(Opening::Ssl));
        buf.clear();
        encode_gssenc(&mut buf);
        assert_eq!(&buf[..], b"\0\0\0\x08\x04\xd2\x16\x30");
        assert_eq!(decode(&buf), Ok(Opening::GssEnc));
        buf.clear();
        let cancel = Cancel { process: 7, key: b"abcd" };
        encode_cancel(&mut buf, cancel);
        assert_eq!(&buf[..], b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x07abcd");
        assert_eq!(decode(&buf), Ok(Opening::Cancel(cancel)));
        for len in 0..buf.len() {
            assert!(decode(&buf[..len]).is_err());
        }
    }

    #[test]
    fn an_endless_cancel_key_is_refused() {
        let mut buf = BytesMut::new();
        encode_cancel(&mut buf, Cancel { process: 7, key: &[1; 257] });
        assert_eq!(decode(&buf).map_err(|e| e.fault), Err(Fault::TooLong));
    }

    #[test]
    fn another_major_version_is_told_apart() {
        let Opening::Startup(startup) = decode(b"\0\0\0\x08\0\x02\0\0").unwrap() else {
            panic!("no startup")
        };
        assert_eq!(startup.major(), 2);
    }
}
