//! Properties of ShardingSphere that Pando has no use for: checked as any other, and said to be without effect.

use crate::node::{Entry, Node};
use crate::place::Report;

/// What a property holds, and which value asks for nothing that does not happen anyway.
enum Holds {
    /// A whole number from this one up; the second, where there is one, is what happens anyway.
    Number(i64, Option<i64>),
    /// This is what happens anyway.
    Flag(bool),
    /// Any text.
    Text,
}

struct Idle {
    key: &'static str,
    holds: Holds,
    because: &'static str,
}

const fn idle(key: &'static str, holds: Holds, because: &'static str) -> Idle {
    Idle { key, holds, because }
}

const IDLE: [Idle; 15] = [
    idle("sql-simple", Holds::Flag(false), "`sql-show` writes one line for each actual statement"),
    idle(
        "kernel-executor-size",
        Holds::Number(0, Some(0)),
        "no thread waits for a storage unit; `proxy-frontend-executor-size` sets the threads there are",
    ),
    idle(
        "max-union-size-per-datasource",
        Holds::Number(1, None),
        "each actual statement is sent by itself",
    ),
    idle(
        "check-table-metadata-enabled",
        Holds::Flag(false),
        "a table's columns are read when a statement first needs them",
    ),
    idle(
        "load-table-metadata-batch-size",
        Holds::Number(1, None),
        "a table's columns are read when a statement first needs them",
    ),
    idle(
        "proxy-frontend-flush-threshold",
        Holds::Number(1, None),
        "a reply is written out by bytes, not by rows",
    ),
    idle(
        "proxy-backend-query-fetch-size",
        Holds::Number(-1, Some(-1)),
        "rows are read as they come, never more than a client takes",
    ),
    idle("cdc-server-port", Holds::Number(1, None), "there is no change data capture"),
    idle("agent-plugins-enabled", Holds::Flag(false), "there is no agent"),
    idle(
        "persist-schemas-to-repository-enabled",
        Holds::Flag(false),
        "the structures of tables are kept in memory only",
    ),
    idle(
        "groovy-inline-expression-parsing-cache-max-size",
        Holds::Number(0, None),
        "each inline expression is read once, with the configuration",
    ),
    idle("proxy-meta-data-collector-enabled", Holds::Flag(false), "nothing collects statistics"),
    idle("proxy-meta-data-collector-cron", Holds::Text, "nothing collects statistics"),
    idle(
        "system-schema-metadata-assembly-enabled",
        Holds::Flag(true),
        "the catalogue is always shown as the storage units have it",
    ),
    idle("instance-connection-enabled", Holds::Flag(false), "servers do not connect to each other"),
];

/// The names of these properties.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    IDLE.iter().map(|idle| idle.key)
}

/// Checks the value of one of them, which is not empty, and says that it has no effect where one could believe that it has.
pub(super) fn read(name: &str, entry: &Entry, report: &mut Report) {
    let Some(idle) = IDLE.iter().find(|idle| idle.key == name) else { return };
    if idle.asks(&entry.value, report) {
        let because = idle.because;
        report.warn(entry.at.problem(format!("`{name}` has no effect in Pando: {because}")));
    }
}

impl Idle {
    /// Whether the value is one, and asks for something that does not happen anyway.
    fn asks(&self, value: &Node, report: &mut Report) -> bool {
        match self.holds {
            Holds::Number(least, anyway) => {
                let number = value.integer(least..=i64::from(i32::MAX), report);
                number.is_some() && number != anyway
            }
            Holds::Flag(anyway) => value.boolean(report).is_some_and(|flag| flag != anyway),
            Holds::Text => value.string(report).is_some(),
        }
    }
}
