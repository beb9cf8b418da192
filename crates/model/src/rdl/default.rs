//! The two default strategies.

use pando_config::Node;
use pando_distsql::command::{Change as How, Missing, Scope, Strategy};

use super::table::strategy as node_of;
use crate::algorithms::SHARDING;
use crate::draft::Draft;
use crate::refusal::{Kind, Refusal, Result};

const TAG: &str = "SHARDING";

struct Level {
    /// The field with the default strategy.
    field: &'static str,
    /// The field of a table with its own.
    own: &'static str,
    /// What generated names begin with.
    base: &'static str,
    /// The word in messages.
    word: &'static str,
}

fn level(scope: Scope) -> Level {
    match scope {
        Scope::Database => Level {
            field: "defaultDatabaseStrategy",
            own: "databaseStrategy",
            base: "default_database",
            word: "database",
        },
        Scope::Table => Level {
            field: "defaultTableStrategy",
            own: "tableStrategy",
            base: "default_table",
            word: "table",
        },
    }
}

pub(super) fn define(
    draft: &mut Draft<'_>,
    change: How,
    scope: Scope,
    strategy: &Strategy,
) -> Result<()> {
    let level = level(scope);
    match (draft.field(TAG, level.field).is_some(), change) {
        (true, How::Create) => {
            let message = format!(
                "database `{}` has a default sharding {} strategy already",
                draft.name, level.word
            );
            return Err(Refusal::new(Kind::DuplicateRule, message));
        }
        (true, How::CreateIfNotExists) => return Ok(()),
        (false, How::Alter) => return Err(missing_one(draft, &level)),
        (true, How::Alter) | (false, How::Create | How::CreateIfNotExists) => {}
    }
    draft.tree.change_rule(TAG, |section| {
        take_out(section, &level);
        let node = node_of(section, level.base, strategy)?;
        section.set(level.field, node);
        Ok(())
    })
}

fn take_out(section: &mut Node, level: &Level) {
    let Some(old) = section.remove(level.field) else { return };
    SHARDING.forget(section, &SHARDING.used(&old), &[level.base.to_owned()]);
}

fn missing_one(draft: &Draft<'_>, level: &Level) -> Refusal {
    let message =
        format!("database `{}` has no default sharding {} strategy", draft.name, level.word);
    Refusal::new(Kind::MissingStrategy, message)
}

pub(super) fn drop_one(draft: &mut Draft<'_>, missing: Missing, scope: Scope) -> Result<()> {
    let level = level(scope);
    if draft.field(TAG, level.field).is_none() {
        return match missing {
            Missing::Fails => Err(missing_one(draft, &level)),
            Missing::Passes => Ok(()),
        };
    }
    // Without any strategy a table's rows could not be told apart any more.
    let tables = draft.field(TAG, "tables").map(Node::pairs).unwrap_or_default();
    let follows =
        |node: &Node| node.get(level.own).is_none() && node.get("actualDataNodes").is_some();
    let by: Vec<String> = tables
        .iter()
        .filter(|entry| follows(&entry.value))
        .map(|entry| format!("sharding table {}", entry.key))
        .collect();
    if !by.is_empty() {
        let what = format!("the default sharding {} strategy", level.word);
        return Err(draft.in_use(Kind::InUsedRule, &what, &by));
    }
    draft.tree.change_rule(TAG, |section| take_out(section, &level));
    Ok(())
}
