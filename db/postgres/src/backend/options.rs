//! Where a storage unit is and how to log in there.

use std::fmt;
use std::sync::Arc;

use pando_kernel::runtime::{Address, TlsMode};
use pando_kernel::{ClientTls, Identity, Lists, Place};

use super::lifted::Changes;
use crate::codec::frame::LARGE_LIMIT;

/// Whether a SCRAM login is bound to the certificate that the server has shown: whoever stands between with another certificate then fails, even where
/// certificates are not verified. Libpq's `channel_binding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Over TLS, where the server offers it.
    #[default]
    Prefer,
    /// Always: any other login is refused.
    Require,
}

/// What a server may ask of us. Libpq's `require_auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods {
    /// The password as it is, over TLS or a local socket.
    pub password: bool,
    /// The password as it is over a connection that anybody on the way can read.
    pub readable_password: bool,
    /// A hash by which who hears it can try passwords out, fast.
    pub md5: bool,
    /// SCRAM-SHA-256, bound to the channel or not.
    pub scram: bool,
    /// Nothing: it lets us in as we come, or by our certificate.
    pub nothing: bool,
}

impl Default for Methods {
    /// All but the readable password.
    fn default() -> Self {
        Methods { password: true, readable_password: false, md5: true, scram: true, nothing: true }
    }
}

/// Where a storage unit is and how to log in there.
#[derive(Clone)]
pub struct Options {
    /// The storage unit's name, for messages.
    pub unit: Arc<str>,
    /// Where the server listens.
    pub address: Address,
    /// The user.
    pub user: String,
    /// The password in plain; may be empty where the server asks for none.
    pub password: String,
    /// The database.
    pub database: String,
    /// How the connection is secured; default off.
    pub tls: TlsMode,
    /// Path of a PEM file with trusted roots, for the modes that verify.
    pub authority: Option<String>,
    /// The certificate shown to a server that asks for one.
    pub identity: Option<Identity>,
    /// Whether a SCRAM login is bound to the server's certificate; default where the server offers it.
    pub binding: ChannelBinding,
    /// What the server may ask of us.
    pub methods: Methods,
    /// Settings given at start-up, beside and before our own; what `RESET ALL` goes back to.
    pub parameters: Vec<(String, String)>,
    /// Prepared statements kept per connection, default 256; 0 prepares anew each time.
    pub statements: usize,
    /// The largest message taken from the server, bytes on the wire; default 1 GiB, as PostgreSQL.
    pub max_frame: usize,
    /// What its connections know together of the columns of results.
    pub lists: Arc<Lists>,
    /// What its connections know together of statements that were lifted.
    pub(super) changes: Arc<Changes>,
}

/// By which servers read texts: without these nothing here would be right, whatever a role's or a database's own defaults are.
const READING: [&str; 2] = ["client_encoding", "standard_conforming_strings"];
/// Settings every connection starts with, so that all units answer alike.
const DEFAULTS: [(&str, &str); 5] = [
    ("client_encoding", "UTF8"),
    ("standard_conforming_strings", "on"),
    ("DateStyle", crate::defaults::DATE_STYLE),
    ("TimeZone", crate::defaults::TIME_ZONE),
    ("application_name", "pando"),
];

impl Options {
    /// A server with everything else at its default.
    pub fn new(
        unit: impl Into<Arc<str>>,
        address: Address,
        user: impl Into<String>,
        password: impl Into<String>,
        database: impl Into<String>,
    ) -> Options {
        Options {
            unit: unit.into(),
            address,
            user: user.into(),
            password: password.into(),
            database: database.into(),
            tls: TlsMode::Off,
            authority: None,
            identity: None,
            binding: ChannelBinding::default(),
            methods: Methods::default(),
            parameters: Vec::new(),
            statements: 256,
            max_frame: LARGE_LIMIT,
            lists: Arc::default(),
            changes: Arc::default(),
        }
    }

    /// Name and value pairs of the start-up packet; a name given in `parameters` replaces ours,
    /// except for those by which texts are read.
    pub(super) fn startup(&self) -> Vec<(&str, &str)> {
        let given =
            |name: &str| self.parameters.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        let mut pairs = vec![("user", self.user.as_str()), ("database", self.database.as_str())];
        let own = DEFAULTS.iter().filter(|(name, _)| READING.contains(name) || !given(name));
        pairs.extend(own.copied());
        let more = self.parameters.iter().filter(|(name, value)| {
            let reserved = ["user", "database", "replication"];
            let mut reserved = reserved.iter().chain(&READING);
            let taken = reserved.any(|own| name.eq_ignore_ascii_case(own));
            !taken && !name.is_empty() && !name.contains('\0') && !value.contains('\0')
        });
        pairs.extend(more.map(|(name, value)| (name.as_str(), value.as_str())));
        pairs
    }

    pub(super) fn client_tls(&self) -> ClientTls {
        let (mode, authority) = (self.tls, self.authority.clone());
        ClientTls { mode, authority, identity: self.identity.clone() }
    }

    /// Where the unit's tables stand.
    pub(super) fn place(&self) -> Place {
        let server = match &self.address {
            Address::Tcp(host, port) => format!("{}:{port}", host.to_lowercase()),
            Address::Unix(path) => path.clone(),
        };
        let is_path = |name: &str| name.eq_ignore_ascii_case("search_path");
        let path = self.parameters.iter().find(|(name, _)| is_path(name));
        let schemas = path.map_or("public", |(_, path)| path.as_str()).split(',');
        let schemas = schemas.map(|schema| schema.trim().trim_matches('"').to_owned());
        Place { database: format!("{server}/{}", self.database), schemas: schemas.collect() }
    }

    /// The host name a certificate is checked against.
    pub(super) fn host(&self) -> &str {
        match &self.address {
            Address::Tcp(host, _) => host,
            Address::Unix(_) => "localhost",
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("unit", &self.unit)
            .field("address", &self.address)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_settings_replace_ours_but_never_those_by_which_texts_are_read() {
        let address = Address::Unix("/tmp/s".into());
        let mut options = Options::new("ds_0", address, "ann", "secret", "shop");
        options.parameters = vec![
            ("timezone".into(), "Europe/Berlin".into()),
            ("client_encoding".into(), "LATIN1".into()),
            ("Standard_Conforming_Strings".into(), "off".into()),
            ("user".into(), "root".into()),
        ];
        let pairs = options.startup();
        assert!(pairs.contains(&("user", "ann")) && pairs.contains(&("client_encoding", "UTF8")));
        assert!(pairs.contains(&("timezone", "Europe/Berlin")));
        let named = |name: &str| pairs.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).count();
        assert!(pairs.contains(&("standard_conforming_strings", "on")));
        assert_eq!(named("standard_conforming_strings"), 1);
        assert_eq!((named("timezone"), named("client_encoding"), named("user")), (1, 1, 1));
    }

    #[test]
    fn the_password_is_not_printed() {
        let options = Options::new("ds_0", Address::Unix("/tmp/s".into()), "ann", "secret", "shop");
        assert!(!format!("{options:?}").contains("secret"));
    }
}
