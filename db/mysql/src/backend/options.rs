//! Where a storage unit is and how to log in there.

use std::sync::Arc;

use pando_kernel::runtime::{Address, TlsMode};
use pando_kernel::{Error, Identity, Lists};

use super::unavailable;
use crate::auth::{ClientLogin, PasswordKey, Privacy};

/// Where a storage unit is and how to log in.
#[derive(Clone)]
pub struct Options {
    /// The storage unit's name, for messages.
    pub unit: Arc<str>,
    /// Where its server listens.
    pub address: Address,
    /// Whether and how the connection is secured.
    pub tls: TlsMode,
    /// Path of a PEM file with the authorities to trust.
    pub authority: Option<String>,
    /// The certificate shown to a server that asks for one.
    pub identity: Option<Identity>,
    /// Where a key comes from that a password is encrypted with without TLS.
    pub key: KeySource,
    /// User name.
    pub user: String,
    /// Password; empty for none.
    pub password: String,
    /// The database every connection uses; empty for none.
    pub database: String,
    /// What the affected count of an UPDATE means.
    pub count: Count,
    /// Prepared statements kept open per connection; the least recently used one is closed beyond that.
    pub statements: usize,
    /// Largest packet taken from the server, in bytes. A larger row costs the connection.
    pub max_packet: usize,
    /// What its connections know together of the columns of results.
    pub lists: Arc<Lists>,
}

/// Where a key comes from that a password is encrypted with without TLS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeySource {
    /// From whoever answers.
    #[default]
    Server,
    /// From nowhere: a password that is wanted whole goes over TLS only.
    Nowhere,
    /// From this PEM file.
    File(String),
}

/// What the affected count of an UPDATE means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Count {
    /// Rows that really changed.
    #[default]
    Changed,
    /// Rows the condition matched.
    Found,
}

impl Options {
    /// A server at `address`, without TLS, user, password or database, and with the usual bounds.
    pub fn new(unit: &str, address: Address) -> Self {
        Self {
            unit: unit.into(),
            address,
            tls: TlsMode::Off,
            authority: None,
            identity: None,
            key: KeySource::default(),
            user: String::new(),
            password: String::new(),
            database: String::new(),
            count: Count::Changed,
            statements: 100,
            max_packet: 64 << 20,
            lists: Arc::default(),
        }
    }

    pub(super) fn login(&self, privacy: Privacy) -> ClientLogin {
        let key = match &self.key {
            KeySource::Server => PasswordKey::Asked,
            KeySource::Nowhere => PasswordKey::Refused(
                "the server asks for the password by a key of its own on a connection without TLS, and \
                 `allowPublicKeyRetrieval` is `false`"
                    .to_owned(),
            ),
            KeySource::File(path) => match std::fs::read(path) {
                Ok(pem) => PasswordKey::Known(pem),
                Err(error) => PasswordKey::Refused(format!("`serverRSAPublicKeyFile`: `{path}`: {error}")),
            },
        };
        ClientLogin::new(self.password.clone(), privacy).with_key(key)
    }

    pub(super) fn unavailable(&self, message: impl ToString) -> Error {
        unavailable(&self.unit, message)
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("unit", &self.unit)
            .field("address", &self.address)
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}
