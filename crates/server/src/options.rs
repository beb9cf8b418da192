//! What a server is started with, beside its configuration.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pando_config::global::{Properties, Protocol};
use pando_kernel::{Modules, NoModules};

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// What it begins with.
    pub config: Source,
    /// Who is met at the doors.
    pub clients: Clients,
    /// Where relative paths of embedded storage units start.
    pub data: PathBuf,
    /// Folder where the configuration is kept, so that statements can change it; `None` leaves it to the files. A cluster has its repository.
    pub store: Option<PathBuf>,
    /// Folder below which IMPORT, EXPORT and CONVERT read and write files; `None` lets statements have none.
    pub files: Option<PathBuf>,
    /// Where algorithms of type `CLASS_BASED` are; by default nowhere.
    pub modules: Arc<dyn Modules>,
    /// Where MySQL clients are met.
    pub mysql: Listen,
    /// Where PostgreSQL clients are met.
    pub postgres: Listen,
    /// PEM files with the certificate chain and its key; with them clients may use TLS, without them they cannot.
    pub tls: Option<Certificate>,
    /// How long running statements may go on after the server was told to stop; zero cuts them off at once.
    pub drain: Duration,
}

/// Where a configuration is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Source {
    /// Nowhere: databases are made by statements, or stand in a store or a repository.
    #[default]
    Nothing,
    /// In a folder of files, or in one file of the JDBC driver's form.
    Path(PathBuf),
    /// In a text of the JDBC driver's form.
    Text {
        /// What problems call it.
        name: String,
        /// Its YAML.
        text: String,
    },
}

/// Who the clients are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clients {
    /// Whoever reaches the doors: users log in.
    #[default]
    Strangers,
    /// This process itself, which has the configuration and its passwords anyway: whatever user it names is let in, and may see and change everything.
    OwnProcess,
}

impl From<Option<PathBuf>> for Source {
    fn from(path: Option<PathBuf>) -> Self {
        path.map_or(Self::Nothing, Self::Path)
    }
}

impl Source {
    /// The folder or file it is in.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Path(path) => Some(path),
            Self::Nothing | Self::Text { .. } => None,
        }
    }
}

/// PEM files of the certificate shown to clients, and of who signs theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The chain, the server's own certificate first.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Authorities that sign certificates of clients; `None` asks clients for none.
    pub clients: Option<PathBuf>,
}

/// Whether and where a door listens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Listen {
    /// As the configuration says: MySQL on 127.0.0.1 and `proxy-default-port`, PostgreSQL on 127.0.0.1:5433. When
    /// `proxy-frontend-database-protocol-type` names one of them, that one gets `proxy-default-port` and the other stays closed.
    #[default]
    Default,
    /// Not at all.
    Off,
    /// On `host:port`; port 0 takes any free one.
    At(String),
}

/// Where the doors really listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Addresses {
    /// For MySQL clients; `None` when closed.
    pub mysql: Option<SocketAddr>,
    /// For PostgreSQL clients; `None` when closed.
    pub postgres: Option<SocketAddr>,
}

/// As `mysql=127.0.0.1:3307 postgres=off`.
impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |address: Option<SocketAddr>| {
            address.map_or_else(|| "off".to_owned(), |address| address.to_string())
        };
        write!(f, "mysql={} postgres={}", text(self.mysql), text(self.postgres))
    }
}

/// PostgreSQL's own port plus one, so that a server on the same machine does not stand in the way.
const POSTGRES_PORT: u16 = 5433;

impl Options {
    /// Files with the doors they ask for, without TLS, data in the current folder, 30 seconds to drain.
    pub fn new(config: impl Into<PathBuf>) -> Self {
        Self { config: Source::Path(config.into()), ..Self::default() }
    }
}

impl Default for Options {
    /// No configuration at all, and no place to keep one.
    fn default() -> Self {
        Self {
            config: Source::Nothing,
            clients: Clients::Strangers,
            data: PathBuf::new(),
            store: None,
            files: None,
            modules: Arc::new(NoModules),
            mysql: Listen::Default,
            postgres: Listen::Default,
            tls: None,
            drain: Duration::from_secs(30),
        }
    }
}

impl Listen {
    /// The address to bind for this protocol's door; `None` keeps it closed. Nobody is let in from other machines unless asked for.
    pub(crate) fn address(&self, door: Protocol, props: &Properties) -> Option<String> {
        let own = match (self, props.frontend_protocol.as_ref().map(|named| named.value)) {
            (Self::Off, _) => return None,
            (Self::At(address), _) => return Some(address.clone()),
            (Self::Default, Some(named)) if named == door => props.default_port,
            (Self::Default, Some(_)) => return None,
            (Self::Default, None) => match door {
                Protocol::MySql => props.default_port,
                Protocol::Postgres => POSTGRES_PORT,
            },
        };
        Some(format!("127.0.0.1:{own}"))
    }
}

#[cfg(test)]
mod tests {
    use pando_config::Placed;

    use super::*;

    fn check(listen: Listen, door: Protocol, named: Option<Protocol>, expected: Option<&str>) {
        let frontend_protocol = named.map(Placed::nowhere);
        let props = Properties { frontend_protocol, ..Properties::default() };
        assert_eq!(listen.address(door, &props).as_deref(), expected);
    }

    #[test]
    fn both_doors_open_unless_the_configuration_names_one() {
        use Protocol::{MySql, Postgres};
        check(Listen::Default, MySql, None, Some("127.0.0.1:3307"));
        check(Listen::Default, Postgres, None, Some("127.0.0.1:5433"));
        check(Listen::Default, Postgres, Some(Postgres), Some("127.0.0.1:3307"));
        check(Listen::Default, MySql, Some(Postgres), None);
        check(Listen::At("[::]:0".into()), MySql, Some(Postgres), Some("[::]:0"));
        check(Listen::Off, MySql, None, None);
    }
}
