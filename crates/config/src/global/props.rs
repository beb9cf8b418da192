//! `props`: the server's knobs, every key with its type.

use std::time::Duration;

use super::idle;
use crate::node::{Entry, Node};
use crate::place::{At, Placed, Report};
use crate::suggest;

/// The protocol clients speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// MySQL's, also for MariaDB.
    MySql,
    /// PostgreSQL's, also for openGauss.
    Postgres,
}

/// The properties that have an effect, with ShardingSphere's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// `sql-show`: log every logic and actual statement. Off.
    pub sql_show: bool,
    /// `max-connections-size-per-query`: connections one query may take per storage unit. 1.
    pub max_connections_size_per_query: u32,
    /// `lock-connections-size-per-storage-unit`: connections of one storage unit that all sessions together may keep for locks of their applications; never more
    /// than half of its pool. Pando's own. 64.
    pub lock_connections: u32,
    /// `proxy-frontend-database-protocol-type`: absent means that of the first storage unit.
    pub frontend_protocol: Option<Placed<Protocol>>,
    /// `proxy-frontend-executor-size`: threads that serve clients; 0 (default) means one per core.
    pub frontend_executor_size: u32,
    /// `proxy-frontend-max-connections`: clients at once; 0 (default) means no limit.
    pub frontend_max_connections: u32,
    /// `proxy-frontend-connection-idle-timeout`: seconds until an idle client is closed; 0 means never. 28800.
    pub frontend_connection_idle_timeout: u64,
    /// `proxy-default-port`: the port clients connect to. 3307.
    pub default_port: u16,
    /// `proxy-netty-backlog`: connections waiting to be accepted. 1024.
    pub accept_backlog: u32,
    /// `proxy-frontend-ssl-enabled`: offer TLS to clients. Off.
    pub frontend_ssl_enabled: bool,
    /// `proxy-frontend-ssl-version`: TLS versions offered. `TLSv1.2`, `TLSv1.3`.
    pub frontend_ssl_versions: Vec<String>,
    /// `proxy-frontend-ssl-cipher`: cipher suites offered, by their IANA names, best first; empty (default) means the usual ones.
    pub frontend_ssl_ciphers: Vec<String>,
    /// `health-check-…`: how storage units are probed.
    pub health: Health,
}

/// How storage units are probed. Pando's own properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `health-check-interval-milliseconds`: from one probe of a unit to the next; zero does not probe. 2 s.
    pub interval: Duration,
    /// `health-check-timeout-milliseconds`: for a whole probe. 1 s.
    pub timeout: Duration,
    /// `health-check-failures`: failed probes on end until a unit counts as down. 3.
    pub failures: u32,
    /// `health-check-successes`: answered probes on end until it counts as up again. 2.
    pub successes: u32,
    /// `health-check-max-replica-lag-milliseconds`: a replica further behind is not read; absent (-1, the default) reads it whatever its lag.
    pub most_lag: Option<Duration>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(2),
            timeout: Duration::from_secs(1),
            failures: 3,
            successes: 2,
            most_lag: None,
        }
    }
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            sql_show: false,
            max_connections_size_per_query: 1,
            lock_connections: 64,
            frontend_protocol: None,
            frontend_executor_size: 0,
            frontend_max_connections: 0,
            frontend_connection_idle_timeout: 28_800,
            default_port: 3307,
            accept_backlog: 1024,
            frontend_ssl_enabled: false,
            frontend_ssl_versions: vec!["TLSv1.2".into(), "TLSv1.3".into()],
            frontend_ssl_ciphers: Vec::new(),
            health: Health::default(),
        }
    }
}

const KEYS: [&str; 17] = [
    "sql-show",
    "max-connections-size-per-query",
    "lock-connections-size-per-storage-unit",
    "proxy-frontend-database-protocol-type",
    "proxy-frontend-executor-size",
    "proxy-frontend-max-connections",
    "proxy-frontend-connection-idle-timeout",
    "proxy-default-port",
    "proxy-netty-backlog",
    "proxy-frontend-ssl-enabled",
    "proxy-frontend-ssl-version",
    "proxy-frontend-ssl-cipher",
    "health-check-interval-milliseconds",
    "health-check-timeout-milliseconds",
    "health-check-failures",
    "health-check-successes",
    "health-check-max-replica-lag-milliseconds",
];

/// Keys that some 5.x release knew and a later one dropped: accepted, without effect.
const REMOVED: [&str; 16] = [
    "system-log-level",
    "proxy-hint-enabled",
    "proxy-instance-type",
    "proxy-backend-executor-suitable",
    "proxy-mysql-default-version",
    "proxy-transaction-type",
    "proxy-opentracing-enabled",
    "proxy-backend-driver-type",
    "xa-transaction-manager-type",
    "check-duplicate-table-enabled",
    "lock-wait-timeout-milliseconds",
    "show-process-list-enabled",
    "sql-comment-parse-enabled",
    "sql-federation-enabled",
    "sql-federation-type",
    "query-with-cipher-column",
];

/// Keys of other releases that have another name today.
const RENAMED: [(&str, &str); 3] = [
    ("executor-size", "kernel-executor-size"),
    ("acceptor-size", "proxy-frontend-executor-size"),
    ("proxy-metadata-collector-enabled", "proxy-meta-data-collector-enabled"),
];

