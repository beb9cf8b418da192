//! Sharded tables, their algorithms and strategies.

use pando_config::rules::{Audit, KeyGenerate, Sharding, Strategy, StrategyKind};
use pando_config::{Algorithm, Named};
use pando_distsql::command::{Name, Usage};

use super::Asked;
use crate::algorithms::{AUDITOR, KEY_GENERATOR, SHARDING, Sort};
use crate::canonical::read_references;
use crate::refusal::{Kind, Result};
use crate::rows::{Rows, props};

/// A table of either kind.
struct Table<'a> {
    name: &'a str,
    is_auto: bool,
    nodes: &'a str,
    units: &'a str,
    database: Option<&'a Strategy>,
    table: Option<&'a Strategy>,
    key: Option<&'a KeyGenerate>,
    audit: Option<&'a Audit>,
}

fn tables(sharding: &Sharding) -> Vec<Table<'_>> {
    let standard = sharding.tables.iter().map(|(name, table)| Table {
        name,
        is_auto: false,
        nodes: table.actual_data_nodes.as_ref().map_or("", |nodes| nodes.as_str()),
        units: "",
        database: table.database_strategy.as_ref().or(sharding.default_database_strategy.as_ref()),
        table: table.table_strategy.as_ref().or(sharding.default_table_strategy.as_ref()),
        key: table.key_generate.as_ref().or(sharding.default_key_generate_strategy.as_ref()),
        audit: table.audit.as_ref().or(sharding.default_audit_strategy.as_ref()),
    });
    let auto = sharding.auto_tables.iter().map(|(name, table)| Table {
        name,
        is_auto: true,
        nodes: "",
        units: table.actual_data_sources.as_ref().map_or("", |units| units.as_str()),
        database: None,
        table: table.strategy.as_ref(),
        key: table.key_generate.as_ref().or(sharding.default_key_generate_strategy.as_ref()),
        audit: table.audit.as_ref().or(sharding.default_audit_strategy.as_ref()),
    });
    standard.chain(auto).collect()
}

/// Type, columns and algorithm of a strategy.
fn parts(strategy: &Strategy) -> (&'static str, String, Option<&str>) {
    match &strategy.kind {
        StrategyKind::None => ("NONE", String::new(), None),
        StrategyKind::Standard { column, algorithm } => {
            let column = column.as_ref().map(|column| column.value.clone()).unwrap_or_default();
            ("STANDARD", column, Some(algorithm.as_str()))
        }
        StrategyKind::Complex { columns, algorithm } => {
            let columns: Vec<&str> = columns.iter().map(|column| column.as_str()).collect();
            ("COMPLEX", columns.join(","), Some(algorithm.as_str()))
        }
        StrategyKind::Hint { algorithm } => ("HINT", String::new(), Some(algorithm.as_str())),
    }
}

