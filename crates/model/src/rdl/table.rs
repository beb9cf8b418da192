//! Rules of sharded tables, standard and automatic.

use std::collections::BTreeSet;

use pando_config::Node;
use pando_distsql::command::{
    AlgorithmUse, AuditStrategy, Change as How, Layout, Missing, Name, Strategy, TableRule,
};

use crate::algorithms::{AUDITOR, KEY_GENERATOR, SHARDING, Sort};
use crate::canonical::{list, read_references};
use crate::draft::{Draft, Taken, is_expression, once_each};
use crate::refusal::{Kind, Result};

const TAG: &str = "SHARDING";
const FIELDS: [&str; 2] = ["tables", "autoTables"];

/// The key of a sharded table as it is defined, whatever the case it is asked for in.
pub(super) fn defined_as<'s>(
    section: Option<&'s Node>,
    table: &str,
) -> Option<(&'static str, &'s str)> {
    let section = section?;
    FIELDS.into_iter().find_map(|field| {
        let entries = section.get(field).map(Node::pairs).unwrap_or_default();
        let found = entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(table));
        found.map(|entry| (field, entry.key.as_str()))
    })
}

pub(super) fn define(draft: &mut Draft<'_>, change: How, rules: &[TableRule]) -> Result<()> {
    let exists = |name: &str| defined_as(draft.section(TAG), name).is_some();
    let taken = Taken { what: "sharding tables", missing: Kind::MissingRule, exists: &exists };
    let wanted = draft.wanted(change, rules, |rule| &rule.table.text, &taken)?;
    let units = wanted.iter().flat_map(|rule| units(&rule.layout));
    draft.need_places(once_each(units))?;
    for rule in wanted {
        // An altered table keeps the name it was made with, as its actual tables are called by it.
        let known = defined_as(draft.section(TAG), &rule.table.text).map(|(_, key)| key.to_owned());
        let table = known.unwrap_or_else(|| rule.table.text.clone());
        draft.tree.change_rule(TAG, |section| {
            take_out(section, &table);
            put(section, &table, rule)
        })?;
    }
    Ok(())
}

/// The storage units that a layout names plainly.
fn units(layout: &Layout) -> Vec<&str> {
    match layout {
        Layout::Standard { data_nodes, .. } => {
            let plain = data_nodes.iter().filter(|node| !is_expression(&node.text));
            let nodes = plain.flat_map(|nodes| nodes.text.split(','));
            nodes.filter_map(|node| node.split_once('.')).map(|(unit, _)| unit.trim()).collect()
        }
        Layout::Auto { units, .. } => {
            let plain = units.iter().filter(|unit| !is_expression(&unit.text));
            plain.flat_map(|units| units.text.split(',')).map(str::trim).collect()
        }
    }
}

fn put(section: &mut Node, table: &str, rule: &TableRule) -> Result<()> {
    let mut node = Node::mapping::<&str>([]);
    let field = match &rule.layout {
        Layout::Standard { data_nodes, database, table: strategy_of_tables } => {
            node.set("actualDataNodes", Node::text(joined(data_nodes)));
            if let Some(strategy) = database {
                let base = format!("{table}_database");
                node.set("databaseStrategy", self::strategy(section, &base, strategy)?);
            }
            if let Some(strategy) = strategy_of_tables {
                let base = format!("{table}_table");
                node.set("tableStrategy", self::strategy(section, &base, strategy)?);
            }
            "tables"
        }
        Layout::Auto { units, column, algorithm } => {
            node.set("actualDataSources", Node::text(joined(units)));
            let algorithm = AlgorithmUse::Inline(algorithm.clone());
            let strategy = Strategy::Standard { column: column.clone(), algorithm };
            node.set("shardingStrategy", self::strategy(section, table, &strategy)?);
            "autoTables"
        }
    };
    if let Some(key) = &rule.key {
        let name = KEY_GENERATOR.take(section, table, &key.generator)?;
        let strategy = [
            ("column", Node::text(key.column.text.as_str())),
            ("keyGeneratorName", Node::text(name)),
        ];
        node.set("keyGenerateStrategy", Node::mapping(strategy));
    }
    if let Some(audit) = &rule.audit {
        node.set("auditStrategy", self::audit(section, table, audit));
    }
    section.change(field, |tables| tables.set(table, node));
    Ok(())
}

