//! What a URL's parameters mean, in one form for every vendor.

use std::time::Duration;

use crate::proofs::{ChannelBinding, Methods};
use crate::url::{Url, Vendor};

/// How much TLS a connection needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tls {
    /// Never.
    Disabled,
    /// If the server offers it; the server is not verified.
    #[default]
    Preferred,
    /// Always; the server is not verified.
    Required,
    /// Always, and its certificate must come from a known authority.
    VerifyAuthority,
    /// Also its certificate must bear the host's name.
    VerifyIdentity,
}

/// The parameters we understand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionOptions {
    /// How much TLS.
    pub tls: Tls,
    /// A PEM file of authorities; absent means those of the system.
    pub root_certificate: Option<String>,
    /// PEM files of the certificate shown to a server that asks for one, and of its key (`sslcert`, `sslkey`).
    pub certificate: Option<(String, String)>,
    /// Whether a login is bound to the server's certificate (PostgreSQL's `channelBinding`).
    pub channel_binding: ChannelBinding,
    /// What a server may ask for as a proof of who we are (PostgreSQL's `requireAuth`).
    pub methods: Methods,
    /// How long to try to connect; absent means the pool's own limit.
    pub connect_timeout: Option<Duration>,
    /// How long to wait for an answer; absent means no limit of the URL's.
    pub socket_timeout: Option<Duration>,
    /// Whether the server may be asked for its key to encrypt a password with (`allowPublicKeyRetrieval`); absent means that it may, as servers without TLS
    /// could not be used otherwise.
    pub public_key_retrieval: Option<bool>,
    /// A PEM file of the server's key, which needs no asking.
    pub public_key_file: Option<String>,
    /// The session's time zone (`serverTimezone`, `connectionTimeZone`), as written.
    pub time_zone: Option<String>,
    /// The session's character set (`characterEncoding`), as written.
    pub character_set: Option<String>,
    /// The schemas to search (PostgreSQL's `currentSchema`), as written.
    pub current_schema: Option<String>,
    /// The name the session gives itself (PostgreSQL's `ApplicationName`).
    pub application_name: Option<String>,
    /// Session variables to set (MySQL's `sessionVariables`, PostgreSQL's `options`), as written.
    pub session_variables: Option<String>,
    /// How often a statement runs before the server keeps it prepared (PostgreSQL's `prepareThreshold`); 0 means that none is ever kept, which poolers
    /// between here and the server may need. Other values have no effect.
    pub prepare_threshold: Option<u32>,
    /// Parameters not understood here, in the order written.
    pub other: Vec<(String, String)>,
}

/// Names of parameters read here, in lower case.
const UNDERSTOOD: [&str; 25] = [
    "usessl",
    "sslmode",
    "requiressl",
    "verifyservercertificate",
    "ssl",
    "sslrootcert",
    "serversslcert",
    "sslcert",
    "sslkey",
    "connecttimeout",
    "sockettimeout",
    "allowpublickeyretrieval",
    "serverrsapublickeyfile",
    "servertimezone",
    "connectiontimezone",
    "characterencoding",
    "useunicode",
    "currentschema",
    "applicationname",
    "sessionvariables",
    "options",
    "preparethreshold",
    "user",
    "username",
    "password",
];

/// As these are, which only servers of PostgreSQL know.
const PROOFS: [&str; 4] = ["channelbinding", "channel_binding", "requireauth", "require_auth"];

impl ConnectionOptions {
    /// Reads the parameters of a URL.
    ///
    /// # Errors
    /// The first parameter whose value cannot be what it must be.
    pub fn of(url: &Url) -> Result<Self, String> {
        let text = |names: &[&str]| {
            names.iter().find_map(|name| url.parameter(name)).filter(|v| !v.is_empty())
        };
        let owned = |names: &[&str]| text(names).map(str::to_owned);
        let postgres = !url.vendor.is_mysql_family();
        // Connector/J counts both in milliseconds, pgjdbc in seconds. Zero means no limit of the URL's.
        let unit = if postgres { Duration::from_secs(1) } else { Duration::from_millis(1) };
        let known = |name: &str| {
            let name = name.to_ascii_lowercase();
            UNDERSTOOD.contains(&name.as_str()) || postgres && PROOFS.contains(&name.as_str())
        };
        Ok(Self {
            tls: if postgres { tls_of_postgres(url)? } else { tls_of_mysql(url)? },
            root_certificate: owned(&["sslrootcert", "serverSslCert"]),
            certificate: certificate(text(&["sslcert"]), text(&["sslkey"]))?,
            channel_binding: ChannelBinding::read(text(&["channelBinding", "channel_binding"]))?,
            methods: Methods::read(text(&["requireAuth", "require_auth"]))?,
            connect_timeout: time(url, "connectTimeout", unit)?,
            socket_timeout: time(url, "socketTimeout", unit)?,
            public_key_retrieval: flag(url, "allowPublicKeyRetrieval")?,
            public_key_file: owned(&["serverRSAPublicKeyFile"]),
            time_zone: owned(&["connectionTimeZone", "serverTimezone"]),
            character_set: owned(&["characterEncoding"]),
            current_schema: owned(&["currentSchema"]),
            application_name: owned(&["ApplicationName"]),
            session_variables: owned(&["sessionVariables", "options"]),
            prepare_threshold: count(url, "prepareThreshold")?,
            other: url.parameters.iter().filter(|(name, _)| !known(name)).cloned().collect(),
        })
    }
}

