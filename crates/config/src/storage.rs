//! `dataSources`: the storage units of one database, in the proxy's form or the JDBC driver's.

use std::time::Duration;

use crate::algorithm::Props;
use crate::connection::ConnectionOptions;
use crate::node::{Entry, Node};
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};
use crate::url::Url;

/// One database server's database, by the name that rules know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// Where it stands.
    pub at: At,
    /// Its name.
    pub name: Placed<String>,
    /// Where it is.
    pub url: Placed<Url>,
    /// What the URL's parameters mean.
    pub connection: ConnectionOptions,
    /// Who we are there; empty where nothing says it.
    pub username: String,
    /// The password; absent and empty are the same to a server.
    pub password: Option<Secret>,
    /// How many connections and for how long.
    pub pool: PoolOptions,
    /// Whether writes are refused (`readOnly`).
    pub read_only: bool,
    /// `customPoolProps`, kept as written.
    pub other: Props,
}

/// A text that debug output does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The bounds of one pool of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// Connections kept open even when idle; never above `max`. 1 by default.
    pub min: u32,
    /// Connections at most; at least 1. 50 by default.
    pub max: u32,
    /// How long a borrower waits for a connection. 30 seconds by default; 0 in the file means 24 days.
    pub connection_timeout: Duration,
    /// After how long an idle connection above `min` is closed. 60 seconds by default; `None` (0 in the file) means never.
    pub idle_timeout: Option<Duration>,
    /// After how long any connection is replaced. 30 minutes by default; `None` (0 in the file) means never.
    pub max_lifetime: Option<Duration>,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            min: 1,
            max: 50,
            connection_timeout: Duration::from_secs(30),
            idle_timeout: Some(Duration::from_secs(60)),
            max_lifetime: Some(Duration::from_secs(1800)),
        }
    }
}

const MOST_CONNECTIONS: i64 = 65_535;
const MOST_MILLISECONDS: i64 = i32::MAX as i64;

impl StorageUnit {
    pub(crate) fn read(entry: &Entry, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of(&entry.value, report)?;
        let url = url(&mut fields);
        let username = fields.synonym(&["username", "user"]);
        let username = username.and_then(|node| node.string(fields.report())).map(str::to_owned);
        let password = fields.optional_string("password").map(|text| text.value);
        let pool = PoolOptions::read(&mut fields);
        let read_only = fields.optional_boolean("readOnly").unwrap_or(false);
        let other = props(&mut fields, "customPoolProps");
        skip_of_the_jvm(&mut fields);
        fields.finish();
        let (url, connection) = url?;
        let of_url = |field: &Option<String>, name| {
            field.clone().or_else(|| url.parameter(name).map(str::to_owned))
        };
        let username = username.or_else(|| of_url(&url.user, "user")).unwrap_or_default();
        let password = password.or_else(|| of_url(&url.password, "password"));
        Some(Self {
            at: entry.value.at.clone(),
            name: read::key(entry),
            url,
            connection,
            username,
            password: password.filter(|text| !text.is_empty()).map(Secret),
            pool,
            read_only,
            other,
        })
    }
}

fn url(fields: &mut Fields<'_, '_>) -> Option<(Placed<Url>, ConnectionOptions)> {
    let Some(node) = fields.synonym(&["url", "jdbcUrl", "standardJdbcUrl"]) else {
        fields.missing("url");
        return None;
    };
    let text = node.string(fields.report())?;
    let parsed = Url::parse(text);
    match parsed.and_then(|url| ConnectionOptions::of(&url).map(|options| (url, options))) {
        Ok((value, options)) => Some((Placed { value, at: node.at.clone() }, options)),
        Err(why) => {
            fields.report().error(node.at.problem(why));
            None
        }
    }
}

fn props(fields: &mut Fields<'_, '_>, name: &'static str) -> Props {
    let node = fields.optional(name);
    node.and_then(|node| Props::read(node, fields.report())).unwrap_or_default()
}

/// Properties of Java's pools. Those that name a class say what the URL says already; the others are said to be idle.
fn skip_of_the_jvm(fields: &mut Fields<'_, '_>) {
    for name in ["dataSourceClassName", "driverClassName", "poolName"] {
        fields.entry(name);
    }
    let idle = [
        "allowPoolSuspension",
        "autoCommit",
        "catalog",
        "connectionInitSql",
        "connectionTestQuery",
        "dataSourceProperties",
        "initializationFailTimeout",
        "isolateInternalQueries",
        "keepaliveTime",
        "leakDetectionThreshold",
        "registerMbeans",
        "schema",
        "transactionIsolation",
        "validationTimeout",
    ];
    for name in idle {
        fields.ignored(name, "it is a property of the Java pool");
    }
}

impl PoolOptions {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let defaults = Self::default();
        let number = |fields: &mut Fields<'_, '_>, names: &[&'static str], least, most| {
            let node = fields.synonym(names)?;
            node.integer(least..=most, fields.report())
        };
        let time = |fields: &mut Fields<'_, '_>, names: &[&'static str]| {
            let milliseconds = number(fields, names, 0, MOST_MILLISECONDS)?;
            u64::try_from(milliseconds).ok().map(Duration::from_millis)
        };
        let count = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        let max_names = ["maxPoolSize", "maximumPoolSize", "maxActive", "maxTotal"];
        let max = count(number(fields, &max_names, 1, MOST_CONNECTIONS)).unwrap_or(defaults.max);
        let min_names = ["minPoolSize", "minimumIdle", "minIdle"];
        let min = count(number(fields, &min_names, 0, MOST_CONNECTIONS));
        if let Some(wanted) = min.filter(|min| *min > max) {
            let message =
                format!("the pool's least size {wanted} is above its largest {max}, which is used");
            let at = fields.at();
            fields.report().warn(at.problem(message));
        }
        let connection_timeout =
            time(fields, &["connectionTimeoutMilliseconds", "connectionTimeout"]);
        let idle_timeout = time(fields, &["idleTimeoutMilliseconds", "idleTimeout"]);
        let max_lifetime = time(fields, &["maxLifetimeMilliseconds", "maxLifetime", "maxLifeTime"]);
        let forever = Duration::from_millis(MOST_MILLISECONDS.unsigned_abs());
        let unless_zero = |time: Duration| (!time.is_zero()).then_some(time);
        Self {
            min: min.unwrap_or(defaults.min).min(max),
            max,
            connection_timeout: connection_timeout
                .map_or(defaults.connection_timeout, |time| unless_zero(time).unwrap_or(forever)),
            idle_timeout: idle_timeout.map_or(defaults.idle_timeout, unless_zero),
            max_lifetime: max_lifetime.map_or(defaults.max_lifetime, unless_zero),
        }
    }
}

/// All entries of `dataSources`, in file order.
pub(crate) fn read_all(node: &Node, report: &mut Report) -> Vec<StorageUnit> {
    let entries = node.entries(report).unwrap_or_default();
    entries.iter().filter_map(|entry| StorageUnit::read(entry, report)).collect()
}
