//! Storage units by the scheme of their URL.

use std::path::Path;
use std::sync::Arc;

use pando_config::{
    ChannelBinding, ConnectionOptions, Database, Methods, Report, StorageUnit, Tls, Vendor,
};
use pando_kernel::runtime::{Address, TlsMode};
use pando_kernel::{Connector, Dialect, Identity};
use pando_mysql::MySqlConnector;
use pando_mysql::backend::KeySource;
use pando_postgres::PostgresConnector;

use crate::Unit;

pub(crate) fn build(database: &Database, data: &Path, report: &mut Report) -> Vec<Unit> {
    let units: Vec<Unit> = database
        .storage_units
        .iter()
        .map(|unit| {
            warn(unit, report);
            Unit {
                name: unit.name.as_str().into(),
                connector: connector(unit, data),
                pool: unit.pool.clone(),
            }
        })
        .collect();
    one_family(database, &units, report);
    units
}

/// Of a database without storage units, which has no language of its own: sessions speak that of their door.
pub(crate) fn any_language() -> Arc<dyn Dialect> {
    Arc::new(pando_postgres::Postgres)
}

/// A statement has one text for all its targets, so they must speak one language.
fn one_family(database: &Database, units: &[Unit], report: &mut Report) {
    let family = |unit: &Unit| unit.connector.dialect().family();
    let Some(first) = units.first() else { return };
    for (unit, config) in units.iter().zip(&database.storage_units) {
        if family(unit) != family(first) {
            report.error(config.url.at.problem(format!(
                "storage unit `{}` speaks `{}` and `{}` speaks `{}`: the storage units of one database must speak one language",
                unit.name,
                family(unit),
                first.name,
                family(first)
            )));
        }
    }
}

/// What opens connections to a storage unit; nothing is opened yet. `data` is where a relative path of an embedded one starts.
pub fn connector(unit: &StorageUnit, data: &Path) -> Arc<dyn Connector> {
    match unit.url.vendor {
        Vendor::MySql | Vendor::MariaDb => Arc::new(MySqlConnector::new(mysql(unit))),
        Vendor::Postgres | Vendor::OpenGauss => Arc::new(PostgresConnector::new(postgres(unit))),
        Vendor::Sqlite => {
            let path = data.join(&unit.url.database);
            Arc::new(pando_sqlite::connector(&path.to_string_lossy()))
        }
    }
}

fn mysql(unit: &StorageUnit) -> pando_mysql::Options {
    let mut settings = pando_mysql::Options::new(&unit.name, address(unit));
    settings.tls = tls(unit.connection.tls);
    settings.authority.clone_from(&unit.connection.root_certificate);
    settings.identity = identity(unit);
    settings.key = match (&unit.connection.public_key_file, unit.connection.public_key_retrieval) {
        (Some(path), _) => KeySource::File(path.clone()),
        (None, Some(false)) => KeySource::Nowhere,
        (None, Some(true) | None) => KeySource::Server,
    };
    settings.user.clone_from(&unit.username);
    settings.password = password(unit);
    settings.database.clone_from(&unit.url.database);
    settings
}

fn postgres(unit: &StorageUnit) -> pando_postgres::Options {
    let user = &unit.username;
    // As the vendor's clients have it: a database that is not named bears the user's name.
    let database = Some(&unit.url.database).filter(|name| !name.is_empty()).unwrap_or(user);
    let mut options = pando_postgres::Options::new(
        &*unit.name.value,
        address(unit),
        user,
        password(unit),
        database,
    );
    options.tls = tls(unit.connection.tls);
    options.authority.clone_from(&unit.connection.root_certificate);
    options.identity = identity(unit);
    options.binding = match unit.connection.channel_binding {
        ChannelBinding::Disable => pando_postgres::ChannelBinding::Disable,
        ChannelBinding::Prefer => pando_postgres::ChannelBinding::Prefer,
        ChannelBinding::Require => pando_postgres::ChannelBinding::Require,
    };
    let Methods { password, readable_password, md5, scram, nothing } = unit.connection.methods;
    options.methods = pando_postgres::Methods { password, readable_password, md5, scram, nothing };
    if unit.connection.prepare_threshold == Some(0) {
        options.statements = 0;
    }
    let given = [
        ("search_path", &unit.connection.current_schema),
        ("application_name", &unit.connection.application_name),
        ("TimeZone", &unit.connection.time_zone),
        ("options", &unit.connection.session_variables),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    options.parameters = given.map(|(name, value)| (name.to_owned(), value)).collect();
    options
}

fn identity(unit: &StorageUnit) -> Option<Identity> {
    let (certificate, key) = unit.connection.certificate.clone()?;
    Some(Identity { certificate, key })
}

fn address(unit: &StorageUnit) -> Address {
    Address::Tcp(unit.url.host.clone(), unit.url.port)
}

fn password(unit: &StorageUnit) -> String {
    unit.password.as_ref().map(|secret| secret.reveal().to_owned()).unwrap_or_default()
}

fn tls(asked: Tls) -> TlsMode {
    match asked {
        Tls::Disabled => TlsMode::Off,
        Tls::Preferred => TlsMode::Prefer,
        Tls::Required => TlsMode::Require,
        Tls::VerifyAuthority => TlsMode::VerifyCa,
        Tls::VerifyIdentity => TlsMode::VerifyFull,
    }
}

/// Parameters by which Java's drivers are given a client's certificate, in key stores of Java or PKCS #12.
fn is_key_store(name: &str) -> bool {
    let known = ["keyStore", "clientCertificateKeyStoreUrl", "clientCertificateKeyStoreType"];
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Settings of Java's drivers and pools that mean nothing here are named once, so that nobody believes they hold.
fn warn(unit: &StorageUnit, report: &mut Report) {
    let ConnectionOptions { connect_timeout, socket_timeout, session_variables, other, .. } =
        &unit.connection;
    let url = &unit.url.at;
    let mut idle = |what: &str| report.warn(url.problem(format!("{what} has no effect")));
    if connect_timeout.is_some() {
        idle("the URL's connect timeout (`connectionTimeoutMilliseconds` counts)");
    }
    if socket_timeout.is_some() {
        idle("the URL's socket timeout");
    }
    if session_variables.is_some() && unit.url.vendor.is_mysql_family() {
        idle("`sessionVariables` of the URL");
    }
    for (name, _) in other {
        let more =
            if is_key_store(name) { "; give PEM files as `sslCert` and `sslKey`" } else { "" };
        report.warn(url.problem(format!("parameter `{name}` of the URL has no effect{more}")));
    }
    if unit.read_only {
        report.warn(unit.at.problem("`readOnly` has no effect; withhold the rights on the server"));
    }
    for (name, _) in unit.other.iter() {
        report.warn(name.at.problem(format!("pool property `{}` has no effect", name.value)));
    }
}
