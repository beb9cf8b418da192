//! The client's login and its request for TLS.

use bytes::{BufMut, BytesMut};

use super::capabilities::Capabilities;
use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::writer::{put_lenenc_bytes, put_lenenc_int, put_nul};

/// Bytes of the part that the TLS request and the login share.
const COMMON_LEN: usize = 32;

/// SSL request: the first part of a login, after which TLS starts.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_ssl_request.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SslRequest {
    /// What the client wants and can do.
    pub capabilities: Capabilities,
    /// The largest packet the client takes, in bytes.
    pub max_packet: u32,
    /// Collation, low byte.
    pub charset: u8,
}

impl SslRequest {
    /// True when a first packet of the client asks for TLS.
    pub fn is_one(payload: &[u8]) -> bool {
        payload.len() == COMMON_LEN
            && payload.first_chunk::<4>().is_some_and(|flags| {
                Capabilities::from_halves(u32::from_le_bytes(*flags), 0).has(Capabilities::SSL)
            })
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let common = reader.u32("capabilities")?;
        let mut capabilities = Capabilities::from_halves(common, 0);
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(reader.fault("capabilities", Fault::Value(u64::from(common))));
        }
        let max_packet = reader.u32("maximum packet")?;
        let charset = reader.u8("character set")?;
        reader.bytes("filler", 19)?;
        let extended = reader.u32("MariaDB's capabilities")?;
        if !capabilities.has(Capabilities::LONG_PASSWORD) {
            capabilities = Capabilities::from_halves(common, extended);
        }
        Ok(Self { capabilities, max_packet, charset })
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// `Malformed`; a client of the protocol before 4.1 is refused.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        Self::read(&mut Reader::new("TLS request", payload))
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u32_le(self.capabilities.common());
        out.put_u32_le(self.max_packet);
        out.put_u8(self.charset);
        out.put_slice(&[0; 19]);
        out.put_u32_le(self.capabilities.extended());
    }
}

/// Handshake response 41: the client's login.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_response.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// Capabilities, packet size and character set.
    pub head: SslRequest,
    /// User name.
    pub user: &'a [u8],
    /// The plugin's first answer.
    pub auth: &'a [u8],
    /// The database to use; empty for none.
    pub database: &'a [u8],
    /// The plugin that made the answer; empty when not named.
    pub plugin: &'a [u8],
    /// The block of connect attributes; empty when none.
    pub attributes: &'a [u8],
}

impl<'a> HandshakeResponse<'a> {
    /// Reads a payload.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("handshake response", payload);
        let head = SslRequest::read(&mut reader)?;
        let capabilities = head.capabilities;
        let user = reader.nul_bytes("user name")?;
        let auth = if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
            reader.lenenc_bytes("authentication answer")?
        } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let len = reader.u8("length of the authentication answer")?;
            reader.bytes("authentication answer", usize::from(len))?
        } else {
            reader.nul_bytes("authentication answer")?
        };
        let mut response = Self { head, user, auth, database: &[], plugin: &[], attributes: &[] };
        if capabilities.has(Capabilities::CONNECT_WITH_DB) && !reader.is_empty() {
            response.database = reader.nul_bytes("database")?;
        }
        if capabilities.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty() {
            response.plugin = reader.nul_bytes("plugin name")?;
        }
        if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            response.attributes = reader.lenenc_bytes("connect attributes")?;
            check_attributes(response.attributes)?;
        }
        Ok(response)
    }

    /// The connect attributes as pairs of name and value, in order.
    pub fn attribute_pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut reader = Reader::new("connect attributes", self.attributes);
        std::iter::from_fn(move || {
            let name = reader.lenenc_bytes("name").ok()?;
            Some((name, reader.lenenc_bytes("value").ok()?))
        })
    }

    /// Appends the payload, each part as the capabilities in `head` say. An answer over 255 bytes needs
    /// `PLUGIN_AUTH_LENENC` in them.
    pub fn encode(&self, out: &mut BytesMut) {
        let capabilities = self.head.capabilities;
        self.head.encode(out);
        put_nul(out, self.user);
        if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
            put_lenenc_bytes(out, self.auth);
        } else {
            out.put_u8(self.auth.len() as u8);
            out.put_slice(self.auth);
        }
        if capabilities.has(Capabilities::CONNECT_WITH_DB) {
            put_nul(out, self.database);
        }
        if capabilities.has(Capabilities::PLUGIN_AUTH) {
            put_nul(out, self.plugin);
        }
        if capabilities.has(Capabilities::CONNECT_ATTRS) {
            put_lenenc_int(out, self.attributes.len() as u64);
            out.put_slice(self.attributes);
        }
    }
}

