//! Instances and replicas, from facts.

use pando_config::Database;
use pando_distsql::command::Name;

use crate::around::{ComputeNode, Facts};
use crate::refusal::{Kind, Refusal, Result};
use crate::rows::{Rows, json};

pub(super) fn nodes(facts: &Facts<'_>) -> Rows {
    let mut rows = Rows::of("SHOW COMPUTE NODES");
    for node in facts.nodes {
        rows.push([
            &node.id,
            &node.kind,
            &node.host,
            &node.port.to_string(),
            &node.status,
            &node.mode,
            &worker_id(node),
            &node.labels.join(","),
            &node.version,
            "",
        ]);
    }
    rows
}

pub(super) fn own_node(facts: &Facts<'_>) -> Rows {
    let mut rows = Rows::of("SHOW COMPUTE NODE INFO");
    if let Some(node) = facts.nodes.get(facts.own) {
        rows.push([
            &node.id,
            &node.host,
            &node.port.to_string(),
            &node.status,
            &node.mode,
            &worker_id(node),
            &node.labels.join(","),
            &node.version,
        ]);
    }
    rows
}

pub(super) fn mode(facts: &Facts<'_>) -> Rows {
    let mut rows = Rows::of("SHOW COMPUTE NODE MODE");
    if let Some(node) = facts.nodes.get(facts.own) {
        let (repository, props) = match &node.repository {
            Some((kind, props)) => {
                (kind.as_str(), json(props.iter().map(|(key, value)| (&**key, &**value))))
            }
            None => ("", String::new()),
        };
        rows.push([&node.mode, repository, &props]);
    }
    rows
}

/// As ShardingSphere: -1 where there is none.
fn worker_id(node: &ComputeNode) -> String {
    node.worker_id.map_or_else(|| "-1".to_owned(), |id| id.to_string())
}

pub(super) fn read_units(
    database: &Database,
    wanted: Option<&Name>,
    facts: &Facts<'_>,
) -> Result<Rows> {
    let mut rows = Rows::of("SHOW STATUS FROM READWRITE_SPLITTING RULES");
    let groups = database.rules.readwrite.iter().flat_map(|section| section.groups.iter());
    for (name, group) in
        groups.filter(|(name, _)| wanted.is_none_or(|wanted| wanted.text == name.value))
    {
        for unit in &group.read {
            let is_off = facts.disabled.iter().any(|off| {
                off.database.eq_ignore_ascii_case(&database.name)
                    && off.group == name.value
                    && off.unit == unit.value
            });
            rows.push([name, unit, if is_off { "DISABLED" } else { "ENABLED" }]);
        }
    }
    match wanted {
        Some(name) if rows.rows.is_empty() => {
            let message = format!(
                "readwrite-splitting groups `{}` do not exist in database `{}`",
                name.text, database.name.value
            );
            Err(Refusal::new(Kind::MissingRule, message))
        }
        Some(_) | None => Ok(rows),
    }
}
