//! Where the cluster is, and how to live with it.

use std::time::Duration;

use pando_kernel::runtime::TlsMode;
use pando_repository::{Error, Key, Result};

/// What a connection to a cluster needs to know.
#[derive(Clone)]
pub struct Options {
    /// The members' client addresses; the next one is tried when one fails. At least one.
    pub endpoints: Vec<Endpoint>,
    /// What stands before every key, such as `/pando`.
    pub namespace: Key,
    /// For a cluster with authentication.
    pub credentials: Option<Credentials>,
    /// How long the cluster keeps the session's keys without a sign of life; whole seconds, at least one. Default 10 s.
    pub session_timeout: Duration,
    /// After which every call has ended. Default 5 s.
    pub deadline: Duration,
    /// Path of a PEM file with the roots that sign the certificates of `https` endpoints; the system's when there is none.
    pub authority: Option<String>,
}

/// A user of the cluster.
#[derive(Clone)]
pub struct Credentials {
    /// Its name.
    pub user: String,
    /// Its password, sent to the member at the start and whenever the token has run out.
    pub password: String,
}

/// One member's client address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address.
    pub host: String,
    /// 2379 where nothing is said.
    pub port: u16,
    /// Off for `http`; for `https` the certificate and the name in it are checked.
    pub tls: TlsMode,
}

impl Options {
    /// For the endpoints of a comma-separated list such as `http://etcd1:2379,https://etcd2:2379`, with the defaults for everything
    /// else. Without a scheme it is `http`.
    ///
    /// # Errors
    /// `Refused` says what is wrong with the list.
    pub fn new(endpoints: &str, namespace: Key) -> Result<Self> {
        Ok(Self {
            endpoints: endpoints.split(',').map(endpoint).collect::<Result<_>>()?,
            namespace,
            credentials: None,
            session_timeout: Duration::from_secs(10),
            deadline: Duration::from_secs(5),
            authority: None,
        })
    }
}

fn endpoint(text: &str) -> Result<Endpoint> {
    let refuse = || Error::Refused(format!("expected `http://host:port`, got `{text}`"));
    let text = text.trim().trim_end_matches('/');
    let (tls, rest) = match text.split_once("://") {
        None => (TlsMode::Off, text),
        Some(("http", rest)) => (TlsMode::Off, rest),
        Some(("https", rest)) => (TlsMode::VerifyFull, rest),
        Some(_) => return Err(refuse()),
    };
    let (host, port) = match rest.rsplit_once(':') {
        // An IPv6 address without a port has colons, too.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().map_err(|_| refuse())?)
        }
        Some(_) | None => (rest, 2379),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_odd =
        |c: char| c.is_control() || c.is_whitespace() || matches!(c, '/' | '@' | '?' | '#');
    if host.is_empty() || host.contains(is_odd) {
        Err(refuse())
    } else {
        Ok(Endpoint { host, port, tls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_a_list_of_addresses() {
        let list = |text| {
            let options = Options::new(text, Key::parse("/pando").unwrap())?;
            Ok::<_, Error>(
                options.endpoints.into_iter().map(|e| (e.host, e.port, e.tls)).collect::<Vec<_>>(),
            )
        };
        let plain = |host: &str, port| (host.to_owned(), port, TlsMode::Off);
        assert_eq!(list("http://a:1, b").unwrap(), [plain("a", 1), plain("b", 2379)]);
        assert_eq!(list("http://[::1]:5/").unwrap(), [plain("::1", 5)]);
        assert_eq!(list("https://a").unwrap(), [("a".to_owned(), 2379, TlsMode::VerifyFull)]);
        for bad in ["", "a,,b", "ftp://a", "http://a:x", "http://:1", "http://a/b"] {
            assert!(list(bad).is_err(), "{bad}");
        }
    }
}
