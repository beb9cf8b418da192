//! `pando check`.

use std::fmt::Write;
use std::path::Path;

use pando_kernel::Modules;
use pando_kernel::feature::{LogicTable, TableKind};
use pando_server::Loaded;

use crate::out::{complain, say};

pub(crate) fn run(config: &Path, data: &Path, modules: &dyn Modules) -> Result<(), String> {
    let loaded = pando_server::load(config, data, modules).map_err(|errors| errors.to_string())?;
    for warning in &loaded.warnings {
        complain(&format!("warning: {warning}"));
    }
    say(&found(&loaded)).map_err(|error| error.to_string())
}

fn found(loaded: &Loaded) -> String {
    let mut out = String::new();
    for (config, built) in loaded.configuration.databases.iter().zip(&loaded.databases) {
        let database = &built.database;
        line(&mut out, format_args!("database {} ({})", database.name, database.dialect.family()));
        for unit in &config.storage_units {
            line(&mut out, format_args!("  storage unit {}: {}", unit.name.value, unit.url.value));
        }
        if let Some(readwrite) = &config.rules.readwrite {
            for (name, group) in readwrite.groups.iter() {
                let reads: Vec<&str> = group.read.iter().map(|read| read.as_str()).collect();
                let (write, reads) = (&group.write.value, reads.join(", "));
                line(
                    &mut out,
                    format_args!("  group {}: writes to {write}, reads from {reads}", name.value),
                );
            }
        }
        for table in database.features.iter().flat_map(|feature| feature.tables()) {
            line(&mut out, format_args!("  {}", described(&table)));
        }
    }
    let users: Vec<String> = loaded
        .configuration
        .global
        .authority
        .users
        .iter()
        .map(|user| format!("{}@{}", user.name, user.host))
        .collect();
    line(&mut out, format_args!("users {}", users.join(", ")));
    out
}

fn described(table: &LogicTable) -> String {
    let kind = match table.kind {
        TableKind::Sharded => "sharded table",
        TableKind::Broadcast => "broadcast table",
        TableKind::Single => "single table",
    };
    // A thousand nodes say no more than the first and the last.
    let nodes = match table.nodes.as_slice() {
        [] => "nowhere".to_owned(),
        [only] => format!("{}.{}", only.unit, only.table),
        [first, .., last] => format!(
            "{}.{} … {}.{}, {} actual tables",
            first.unit,
            first.table,
            last.unit,
            last.table,
            table.nodes.len()
        ),
    };
    format!("{kind} {}: {nodes}", table.name)
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}
