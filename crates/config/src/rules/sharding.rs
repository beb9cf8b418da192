//! `!SHARDING`: which logic table lives in which actual tables, and how a row finds its own.

use crate::algorithm::{Algorithm, Named};
use crate::node::{Content, Node};
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};

use super::strategy::{Audit, KeyGenerate, Strategy, StrategyKind};

/// The section as written. Names of algorithms are checked, inline expressions are not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sharding {
    /// Where it stands.
    pub at: At,
    /// Tables with written data nodes, by logic name, in file order.
    pub tables: Named<Table>,
    /// Tables whose actual names are ours to give, by logic name, in file order.
    pub auto_tables: Named<AutoTable>,
    /// Groups of tables that are sharded alike.
    pub binding_tables: Vec<Binding>,
    /// The `databaseStrategy` of tables without one.
    pub default_database_strategy: Option<Strategy>,
    /// The `tableStrategy` of tables without one.
    pub default_table_strategy: Option<Strategy>,
    /// The `keyGenerateStrategy` of tables without one.
    pub default_key_generate_strategy: Option<KeyGenerate>,
    /// The `auditStrategy` of tables without one.
    pub default_audit_strategy: Option<Audit>,
    /// The column of standard strategies without one.
    pub default_sharding_column: Option<Placed<String>>,
    /// Sharding algorithms.
    pub algorithms: Named<Algorithm>,
    /// Key generators.
    pub key_generators: Named<Algorithm>,
    /// Auditors.
    pub auditors: Named<Algorithm>,
    /// Sequences that generate keys (`keyGenerateStrategies` of type `sequence`).
    pub key_sequences: Named<KeySequence>,
    /// The older `broadcastTables`; [`crate::Database`] moves them to its broadcast section.
    pub(crate) broadcast_tables: Vec<Placed<String>>,
}

/// One entry of `tables`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Where it stands.
    pub at: At,
    /// The inline expression of its data nodes; absent means one table of the logic name in every storage unit.
    pub actual_data_nodes: Option<Placed<String>>,
    /// Which storage unit.
    pub database_strategy: Option<Strategy>,
    /// Which table in it.
    pub table_strategy: Option<Strategy>,
    /// How a missing key is made.
    pub key_generate: Option<KeyGenerate>,
    /// What is refused.
    pub audit: Option<Audit>,
}

/// One entry of `autoTables`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoTable {
    /// Where it stands.
    pub at: At,
    /// The inline expression of its storage units; absent means all.
    pub actual_data_sources: Option<Placed<String>>,
    /// Which table.
    pub strategy: Option<Strategy>,
    /// How a missing key is made.
    pub key_generate: Option<KeyGenerate>,
    /// What is refused.
    pub audit: Option<Audit>,
}

/// One entry of `bindingTables`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Where it stands.
    pub at: At,
    /// The name before a colon, if there is one.
    pub name: Option<String>,
    /// Logic names in the order written.
    pub tables: Vec<String>,
}

/// A key generator bound to a sequence instead of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySequence {
    /// The logic table, where one is named.
    pub table: Option<Placed<String>>,
    /// The sequence.
    pub sequence: Placed<String>,
    /// The generator.
    pub generator: Placed<String>,
}

