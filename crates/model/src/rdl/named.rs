//! Algorithms that are made for themselves, and key generate strategies.

use pando_config::Node;
use pando_distsql::command::{
    Change as How, KeyGenerateRule, KeyOf, Missing, Name, NamedAlgorithm,
};

use super::table::defined_as;
use crate::algorithms::{self, KEY_GENERATOR, Sort};
use crate::draft::{Draft, Taken};
use crate::refusal::{Kind, Refusal, Result};

pub(super) fn define(
    draft: &mut Draft<'_>,
    change: How,
    sort: &Sort,
    all: &[NamedAlgorithm],
) -> Result<()> {
    let exists = |name: &str| draft.has(sort.tag, sort.field, name);
    let taken = Taken { what: sort.what, missing: Kind::MissingAlgorithm, exists: &exists };
    let wanted = draft.wanted(change, all, |named| &named.name.text, &taken)?;
    for named in wanted {
        let node = algorithms::node(&named.algorithm);
        draft.tree.change_rule(sort.tag, |section| {
            section.change(sort.field, |map| map.set(&named.name.text, node));
        });
    }
    Ok(())
}

pub(super) fn drop_all(
    draft: &mut Draft<'_>,
    missing: Missing,
    sort: &Sort,
    names: &[Name],
) -> Result<()> {
    let exists = |name: &str| draft.has(sort.tag, sort.field, name);
    let taken = Taken { what: sort.what, missing: Kind::MissingAlgorithm, exists: &exists };
    let gone = draft.dropped(missing, names, &taken)?;
    let used = draft.section(sort.tag).map(|section| sort.used(section)).unwrap_or_default();
    let by: Vec<String> =
        gone.iter().filter(|name| used.contains(**name)).map(|name| (*name).to_owned()).collect();
    if !by.is_empty() {
        let names = crate::refusal::listed(by.iter().map(String::as_str));
        let message = format!("{} {names} of database `{}` are in use", sort.what, draft.name);
        return Err(Refusal::new(Kind::InUsedAlgorithm, message));
    }
    for name in gone {
        draft.tree.change_rule(sort.tag, |section| {
            section.change(sort.field, |map| map.remove(name));
        });
    }
    Ok(())
}

const TAG: &str = "SHARDING";
const FIELD: &str = "keyGenerateStrategies";
const WHAT: &str = "key generate strategies";

pub(super) fn define_key(draft: &mut Draft<'_>, change: How, rule: &KeyGenerateRule) -> Result<()> {
    let exists = |name: &str| draft.has(TAG, FIELD, name);
    let taken = Taken { what: WHAT, missing: Kind::MissingStrategy, exists: &exists };
    let rules = std::slice::from_ref(rule);
    if draft.wanted(change, rules, |rule| &rule.name.text, &taken)?.is_empty() {
        return Ok(());
    }
    let mut node = Node::mapping::<&str>([]);
    match &rule.of {
        KeyOf::Column { table, column } => {
            let Some((_, table)) = defined_as(draft.section(TAG), &table.text) else {
                let message = format!(
                    "sharding tables `{}` do not exist in database `{}`",
                    table.text, draft.name
                );
                return Err(Refusal::new(Kind::MissingRule, message));
            };
            node.set("keyGenerateType", Node::text("column"));
            node.set("logicTable", Node::text(table));
            node.set("keyGenerateColumn", Node::text(column.text.as_str()));
        }
        KeyOf::Sequence(_) => {
            return Err(Refusal::not_supported("a key generate strategy of a sequence"));
        }
    }
    let name = rule.name.text.as_str();
    draft.tree.change_rule(TAG, |section| {
        take_key_out(section, name);
        let generator = KEY_GENERATOR.take(section, name, &rule.generator)?;
        node.set("keyGeneratorName", Node::text(generator));
        section.change(FIELD, |map| map.set(name, node));
        Ok(())
    })
}

fn take_key_out(section: &mut Node, name: &str) {
    let Some(old) = section.change(FIELD, |map| map.remove(name)) else { return };
    KEY_GENERATOR.forget(section, &KEY_GENERATOR.used(&old), &[name.to_owned()]);
}

pub(super) fn drop_keys(draft: &mut Draft<'_>, missing: Missing, names: &[Name]) -> Result<()> {
    let exists = |name: &str| draft.has(TAG, FIELD, name);
    let taken = Taken { what: WHAT, missing: Kind::MissingStrategy, exists: &exists };
    for name in draft.dropped(missing, names, &taken)? {
        draft.tree.change_rule(TAG, |section| take_key_out(section, name));
    }
    Ok(())
}
