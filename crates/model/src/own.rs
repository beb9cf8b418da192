//! Rules of rooms of Pando's own: what stands where in their section, as their grammar says.

use std::collections::HashMap;

use pando_config::Node;
use pando_distsql::Language;
use pando_distsql::command::{Given, Own, OwnRule};
use pando_kernel::RuleGrammar;
use pando_kernel::grammar::{Field, Form, Named};

use crate::algorithms::Sort;
use crate::canonical::names;

/// A rule, or a part of one, where it stands.
pub(crate) struct Kept<'n> {
    /// Its key as it is written there.
    pub(crate) key: String,
    /// What it says; `None` where a rule is its key alone.
    pub(crate) node: Option<&'n Node>,
}

/// The use of an algorithm by a rule.
pub(crate) struct Used {
    /// The field of the section that holds the definition.
    pub(crate) stored: &'static str,
    /// The algorithm's name.
    pub(crate) name: String,
    /// What a statement would call it by, without the type.
    pub(crate) base: String,
}

/// The rules of a section.
pub(crate) fn rules<'n>(section: Option<&'n Node>, grammar: &RuleGrammar) -> Vec<Kept<'n>> {
    let Some(all) = section.and_then(|section| section.get(grammar.stored)) else {
        return Vec::new();
    };
    if grammar.fields.is_empty() {
        return names(all).into_iter().map(|key| Kept { key, node: None }).collect();
    }
    parts(all)
}

/// What a mapping by keys holds.
pub(crate) fn parts(all: &Node) -> Vec<Kept<'_>> {
    let kept = all.pairs().iter();
    kept.map(|entry| Kept { key: entry.key.clone(), node: Some(&entry.value) }).collect()
}

/// The keys of a section's rules as they are written there, by the form in which they are compared.
pub(crate) fn keys(section: Option<&Node>, own: Own) -> HashMap<String, String> {
    let named = own.grammar.key.named;
    let keys = rules(section, own.grammar).into_iter().map(|rule| rule.key);
    keys.map(|key| (named.folded(&key), key)).collect()
}

/// What a rule says of a field.
pub(crate) fn value<'n>(node: Option<&'n Node>, field: &Field) -> Option<&'n Node> {
    let path: Vec<&str> = field.stored.split('.').collect();
    node?.find(&path).filter(|value| !value.is_null())
}

/// The algorithms that a rule uses. `base` is its key, behind which those of parts come.
pub(crate) fn used(node: Option<&Node>, fields: &[Field], base: &str) -> Vec<Used> {
    let mut all = Vec::new();
    for field in fields {
        let Some(value) = value(node, field) else { continue };
        match field.form {
            Form::Name(_) | Form::Text | Form::Number { .. } | Form::Boolean | Form::Names(_) => {}
            Form::Algorithm(algorithms) => {
                let base = format!("{}{base}", algorithms.prefix);
                let names = names(value).into_iter();
                all.extend(names.map(|name| Used {
                    stored: algorithms.stored,
                    name,
                    base: base.clone(),
                }));
            }
            Form::Algorithms(algorithms) => {
                let base = format!("{}{base}", algorithms.prefix);
                let names = names(value).into_iter().enumerate();
                all.extend(names.map(|(number, name)| Used {
                    stored: algorithms.stored,
                    name,
                    base: numbered(&base, number),
                }));
            }
            Form::Parts(part) => {
                for kept in parts(value) {
                    all.extend(used(kept.node, part.fields, &format!("{base}_{}", kept.key)));
                }
            }
        }
    }
    all
}

/// What the algorithm at a place of a list is called by.
pub(crate) fn numbered(base: &str, number: usize) -> String {
    format!("{base}_{{type}}_{number}")
}

/// The storage units, or groups of them, that a rule of a statement names.
pub(crate) fn units_said(rule: &OwnRule, named: Named, fields: &[Field]) -> Vec<String> {
    let mut units = Vec::new();
    if named == Named::Unit {
        units.push(rule.key.text.clone());
    }
    for (field, given) in fields.iter().zip(&rule.given) {
        match (field.form, given) {
            (Form::Name(Named::Unit), Some(Given::Name(name))) => units.push(name.text.clone()),
            (Form::Names(Named::Unit), Some(Given::Names(names))) => {
                units.extend(names.iter().map(|name| name.text.clone()));
            }
            (Form::Parts(part), Some(Given::Parts(rules))) => {
                let inner = rules.iter();
                units.extend(inner.flat_map(|rule| units_said(rule, part.key.named, part.fields)));
            }
            _ => {}
        }
    }
    units
}

/// Whether a rule that is kept names a storage unit.
pub(crate) fn names_unit(kept: &Kept<'_>, named: Named, fields: &[Field], unit: &str) -> bool {
    let by_field = |field: &Field| {
        let Some(value) = value(kept.node, field) else { return false };
        match field.form {
            Form::Name(Named::Unit) | Form::Names(Named::Unit) => {
                names(value).iter().any(|name| name == unit)
            }
            Form::Parts(part) => parts(value)
                .iter()
                .any(|inner| names_unit(inner, part.key.named, part.fields, unit)),
            Form::Name(_)
            | Form::Names(_)
            | Form::Text
            | Form::Number { .. }
            | Form::Boolean
            | Form::Algorithm(_)
            | Form::Algorithms(_) => false,
        }
    };
    (named == Named::Unit && kept.key == unit) || fields.iter().any(by_field)
}

/// The fields of a section that hold algorithms, each once.
pub(crate) fn algorithm_fields(language: &Language, tag: &str) -> Vec<&'static str> {
    let mut all: Vec<&'static str> =
        sorts(language, tag).into_iter().map(|sort| sort.field).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The kinds of algorithms of a section, by the keys that rules have them at.
pub(crate) fn sorts(language: &Language, tag: &str) -> Vec<Sort> {
    fn gather(fields: &'static [Field], all: &mut Vec<(&'static str, &'static str)>) {
        for field in fields {
            match field.form {
                Form::Algorithm(algorithms) | Form::Algorithms(algorithms) => {
                    let key = field.stored.rsplit('.').next().unwrap_or(field.stored);
                    all.push((algorithms.stored, key));
                }
                Form::Parts(part) => gather(part.fields, all),
                Form::Name(_)
                | Form::Names(_)
                | Form::Text
                | Form::Number { .. }
                | Form::Boolean => {}
            }
        }
    }
    let mut all = Vec::new();
    let mut own_tag = "";
    for own in language.sorts().filter(|own| own.tag == tag) {
        own_tag = own.tag;
        gather(own.grammar.fields, &mut all);
    }
    all.sort_unstable();
    all.dedup();
    let mut sorts: Vec<Sort> = Vec::new();
    for (field, key) in all {
        match sorts.iter_mut().find(|sort| sort.field == field) {
            Some(sort) => sort.used_by.to_mut().push(key),
            None => sorts.push(Sort {
                tag: own_tag,
                field,
                used_by: vec![key].into(),
                what: "algorithms",
            }),
        }
    }
    sorts
}
