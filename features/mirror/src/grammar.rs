//! How the rules are written as statements.

use pando_kernel::RuleGrammar;
use pando_kernel::grammar::{Field, Form, Key, Named, Presence};

use crate::rule::{LONGEST, MOST_BYTES, MOST_CONNECTIONS, MOST_WAITING};

/// `CREATE MIRROR RULE`.
pub(crate) const MIRROR: RuleGrammar = RuleGrammar {
    words: "MIRROR",
    key: Key { named: Named::Rule, column: "name" },
    fields: &[
        required("SOURCE", "source", "source"),
        required("MIRROR", "mirror", "mirror"),
        field("TABLES", Form::Names(Named::Table), "tables", "tables"),
        field("SHARE", Form::Text, "share", "share"),
        field("SAMPLED_BY", Form::Name(Named::Rule), "sampledBy", "sampled_by"),
        field("COPIES", Form::Name(Named::Rule), "copies", "copies"),
        field("COMPARES", Form::Name(Named::Rule), "compares", "compares"),
        field("CONNECTIONS", number(MOST_CONNECTIONS), "connections", "connections"),
        field("QUEUE", number(MOST_WAITING), "queue", "queue"),
        field("QUEUE_BYTES", number(MOST_BYTES), "queueBytes", "queue_bytes"),
        field("RUN_MILLISECONDS", number(LONGEST), "runMilliseconds", "run_milliseconds"),
    ],
    stored: "mirrors",
    columns: &[
        "name",
        "source",
        "mirror",
        "tables",
        "share",
        "sampled_by",
        "copies",
        "compares",
        "connections",
        "queue",
        "queue_bytes",
        "run_milliseconds",
    ],
    help: "Runs a share of a storage unit's statements a second time on another, and compares the answers.",
    example: "next(SOURCE=ds_0, MIRROR=ds_1, SHARE='0.1')",
};

const fn number(most: u64) -> Form {
    Form::Number { least: 1, most }
}

const fn required(word: &'static str, stored: &'static str, column: &'static str) -> Field {
    let (form, presence) = (Form::Name(Named::Unit), Presence::Required);
    Field { word, form, presence, stored, column }
}

const fn field(
    word: &'static str,
    form: Form,
    stored: &'static str,
    column: &'static str,
) -> Field {
    Field { word, form, presence: Presence::Optional, stored, column }
}