fn joined(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(",")
}

/// A strategy as documents have it; an algorithm described on the spot gets a name that begins with `base`.
pub(super) fn strategy(section: &mut Node, base: &str, strategy: &Strategy) -> Result<Node> {
    let (kind, columns, algorithm) = match strategy {
        Strategy::Standard { column, algorithm } => {
            ("standard", Some(("shardingColumn", column.text.clone())), algorithm)
        }
        Strategy::Complex { columns, algorithm } => {
            ("complex", Some(("shardingColumns", joined(columns))), algorithm)
        }
        Strategy::Hint { algorithm } => ("hint", None, algorithm),
        Strategy::None => return Ok(Node::mapping([("none", Node::nothing())])),
    };
    let mut node = Node::mapping::<&str>([]);
    if let Some((key, columns)) = columns {
        node.set(key, Node::text(columns));
    }
    node.set("shardingAlgorithmName", Node::text(SHARDING.take(section, base, algorithm)?));
    Ok(Node::mapping([(kind, node)]))
}

fn audit(section: &mut Node, table: &str, audit: &AuditStrategy) -> Node {
    let auditors = audit.auditors.iter().enumerate();
    let names: Vec<String> = auditors
        .map(|(i, auditor)| AUDITOR.define(section, &auditor_base(table, i), auditor))
        .collect();
    let allows = if audit.allow_hint_disable { "true" } else { "false" };
    Node::mapping([("auditorNames", list(&names)), ("allowHintDisable", Node::text(allows))])
}

fn auditor_base(table: &str, number: usize) -> String {
    format!("{table}_{{type}}_{number}")
}

/// Takes a table's rule out, and the algorithms made for it alone.
fn take_out(section: &mut Node, table: &str) {
    let Some((field, key)) = defined_as(Some(section), table) else { return };
    let key = key.to_owned();
    let Some(old) = section.change(field, |tables| tables.remove(&key)) else { return };
    let bases = [key.clone(), format!("{key}_database"), format!("{key}_table")];
    forget(section, &SHARDING, &old, &bases);
    forget(section, &KEY_GENERATOR, &old, &bases);
    let auditors = (0..AUDITOR.used(&old).len()).map(|i| auditor_base(&key, i));
    forget(section, &AUDITOR, &old, &auditors.collect::<Vec<_>>());
}

fn forget(section: &mut Node, sort: &Sort, old: &Node, bases: &[String]) {
    let used: BTreeSet<String> = sort.used(old);
    sort.forget(section, &used, bases);
}

pub(super) fn drop_all(draft: &mut Draft<'_>, missing: Missing, names: &[Name]) -> Result<()> {
    let exists = |name: &str| defined_as(draft.section(TAG), name).is_some();
    let taken = Taken { what: "sharding tables", missing: Kind::MissingRule, exists: &exists };
    for name in draft.dropped(missing, names, &taken)? {
        let by = built_on(draft, name);
        if !by.is_empty() {
            return Err(draft.in_use(Kind::InUsedRule, &format!("sharding table `{name}`"), &by));
        }
        draft.tree.change_rule(TAG, |section| take_out(section, name));
    }
    Ok(())
}

/// References and key generate strategies that name a table.
fn built_on(draft: &Draft<'_>, table: &str) -> Vec<String> {
    let references = draft.field(TAG, "bindingTables").map(read_references).unwrap_or_default();
    let names = |tables: &[String]| tables.iter().any(|own| own.eq_ignore_ascii_case(table));
    let references = references.into_iter().filter(|(_, tables)| names(tables));
    let mut by: Vec<String> = references.map(|(name, _)| format!("reference {name}")).collect();
    let keys = draft.field(TAG, "keyGenerateStrategies").map(Node::pairs).unwrap_or_default();
    let of_table = keys.iter().filter(|entry| {
        let own = entry.value.get("logicTable").and_then(Node::as_text);
        own.is_some_and(|own| own.eq_ignore_ascii_case(table))
    });
    by.extend(of_table.map(|entry| format!("key generate strategy {}", entry.key)));
    by
}