impl Asked<'_> {
    fn sharding(&self) -> Option<&Sharding> {
        self.database.rules.sharding.as_ref()
    }

    pub(super) fn table_rules(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW SHARDING TABLE RULES");
        if let Some(sharding) = self.sharding() {
            let all = tables(sharding).into_iter();
            for table in all.filter(|table| is_wanted(wanted, table.name)) {
                table_rule(sharding, &table, &mut rows);
            }
        }
        self.found(rows, "sharding tables", wanted)
    }

    pub(super) fn references(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW SHARDING TABLE REFERENCE RULES");
        let all = self.tree.rule("SHARDING").and_then(|rule| rule.get("bindingTables"));
        for (name, tables) in all.map(read_references).unwrap_or_default() {
            if is_wanted(wanted, &name) {
                rows.push([&name, &tables.join(",")]);
            }
        }
        self.found(rows, "sharding table references", wanted)
    }

    pub(super) fn table_nodes(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW SHARDING TABLE NODES");
        for table in self.seen()?.sharded().filter(|table| is_wanted(wanted, &table.name)) {
            let nodes = table.nodes.iter().map(|node| format!("{}.{}", node.unit, node.table));
            rows.push([&table.name, &nodes.collect::<Vec<_>>().join(", ")]);
        }
        self.found(rows, "sharding tables", wanted)
    }

    pub(super) fn sharding_algorithms(&self, usage: Usage) -> Rows {
        let all = self.sharding().map(|sharding| &sharding.algorithms);
        self.algorithms("SHOW SHARDING ALGORITHMS", all, &SHARDING, usage)
    }

    pub(super) fn key_generators(&self, usage: Usage) -> Rows {
        let all = self.sharding().map(|sharding| &sharding.key_generators);
        self.algorithms("SHOW SHARDING KEY GENERATORS", all, &KEY_GENERATOR, usage)
    }

    pub(super) fn auditors(&self, usage: Usage) -> Rows {
        let all = self.sharding().map(|sharding| &sharding.auditors);
        self.algorithms("SHOW SHARDING AUDITORS", all, &AUDITOR, usage)
    }

    fn algorithms(
        &self,
        statement: &str,
        all: Option<&Named<Algorithm>>,
        sort: &Sort,
        usage: Usage,
    ) -> Rows {
        let mut rows = Rows::of(statement);
        let used = self.tree.rule(sort.tag).map(|section| sort.used(section)).unwrap_or_default();
        for (name, algorithm) in all.into_iter().flat_map(Named::iter) {
            let is_meant = match usage {
                Usage::Any => true,
                Usage::Unused => !used.contains(name.as_str()),
            };
            if is_meant {
                rows.push([name, &algorithm.kind, &props(&algorithm.props)]);
            }
        }
        rows
    }

    pub(super) fn tables_of_algorithm(&self, algorithm: &Name) -> Result<Rows> {
        let uses = |table: &Table<'_>| {
            let strategies = [table.database, table.table].into_iter().flatten();
            strategies
                .into_iter()
                .any(|strategy| parts(strategy).2 == Some(algorithm.text.as_str()))
        };
        if self.sharding().and_then(|s| s.algorithms.get(&algorithm.text)).is_none() {
            return Err(self.missing(Kind::MissingAlgorithm, SHARDING.what, &algorithm.text));
        }
        let statement = "SHOW SHARDING TABLE RULES USED ALGORITHM";
        Ok(self.tables_that(statement, &uses))
    }

    pub(super) fn tables_of_generator(&self, generator: &Name) -> Result<Rows> {
        let uses = |table: &Table<'_>| {
            let own = table.key.and_then(|key| key.generator.as_ref());
            own.is_some_and(|own| own.value == generator.text)
        };
        if self.sharding().and_then(|s| s.key_generators.get(&generator.text)).is_none() {
            return Err(self.missing(Kind::MissingAlgorithm, KEY_GENERATOR.what, &generator.text));
        }
        let statement = "SHOW SHARDING TABLE RULES USED KEY GENERATOR";
        Ok(self.tables_that(statement, &uses))
    }

    pub(super) fn tables_of_auditor(&self, auditor: &Name) -> Result<Rows> {
        let uses = |table: &Table<'_>| {
            let own = table.audit.map(|audit| audit.auditors.as_slice()).unwrap_or_default();
            own.iter().any(|own| own.value == auditor.text)
        };
        if self.sharding().and_then(|s| s.auditors.get(&auditor.text)).is_none() {
            return Err(self.missing(Kind::MissingAlgorithm, AUDITOR.what, &auditor.text));
        }
        let statement = "SHOW SHARDING TABLE RULES USED AUDITOR";
        Ok(self.tables_that(statement, &uses))
    }

    fn tables_that(&self, statement: &str, uses: &dyn Fn(&Table<'_>) -> bool) -> Rows {
        let mut rows = Rows::of(statement);
        for table in self.sharding().map(tables).unwrap_or_default() {
            if uses(&table) {
                rows.push([if table.is_auto { "auto_table" } else { "table" }, table.name]);
            }
        }
        rows
    }

    pub(super) fn default_strategies(&self) -> Rows {
        let mut rows = Rows::of("SHOW DEFAULT SHARDING STRATEGY");
        let Some(sharding) = self.sharding() else { return rows };
        let levels = [
            ("TABLE", &sharding.default_table_strategy),
            ("DATABASE", &sharding.default_database_strategy),
        ];
        for (name, strategy) in levels {
            let Some(strategy) = strategy else { continue };
            let (kind, columns, algorithm) = parts(strategy);
            let columns = with_default_column(sharding, kind, columns);
            let (algorithm_kind, algorithm_props) = described(&sharding.algorithms, algorithm);
            rows.push([
                name,
                kind,
                &columns,
                algorithm.unwrap_or_default(),
                &algorithm_kind,
                &algorithm_props,
            ]);
        }
        rows
    }

    pub(super) fn key_generate_strategies(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW SHARDING KEY GENERATE STRATEGIES");
        let all = self.tree.rule("SHARDING").and_then(|rule| rule.get("keyGenerateStrategies"));
        for entry in all.map(pando_config::Node::pairs).unwrap_or_default() {
            if !is_wanted(wanted, &entry.key) {
                continue;
            }
            let field =
                |key: &str| entry.value.get(key).and_then(|node| node.as_text()).unwrap_or("");
            let generator = field("keyGeneratorName");
            let defined = self.sharding().map(|sharding| &sharding.key_generators);
            let (kind, props) = match defined {
                Some(all) => described(all, Some(generator)),
                None => (String::new(), String::new()),
            };
            rows.push([
                &entry.key,
                field("keyGenerateType"),
                field("logicTable"),
                field("keyGenerateColumn"),
                field("keyGenerateSequence"),
                generator,
                &kind,
                &props,
            ]);
        }
        self.found(rows, "key generate strategies", wanted)
    }
}

