//! Sharded and broadcast tables.

use std::collections::BTreeSet;

use pando_config::{Entry, Node};
use pando_distsql::command::{
    AlgorithmUse, AuditStrategy, Definition, KeyGenerateRule, KeyOf, KeyStrategy, Layout, Name,
    NamedAlgorithm, Rdl, Reference, Scope, Strategy, TableRule,
};

use super::algorithm::{algorithm, defined};
use super::{create, name, text};
use crate::algorithms::{AUDITOR, KEY_GENERATOR, SHARDING, Sort};
use crate::canonical::{names, read_references};
use crate::draft::is_expression;

pub(super) fn said(tree: &Node) -> Vec<Rdl> {
    let mut said = tree.rule("SHARDING").map(sharded).unwrap_or_default();
    let broadcast = tree.rule("BROADCAST").and_then(|rule| rule.get("tables")).map(names);
    let broadcast: Vec<Name> = broadcast.into_iter().flatten().map(Name::new).collect();
    if !broadcast.is_empty() {
        said.push(create(Definition::BroadcastTables(broadcast)));
    }
    said.extend(super::units::single(tree));
    said
}

fn sharded(section: &Node) -> Vec<Rdl> {
    let mut rules = Rules { section, described: BTreeSet::new(), named: BTreeSet::new() };
    let strategies = rules.default_strategies();
    let mut tables = rules.all("tables", Rules::standard);
    tables.extend(rules.all("autoTables", Rules::auto));
    let keys = rules.keys();
    let mut said = Vec::new();
    let algorithms = rules.to_be_named(&SHARDING);
    if !algorithms.is_empty() {
        said.push(create(Definition::ShardingAlgorithms(algorithms)));
    }
    let generators = rules.to_be_named(&KEY_GENERATOR);
    if !generators.is_empty() {
        said.push(create(Definition::KeyGenerators(generators)));
    }
    let strategy = |(scope, strategy)| create(Definition::DefaultStrategy(scope, strategy));
    said.extend(strategies.into_iter().map(strategy));
    if !tables.is_empty() {
        said.push(create(Definition::ShardingTables(tables)));
    }
    said.extend(keys);
    let references = section.get("bindingTables").map(read_references).unwrap_or_default();
    let reference = |(name, tables): (String, Vec<String>)| Reference {
        name: Some(Name::new(name)),
        tables: tables.into_iter().map(Name::new).collect(),
    };
    let references: Vec<Reference> = references.into_iter().map(reference).collect();
    if !references.is_empty() {
        said.push(create(Definition::References(references)));
    }
    said
}