/// One is of no use without the other.
fn certificate(file: Option<&str>, key: Option<&str>) -> Result<Option<(String, String)>, String> {
    match (file, key) {
        (None, None) => Ok(None),
        (Some(file), Some(key)) => Ok(Some((file.to_owned(), key.to_owned()))),
        (Some(_), None) => Err("`sslcert` needs `sslkey`, a PEM file with its key".to_owned()),
        (None, Some(_)) => {
            Err("`sslkey` needs `sslcert`, a PEM file with its certificate".to_owned())
        }
    }
}

fn count(url: &Url, name: &str) -> Result<Option<u32>, String> {
    let Some(text) = url.parameter(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let number = text.parse().map(Some);
    number.map_err(|_| format!("expected `{name}` to be a whole number, found `{text}`"))
}

fn tls_of_mysql(url: &Url) -> Result<Tls, String> {
    if let Some(mode) = url.parameter("sslMode").filter(|mode| !mode.is_empty()) {
        return match mode.to_ascii_uppercase().replace('-', "_").as_str() {
            "DISABLED" | "DISABLE" => Ok(Tls::Disabled),
            "PREFERRED" => Ok(Tls::Preferred),
            "REQUIRED" | "TRUST" => Ok(Tls::Required),
            "VERIFY_CA" => Ok(Tls::VerifyAuthority),
            "VERIFY_IDENTITY" | "VERIFY_FULL" => Ok(Tls::VerifyIdentity),
            _ => Err(format!(
                "expected `sslMode` to be one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, \
                 VERIFY_IDENTITY, found `{mode}`"
            )),
        };
    }
    let wanted = flag(url, "useSSL")?;
    let required = flag(url, "requireSSL")?.unwrap_or(false);
    let verified = flag(url, "verifyServerCertificate")?.unwrap_or(false);
    Ok(match (wanted, required, verified) {
        (Some(false), _, _) => Tls::Disabled,
        (_, _, true) => Tls::VerifyAuthority,
        (_, true, false) => Tls::Required,
        // MariaDB's `useSsl=true` insists on TLS, MySQL's only prefers it.
        (Some(true), false, false) if url.vendor == Vendor::MariaDb => Tls::Required,
        (Some(true) | None, false, false) => Tls::Preferred,
    })
}

fn tls_of_postgres(url: &Url) -> Result<Tls, String> {
    let Some(mode) = url.parameter("sslmode").filter(|mode| !mode.is_empty()) else {
        // `ssl` without a value or with `true` means verify-full in pgjdbc.
        return Ok(match url.parameter("ssl") {
            Some("") => Tls::VerifyIdentity,
            Some(_) if flag(url, "ssl")? == Some(true) => Tls::VerifyIdentity,
            Some(_) | None => Tls::Preferred,
        });
    };
    match mode.to_ascii_lowercase().as_str() {
        "disable" => Ok(Tls::Disabled),
        "allow" | "prefer" => Ok(Tls::Preferred),
        "require" => Ok(Tls::Required),
        "verify-ca" => Ok(Tls::VerifyAuthority),
        "verify-full" => Ok(Tls::VerifyIdentity),
        _ => Err(format!(
            "expected `sslmode` to be one of disable, allow, prefer, require, verify-ca, \
             verify-full, found `{mode}`"
        )),
    }
}

fn flag(url: &Url, name: &str) -> Result<Option<bool>, String> {
    match url.parameter(name).map(str::to_ascii_lowercase).as_deref() {
        None | Some("") => Ok(None),
        Some("true" | "yes" | "1") => Ok(Some(true)),
        Some("false" | "no" | "0") => Ok(Some(false)),
        Some(other) => Err(format!("expected `{name}` to be `true` or `false`, found `{other}`")),
    }
}

fn time(url: &Url, name: &str, unit: Duration) -> Result<Option<Duration>, String> {
    let Some(text) = url.parameter(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let number = text.parse::<u32>().ok().filter(|number| i32::try_from(*number).is_ok());
    let number = number.ok_or_else(|| {
        format!("expected `{name}` to be a whole number from 0 to 2147483647, found `{text}`")
    })?;
    Ok((number > 0).then(|| unit * number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<ConnectionOptions, String> {
        ConnectionOptions::of(&Url::parse(text).expect(text))
    }

    fn tls(text: &str, expected: Tls) {
        assert_eq!(options(text).expect(text).tls, expected, "{text}");
    }

    #[test]
    fn every_way_to_ask_for_tls_is_understood() {
        tls("jdbc:mysql://db/x", Tls::Preferred);
        tls("jdbc:mysql://db/x?useSSL=false&requireSSL=true", Tls::Disabled);
        tls("jdbc:mysql://db/x?useSSL=true&requireSSL=true", Tls::Required);
        tls("jdbc:mysql://db/x?verifyServerCertificate=true&useSSL=true", Tls::VerifyAuthority);
        tls("jdbc:mysql://db/x?sslMode=VERIFY_IDENTITY&useSSL=false", Tls::VerifyIdentity);
        tls("jdbc:mariadb://db/x?sslMode=verify-full", Tls::VerifyIdentity);
        tls("jdbc:mariadb://db/x?useSsl=true", Tls::Required);
        tls("jdbc:postgresql://db/x?sslmode=require", Tls::Required);
        tls("jdbc:postgresql://db/x?ssl=true", Tls::VerifyIdentity);
        tls("jdbc:postgresql://db/x?ssl=false", Tls::Preferred);
    }

    #[test]
    fn a_certificate_has_two_files_by_the_same_names_for_every_vendor() {
        let given = |text: &str| options(text).map(|options| options.certificate);
        let both = Some(("a.pem".to_owned(), "k.pem".to_owned()));
        for vendor in ["mysql", "mariadb", "postgresql"] {
            let url = format!("jdbc:{vendor}://db/x");
            assert_eq!(given(&format!("{url}?sslCert=a.pem&sslKey=k.pem")), Ok(both.clone()));
            assert_eq!(given(&url), Ok(None));
            assert!(given(&format!("{url}?sslcert=a.pem")).unwrap_err().contains("`sslkey`"));
            assert!(given(&format!("{url}?sslkey=a.pem")).unwrap_err().contains("`sslcert`"));
        }
    }

    #[test]
    fn times_have_the_drivers_units_and_unknown_parameters_are_kept() {
        let mysql =
            options("jdbc:mysql://db/x?connectTimeout=1500&socketTimeout=0&cachePrepStmts=1");
        let mysql = mysql.expect("valid");
        assert_eq!(mysql.connect_timeout, Some(Duration::from_millis(1500)));
        assert_eq!(mysql.socket_timeout, None);
        assert_eq!(mysql.other, [("cachePrepStmts".to_owned(), "1".to_owned())]);
        let postgres = options("jdbc:postgresql://db/x?connectTimeout=3&currentSchema=a,b");
        let postgres = postgres.expect("valid");
        assert_eq!(postgres.connect_timeout, Some(Duration::from_secs(3)));
        assert_eq!(postgres.current_schema.as_deref(), Some("a,b"));
        assert!(postgres.other.is_empty());
        let postgres = options("jdbc:postgresql://db/x?prepareThreshold=0").expect("valid");
        assert_eq!((postgres.prepare_threshold, postgres.other.len()), (Some(0), 0));
    }

    #[test]
    fn values_that_cannot_be_are_refused() {
        for text in
            ["sslMode=FOO", "useSSL=maybe", "connectTimeout=-1", "connectTimeout=9999999999"]
        {
            assert!(options(&format!("jdbc:mysql://db/x?{text}")).is_err(), "{text}");
        }
        for text in [
            "sslmode=FOO",
            "prepareThreshold=-1",
            "prepareThreshold=x",
            "channelBinding=yes",
            "requireAuth=gss",
            "requireAuth=md5,!none",
        ] {
            assert!(options(&format!("jdbc:postgresql://db/x?{text}")).is_err(), "{text}");
        }
    }
}
