//! Shadow units, shadowed tables, and the default shadow algorithm.

use pando_config::Node;
use pando_distsql::command::{AlgorithmUse, Change as How, Missing, Name, ShadowRule};

use crate::algorithms::SHADOW;
use crate::canonical::{list, names};
use crate::draft::{Draft, Taken};
use crate::refusal::{Kind, Refusal, Result};

const TAG: &str = "SHADOW";
const FIELD: &str = "dataSources";
const WHAT: &str = "shadow rules";
const DEFAULT: &str = "defaultShadowAlgorithmName";

pub(super) fn define(draft: &mut Draft<'_>, change: How, rules: &[ShadowRule]) -> Result<()> {
    let exists = |name: &str| draft.has(TAG, FIELD, name);
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for rule in draft.wanted(change, rules, |rule| &rule.name.text, &taken)? {
        draft.need_places([rule.source.text.as_str(), rule.shadow.text.as_str()])?;
        draft.tree.change_rule(TAG, |section| {
            take_out(section, &rule.name.text);
            put(section, rule)
        })?;
    }
    Ok(())
}

fn base(rule: &str, table: &str, number: usize) -> String {
    format!("{rule}_{table}_{{type}}_{number}")
}

fn put(section: &mut Node, rule: &ShadowRule) -> Result<()> {
    let name = rule.name.text.as_str();
    let pair = Node::mapping([
        ("productionDataSourceName", Node::text(rule.source.text.as_str())),
        ("shadowDataSourceName", Node::text(rule.shadow.text.as_str())),
    ]);
    section.change(FIELD, |pairs| pairs.set(name, pair));
    for shadowed in &rule.tables {
        let table = shadowed.table.text.as_str();
        let key = super::key_of(section.get("tables"), table).unwrap_or_else(|| table.to_owned());
        let old = section.get("tables").and_then(|tables| tables.get(&key));
        let field = |field: &str| old.and_then(|old| old.get(field)).map(names).unwrap_or_default();
        let (mut units, mut algorithms) = (field("dataSourceNames"), field("shadowAlgorithmNames"));
        if units.iter().any(|unit| unit == name) {
            let message = format!("table `{table}` is given twice in shadow rule `{name}`");
            return Err(Refusal::new(Kind::InvalidRule, message));
        }
        units.push(name.to_owned());
        for (number, algorithm) in shadowed.algorithms.iter().enumerate() {
            algorithms.push(SHADOW.define(section, &base(name, &key, number), algorithm));
        }
        // Whichever rule came first: a document, whose rules are sorted, gives the same again.
        units.sort_unstable();
        algorithms.sort_by_key(|algorithm| {
            units.iter().position(|unit| algorithm.starts_with(&format!("{unit}_{key}_")))
        });
        let node = Node::mapping([
            ("dataSourceNames", list(&units)),
            ("shadowAlgorithmNames", list(&algorithms)),
        ]);
        section.change("tables", |tables| tables.set(&key, node));
    }
    Ok(())
}

/// Takes a rule out of the pairs and of every table; tables that no rule shadows any more go as well.
fn take_out(section: &mut Node, rule: &str) {
    if section.change(FIELD, |pairs| pairs.remove(rule)).is_none() {
        return;
    }
    let tables: Vec<(String, Node)> = section
        .get("tables")
        .map(Node::pairs)
        .unwrap_or_default()
        .iter()
        .map(|entry| (entry.key.clone(), entry.value.clone()))
        .collect();
    for (table, old) in tables {
        let mut units = old.get("dataSourceNames").map(names).unwrap_or_default();
        if !units.iter().any(|unit| unit == rule) {
            continue;
        }
        units.retain(|unit| unit != rule);
        let used = old.get("shadowAlgorithmNames").map(names).unwrap_or_default();
        let front = format!("{rule}_{table}_");
        let kept: Vec<String> =
            used.iter().filter(|name| !name.starts_with(&front)).cloned().collect();
        section.change("tables", |tables| {
            if units.is_empty() {
                tables.remove(&table);
                return;
            }
            tables.change(&table, |node| {
                node.set("dataSourceNames", list(&units));
                node.set("shadowAlgorithmNames", list(&kept));
            });
        });
        let bases: Vec<String> = (0..used.len()).map(|i| base(rule, &table, i)).collect();
        SHADOW.forget(section, &SHADOW.used(&old), &bases);
    }
}

pub(super) fn drop_all(draft: &mut Draft<'_>, missing: Missing, dropped: &[Name]) -> Result<()> {
    let exists = |name: &str| draft.has(TAG, FIELD, name);
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for name in draft.dropped(missing, dropped, &taken)? {
        draft.tree.change_rule(TAG, |section| take_out(section, name));
    }
    Ok(())
}

const GENERATED: &str = "default_shadow_algorithm";

pub(super) fn define_default(
    draft: &mut Draft<'_>,
    change: How,
    algorithm: &AlgorithmUse,
) -> Result<()> {
    match (draft.field(TAG, DEFAULT).is_some(), change) {
        (true, How::Create) => {
            let message =
                format!("database `{}` has a default shadow algorithm already", draft.name);
            return Err(Refusal::new(Kind::DuplicateRule, message));
        }
        (true, How::CreateIfNotExists) => return Ok(()),
        (false, How::Alter) => return Err(no_default(draft)),
        (true, How::Alter) | (false, How::Create | How::CreateIfNotExists) => {}
    }
    draft.tree.change_rule(TAG, |section| {
        take_default_out(section);
        let name = SHADOW.take(section, GENERATED, algorithm)?;
        section.set(DEFAULT, Node::text(name));
        Ok(())
    })
}

fn take_default_out(section: &mut Node) {
    let Some(old) = section.remove(DEFAULT) else { return };
    let old = Node::mapping([(DEFAULT, old)]);
    SHADOW.forget(section, &SHADOW.used(&old), &[GENERATED.to_owned()]);
}

fn no_default(draft: &Draft<'_>) -> Refusal {
    let message = format!("database `{}` has no default shadow algorithm", draft.name);
    Refusal::new(Kind::MissingAlgorithm, message)
}

pub(super) fn drop_default(draft: &mut Draft<'_>, missing: Missing) -> Result<()> {
    if draft.field(TAG, DEFAULT).is_none() {
        return match missing {
            Missing::Fails => Err(no_default(draft)),
            Missing::Passes => Ok(()),
        };
    }
    draft.tree.change_rule(TAG, take_default_out);
    Ok(())
}
