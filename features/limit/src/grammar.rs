//! How the rules are written as statements.

use pando_kernel::RuleGrammar;
use pando_kernel::grammar::{Field, Form, Key, Named, Presence};

use crate::rule::{LONGEST, MOST, MOST_ROWS};

/// `CREATE LIMIT RULE`.
pub(crate) const LIMIT: RuleGrammar = RuleGrammar {
    words: "LIMIT",
    key: Key { named: Named::Rule, column: "name" },
    fields: &[
        field("COUNTED_BY", Form::Name(Named::Rule), "countedBy", "counted_by"),
        field("USERS", Form::Names(Named::Rule), "users", "users"),
        field("STORAGE_UNITS", Form::Names(Named::Unit), "storageUnits", "storage_units"),
        field("STATEMENT", Form::Text, "statement", "statement"),
        field(
            "STATEMENTS_PER_SECOND",
            number(1, MOST),
            "statementsPerSecond",
            "statements_per_second",
        ),
        field("BURST", number(1, MOST), "burst", "burst"),
        field("CONCURRENCY", number(1, MOST), "concurrency", "concurrency"),
        field("QUEUE", number(0, MOST), "queue", "queue"),
        field("WAIT_MILLISECONDS", number(0, LONGEST), "waitMilliseconds", "wait_milliseconds"),
        field("RUN_MILLISECONDS", number(1, LONGEST), "runMilliseconds", "run_milliseconds"),
        field("ROWS", number(1, MOST_ROWS), "rows", "rows"),
    ],
    stored: "limits",
    columns: &[
        "name",
        "counted_by",
        "users",
        "storage_units",
        "statement",
        "statements_per_second",
        "burst",
        "concurrency",
        "queue",
        "wait_milliseconds",
        "run_milliseconds",
        "rows",
    ],
    help: "Limits how many statements begin, how many run at once, for how long, and the rows that they tell.",
    example: "reports(USERS(bi), CONCURRENCY=4, WAIT_MILLISECONDS=500)",
};

/// `CREATE CIRCUIT BREAKER RULE`.
pub(crate) const CIRCUIT_BREAKER: RuleGrammar = RuleGrammar {
    words: "CIRCUIT BREAKER",
    key: Key { named: Named::Unit, column: "storage_unit" },
    fields: &[
        field("FAILED_PERCENT", number(1, 100), "failedPercent", "failed_percent"),
        field("SLOW_PERCENT", number(1, 100), "slowPercent", "slow_percent"),
        field("SLOW_MILLISECONDS", number(1, LONGEST), "slowMilliseconds", "slow_milliseconds"),
        field(
            "WINDOW_MILLISECONDS",
            number(100, LONGEST),
            "windowMilliseconds",
            "window_milliseconds",
        ),
        field("MINIMUM_STATEMENTS", number(1, MOST), "minimumStatements", "minimum_statements"),
        field("OPEN_MILLISECONDS", number(1, LONGEST), "openMilliseconds", "open_milliseconds"),
        field("PROBES", number(1, 1_000), "probes", "probes"),
    ],
    stored: "circuitBreakers",
    columns: &[
        "storage_unit",
        "failed_percent",
        "slow_percent",
        "slow_milliseconds",
        "window_milliseconds",
        "minimum_statements",
        "open_milliseconds",
        "probes",
    ],
    help: "Has statements for a storage unit fail at once while it fails or is slow.",
    example: "ds_0(FAILED_PERCENT=50, SLOW_PERCENT=50, SLOW_MILLISECONDS=1000)",
};

const fn number(least: u64, most: u64) -> Form {
    Form::Number { least, most }
}

const fn field(
    word: &'static str,
    form: Form,
    stored: &'static str,
    column: &'static str,
) -> Field {
    Field { word, form, presence: Presence::Optional, stored, column }
}
