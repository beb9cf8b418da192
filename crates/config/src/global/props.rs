//! `props`: the server's knobs, every key with its type.

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

/// Every property with ShardingSphere's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// `sql-show`: log every logic and actual statement. Off.
    pub sql_show: bool,
    /// `sql-simple`: log statements in the short form. Off.
    pub sql_simple: bool,
    /// `kernel-executor-size`: threads of the executor; 0 (default) means no limit.
    pub kernel_executor_size: u32,
    /// `max-connections-size-per-query`: connections one query may take per storage unit. 1.
    pub max_connections_size_per_query: u32,
    /// `max-union-size-per-datasource`: actual statements glued into one by UNION ALL. 2147483647.
    pub max_union_size_per_datasource: u32,
    /// `check-table-metadata-enabled`: compare the structure of all actual tables at start. Off.
    pub check_table_metadata_enabled: bool,
    /// `load-table-metadata-batch-size`: tables asked about in one query. 1000.
    pub load_table_metadata_batch_size: u32,
    /// `proxy-frontend-database-protocol-type`: absent means that of the first storage unit.
    pub frontend_protocol: Option<Placed<Protocol>>,
    /// `proxy-frontend-flush-threshold`: rows after which a result is flushed. 128.
    pub frontend_flush_threshold: u32,
    /// `proxy-backend-query-fetch-size`: rows fetched at once; -1 (default) means as they come.
    pub backend_query_fetch_size: i32,
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
    /// `cdc-server-port`: the port of change data capture. 33071.
    pub cdc_server_port: u16,
    /// `proxy-frontend-ssl-enabled`: offer TLS to clients. Off.
    pub frontend_ssl_enabled: bool,
    /// `proxy-frontend-ssl-version`: TLS versions offered. `TLSv1.2`, `TLSv1.3`.
    pub frontend_ssl_versions: Vec<String>,
    /// `proxy-frontend-ssl-cipher`: cipher suites offered; empty (default) means the usual ones.
    pub frontend_ssl_ciphers: Vec<String>,
    /// `agent-plugins-enabled`: metrics and tracing. On.
    pub agent_plugins_enabled: bool,
    /// `persist-schemas-to-repository-enabled`: keep table structures in the repository. On.
    pub persist_schemas_to_repository_enabled: bool,
    /// `groovy-inline-expression-parsing-cache-max-size`: accepted; expressions are compiled once here. 1000.
    pub inline_expression_cache_size: u64,
    /// `proxy-meta-data-collector-enabled`. Off.
    pub meta_data_collector_enabled: bool,
    /// `proxy-meta-data-collector-cron`. Every minute.
    pub meta_data_collector_cron: String,
    /// `system-schema-metadata-assembly-enabled`. On.
    pub system_schema_metadata_assembly_enabled: bool,
    /// `instance-connection-enabled`. Off.
    pub instance_connection_enabled: bool,
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            sql_show: false,
            sql_simple: false,
            kernel_executor_size: 0,
            max_connections_size_per_query: 1,
            max_union_size_per_datasource: i32::MAX.unsigned_abs(),
            check_table_metadata_enabled: false,
            load_table_metadata_batch_size: 1000,
            frontend_protocol: None,
            frontend_flush_threshold: 128,
            backend_query_fetch_size: -1,
            frontend_executor_size: 0,
            frontend_max_connections: 0,
            frontend_connection_idle_timeout: 28_800,
            default_port: 3307,
            accept_backlog: 1024,
            cdc_server_port: 33_071,
            frontend_ssl_enabled: false,
            frontend_ssl_versions: vec!["TLSv1.2".into(), "TLSv1.3".into()],
            frontend_ssl_ciphers: Vec::new(),
            agent_plugins_enabled: true,
            persist_schemas_to_repository_enabled: true,
            inline_expression_cache_size: 1000,
            meta_data_collector_enabled: false,
            meta_data_collector_cron: "0 0/1 * * * ?".into(),
            system_schema_metadata_assembly_enabled: true,
            instance_connection_enabled: false,
        }
    }
}