pub(super) fn is_wanted(wanted: Option<&Name>, name: &str) -> bool {
    wanted.is_none_or(|wanted| wanted.text.eq_ignore_ascii_case(name))
}

/// Type and properties of an algorithm; empty texts where there is none.
pub(super) fn described(all: &Named<Algorithm>, name: Option<&str>) -> (String, String) {
    let found = name.and_then(|name| all.get(name));
    found.map_or_else(Default::default, |algorithm| {
        (algorithm.kind.value.clone(), props(&algorithm.props))
    })
}

fn with_default_column(sharding: &Sharding, kind: &str, columns: String) -> String {
    let default = sharding.default_sharding_column.as_ref();
    match default {
        Some(column) if kind == "STANDARD" && columns.is_empty() => column.value.clone(),
        Some(_) | None => columns,
    }
}

fn table_rule(sharding: &Sharding, table: &Table<'_>, rows: &mut Rows) {
    let level = |strategy: Option<&Strategy>| {
        let Some(strategy) = strategy else { return Default::default() };
        let (kind, columns, algorithm) = parts(strategy);
        let columns = with_default_column(sharding, kind, columns);
        let (algorithm_kind, algorithm_props) = described(&sharding.algorithms, algorithm);
        [kind.to_owned(), columns, algorithm_kind, algorithm_props]
    };
    let (database, own): ([String; 4], [String; 4]) = (level(table.database), level(table.table));
    let generator = table.key.and_then(|key| key.generator.as_ref()).map(|name| name.as_str());
    let (key_kind, key_props) = described(&sharding.key_generators, generator);
    let auditors = table.audit.map(|audit| audit.auditors.as_slice()).unwrap_or_default();
    let auditors: Vec<String> =
        auditors.iter().map(|name| described(&sharding.auditors, Some(name)).0).collect();
    let allows = match table.audit.map(|audit| audit.allow_hint_disable) {
        Some(true) => "true",
        Some(false) => "false",
        None => "",
    };
    rows.push([
        table.name,
        table.nodes,
        table.units,
        &database[0],
        &database[1],
        &database[2],
        &database[3],
        &own[0],
        &own[1],
        &own[2],
        &own[3],
        table.key.map_or("", |key| key.column.as_str()),
        &key_kind,
        &key_props,
        &auditors.join(","),
        allows,
    ]);
}
