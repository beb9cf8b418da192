//! What uses a storage unit.

use pando_distsql::Language;
use pando_kernel::RuleGrammar;

use crate::draft::Seen;
use crate::own;

/// One use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// How firmly it holds the unit.
    pub(crate) sort: Sort,
    /// The kind of rule, as `sharding`.
    pub(crate) rule: String,
    /// What of it.
    pub(crate) name: String,
}

/// Uses that a statement may ignore, and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A table of `!SINGLE`.
    Single,
    /// A broadcast table.
    Broadcast,
    /// Any other rule.
    Rule,
}

impl Use {
    /// For messages.
    pub(crate) fn shown(&self) -> String {
        format!("{} {}", self.rule, self.name)
    }
}

/// Every rule that names the unit, itself or through a group, each once.
pub(crate) fn of_unit(seen: &Seen, unit: &str, language: &Language) -> Vec<Use> {
    let rules = &seen.database.rules;
    let mut uses = Vec::new();
    let mut add = |sort, rule: &str, name: &str| {
        let used = Use { sort, rule: rule.to_owned(), name: name.to_owned() };
        if !uses.contains(&used) {
            uses.push(used);
        }
    };
    // Tables stand on groups as well; the group holds its members by itself.
    for table in seen.sharded() {
        if table.nodes.iter().any(|node| *node.unit == *unit) {
            add(Sort::Rule, "sharding", &table.name);
        }
    }
    for (name, group) in rules.readwrite.iter().flat_map(|section| section.groups.iter()) {
        let members = [&group.write].into_iter().chain(&group.read);
        if members.into_iter().any(|member| member.value == unit) {
            add(Sort::Rule, "readwrite_splitting", name);
        }
    }
    for (name, pair) in rules.shadow.iter().flat_map(|section| section.data_sources.iter()) {
        if [&pair.production, &pair.shadow].into_iter().any(|member| member.value == unit) {
            add(Sort::Rule, "shadow", name);
        }
    }
    if let Some(single) = &rules.single {
        for pattern in &single.tables {
            let mut parts = pattern.split('.').map(str::trim);
            if parts.next() == Some(unit) {
                add(Sort::Single, "single", parts.next_back().unwrap_or(pattern));
            }
        }
        if single.default_data_source.as_ref().is_some_and(|name| name.value == unit) {
            add(Sort::Rule, "single", "default storage unit");
        }
    }
    for table in rules.broadcast.iter().flat_map(|section| &section.tables) {
        add(Sort::Broadcast, "broadcast", table);
    }
    for own in language.sorts() {
        let section = rules.own.iter().find(|node| node.tag.as_deref() == Some(own.tag));
        let RuleGrammar { key, fields, .. } = own.grammar;
        for rule in own::rules(section, own.grammar) {
            if own::names_unit(&rule, key.named, fields, unit) {
                add(Sort::Rule, &own.grammar.counted(), &rule.key);
            }
        }
    }
    uses
}
