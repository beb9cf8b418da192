//! Two models beside each other: what an instance has to build anew, and whether two instances have the same.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use pando_config::{Content, Entry, Node, print};

use crate::around::Around;
use crate::change::Change;
use crate::draft::see;
use crate::model::Model;
use crate::reach;
use crate::refusal::Kind;
use crate::scrub::{HIDDEN, holds_secret};

/// What is other than before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// Whether the settings of the whole server are.
    pub global: bool,
    /// Logical databases that are new or have another configuration, sorted.
    pub changed: Vec<String>,
    /// Logical databases that are no longer there, sorted.
    pub gone: Vec<String>,
}

impl Model {
    /// What is other than in an older model.
    pub fn since(&self, old: &Self) -> Difference {
        let (own, others) = (self.trees(), old.trees());
        let is_same = |name: &str, tree: &Arc<Node>| {
            let other = others.get(name);
            other.is_some_and(|other| Arc::ptr_eq(other, tree) || other == tree)
        };
        let changed = own.iter().filter(|(name, tree)| !is_same(name, tree));
        let gone = others.keys().filter(|name| !own.contains_key(*name));
        Difference {
            global: self.global() != old.global(),
            changed: changed.map(|(name, _)| name.clone()).collect(),
            gone: gone.cloned().collect(),
        }
    }

    /// The databases that a newer model has otherwise, each with what must hold on its storage units before it may be served: no row may be put out of reach.
    /// Those that are gone, or cannot be built, are not among them.
    pub fn towards(&self, newer: &Self, around: &Around<'_>) -> Vec<Change> {
        let changed = newer.since(self).changed;
        let change = |name: String| {
            let tree = newer.trees().get(&name)?;
            let seen = see(tree, around, Kind::InvalidDocument).ok()?;
            let checks = reach::checks(self.trees().get(&name).map(|old| &**old), &seen, around);
            Some(Change { model: newer.clone(), database: Some(name), checks, tasks: Vec::new() })
        };
        changed.into_iter().filter_map(change).collect()
    }

    /// A checksum in 16 hexadecimal digits: equal for equal models. Secrets are left out, so that nobody can try passwords on it; models
    /// that differ in secrets alone have the same.
    pub fn checksum(&self) -> String {
        let mut text = print(&without_secrets("", self.global()));
        for tree in self.trees().values() {
            text.push_str("---\n");
            text.push_str(&print(&without_secrets("", tree)));
        }
        let sum = digest(&SHA256, text.as_bytes());
        sum.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn without_secrets(key: &str, node: &Node) -> Node {
    let content = match &node.content {
        Content::Scalar { text, .. } if holds_secret(key, text) => return Node::text(HIDDEN),
        Content::Scalar { .. } => node.content.clone(),
        Content::Sequence(items) => {
            Content::Sequence(items.iter().map(|item| without_secrets(key, item)).collect())
        }
        Content::Mapping(entries) => {
            let entry = |entry: &Entry| Entry {
                value: without_secrets(&entry.key, &entry.value),
                ..entry.clone()
            };
            Content::Mapping(entries.iter().map(entry).collect())
        }
    };
    Node { content, ..node.clone() }
}
