//! Algorithms of a rule section: made where a rule names one on the spot, gone when nobody uses it any more.

use std::borrow::Cow;
use std::collections::BTreeSet;

use pando_config::{Content, Node};
use pando_distsql::command::{Algorithm, AlgorithmUse};

use crate::refusal::{Kind, Refusal, Result};

/// A kind of algorithm: where its definitions stand, and by which keys rules use them.
#[derive(Debug)]
pub(crate) struct Sort {
    /// The section's tag.
    pub(crate) tag: &'static str,
    /// The field with the definitions.
    pub(crate) field: &'static str,
    /// The keys whose values, or whose list's values, are names of them.
    pub(crate) used_by: Cow<'static, [&'static str]>,
    /// The word for them.
    pub(crate) what: &'static str,
}

pub(crate) static SHARDING: Sort = Sort {
    tag: "SHARDING",
    field: "shardingAlgorithms",
    used_by: Cow::Borrowed(&["shardingAlgorithmName"]),
    what: "sharding algorithms",
};
pub(crate) static KEY_GENERATOR: Sort = Sort {
    tag: "SHARDING",
    field: "keyGenerators",
    used_by: Cow::Borrowed(&["keyGeneratorName"]),
    what: "key generators",
};
pub(crate) static AUDITOR: Sort = Sort {
    tag: "SHARDING",
    field: "auditors",
    used_by: Cow::Borrowed(&["auditorNames"]),
    what: "auditors",
};
pub(crate) static LOAD_BALANCER: Sort = Sort {
    tag: "READWRITE_SPLITTING",
    field: "loadBalancers",
    used_by: Cow::Borrowed(&["loadBalancerName"]),
    what: "load balancers",
};
pub(crate) static ENCRYPTOR: Sort = Sort {
    tag: "ENCRYPT",
    field: "encryptors",
    used_by: Cow::Borrowed(&["encryptorName"]),
    what: "encryptors",
};
pub(crate) static MASK: Sort = Sort {
    tag: "MASK",
    field: "maskAlgorithms",
    used_by: Cow::Borrowed(&["maskAlgorithm"]),
    what: "mask algorithms",
};
pub(crate) static SHADOW: Sort = Sort {
    tag: "SHADOW",
    field: "shadowAlgorithms",
    used_by: Cow::Borrowed(&["shadowAlgorithmNames", "defaultShadowAlgorithmName"]),
    what: "shadow algorithms",
};

impl Sort {
    /// The names of this kind that a part of the section uses.
    pub(crate) fn used(&self, node: &Node) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.gather(node, &mut names);
        names
    }

    fn gather(&self, node: &Node, names: &mut BTreeSet<String>) {
        match &node.content {
            Content::Scalar { .. } => {}
            Content::Sequence(items) => items.iter().for_each(|item| self.gather(item, names)),
            Content::Mapping(entries) => {
                for entry in entries {
                    if self.used_by.contains(&entry.key.as_str()) {
                        names.extend(crate::canonical::names(&entry.value));
                    } else if entry.key != self.field {
                        self.gather(&entry.value, names);
                    }
                }
            }
        }
    }

    /// The name under which a rule of this section uses an algorithm; one described on the spot is defined as `base`, or with a number
    /// behind it where that is another one's.
    ///
    /// # Errors
    /// `MissingAlgorithm` for a name that is not defined.
    pub(crate) fn take(
        &self,
        section: &mut Node,
        base: &str,
        algorithm: &AlgorithmUse,
    ) -> Result<String> {
        match algorithm {
            AlgorithmUse::Inline(algorithm) => Ok(self.define(section, base, algorithm)),
            AlgorithmUse::Named(name) => {
                let defined = section.get(self.field).and_then(|all| all.get(&name.text));
                if defined.is_none() {
                    let message = format!("{} `{}` do not exist", self.what, name.text);
                    return Err(Refusal::new(Kind::MissingAlgorithm, message));
                }
                Ok(name.text.clone())
            }
        }
    }

    /// Defines an algorithm under a generated name.
    pub(crate) fn define(&self, section: &mut Node, base: &str, algorithm: &Algorithm) -> String {
        define(section, self.field, base, algorithm)
    }

    /// Takes out those of the names that were generated and that nobody uses any more.
    pub(crate) fn forget(&self, section: &mut Node, names: &BTreeSet<String>, bases: &[String]) {
        let used = self.used(section);
        for name in names.difference(&used) {
            forget(section, self.field, name, bases);
        }
    }
}

/// Defines an algorithm in a field of a section under a generated name.
pub(crate) fn define(section: &mut Node, field: &str, base: &str, algorithm: &Algorithm) -> String {
    let base = generated(base, &algorithm.kind.text);
    let node = node(algorithm);
    section.change(field, |all| {
        let numbered = (1..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let is_own = |name: &String| all.get(name).is_none_or(|other| *other == node);
        let name = names.find(is_own).unwrap_or(base);
        all.set(&name, node);
        name
    })
}

/// Takes an algorithm that nobody uses any more out of a field of a section, if its name was generated of one of these.
pub(crate) fn forget(section: &mut Node, field: &str, name: &str, bases: &[String]) {
    let kind = section.find(&[field, name, "type"]).and_then(Node::as_text);
    let Some(kind) = kind.map(str::to_owned) else { return };
    if bases.iter().any(|base| is_generated(name, &generated(base, &kind))) {
        section.change(field, |all| all.remove(name));
    }
}

/// The generated name of an algorithm of this type.
fn generated(base: &str, kind: &str) -> String {
    // A base with a place for the type, as auditors have a number behind it.
    match base.split_once("{type}") {
        Some((front, back)) => format!("{front}{}{back}", kind.to_lowercase()),
        None => format!("{base}_{}", kind.to_lowercase()),
    }
}

fn is_generated(name: &str, generated: &str) -> bool {
    let rest = name.strip_prefix(generated);
    rest.is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix('_').is_some_and(|number| {
                !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
            })
    })
}

/// `{type, props}`.
pub(crate) fn node(algorithm: &Algorithm) -> Node {
    let mut node = Node::mapping([("type", Node::text(algorithm.kind.text.as_str()))]);
    if !algorithm.properties.is_empty() {
        let props = algorithm.properties.iter();
        let props = props.map(|pair| (pair.key.as_str(), Node::text(pair.value.as_str())));
        node.set("props", Node::mapping(props));
    }
    node
}
