//! Where the ensemble is, and how to live with it.

use std::time::Duration;

use pando_kernel::runtime::TlsMode;
use pando_repository::{Error, Key, Result};

/// What a connection to an ensemble needs to know.
#[derive(Clone)]
pub struct Options {
    /// Tried in turn, beginning anywhere; at least one.
    pub servers: Vec<Server>,
    /// The node below which all keys are, such as `/pando`; made when it is not there.
    pub namespace: Key,
    /// `user:password` for the `digest` scheme. Nodes are then readable and writable by this user alone.
    pub digest: Option<String>,
    /// How long the ensemble keeps the session's keys without a sign of life. It allows from 2 to 20 of its ticks. Default 10 s.
    pub session_timeout: Duration,
    /// After which every call has ended. Default 5 s.
    pub deadline: Duration,
    /// How connections are secured. Default: not at all.
    pub tls: TlsMode,
    /// Path of a PEM file with the roots that sign the servers' certificates; the system's when there is none.
    pub authority: Option<String>,
}

/// One server's client port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Name or address.
    pub host: String,
    /// 2181 where nothing is said.
    pub port: u16,
}

impl Options {
    /// For the servers of a comma-separated list such as `zk1:2181,zk2:2181`, with the defaults for everything else.
    ///
    /// # Errors
    /// `Refused` says what is wrong with the list.
    pub fn new(servers: &str, namespace: Key) -> Result<Self> {
        Ok(Self {
            servers: servers.split(',').map(server).collect::<Result<_>>()?,
            namespace,
            digest: None,
            session_timeout: Duration::from_secs(10),
            deadline: Duration::from_secs(5),
            tls: TlsMode::Off,
            authority: None,
        })
    }
}

fn server(text: &str) -> Result<Server> {
    let refuse = || Error::Refused(format!("expected `host:port`, got `{text}`"));
    let text = text.trim();
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port has colons, too.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().map_err(|_| refuse())?)
        }
        Some(_) | None => (text, 2181),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    if host.is_empty() { Err(refuse()) } else { Ok(Server { host, port }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_a_list_of_hosts_with_ports() {
        let list = |text| {
            let options = Options::new(text, Key::parse("/pando").unwrap());
            options.map(|options| {
                options.servers.into_iter().map(|s| (s.host, s.port)).collect::<Vec<_>>()
            })
        };
        let server = |host: &str, port| (host.to_owned(), port);
        assert_eq!(list("a:1, b").unwrap(), [server("a", 1), server("b", 2181)]);
        assert_eq!(list("[::1]:5,::1").unwrap(), [server("::1", 5), server("::1", 2181)]);
        for bad in ["", "a,,b", "a:x", ":1"] {
            assert!(list(bad).is_err(), "{bad}");
        }
    }
}