impl Sharding {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let mut sharding = Self {
            at: node.at.clone(),
            tables: fields
                .map("tables", |e, r| Some((read::key(e), Table::read(&e.value, r)?)))
                .into_iter()
                .collect(),
            auto_tables: fields
                .map("autoTables", |e, r| Some((read::key(e), AutoTable::read(&e.value, r)?)))
                .into_iter()
                .collect(),
            binding_tables: bindings(&mut fields),
            default_database_strategy: Strategy::field(&mut fields, "defaultDatabaseStrategy"),
            default_table_strategy: Strategy::field(&mut fields, "defaultTableStrategy"),
            default_key_generate_strategy: KeyGenerate::field(
                &mut fields,
                "defaultKeyGenerateStrategy",
            ),
            default_audit_strategy: Audit::field(&mut fields, "defaultAuditStrategy"),
            default_sharding_column: fields.optional_name("defaultShardingColumn"),
            algorithms: Named::read(&mut fields, "shardingAlgorithms"),
            key_generators: Named::read(&mut fields, "keyGenerators"),
            auditors: Named::read(&mut fields, "auditors"),
            key_sequences: Named::default(),
            broadcast_tables: fields.names("broadcastTables"),
        };
        sharding.key_generate_strategies(&mut fields);
        fields.ignored("shardingCache", "Pando has no cache of routes");
        fields.ignored("scalingName", "it was removed in ShardingSphere 5.3");
        fields.ignored("scaling", "it was removed in ShardingSphere 5.3");
        sharding.check(fields.report());
        fields.finish();
        Some(sharding)
    }

    /// `keyGenerateStrategies` of 5.5.4: those of a column become the table's own.
    fn key_generate_strategies(&mut self, fields: &mut Fields<'_, '_>) {
        let read = |entry: &crate::node::Entry, report: &mut Report| {
            let of_column = [("column", true), ("sequence", false)];
            let mut fields = Fields::of(&entry.value, report)?;
            let kind = fields.field("keyGenerateType");
            let is_column = kind.and_then(|node| node.choice(&of_column, fields.report()));
            let generator = fields.name("keyGeneratorName");
            let table = fields.optional_name("logicTable");
            let column = fields.optional_name("keyGenerateColumn");
            let sequence = fields.optional_name("keyGenerateSequence");
            let at = fields.at();
            fields.finish();
            Some((read::key(entry), at, is_column?, generator?, table, column, sequence))
        };
        for (name, at, is_column, generator, table, column, sequence) in
            fields.map("keyGenerateStrategies", read)
        {
            if is_column {
                let (Some(table), Some(column)) = (table, column) else {
                    let message = "a key of a column needs `logicTable` and `keyGenerateColumn`";
                    fields.report().error(at.problem(message));
                    continue;
                };
                let key = KeyGenerate { at, column, generator: Some(generator) };
                self.give_key(&table, key, fields.report());
            } else if let Some(sequence) = sequence {
                let message = "the generator has no effect: the sequence itself counts, for all shards and instances";
                fields.report().warn(at.problem(message));
                self.key_sequences.push(name, KeySequence { table, sequence, generator });
            } else {
                let message = "a key of a sequence needs `keyGenerateSequence`";
                fields.report().error(at.problem(message));
            }
        }
    }

    fn give_key(&mut self, table: &Placed<String>, key: KeyGenerate, report: &mut Report) {
        let same = |name: &Placed<String>| name.eq_ignore_ascii_case(table);
        let slot = (self.tables.find_mut(same).map(|t| &mut t.key_generate))
            .or_else(|| self.auto_tables.find_mut(same).map(|t| &mut t.key_generate));
        let Some(slot) = slot else {
            let message = format!("`{}` is not among `tables` or `autoTables`", table.value);
            report.error(table.at.problem(message));
            return;
        };
        if slot.is_some() {
            let message = format!("`{}` has a key generate strategy already", table.value);
            report.error(key.at.problem(message));
        }
        *slot = Some(key);
    }

    /// Every name used must be defined, and every standard strategy must have a column.
    fn check(&self, report: &mut Report) {
        let defaults = [&self.default_database_strategy, &self.default_table_strategy];
        let tables = self.tables.iter();
        let of_tables =
            tables.flat_map(|(_, table)| [&table.database_strategy, &table.table_strategy]);
        let of_auto_tables = self.auto_tables.iter().map(|(_, table)| &table.strategy);
        for strategy in defaults.into_iter().chain(of_tables).chain(of_auto_tables).flatten() {
            self.check_strategy(strategy, report);
        }
        let keys = self.tables.iter().map(|(_, table)| &table.key_generate);
        let auto_keys = self.auto_tables.iter().map(|(_, table)| &table.key_generate);
        for key in keys.chain(auto_keys).chain([&self.default_key_generate_strategy]).flatten() {
            if let Some(generator) = &key.generator {
                self.key_generators.check(generator, "key generator", report);
            }
        }
        for (_, sequence) in self.key_sequences.iter() {
            self.key_generators.check(&sequence.generator, "key generator", report);
        }
        let audits = self.tables.iter().map(|(_, table)| &table.audit);
        let auto_audits = self.auto_tables.iter().map(|(_, table)| &table.audit);
        for audit in audits.chain(auto_audits).chain([&self.default_audit_strategy]).flatten() {
            for auditor in &audit.auditors {
                self.auditors.check(auditor, "auditor", report);
            }
        }
    }

    fn check_strategy(&self, strategy: &Strategy, report: &mut Report) {
        let algorithm = match &strategy.kind {
            StrategyKind::None => return,
            StrategyKind::Standard { column, algorithm } => {
                if column.is_none() && self.default_sharding_column.is_none() {
                    let message = "field `shardingColumn` is required, as there is no `defaultShardingColumn`";
                    report.error(strategy.at.problem(message));
                }
                algorithm
            }
            StrategyKind::Complex { algorithm, .. } | StrategyKind::Hint { algorithm } => algorithm,
        };
        self.algorithms.check(algorithm, "sharding algorithm", report);
    }
}