fn check_attributes(block: &[u8]) -> Result<(), Malformed> {
    let mut reader = Reader::new("connect attributes", block);
    while !reader.is_empty() {
        reader.lenenc_bytes("name")?;
        reader.lenenc_bytes("value")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Capabilities = Capabilities(
        Capabilities::PROTOCOL_41.0
            | Capabilities::SECURE_CONNECTION.0
            | Capabilities::PLUGIN_AUTH.0
            | Capabilities::PLUGIN_AUTH_LENENC.0
            | Capabilities::CONNECT_WITH_DB.0
            | Capabilities::CONNECT_ATTRS.0,
    );

    fn sample(capabilities: Capabilities) -> HandshakeResponse<'static> {
        HandshakeResponse {
            head: SslRequest { capabilities, max_packet: 1 << 24, charset: 45 },
            user: b"app",
            auth: &[7; 20],
            database: b"shop",
            plugin: b"mysql_native_password",
            attributes: b"\x04_pid\x01\x37\x03_os\x05Linux",
        }
    }

    #[test]
    fn a_login_comes_back_and_every_cut_inside_a_part_is_refused() {
        let login = sample(ALL);
        let mut out = BytesMut::new();
        login.encode(&mut out);
        assert_eq!(HandshakeResponse::decode(&out).unwrap(), login);
        let pairs: Vec<_> = login.attribute_pairs().collect();
        assert_eq!(pairs, [(&b"_pid"[..], &b"7"[..]), (b"_os", b"Linux")]);
        // A login may end after the answer, the database or the plugin name: clients leave out what they lack.
        let after_auth = 32 + 4 + 21;
        let complete = [after_auth, after_auth + 5, after_auth + 5 + 22];
        for cut in 0..out.len() {
            let read = HandshakeResponse::decode(&out[..cut]);
            assert_eq!(read.is_ok(), complete.contains(&cut), "cut at {cut}");
        }
    }

    #[test]
    fn a_short_answer_without_plugins_is_read() {
        let capabilities = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION;
        let mut out = BytesMut::new();
        sample(capabilities).encode(&mut out);
        let read = HandshakeResponse::decode(&out).unwrap();
        assert_eq!((read.auth, read.database), (&[7; 20][..], &b""[..]));
    }

    #[test]
    fn capabilities_of_mariadb_are_read_only_of_a_client_that_knows_them() {
        let extended = ALL | Capabilities::EXTENDED_METADATA;
        for (sent, expected) in [
            (extended, extended),
            (extended | Capabilities::LONG_PASSWORD, ALL | Capabilities::LONG_PASSWORD),
        ] {
            let mut out = BytesMut::new();
            sample(sent).encode(&mut out);
            assert_eq!(HandshakeResponse::decode(&out).unwrap(), sample(expected));
            // What stands in their place means nothing where the client is MySQL's.
            out[28..32].fill(0xFF);
            let own = HandshakeResponse::decode(&out).unwrap().head.capabilities;
            let is_own = !sent.has(Capabilities::LONG_PASSWORD);
            assert_eq!(own == expected, !is_own);
        }
    }

    #[test]
    fn lying_lengths_of_answer_and_attributes_are_refused() {
        let mut out = BytesMut::new();
        SslRequest { capabilities: ALL, max_packet: 0, charset: 33 }.encode(&mut out);
        let mut lying_auth = out.clone();
        lying_auth.extend_from_slice(b"u\0\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFabc");
        assert!(HandshakeResponse::decode(&lying_auth).is_err());
        let mut lying_attributes = out.clone();
        lying_attributes.extend_from_slice(b"u\0\x00db\0plugin\0\xFD\xFF\xFF\xFFabc");
        assert!(HandshakeResponse::decode(&lying_attributes).is_err());
        out.extend_from_slice(b"u\0\x00db\0plugin\0\x03\x09ab");
        assert!(HandshakeResponse::decode(&out).is_err());
    }

    #[test]
    fn a_client_before_4_1_is_refused() {
        assert!(HandshakeResponse::decode(&[0x85, 0xA2, 0, 0, 0, b'u', 0]).is_err());
        assert!(HandshakeResponse::decode(&[0; 40]).is_err());
    }

    #[test]
    fn a_tls_request_is_told_from_a_login() {
        let capabilities = ALL | Capabilities::SSL;
        let mut out = BytesMut::new();
        SslRequest { capabilities, max_packet: 0, charset: 33 }.encode(&mut out);
        assert!(SslRequest::is_one(&out));
        assert_eq!(SslRequest::decode(&out).unwrap().capabilities, capabilities);
        let mut login = BytesMut::new();
        sample(capabilities).encode(&mut login);
        assert!(!SslRequest::is_one(&login));
        assert!(!SslRequest::is_one(&[]));
    }
}
