//! Two trees beside each other, whatever their algorithms are called.

use std::collections::BTreeSet;

use pando_config::{Content, Node};
use pando_distsql::Language;

use crate::algorithms::{self, Sort};
use crate::own;

const SORTS: [&Sort; 7] = [
    &algorithms::SHARDING,
    &algorithms::KEY_GENERATOR,
    &algorithms::AUDITOR,
    &algorithms::LOAD_BALANCER,
    &algorithms::ENCRYPTOR,
    &algorithms::MASK,
    &algorithms::SHADOW,
];

/// Key paths of what one tree has and the other lacks, sorted, each once.
pub(super) fn missing(wanted: &Node, made: &Node, language: &Language) -> Vec<String> {
    let made = said(made, language);
    let wanted = said(wanted, language).into_iter().filter(|line| !made.contains(line));
    let paths: BTreeSet<String> = wanted.map(|(path, _)| path).collect();
    paths.into_iter().collect()
}

/// Paths and values of a tree; in the place of an algorithm's name stands its definition.
fn said(tree: &Node, language: &Language) -> BTreeSet<(String, String)> {
    let mut lines = BTreeSet::new();
    for entry in tree.pairs() {
        if entry.key != "rules" {
            walk(&entry.key, &entry.value, &mut lines);
        }
    }
    for rule in tree.get("rules").map(Node::items).unwrap_or_default() {
        let tag = rule.tag.as_deref().unwrap_or_default();
        let mut used = BTreeSet::new();
        let mut section = rule.clone();
        let own = own::sorts(language, tag);
        for sort in SORTS.into_iter().chain(&own).filter(|sort| sort.tag == tag) {
            let names = sort.used(rule);
            used.extend(names.into_iter().map(|name| (sort.field, name)));
            define(sort, rule, &mut section);
        }
        for (field, name) in used {
            section.change(field, |all| all.remove(&name));
        }
        walk(&format!("rules.!{tag}"), &section, &mut lines);
    }
    lines
}

/// Puts definitions in the place of names.
fn define(sort: &Sort, rule: &Node, node: &mut Node) {
    match &mut node.content {
        Content::Scalar { .. } => {}
        Content::Sequence(items) => items.iter_mut().for_each(|item| define(sort, rule, item)),
        Content::Mapping(entries) => {
            for entry in entries {
                if sort.used_by.contains(&entry.key.as_str()) {
                    let names = crate::canonical::names(&entry.value);
                    let all = rule.get(sort.field);
                    let of = |name: &String| all.and_then(|all| all.get(name)).cloned();
                    entry.value = Node::sequence(names.iter().filter_map(of));
                } else if entry.key != sort.field {
                    define(sort, rule, &mut entry.value);
                }
            }
        }
    }
}

fn walk(path: &str, node: &Node, lines: &mut BTreeSet<(String, String)>) {
    match &node.content {
        Content::Scalar { .. } => {
            let text = node.as_text().unwrap_or_default();
            lines.insert((path.to_owned(), text.to_owned()));
        }
        Content::Sequence(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(&format!("{path}[{i}]"), item, lines);
            }
        }
        Content::Mapping(entries) => {
            for entry in entries {
                walk(&format!("{path}.{}", entry.key), &entry.value, lines);
            }
        }
    }
}
