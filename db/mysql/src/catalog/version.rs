//! The version that clients are told.

use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_sql::Release;

/// What MariaDB puts in front so that old replicas take it for a MySQL.
/// <https://mariadb.com/kb/en/connection/#initial-handshake-packet>
pub(crate) const REPLICAS: &str = "5.5.5-";

/// The least of these servers, and that Pando answers. `None` for none, and for MySQL and MariaDB at once, which nobody could treat alike.
pub(super) fn told(servers: &[Arc<str>]) -> Option<String> {
    let mut known = servers.iter().map(|server| Server::read(server));
    let first = known.next()??;
    let least = known.try_fold(first, |least, server| {
        let server = server.filter(|server| server.is_mariadb == least.is_mariadb)?;
        Some(if server.number < least.number { server } else { least })
    })?;
    let number: Vec<String> = least.number.iter().map(u32::to_string).collect();
    let product = if least.is_mariadb { "-MariaDB" } else { "" };
    Some(format!("{}{product}-Pando-{}", number.join("."), env!("CARGO_PKG_VERSION")))
}

/// Whether the servers of a session are known to be MariaDB's.
pub(super) fn is_mariadb(facts: &Facts) -> bool {
    facts.version.as_deref().is_some_and(|told| told.contains("-MariaDB-"))
}

/// What this server goes by when it meets `/*!80000 … */`.
pub(super) fn release(server: &str) -> Option<Release> {
    let Server { is_mariadb, number } = Server::read(server)?;
    let [major, minor, patch, ..] = number[..] else { return None };
    let fits = major < 100 && minor < 100 && patch < 100;
    fits.then_some(Release { version: major * 10_000 + minor * 100 + patch, is_fork: is_mariadb })
}

struct Server {
    is_mariadb: bool,
    number: Vec<u32>,
}

impl Server {
    /// `8.0.31`, `5.5.5-10.11.14-MariaDB-log`.
    fn read(text: &str) -> Option<Self> {
        let is_mariadb = text.contains("MariaDB");
        let own = text.strip_prefix(REPLICAS).filter(|_| is_mariadb).unwrap_or(text);
        let end = own.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(own.len());
        let number: Result<Vec<u32>, _> = own.get(..end)?.split('.').map(str::parse).collect();
        Some(Self { is_mariadb, number: number.ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_told_by_its_version() {
        let cases = [
            ("8.0.31", Some((80_031, false))),
            ("5.7.44-log", Some((50_744, false))),
            ("5.5.5-10.11.19-MariaDB-0+deb12u1", Some((101_119, true))),
            ("11.4.2-MariaDB", Some((110_402, true))),
            ("8.0", None),
            ("of another kind", None),
        ];
        for (server, expected) in cases {
            let found = release(server).map(|release| (release.version, release.is_fork));
            assert_eq!(found, expected, "{server}");
        }
    }

    #[test]
    fn the_least_of_one_product_is_told() {
        let cases: [(&[&str], Option<&str>); 8] = [
            (&["8.0.31"], Some("8.0.31-Pando-")),
            (&["8.4.2-log", "8.0.36", "9.1.0"], Some("8.0.36-Pando-")),
            (&["5.5.5-10.11.14-MariaDB-0+deb12u2"], Some("10.11.14-MariaDB-Pando-")),
            (&["11.4.2-MariaDB", "10.11.6-MariaDB"], Some("10.11.6-MariaDB-Pando-")),
            (&["8.0.31", "10.11.6-MariaDB"], None),
            (&["of another kind"], None),
            (&[], None),
            (&["8.0.31", ""], None),
        ];
        for (servers, expected) in cases {
            let servers: Vec<Arc<str>> = servers.iter().map(|server| (*server).into()).collect();
            let told = told(&servers);
            let own = told.as_deref().and_then(|told| told.strip_suffix(env!("CARGO_PKG_VERSION")));
            assert_eq!(own, expected, "{servers:?}");
        }
    }
}
