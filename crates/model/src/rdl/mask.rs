//! Masked tables.

use pando_config::Node;
use pando_distsql::command::{Change as How, MaskRule, Missing, Name};

use crate::algorithms::MASK;
use crate::canonical::list;
use crate::draft::{Draft, Taken};
use crate::refusal::{Kind, Refusal, Result};

const TAG: &str = "MASK";
const WHAT: &str = "mask tables";

pub(super) fn define(draft: &mut Draft<'_>, change: How, rules: &[MaskRule]) -> Result<()> {
    let exists = |name: &str| super::key_of(draft.field(TAG, "tables"), name).is_some();
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for rule in draft.wanted(change, rules, |rule| &rule.table.text, &taken)? {
        draft.tree.change_rule(TAG, |section| {
            take_out(section, &rule.table.text);
            put(section, rule)
        })?;
    }
    Ok(())
}

fn put(section: &mut Node, rule: &MaskRule) -> Result<()> {
    let table = rule.table.text.as_str();
    let mut columns = Node::mapping::<&str>([]);
    for column in &rule.columns {
        let name = column.name.text.as_str();
        if columns.get(name).is_some() {
            let message = format!("column `{name}` of table `{table}` is given twice");
            return Err(Refusal::new(Kind::InvalidRule, message));
        }
        let algorithm = MASK.define(section, &format!("{table}_{name}"), &column.algorithm);
        let mut node = Node::mapping([("maskAlgorithm", Node::text(algorithm))]);
        if !column.unmasked.is_empty() {
            let users: Vec<&str> = column.unmasked.iter().map(|user| user.text.as_str()).collect();
            node.set("unmaskedUsers", list(&users));
        }
        if let Some(allows) = column.allows_conditions {
            node.set("allowConditions", Node::text(allows.to_string()));
        }
        columns.set(name, node);
    }
    let node = Node::mapping([("columns", columns)]);
    section.change("tables", |tables| tables.set(table, node));
    Ok(())
}

fn take_out(section: &mut Node, table: &str) {
    let Some(key) = super::key_of(section.get("tables"), table) else { return };
    let Some(old) = section.change("tables", |tables| tables.remove(&key)) else { return };
    let columns = old.get("columns").map(Node::pairs).unwrap_or_default();
    let bases: Vec<String> = columns.iter().map(|c| format!("{key}_{}", c.key)).collect();
    MASK.forget(section, &MASK.used(&old), &bases);
}

pub(super) fn drop_all(draft: &mut Draft<'_>, missing: Missing, names: &[Name]) -> Result<()> {
    let exists = |name: &str| super::key_of(draft.field(TAG, "tables"), name).is_some();
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for name in draft.dropped(missing, names, &taken)? {
        draft.tree.change_rule(TAG, |section| take_out(section, name));
    }
    Ok(())
}
