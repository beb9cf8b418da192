//! Rules of rooms of Pando's own, as their grammar says.

use std::collections::BTreeSet;

use pando_config::Node;
use pando_distsql::Language;
use pando_distsql::command::{Change as How, Given, Missing, Name, Own, OwnRule};
use pando_kernel::grammar::{Field, Form};

use crate::algorithms;
use crate::canonical::{list, names};
use crate::draft::{Draft, Taken};
use crate::own::{self, Used};
use crate::refusal::{Kind, Refusal, Result};

pub(super) fn define(
    draft: &mut Draft<'_>,
    change: How,
    own: Own,
    rules: &[OwnRule],
) -> Result<()> {
    let what = own.grammar.what();
    let exists = |name: &str| own::key_of(draft.section(own.tag), own, name).is_some();
    let taken = Taken { what: &what, missing: Kind::MissingRule, exists: &exists };
    let language = draft.around.language;
    for rule in draft.wanted(change, rules, |rule| &rule.key.text, &taken)? {
        let units = own::units_said(rule, own.grammar.key.named, own.grammar.fields);
        draft.need_places(units.iter().map(String::as_str))?;
        draft.tree.change_rule(own.tag, |section| {
            let key = own::key_of(Some(section), own, &rule.key.text);
            let key = key.unwrap_or_else(|| rule.key.text.clone());
            change_rule(section, (own, language), &key, Some(rule))
        })?;
    }
    Ok(())
}

pub(super) fn drop_all(
    draft: &mut Draft<'_>,
    missing: Missing,
    own: Own,
    keys: &[Name],
) -> Result<()> {
    let what = own.grammar.what();
    let exists = |name: &str| own::key_of(draft.section(own.tag), own, name).is_some();
    let taken = Taken { what: &what, missing: Kind::MissingRule, exists: &exists };
    let language = draft.around.language;
    for name in draft.dropped(missing, keys, &taken)? {
        let is_empty = draft.tree.change_rule(own.tag, |section| {
            let key = own::key_of(Some(section), own, name);
            let key = key.unwrap_or_else(|| name.to_owned());
            change_rule(section, (own, language), &key, None)?;
            Ok::<bool, Refusal>(section.is_empty())
        })?;
        // A section that says nothing is none.
        if is_empty {
            draft.tree.remove_rule(own.tag);
        }
    }
    Ok(())
}

/// Puts a rule in the place of what its key stands for now, which is nothing at first; without one, the key goes.
/// Algorithms that were made for the old one go with it.
fn change_rule(
    section: &mut Node,
    (own, language): (Own, &Language),
    key: &str,
    rule: Option<&OwnRule>,
) -> Result<()> {
    let grammar = own.grammar;
    if grammar.fields.is_empty() {
        let mut all = section.get(grammar.stored).map(names).unwrap_or_default();
        match rule {
            Some(_) => all.push(key.to_owned()),
            None => all.retain(|own| own != key),
        }
        section.set(grammar.stored, list(&all));
    } else {
        let old = section.get(grammar.stored).and_then(|all| all.get(key)).cloned();
        section.change(grammar.stored, |all| match rule {
            // Its place in the mapping stays its own.
            Some(_) => all.set(key, Node::nothing()),
            None => drop(all.remove(key)),
        });
        forget(section, (own, language), own::used(old.as_ref(), grammar.fields, key));
        if let Some(rule) = rule {
            let node = node(section, rule, grammar.fields, key)?;
            section.change(grammar.stored, |all| all.set(key, node));
        }
    }
    let algorithm_fields = own::algorithm_fields(language, own.tag);
    for field in &algorithm_fields {
        // In whatever order rules were made, they lead to the same definitions.
        section.change(field, |all| all.sort_by_key(|entry| entry.key.clone()));
    }
    for field in algorithm_fields.into_iter().chain([grammar.stored]) {
        if section.get(field).is_some_and(Node::is_empty) {
            section.remove(field);
        }
    }
    Ok(())
}

fn forget(section: &mut Node, (own, language): (Own, &Language), gone: Vec<Used>) {
    let mut used: BTreeSet<(&str, String)> = BTreeSet::new();
    for sort in language.sorts().filter(|sort| sort.tag == own.tag) {
        for rule in own::rules(Some(section), sort.grammar) {
            let all = own::used(rule.node, sort.grammar.fields, &rule.key);
            used.extend(all.into_iter().map(|one| (one.stored, one.name)));
        }
    }
    for one in gone.into_iter().filter(|one| !used.contains(&(one.stored, one.name.clone()))) {
        algorithms::forget(section, one.stored, &one.name, &[one.base]);
    }
}

fn node(section: &mut Node, rule: &OwnRule, fields: &[Field], base: &str) -> Result<Node> {
    let mut node = Node::mapping::<&str>([]);
    for (field, given) in fields.iter().zip(&rule.given) {
        let Some(given) = given else { continue };
        let value = value(section, (field, given), base)?;
        let path: Vec<&str> = field.stored.split('.').collect();
        set(&mut node, &path, value);
    }
    Ok(node)
}

fn value(section: &mut Node, (field, given): (&Field, &Given), base: &str) -> Result<Node> {
    let texts = |names: &[Name]| list(&names.iter().map(|n| n.text.as_str()).collect::<Vec<_>>());
    Ok(match (given, field.form) {
        (Given::Name(name), _) => Node::text(name.text.as_str()),
        (Given::Text(text), _) => Node::text(text.as_str()),
        (Given::Number(number), _) => Node::text(number.to_string()),
        (Given::Boolean(truth), _) => Node::text(truth.to_string()),
        (Given::Names(names), _) => texts(names),
        (Given::Algorithms(all), Form::Algorithm(kept)) => {
            let base = format!("{}{base}", kept.prefix);
            let made = all.iter().map(|one| algorithms::define(section, kept.stored, &base, one));
            Node::text(made.last().unwrap_or_default())
        }
        (Given::Algorithms(all), Form::Algorithms(kept)) => {
            let base = format!("{}{base}", kept.prefix);
            let made = all.iter().enumerate().map(|(number, one)| {
                algorithms::define(section, kept.stored, &own::numbered(&base, number), one)
            });
            list(&made.collect::<Vec<_>>())
        }
        (Given::Parts(rules), Form::Parts(part)) => {
            let mut all = Node::mapping::<&str>([]);
            for rule in rules {
                let key = rule.key.text.as_str();
                let is_same = |other: &str| part.key.named.is_alike(other, key);
                if all.pairs().iter().any(|entry| is_same(&entry.key)) {
                    let message = format!("`{key}` is given twice in the rule of `{base}`");
                    return Err(Refusal::new(Kind::InvalidRule, message));
                }
                let inner = node(section, rule, part.fields, &format!("{base}_{key}"))?;
                all.set(key, inner);
            }
            all
        }
        (Given::Algorithms(_) | Given::Parts(_), _) => {
            let message = format!("`{}` says what its grammar has no place for", field.word);
            return Err(Refusal::new(Kind::InvalidRule, message));
        }
    })
}

/// Puts a value at the end of a path of keys.
fn set(node: &mut Node, path: &[&str], value: Node) {
    match path {
        [] => *node = value,
        [key, rest @ ..] => node.change(key, |inner| set(inner, rest, value)),
    }
}
