//! A room that does nothing to statements, and whose rules say as much as those of ENCRYPT and SHADOW together: tables
//! with columns in parts, and pairs of storage units.

use std::sync::Arc;

use pando_config::{Entry, Fields, Node, Report, Rules};
use pando_kernel::feature::{Feature, Room};
use pando_kernel::grammar::{Algorithms, Field, Form, Key, Named, Part, Presence};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, RuleGrammar};

/// The room for `!VEIL`.
pub(crate) const ROOM: Offer =
    Offer { section: Some("VEIL"), grammar: &[TABLES, DETOURS], ..Offer::new(room) };

/// As `CREATE ENCRYPT RULE`, with a switch and a bound more.
const TABLES: RuleGrammar = RuleGrammar {
    words: "VEIL TABLE",
    key: Key { named: Named::Table, column: "table" },
    fields: &[
        required("COLUMNS", Form::Parts(&COLUMN), ("columns", "")),
        optional("OPEN", Form::Boolean, ("isOpen", "is_open")),
        optional("READERS", Form::Number { least: 1, most: 9 }, ("readers", "readers")),
    ],
    columns: &[
        "table",
        "logic_column",
        "cipher_column",
        "assisted_query_column",
        "encryptor_type",
        "encryptor_props",
        "assisted_query_type",
        "is_open",
        "readers",
    ],
    help: "Keeps columns of tables veiled.",
    example: "t_user(COLUMNS((NAME=pwd, CIPHER=pwd_cipher, ENCRYPT_ALGORITHM(TYPE(NAME='AES')))))",
    ..RuleGrammar::tables("VEIL TABLE")
};

static COLUMN: Part = Part {
    word: "NAME",
    key: Key { named: Named::Column, column: "logic_column" },
    fields: &[
        required("CIPHER", Form::Name(Named::Column), ("cipher.name", "cipher_column")),
        optional(
            "ASSISTED_QUERY",
            Form::Name(Named::Column),
            ("assistedQuery.name", "assisted_query_column"),
        ),
        required(
            "ENCRYPT_ALGORITHM",
            Form::Algorithm(&Algorithms { stored: "encryptors", prefix: "" }),
            ("cipher.encryptorName", "encryptor"),
        ),
        optional(
            "ASSISTED_QUERY_ALGORITHM",
            Form::Algorithm(&Algorithms { stored: "encryptors", prefix: "assist_" }),
            ("assistedQuery.encryptorName", "assisted_query"),
        ),
    ],
};

/// As `CREATE SHADOW RULE`.
const DETOURS: RuleGrammar = RuleGrammar {
    words: "VEIL DETOUR",
    key: Key { named: Named::Rule, column: "rule_name" },
    fields: &[
        required("SOURCE", Form::Name(Named::Unit), ("source", "source_name")),
        required("SHADOW", Form::Name(Named::Unit), ("shadow", "shadow_name")),
        optional("LABELS", Form::Names(Named::Rule), ("labels", "labels")),
        required("", Form::Parts(&DETOURED), ("tables", "")),
    ],
    stored: "detours",
    columns: &["shadow_table", "rule_name", "source_name", "shadow_name", "algorithm_type"],
    help: "Leads statements to another storage unit.",
    example: "r(SOURCE=ds_0, SHADOW=ds_1, t_user(TYPE(NAME='SQL_HINT')))",
};

static DETOURED: Part = Part {
    word: "",
    key: Key { named: Named::Table, column: "shadow_table" },
    fields: &[required(
        "",
        Form::Algorithms(&Algorithms { stored: "detourAlgorithms", prefix: "" }),
        ("algorithmNames", "algorithm"),
    )],
};

const fn required(
    word: &'static str,
    form: Form,
    (stored, column): (&'static str, &'static str),
) -> Field {
    Field { word, form, presence: Presence::Required, stored, column }
}

const fn optional(word: &'static str, form: Form, place: (&'static str, &'static str)) -> Field {
    Field { presence: Presence::Optional, ..required(word, form, place) }
}

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let read = rules.read_section("VEIL", |fields| {
        let encryptors = fields.algorithms("encryptors");
        let detour_algorithms = fields.algorithms("detourAlgorithms");
        fields.map("tables", |entry, report| {
            let mut fields = Fields::of(&entry.value, report)?;
            let mut stored = Vec::new();
            fields.map("columns", |entry, report| column(entry, report, &mut stored));
            fields.optional_boolean("isOpen");
            fields.optional_integer("readers", 1..=9);
            for name in stored {
                encryptors.check(&name, "encryptor", fields.report());
            }
            fields.finish();
            Some(())
        });
        fields.map("detours", |entry, report| {
            let mut fields = Fields::of(&entry.value, report)?;
            for field in ["source", "shadow"] {
                let Some(unit) = fields.name(field) else { continue };
                if !around.units.iter().any(|own| **own == *unit.value) {
                    let problem = unit.at.problem(format!("no storage unit `{}`", unit.value));
                    fields.report().error(problem);
                }
            }
            fields.names("labels");
            fields.map("tables", |entry, report| {
                let mut fields = Fields::of(&entry.value, report)?;
                for name in fields.names("algorithmNames") {
                    detour_algorithms.check(&name, "algorithm", fields.report());
                }
                fields.finish();
                Some(())
            });
            fields.finish();
            Some(())
        });
    })?;
    Ok(read.map(|()| -> Arc<dyn Feature> { Arc::new(Veil) }))
}

fn column(
    entry: &Entry,
    report: &mut Report,
    names: &mut Vec<pando_config::Placed<String>>,
) -> Option<()> {
    let mut fields = Fields::of(&entry.value, report)?;
    for node in [fields.field("cipher"), fields.optional("assistedQuery")].into_iter().flatten() {
        names.extend(encryptor(node, fields.report()));
    }
    fields.finish();
    Some(())
}

fn encryptor(node: &Node, report: &mut Report) -> Option<pando_config::Placed<String>> {
    let mut fields = Fields::of(node, report)?;
    fields.name("name");
    let name = fields.name("encryptorName");
    fields.finish();
    name
}

#[derive(Debug)]
struct Veil;

impl Room for Veil {
    fn name(&self) -> &'static str {
        "veil"
    }
}

impl Feature for Veil {}
