//! COM_CHANGE_USER: a new login on a living connection.

use super::capabilities::Capabilities;
use super::malformed::Malformed;
use super::reader::Reader;

/// COM_CHANGE_USER, as a server reads it.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_change_user.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// User name.
    pub user: &'a [u8],
    /// The plugin's answer to the scramble of the connection's first handshake.
    pub auth: &'a [u8],
    /// The database to use; empty for none.
    pub database: &'a [u8],
    /// Collation number; 0 when left out.
    pub charset: u16,
    /// The plugin that made the answer; empty when not named.
    pub plugin: &'a [u8],
}

impl<'a> ChangeUser<'a> {
    /// Reads a payload after its command byte.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(body: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new("change user", body);
        let user = reader.nul_bytes("user name")?;
        let auth = if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let len = reader.u8("length of the authentication answer")?;
            reader.bytes("authentication answer", usize::from(len))?
        } else {
            reader.nul_bytes("authentication answer")?
        };
        let database = reader.nul_bytes("database")?;
        let charset = if reader.is_empty() { 0 } else { reader.u16("character set")? };
        let named = capabilities.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty();
        let plugin = if named { reader.nul_bytes("plugin name")? } else { &[] };
        if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            reader.lenenc_bytes("connect attributes")?;
        }
        Ok(Self { user, auth, database, charset, plugin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read_and_cuts_inside_a_part_are_refused() {
        let body = b"app\0\x02xyshop\0\x2D\0native\0\x04\x01a\x01b";
        let capabilities = Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH
            | Capabilities::CONNECT_ATTRS;
        let read = ChangeUser::decode(body, capabilities).unwrap();
        assert_eq!((read.user, read.auth), (&b"app"[..], &b"xy"[..]));
        assert_eq!((read.database, read.charset), (&b"shop"[..], 45));
        assert_eq!(read.plugin, b"native");
        let complete = [12, 14, 21];
        for cut in 0..body.len() {
            let read = ChangeUser::decode(&body[..cut], capabilities);
            assert_eq!(read.is_ok(), complete.contains(&cut), "cut at {cut}");
        }
    }
}
