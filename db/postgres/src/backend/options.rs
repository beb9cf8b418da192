//! Where a storage unit is and how to log in there.

use std::fmt;
use std::sync::Arc;

use pando_kernel::runtime::{Address, TlsMode};
use pando_kernel::{Lists, Place};

use super::lifted::Changes;
use crate::codec::frame::LARGE_LIMIT;

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

/// Settings every connection starts with, so that all units answer alike.
const DEFAULTS: [(&str, &str); 4] = [
    ("client_encoding", "UTF8"),
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
            parameters: Vec::new(),
            statements: 256,
            max_frame: LARGE_LIMIT,
            lists: Arc::default(),
            changes: Arc::default(),
        }
    }

    /// Name and value pairs of the start-up packet; a name given in `parameters` replaces ours,
    /// except for the encoding, without which nothing here would be right.
    pub(super) fn startup(&self) -> Vec<(&str, &str)> {
        let given =
            |name: &str| self.parameters.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        let mut pairs = vec![("user", self.user.as_str()), ("database", self.database.as_str())];
        let own = DEFAULTS.iter().filter(|(name, _)| *name == "client_encoding" || !given(name));
        pairs.extend(own.copied());
        let more = self.parameters.iter().filter(|(name, value)| {
            let reserved = ["client_encoding", "user", "database", "replication"];
            let taken = reserved.iter().any(|own| name.eq_ignore_ascii_case(own));
            !taken && !name.is_empty() && !name.contains('\0') && !value.contains('\0')
        });
        pairs.extend(more.map(|(name, value)| (name.as_str(), value.as_str())));
        pairs
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
    fn given_settings_replace_ours_but_never_the_encoding() {
        let address = Address::Unix("/tmp/s".into());
        let mut options = Options::new("ds_0", address, "ann", "secret", "shop");
        options.parameters = vec![
            ("timezone".into(), "Europe/Berlin".into()),
            ("client_encoding".into(), "LATIN1".into()),
            ("user".into(), "root".into()),
        ];
        let pairs = options.startup();
        assert!(pairs.contains(&("user", "ann")) && pairs.contains(&("client_encoding", "UTF8")));
        assert!(pairs.contains(&("timezone", "Europe/Berlin")));
        let named = |name: &str| pairs.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).count();
        assert_eq!((named("timezone"), named("client_encoding"), named("user")), (1, 1, 1));
    }

    #[test]
    fn the_password_is_not_printed() {
        let options = Options::new("ds_0", Address::Unix("/tmp/s".into()), "ann", "secret", "shop");
        assert!(!format!("{options:?}").contains("secret"));
    }
}