const KEYS: [&str; 26] = [
    "sql-show",
    "sql-simple",
    "kernel-executor-size",
    "max-connections-size-per-query",
    "max-union-size-per-datasource",
    "check-table-metadata-enabled",
    "load-table-metadata-batch-size",
    "proxy-frontend-database-protocol-type",
    "proxy-frontend-flush-threshold",
    "proxy-backend-query-fetch-size",
    "proxy-frontend-executor-size",
    "proxy-frontend-max-connections",
    "proxy-frontend-connection-idle-timeout",
    "proxy-default-port",
    "proxy-netty-backlog",
    "cdc-server-port",
    "proxy-frontend-ssl-enabled",
    "proxy-frontend-ssl-version",
    "proxy-frontend-ssl-cipher",
    "agent-plugins-enabled",
    "persist-schemas-to-repository-enabled",
    "groovy-inline-expression-parsing-cache-max-size",
    "proxy-meta-data-collector-enabled",
    "proxy-meta-data-collector-cron",
    "system-schema-metadata-assembly-enabled",
    "instance-connection-enabled",
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
            if !KEYS.contains(&name) {
                let hint = suggest::nearest(key, KEYS);
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
        self.take_flag(name, node, report);
        let mut number = |slot: &mut u32, least: i64| {
            let number = node.integer(least..=MOST, report);
            *slot = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(*slot);
        };
        match name {
            "kernel-executor-size" => number(&mut self.kernel_executor_size, 0),
            "max-connections-size-per-query" => number(&mut self.max_connections_size_per_query, 1),
            "max-union-size-per-datasource" => number(&mut self.max_union_size_per_datasource, 1),
            "load-table-metadata-batch-size" => number(&mut self.load_table_metadata_batch_size, 1),
            "proxy-frontend-flush-threshold" => number(&mut self.frontend_flush_threshold, 1),
            "proxy-frontend-executor-size" => number(&mut self.frontend_executor_size, 0),
            "proxy-frontend-max-connections" => number(&mut self.frontend_max_connections, 0),
            "proxy-netty-backlog" => number(&mut self.accept_backlog, 1),
            _ => self.take_other(name, node, report),
        }
    }

    fn take_flag(&mut self, name: &str, node: &Node, report: &mut Report) {
        let slot = match name {
            "sql-show" => &mut self.sql_show,
            "sql-simple" => &mut self.sql_simple,
            "check-table-metadata-enabled" => &mut self.check_table_metadata_enabled,
            "proxy-frontend-ssl-enabled" => &mut self.frontend_ssl_enabled,
            "agent-plugins-enabled" => &mut self.agent_plugins_enabled,
            "persist-schemas-to-repository-enabled" => {
                &mut self.persist_schemas_to_repository_enabled
            }
            "proxy-meta-data-collector-enabled" => &mut self.meta_data_collector_enabled,
            "system-schema-metadata-assembly-enabled" => {
                &mut self.system_schema_metadata_assembly_enabled
            }
            "instance-connection-enabled" => &mut self.instance_connection_enabled,
            _ => return,
        };
        *slot = node.boolean(report).unwrap_or(*slot);
    }

    fn take_other(&mut self, name: &str, node: &Node, report: &mut Report) {
        let port = |report: &mut Report| {
            node.integer(1..=65_535, report).and_then(|number| u16::try_from(number).ok())
        };
        let long = |report: &mut Report| {
            node.integer(0..=i64::MAX, report).and_then(|number| u64::try_from(number).ok())
        };
        let names = |report: &mut Report| {
            let names = node.names(report).unwrap_or_default();
            names.into_iter().map(|name| name.value).collect::<Vec<_>>()
        };
        match name {
            "proxy-default-port" => self.default_port = port(report).unwrap_or(self.default_port),
            "cdc-server-port" => {
                self.cdc_server_port = port(report).unwrap_or(self.cdc_server_port);
            }
            "proxy-frontend-connection-idle-timeout" => {
                let seconds = long(report);
                self.frontend_connection_idle_timeout =
                    seconds.unwrap_or(self.frontend_connection_idle_timeout);
            }
            "groovy-inline-expression-parsing-cache-max-size" => {
                let size = long(report);
                self.inline_expression_cache_size =
                    size.unwrap_or(self.inline_expression_cache_size);
            }
            "proxy-backend-query-fetch-size" => {
                let size = node.integer(-1..=MOST, report);
                self.backend_query_fetch_size =
                    size.and_then(|size| i32::try_from(size).ok()).unwrap_or(-1);
            }
            "proxy-frontend-ssl-version" => self.frontend_ssl_versions = names(report),
            "proxy-frontend-ssl-cipher" => self.frontend_ssl_ciphers = names(report),
            "proxy-frontend-database-protocol-type" => {
                self.frontend_protocol = protocol(node, &node.at, report);
            }
            "proxy-meta-data-collector-cron" => {
                if let Some(cron) = node.string(report) {
                    self.meta_data_collector_cron = cron.to_owned();
                }
            }
            _ => {}
        }
    }
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