/// The section's rules on their way into statements.
struct Rules<'s> {
    section: &'s Node,
    /// Fields and names of algorithms that are described where they are used.
    described: BTreeSet<(&'static str, String)>,
    /// Those that are used by name.
    named: BTreeSet<(&'static str, String)>,
}

impl Rules<'_> {
    /// Definitions that must be there under their names before anything uses them, and those that nothing uses.
    fn to_be_named(&self, sort: &Sort) -> Vec<NamedAlgorithm> {
        let all = self.section.get(sort.field).map(Node::pairs).unwrap_or_default();
        let is_meant = |entry: &&Entry| {
            let key = (sort.field, entry.key.clone());
            self.named.contains(&key) || !self.described.contains(&key)
        };
        let named = |entry: &Entry| NamedAlgorithm {
            name: Name::new(entry.key.as_str()),
            algorithm: algorithm(&entry.value),
        };
        all.iter().filter(is_meant).map(named).collect()
    }

    /// An algorithm where it is used: described on the spot where that gives it the name it has, else by name.
    fn used(&mut self, sort: &Sort, node: Option<&Node>, base: &str) -> AlgorithmUse {
        let name = text(node);
        let algorithm = defined(self.section, sort, name);
        let key = (sort.field, name.to_owned());
        if format!("{base}_{}", algorithm.kind.text.to_lowercase()) == name {
            self.described.insert(key);
            return AlgorithmUse::Inline(algorithm);
        }
        self.named.insert(key);
        AlgorithmUse::Named(Name::new(name))
    }

    fn all(
        &mut self,
        field: &str,
        layout: fn(&mut Self, &str, &Node) -> Option<Layout>,
    ) -> Vec<TableRule> {
        let all = self.section.get(field).map(Node::pairs).unwrap_or_default();
        let rule = |entry: &Entry| {
            let (table, node) = (entry.key.as_str(), &entry.value);
            Some(TableRule {
                table: Name::new(table),
                layout: layout(self, table, node)?,
                key: node.get("keyGenerateStrategy").map(|key| self.key(table, key)),
                audit: node.get("auditStrategy").map(|audit| self.audit(audit)),
            })
        };
        all.iter().filter_map(rule).collect()
    }

    fn standard(&mut self, table: &str, node: &Node) -> Option<Layout> {
        node.get("actualDataNodes")?;
        let mut strategy = |field, base| {
            let own = node.get(field)?;
            self.strategy(&format!("{table}_{base}"), own)
        };
        Some(Layout::Standard {
            data_nodes: listed(node.get("actualDataNodes")),
            database: strategy("databaseStrategy", "database"),
            table: strategy("tableStrategy", "table"),
        })
    }

    /// Only AutoTables by one column can be said, and their algorithm only on the spot.
    fn auto(&mut self, _table: &str, node: &Node) -> Option<Layout> {
        let standard = node.find(&["shardingStrategy", "standard"])?;
        node.get("actualDataSources")?;
        let algorithm = text(standard.get("shardingAlgorithmName"));
        self.described.insert((SHARDING.field, algorithm.to_owned()));
        Some(Layout::Auto {
            units: listed(node.get("actualDataSources")),
            column: name(standard.get("shardingColumn")),
            algorithm: defined(self.section, &SHARDING, algorithm),
        })
    }

    fn strategy(&mut self, base: &str, node: &Node) -> Option<Strategy> {
        let entry = node.pairs().first()?;
        let own = &entry.value;
        if entry.key == "none" {
            return Some(Strategy::None);
        }
        let algorithm = self.used(&SHARDING, own.get("shardingAlgorithmName"), base);
        Some(match entry.key.as_str() {
            "standard" => Strategy::Standard { column: name(own.get("shardingColumn")), algorithm },
            "complex" => {
                let columns = own.get("shardingColumns").map(names).unwrap_or_default();
                let columns = columns.into_iter().map(Name::new).collect();
                Strategy::Complex { columns, algorithm }
            }
            _ => Strategy::Hint { algorithm },
        })
    }

    fn default_strategies(&mut self) -> Vec<(Scope, Strategy)> {
        let levels = [
            ("defaultDatabaseStrategy", "default_database", Scope::Database),
            ("defaultTableStrategy", "default_table", Scope::Table),
        ];
        let strategy = |(field, base, scope): (&str, &str, Scope)| {
            let node = self.section.get(field)?;
            Some((scope, self.strategy(base, node)?))
        };
        levels.into_iter().filter_map(strategy).collect()
    }

    fn key(&mut self, table: &str, node: &Node) -> KeyStrategy {
        let generator = self.used(&KEY_GENERATOR, node.get("keyGeneratorName"), table);
        KeyStrategy { column: name(node.get("column")), generator }
    }

    fn audit(&mut self, node: &Node) -> AuditStrategy {
        let auditors = node.get("auditorNames").map(names).unwrap_or_default();
        AuditStrategy {
            auditors: auditors.iter().map(|name| defined(self.section, &AUDITOR, name)).collect(),
            allow_hint_disable: text(node.get("allowHintDisable")) != "false",
        }
    }

    /// Key generate strategies that stand for themselves; those of sequences cannot be said.
    fn keys(&mut self) -> Vec<Rdl> {
        let all = self.section.get("keyGenerateStrategies").map(Node::pairs).unwrap_or_default();
        let rule = |entry: &Entry| {
            let node = &entry.value;
            let of = KeyOf::Column {
                table: name(Some(node.get("logicTable")?)),
                column: name(node.get("keyGenerateColumn")),
            };
            let generator = self.used(&KEY_GENERATOR, node.get("keyGeneratorName"), &entry.key);
            let name = Name::new(entry.key.as_str());
            let rule = KeyGenerateRule { name, of, generator };
            Some(create(Definition::KeyGenerateStrategy(rule)))
        };
        all.iter().filter_map(rule).collect()
    }
}

/// Names of one list, or the whole text where an expression may have commas of its own.
fn listed(node: Option<&Node>) -> Vec<Name> {
    match text(node) {
        text if is_expression(text) => vec![Name::new(text)],
        text => text.split(',').map(str::trim).map(Name::new).collect(),
    }
}
