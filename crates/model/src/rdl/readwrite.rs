//! Read-write splitting groups.

use std::collections::HashSet;

use pando_config::Node;
use pando_distsql::command::{Change as How, Members, Missing, Name, ReadwriteRule};

use crate::algorithms::LOAD_BALANCER;
use crate::canonical::{list, names};
use crate::draft::{Draft, Taken, see};
use crate::refusal::{Kind, Refusal, Result};

const TAG: &str = "READWRITE_SPLITTING";
const FIELD: &str = "dataSourceGroups";
const WHAT: &str = "readwrite-splitting groups";

pub(super) fn define(draft: &mut Draft<'_>, change: How, rules: &[ReadwriteRule]) -> Result<()> {
    let exists = |name: &str| draft.has(TAG, FIELD, name);
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for rule in draft.wanted(change, rules, |rule| &rule.name.text, &taken)? {
        let Members::Static { write, reads } = &rule.members else {
            return Err(Refusal::not_supported("a group whose members are found by discovery"));
        };
        let members = || [write].into_iter().chain(reads).map(|name| name.text.as_str());
        draft.need_units(members())?;
        let mut seen = HashSet::new();
        if let Some(twice) = members().find(|name| !seen.insert(*name)) {
            return Err(twice_in(twice, &rule.name.text));
        }
        only_writer(draft, &rule.name.text, &write.text)?;
        draft.tree.change_rule(TAG, |section| {
            take_out(section, &rule.name.text);
            put(section, rule, &write.text, reads);
        });
    }
    Ok(())
}

fn twice_in(unit: &str, group: &str) -> Refusal {
    let message = format!("storage unit `{unit}` is in readwrite-splitting group `{group}` twice");
    Refusal::new(Kind::DuplicateMember, message)
}

/// A unit takes the writes of one group.
fn only_writer(draft: &Draft<'_>, group: &str, write: &str) -> Result<()> {
    let groups = draft.field(TAG, FIELD).map(Node::pairs).unwrap_or_default();
    let writes =
        |node: &Node| node.get("writeDataSourceName").and_then(Node::as_text) == Some(write);
    let other = groups.iter().find(|entry| entry.key != group && writes(&entry.value));
    let Some(other) = other else { return Ok(()) };
    let message = format!(
        "storage unit `{write}` takes the writes of readwrite-splitting group `{}` already",
        other.key
    );
    Err(Refusal::new(Kind::DuplicateMember, message))
}

fn put(section: &mut Node, rule: &ReadwriteRule, write: &str, reads: &[Name]) {
    let name = rule.name.text.as_str();
    let reads: Vec<&str> = reads.iter().map(|name| name.text.as_str()).collect();
    let mut node = Node::mapping([
        ("writeDataSourceName", Node::text(write)),
        ("readDataSourceNames", list(&reads)),
    ]);
    if let Some(strategy) = &rule.transactional_reads {
        let strategy = Node::text(strategy.text.to_uppercase());
        node.set("transactionalReadQueryStrategy", strategy);
    }
    if let Some(balancer) = &rule.balancer {
        let balancer = LOAD_BALANCER.define(section, name, balancer);
        node.set("loadBalancerName", Node::text(balancer));
    }
    section.change(FIELD, |groups| groups.set(name, node));
}

fn take_out(section: &mut Node, name: &str) {
    let Some(old) = section.change(FIELD, |groups| groups.remove(name)) else { return };
    LOAD_BALANCER.forget(section, &LOAD_BALANCER.used(&old), &[name.to_owned()]);
}

pub(super) fn drop_all(draft: &mut Draft<'_>, missing: Missing, dropped: &[Name]) -> Result<()> {
    let exists = |name: &str| draft.has(TAG, FIELD, name);
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    let dropped = draft.dropped(missing, dropped, &taken)?;
    if dropped.is_empty() {
        return Ok(());
    }
    let seen = see(&draft.tree, draft.around, Kind::InvalidRule)?;
    for name in dropped {
        let tables = seen.sharded().filter(|t| t.nodes.iter().any(|node| *node.unit == *name));
        let mut by: Vec<String> =
            tables.map(|table| format!("sharding table {}", table.name)).collect();
        by.extend(named_by_single(draft, name));
        if !by.is_empty() {
            let what = format!("readwrite-splitting group `{name}`");
            return Err(draft.in_use(Kind::InUsedRule, &what, &by));
        }
        draft.tree.change_rule(TAG, |section| take_out(section, name));
    }
    Ok(())
}

fn named_by_single(draft: &Draft<'_>, group: &str) -> Vec<String> {
    let default = draft.field("SINGLE", "defaultDataSource").and_then(Node::as_text);
    let tables = draft.field("SINGLE", "tables").map(names).unwrap_or_default();
    let tables = tables.into_iter().filter(|own| own.split('.').next() == Some(group));
    let default = default.filter(|unit| *unit == group).map(|_| "default storage unit".to_owned());
    tables.map(|table| format!("single table {table}")).chain(default).collect()
}
