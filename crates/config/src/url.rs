//! Where a storage unit is: JDBC URLs of the vendors we reach, and the parameters in them we understand.

use std::fmt;

/// The family a URL names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// `jdbc:mysql:`
    MySql,
    /// `jdbc:mariadb:`
    MariaDb,
    /// `jdbc:postgresql:`
    Postgres,
    /// `jdbc:opengauss:`
    OpenGauss,
    /// `jdbc:sqlite:`
    Sqlite,
}

impl Vendor {
    /// The port a server of this vendor listens on if none is given; 0 for a file.
    pub fn default_port(self) -> u16 {
        match self {
            Self::MySql | Self::MariaDb => 3306,
            Self::Postgres | Self::OpenGauss => 5432,
            Self::Sqlite => 0,
        }
    }

    /// Whether it speaks the MySQL protocol.
    pub fn is_mysql_family(self) -> bool {
        match self {
            Self::MySql | Self::MariaDb => true,
            Self::Postgres | Self::OpenGauss | Self::Sqlite => false,
        }
    }
}

/// A parsed URL. Names and values are decoded (`%40` is `@`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The vendor.
    pub vendor: Vendor,
    /// Name or address of the host, IPv6 without brackets; empty for a file.
    pub host: String,
    /// The TCP port; 0 for a file.
    pub port: u16,
    /// The database, may be empty; the path of the file for SQLite.
    pub database: String,
    /// A user in front of the host, which the `username` field overrides.
    pub user: Option<String>,
    /// That user's password.
    pub password: Option<String>,
    /// Every parameter in the order written.
    pub parameters: Vec<(String, String)>,
}

impl Url {
    /// Parses a URL, with or without `jdbc:` in front.
    ///
    /// # Errors
    /// What is wrong with it, or why such a URL is refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        const LONGEST: usize = 8192;
        if text.len() > LONGEST {
            return Err(format!("url is longer than {LONGEST} bytes"));
        }
        let text = text.trim();
        let rest = text.strip_prefix("jdbc:").unwrap_or(text);
        let Some((scheme, rest)) = rest.split_once(':') else {
            return Err(format!(
                "expected a url as `jdbc:mysql://host:3306/database`, found `{text}`"
            ));
        };
        let vendor = vendor(scheme)?;
        if vendor == Vendor::Sqlite {
            return file(rest);
        }
        let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, query)| (rest, query));
        let parameters = parameters(query)?;
        let Some(rest) = rest.strip_prefix("//") else {
            return without_host(vendor, rest, parameters);
        };
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, address) = match authority.rsplit_once('@') {
            Some((credentials, address)) => (Some(credentials), address),
            None => (None, authority),
        };
        let (user, password) = match credentials.map(|c| c.split_once(':').unwrap_or((c, ""))) {
            Some((user, "")) => (Some(decode(user)?), None),
            Some((user, password)) => (Some(decode(user)?), Some(decode(password)?)),
            None => (None, None),
        };
        let (host, port) = host_and_port(address, vendor)?;
        let database = decode(database)?;
        Ok(Self { vendor, host, port, database, user, password, parameters })
    }

    /// A parameter's value, its name in any case, as drivers read it; the last one given counts.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The URL without parameters and passwords: safe for logs.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.vendor {
            Vendor::MySql => "mysql",
            Vendor::MariaDb => "mariadb",
            Vendor::Postgres => "postgresql",
            Vendor::OpenGauss => "opengauss",
            Vendor::Sqlite => return write!(f, "sqlite:{}", self.database),
        };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{scheme}://{open}{}{close}:{}/{}", self.host, self.port, self.database)
    }
}

fn vendor(scheme: &str) -> Result<Vendor, String> {
    match scheme.to_ascii_lowercase().as_str() {
        "mysql" => Ok(Vendor::MySql),
        "mariadb" => Ok(Vendor::MariaDb),
        "postgresql" | "postgres" => Ok(Vendor::Postgres),
        "opengauss" => Ok(Vendor::OpenGauss),
        "sqlite" => Ok(Vendor::Sqlite),
        "mysql+srv" => Err("`mysql+srv` needs DNS SRV records; name one host instead".into()),
        name @ ("h2" | "hsqldb" | "derby") => Err(format!(
            "`{name}` runs inside a JVM and cannot be reached; use `sqlite` for an embedded database"
        )),
        name @ ("oracle" | "sqlserver" | "db2" | "clickhouse" | "hive2" | "firebirdsql"
        | "presto" | "tc" | "p6spy") => Err(format!("storage units of `{name}` are not supported")),
        name => Err(format!(
            "unknown database `{name}` in url (known: mysql, mariadb, postgresql, opengauss, sqlite)"
        )),
    }
}

fn file(rest: &str) -> Result<Url, String> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path.is_empty() {
        return Err("expected the path of a file, as `sqlite:/var/lib/shop.db`".into());
    }
    if path == ":memory:" || path.starts_with("file::memory:") {
        return Err("an SQLite database in memory is private to one connection; name a file".into());
    }
    Ok(Url {
        vendor: Vendor::Sqlite,
        host: String::new(),
        port: 0,
        database: decode(path)?,
        user: None,
        password: None,
        parameters: parameters(query)?,
    })
}

/// `jdbc:postgresql:shop` and `jdbc:postgresql:/` are the driver's short forms for localhost.
fn without_host(
    vendor: Vendor,
    rest: &str,
    parameters: Vec<(String, String)>,
) -> Result<Url, String> {
    if rest.starts_with("loadbalance:") || rest.starts_with("replication:") {
        return Err(several_hosts());
    }
    if vendor.is_mysql_family() {
        return Err("expected `//` and a host after the scheme".into());
    }
    let database = decode(rest.strip_prefix('/').unwrap_or(rest))?;
    let (host, port) = ("localhost".to_owned(), vendor.default_port());
    Ok(Url { vendor, host, port, database, user: None, password: None, parameters })
}

