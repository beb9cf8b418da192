//! Rules of rooms of Pando's own, as their grammar says.

use std::collections::{BTreeSet, HashSet};

use pando_config::{Content, Node};
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
    let (what, named) = (own.grammar.what(), own.grammar.key.named);
    check_shape(draft.section(own.tag), own)?;
    let known = own::keys(draft.section(own.tag), own);
    let exists = |name: &str| known.contains_key(&named.folded(name));
    let taken = Taken { what: &what, missing: Kind::MissingRule, exists: &exists };
    let wanted = draft.wanted(change, rules, |rule| &rule.key.text, &taken)?;
    let units = wanted.iter().flat_map(|rule| own::units_said(rule, named, own.grammar.fields));
    draft.need_places(units.collect::<Vec<_>>().iter().map(String::as_str))?;
    let language = draft.around.language;
    if wanted.is_empty() {
        return Ok(());
    }
    draft.tree.change_rule(own.tag, |section| {
        if own.grammar.fields.is_empty() {
            let mut keys = section.get(own.grammar.stored).map(names).unwrap_or_default();
            keys.extend(wanted.iter().map(|rule| rule.key.text.clone()));
            section.set(own.grammar.stored, list(&keys));
            return Ok(());
        }
        // The rules stand before the algorithms that they use.
        section.change(own.grammar.stored, |_| ());
        for rule in wanted {
            // A rule that is altered keeps the name that it was made with.
            let key = known.get(&named.folded(&rule.key.text)).unwrap_or(&rule.key.text);
            take_out(section, own, language, key);
            let node = node(section, rule, own.grammar.fields, key)?;
            section.change(own.grammar.stored, |all| all.set(key, node));
        }
        tidy(section, own, language);
        Ok(())
    })
}

pub(super) fn drop_all(
    draft: &mut Draft<'_>,
    missing: Missing,
    own: Own,
    keys: &[Name],
) -> Result<()> {
    let (what, named) = (own.grammar.what(), own.grammar.key.named);
    check_shape(draft.section(own.tag), own)?;
    let known = own::keys(draft.section(own.tag), own);
    let exists = |name: &str| known.contains_key(&named.folded(name));
    let taken = Taken { what: &what, missing: Kind::MissingRule, exists: &exists };
    let gone = draft.dropped(missing, keys, &taken)?;
    let gone: HashSet<&String> =
        gone.into_iter().filter_map(|name| known.get(&named.folded(name))).collect();
    if gone.is_empty() {
        return Ok(());
    }
    let language = draft.around.language;
    let is_empty = draft.tree.change_rule(own.tag, |section| {
        if own.grammar.fields.is_empty() {
            let mut keys = section.get(own.grammar.stored).map(names).unwrap_or_default();
            keys.retain(|key| !gone.contains(key));
            section.set(own.grammar.stored, list(&keys));
        } else {
            for key in gone {
                take_out(section, own, language, key);
                section.change(own.grammar.stored, |all| all.remove(key));
            }
        }
        tidy(section, own, language);
        section.is_empty()
    });
    // A section that says nothing is none.
    if is_empty {
        draft.tree.remove_rule(own.tag);
    }
    Ok(())
}

/// A room may read its rules in other forms than its grammar has them in: a statement would lose those.
fn check_shape(section: Option<&Node>, own: Own) -> Result<()> {
    let Some(all) = section.and_then(|section| section.get(own.grammar.stored)) else {
        return Ok(());
    };
    let is_kept_so = match &all.content {
        Content::Mapping(_) => !own.grammar.fields.is_empty(),
        Content::Sequence(_) => own.grammar.fields.is_empty(),
        Content::Scalar { .. } => all.is_null() || own.grammar.fields.is_empty(),
    };
    if is_kept_so || all.is_empty() {
        return Ok(());
    }
    let form = if own.grammar.fields.is_empty() { "a list" } else { "a mapping" };
    let message =
        format!("statements change `{}` of `!{}` where it is {form}", own.grammar.stored, own.tag);
    Err(Refusal::new(Kind::InvalidRule, message))
}

/// Leaves of a rule its key, which keeps its place. Algorithms that were made for it go.
fn take_out(section: &mut Node, own: Own, language: &Language, key: &str) {
    let stored = own.grammar.stored;
    let old = section.get(stored).and_then(|all| all.get(key)).cloned();
    if old.is_some() {
        section.change(stored, |all| all.set(key, Node::nothing()));
    }
    forget(section, own, language, own::used(old.as_ref(), own.grammar.fields, key));
}

/// In whatever order rules were made, they lead to the same definitions; a field that says nothing goes.
fn tidy(section: &mut Node, own: Own, language: &Language) {
    let algorithm_fields = own::algorithm_fields(language, own.tag);
    for field in &algorithm_fields {
        section.change(field, |all| all.sort_by_key(|entry| entry.key.clone()));
    }
    for field in algorithm_fields.into_iter().chain([own.grammar.stored]) {
        if section.get(field).is_some_and(Node::is_empty) {
            section.remove(field);
        }
    }
}

fn forget(section: &mut Node, own: Own, language: &Language, gone: Vec<Used>) {
    if gone.is_empty() {
        return;
    }
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
        let value = value(section, field, given, base)?;
        let path: Vec<&str> = field.stored.split('.').collect();
        set(&mut node, &path, value);
    }
    Ok(node)
}

fn value(section: &mut Node, field: &Field, given: &Given, base: &str) -> Result<Node> {
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
            let mut keys = HashSet::new();
            for rule in rules {
                let key = rule.key.text.as_str();
                if !keys.insert(part.key.named.folded(key)) {
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