impl Table {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of(node, report)?;
        let table = Self {
            at: node.at.clone(),
            actual_data_nodes: fields.optional_name("actualDataNodes"),
            database_strategy: Strategy::field(&mut fields, "databaseStrategy"),
            table_strategy: Strategy::field(&mut fields, "tableStrategy"),
            key_generate: KeyGenerate::field(&mut fields, "keyGenerateStrategy"),
            audit: Audit::field(&mut fields, "auditStrategy"),
        };
        // Until 5.0 the file repeated the table's name inside its own entry.
        fields.ignored("logicTable", "the entry's key is the name");
        fields.finish();
        Some(table)
    }
}

impl AutoTable {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of(node, report)?;
        let table = Self {
            at: node.at.clone(),
            actual_data_sources: fields.optional_name("actualDataSources"),
            strategy: Strategy::field(&mut fields, "shardingStrategy"),
            key_generate: KeyGenerate::field(&mut fields, "keyGenerateStrategy"),
            audit: Audit::field(&mut fields, "auditStrategy"),
        };
        if table.strategy.is_none() && fields.optional("shardingStrategy").is_none() {
            fields.missing("shardingStrategy");
        }
        fields.ignored("logicTable", "the entry's key is the name");
        fields.finish();
        Some(table)
    }
}

/// `bindingTables`: a list of `a,b` or `name:a,b`; also one such text, as the oldest files have it.
fn bindings(fields: &mut Fields<'_, '_>) -> Vec<Binding> {
    let Some(node) = fields.optional("bindingTables") else { return Vec::new() };
    let report = fields.report();
    let items = match &node.content {
        Content::Scalar { .. } => std::slice::from_ref(node),
        Content::Sequence(_) | Content::Mapping(_) => node.list(report).unwrap_or_default(),
    };
    items.iter().filter_map(|item| binding(item, report)).collect()
}

fn binding(node: &Node, report: &mut Report) -> Option<Binding> {
    let text = node.name(report)?;
    let (name, tables) = match text.split_once(':') {
        Some((name, tables)) => (Some(name.trim().to_owned()), tables),
        None => (None, text.as_str()),
    };
    let tables: Vec<String> = tables.split(',').map(|table| table.trim().to_owned()).collect();
    if tables.iter().any(String::is_empty) {
        report.error(node.expected("table names with commas between them"));
        return None;
    }
    Some(Binding { at: node.at.clone(), name, tables })
}