fn several_hosts() -> String {
    "a url with several hosts is refused, as the driver would choose one behind Pando's back; \
     make each host a storage unit and use `!READWRITE_SPLITTING`"
        .into()
}

fn host_and_port(address: &str, vendor: Vendor) -> Result<(String, u16), String> {
    if address.contains(',') || address.contains('(') || address.contains('=') {
        return Err(several_hosts());
    }
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) =
                rest.split_once(']').ok_or("an IPv6 host is not closed by `]`".to_owned())?;
            if host.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(format!("`{host}` is not an IPv6 address"));
            }
            let port = rest.strip_prefix(':').unwrap_or(rest);
            (host.to_owned(), port)
        }
        None => {
            let (host, port) = address.split_once(':').unwrap_or((address, ""));
            if port.contains(':') {
                return Err("an IPv6 host is written in brackets, as `[::1]`".into());
            }
            (decode(host)?, port)
        }
    };
    let host = if host.is_empty() { "localhost".to_owned() } else { host };
    let port = match port {
        "" => vendor.default_port(),
        port => match port.parse::<u16>() {
            Ok(number) if number > 0 => number,
            _ => return Err(format!("expected a port from 1 to 65535, found `{port}`")),
        },
    };
    Ok((host, port))
}

fn parameters(query: &str) -> Result<Vec<(String, String)>, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(key)?, decode(value)?))
        })
        .collect()
}

/// Resolves `%XX`. A `+` stays a plus: drivers differ, and passwords hold them.
fn decode(text: &str) -> Result<String, String> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let value = hex.filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(value) = value.and_then(|hex| u8::from_str_radix(hex, 16).ok()) else {
            return Err(format!("`%` in `{text}` is not followed by two hexadecimal digits"));
        };
        bytes.push(value);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("`{text}` does not decode to UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Vendor, String, u16, String) {
        let url = Url::parse(text).expect(text);
        (url.vendor, url.host, url.port, url.database)
    }

    fn check(text: &str, vendor: Vendor, host: &str, port: u16, database: &str) {
        assert_eq!(parsed(text), (vendor, host.into(), port, database.into()), "{text}");
    }

    fn refused(text: &str, word: &str) {
        let error = Url::parse(text).expect_err(text);
        assert!(error.contains(word), "{text}: {error}");
    }

    #[test]
    fn urls_of_every_vendor_are_understood() {
        check("jdbc:mysql://10.0.0.1:3307/shop", Vendor::MySql, "10.0.0.1", 3307, "shop");
        check("jdbc:mysql://db/shop?useSSL=false", Vendor::MySql, "db", 3306, "shop");
        check("jdbc:mysql:///shop", Vendor::MySql, "localhost", 3306, "shop");
        check("jdbc:mysql://db", Vendor::MySql, "db", 3306, "");
        check("jdbc:mariadb://db:1/a%20b", Vendor::MariaDb, "db", 1, "a b");
        check("jdbc:postgresql://[::1]:6000/shop", Vendor::Postgres, "::1", 6000, "shop");
        check("jdbc:postgresql://[fe80::1]/shop", Vendor::Postgres, "fe80::1", 5432, "shop");
        check("jdbc:postgresql:shop", Vendor::Postgres, "localhost", 5432, "shop");
        check("jdbc:opengauss://db/shop", Vendor::OpenGauss, "db", 5432, "shop");
        check("sqlite:/tmp/a.db", Vendor::Sqlite, "", 0, "/tmp/a.db");
        check("jdbc:sqlite:data/a.db?x=1", Vendor::Sqlite, "", 0, "data/a.db");
    }

    #[test]
    fn credentials_and_parameters_are_decoded() {
        let url = Url::parse("jdbc:mysql://me:p%40ss@db/x?useSSL=false&a=b%26c&flag&usessl=true");
        let url = url.expect("valid");
        assert_eq!(url.user.as_deref(), Some("me"));
        assert_eq!(url.password.as_deref(), Some("p@ss"));
        assert_eq!(url.parameter("a"), Some("b&c"));
        assert_eq!(url.parameter("flag"), Some(""));
        assert_eq!(url.parameter("useSSL"), Some("true"));
        assert_eq!(url.to_string(), "mysql://db:3306/x");
    }

    #[test]
    fn what_cannot_be_served_is_refused_with_the_reason() {
        refused("jdbc:h2:mem:x", "inside a JVM");
        refused("jdbc:oracle:thin:@db:1521/x", "not supported");
        refused("jdbc:mysql://a:3306,b:3306/x", "several hosts");
        refused("jdbc:mysql:loadbalance://a,b/x", "several hosts");
        refused("jdbc:mysql://address=(host=a)(port=1)/x", "several hosts");
        refused("jdbc:mysql://db:0/x", "port");
        refused("jdbc:mysql://db:99999/x", "port");
        refused("jdbc:postgresql://::1/x", "brackets");
        refused("jdbc:postgresql://[::1/x", "closed");
        refused("jdbc:postgresql://[nope]/x", "IPv6");
        refused("jdbc:mysql://db/%zz", "hexadecimal");
        refused("jdbc:mysql://db/%+1", "hexadecimal");
        refused("jdbc:mysql://db/%", "hexadecimal");
        refused("jdbc:sqlite::memory:", "private to one connection");
        refused("db:3306", "unknown database");
        refused("nonsense", "expected a url");
    }
}