const MOST: i64 = i32::MAX as i64;
/// More would only cost memory.
const MOST_THREADS: i64 = 1024;

impl Properties {
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        let mut props = Self::default();
        let mut given: Vec<&str> = Vec::new();
        for entry in node.entries(report).unwrap_or_default() {
            let key = entry.key.as_str();
            if REMOVED.contains(&key) {
                let message = format!("`{key}` has no effect: it was removed in ShardingSphere");
                report.warn(entry.at.problem(message));
                continue;
            }
            let renamed = RENAMED.iter().find(|(old, _)| *old == key).map(|(_, new)| *new);
            if let Some(new) = renamed {
                report.warn(entry.at.problem(format!("`{key}` is now called `{new}`")));
            }
            let name = renamed.unwrap_or(key);
            let mut known = KEYS.into_iter().chain(idle::keys());
            if !known.any(|known| known == name) {
                let hint = suggest::nearest(key, KEYS.into_iter().chain(idle::keys()));
                let hint = hint.map_or_else(String::new, |g| format!("; did you mean `{g}`?"));
                report.error(entry.at.problem(format!("unknown property `{key}`{hint}")));
            } else if given.contains(&name) {
                report.error(entry.at.problem(format!("property `{name}` was already given")));
            } else {
                given.push(name);
                props.take(name, entry, report);
            }
        }
        props
    }

    /// Reads one property; a value of nothing means the default, as the sample files leave some empty.
    fn take(&mut self, name: &str, entry: &Entry, report: &mut Report) {
        let node = &entry.value;
        if node.is_null() {
            return;
        }
        let mut number = |slot: &mut u32, least: i64| {
            let number = node.integer(least..=MOST, report);
            *slot = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(*slot);
        };
        match name {
            "max-connections-size-per-query" => number(&mut self.max_connections_size_per_query, 1),
            "lock-connections-size-per-storage-unit" => number(&mut self.lock_connections, 1),
            "proxy-frontend-executor-size" => {
                let threads = node.integer(0..=MOST_THREADS, report);
                let threads = threads.and_then(|number| u32::try_from(number).ok());
                self.frontend_executor_size = threads.unwrap_or(self.frontend_executor_size);
            }
            "proxy-frontend-max-connections" => number(&mut self.frontend_max_connections, 0),
            "proxy-netty-backlog" => number(&mut self.accept_backlog, 1),
            "sql-show" => self.sql_show = node.boolean(report).unwrap_or(false),
            "proxy-frontend-ssl-enabled" => {
                self.frontend_ssl_enabled = node.boolean(report).unwrap_or(false);
            }
            "proxy-frontend-ssl-version" => self.frontend_ssl_versions = names(node, report),
            "proxy-frontend-ssl-cipher" => self.frontend_ssl_ciphers = names(node, report),
            "proxy-frontend-database-protocol-type" => {
                self.frontend_protocol = protocol(node, &node.at, report);
            }
            "proxy-default-port" => {
                let port = node.integer(1..=65_535, report);
                let port = port.and_then(|number| u16::try_from(number).ok());
                self.default_port = port.unwrap_or(self.default_port);
            }
            "proxy-frontend-connection-idle-timeout" => {
                let seconds = node.integer(0..=i64::MAX, report);
                let seconds = seconds.and_then(|number| u64::try_from(number).ok());
                self.frontend_connection_idle_timeout =
                    seconds.unwrap_or(self.frontend_connection_idle_timeout);
            }
            "health-check-failures" => number(&mut self.health.failures, 1),
            "health-check-successes" => number(&mut self.health.successes, 1),
            "health-check-interval-milliseconds" => {
                milliseconds(&mut self.health.interval, 0, node, report);
            }
            "health-check-timeout-milliseconds" => {
                milliseconds(&mut self.health.timeout, 1, node, report);
            }
            "health-check-max-replica-lag-milliseconds" => {
                let most = node.integer(-1..=MOST, report);
                self.health.most_lag =
                    most.and_then(|most| u64::try_from(most).ok()).map(Duration::from_millis);
            }
            _ => idle::read(name, entry, report),
        }
    }
}

fn milliseconds(slot: &mut Duration, least: i64, node: &Node, report: &mut Report) {
    let number = node.integer(least..=MOST, report);
    *slot = number.and_then(|n| u64::try_from(n).ok()).map_or(*slot, Duration::from_millis);
}

fn names(node: &Node, report: &mut Report) -> Vec<String> {
    let names = node.names(report).unwrap_or_default();
    names.into_iter().map(|name| name.value).collect()
}

fn protocol(node: &Node, at: &At, report: &mut Report) -> Option<Placed<Protocol>> {
    let known = [
        ("MySQL", Protocol::MySql),
        ("MariaDB", Protocol::MySql),
        ("PostgreSQL", Protocol::Postgres),
        ("openGauss", Protocol::Postgres),
    ];
    if node.string(report)?.trim().is_empty() {
        return None;
    }
    Some(Placed { value: node.choice(&known, report)?, at: at.clone() })
}
