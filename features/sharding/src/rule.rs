//! The configured section and the storage units there are → the validated rule.

use std::collections::HashMap;
use std::sync::Arc;

use pando_config::rules::{self, StrategyKind};
use pando_config::{At, Placed, Problem, suggest};
use pando_kernel::feature::DataNode;
use pando_kernel::module::CLASS_BASED;
use pando_kernel::{AlgorithmKind, AlgorithmSort, Modules, NoModules, UnitName};
use pando_sql::Fold;

use crate::algorithm::{self, Algorithm};
use crate::binding;
use crate::keygen::{self, KeyGenerator};
use crate::nodes;
use crate::strategy::Strategy;
use crate::table::{Audit, KeyColumn, Layout, Parts, Table};
use crate::text_keys::TextKeys;

/// The one auditor there is.
const AUDITOR: AlgorithmKind = AlgorithmKind {
    sort: AlgorithmSort::Auditor,
    name: "DML_SHARDING_CONDITIONS",
    description: "refuses a DML statement without a sharding condition",
};

/// What a configuration may name: sharding algorithms, key generators and auditors.
pub(crate) fn algorithms() -> Vec<AlgorithmKind> {
    let kind = |sort, name, description| AlgorithmKind { sort, name, description };
    let algorithms = algorithm::ALGORITHMS
        .map(|(name, _, description)| kind(AlgorithmSort::Sharding, name, description));
    let generators = keygen::GENERATORS
        .map(|(name, _, description)| kind(AlgorithmSort::KeyGenerator, name, description));
    let routes = "functions of a WebAssembly module name the targets";
    let makes = "what a function of a WebAssembly module makes of a number that nobody else has";
    let algorithms = algorithms
        .into_iter()
        .chain([kind(AlgorithmSort::Sharding, CLASS_BASED, routes)])
        .chain(generators)
        .chain([kind(AlgorithmSort::KeyGenerator, CLASS_BASED, makes)]);
    algorithms.chain([AUDITOR]).collect()
}

/// What a section is read with.
#[derive(Debug, Clone, Copy)]
pub struct Means<'a> {
    /// How the storage units read names.
    pub fold: Fold,
    /// Where algorithms of type `CLASS_BASED` are.
    pub modules: &'a dyn Modules,
}

/// Every sharded table of one logical database.
#[derive(Debug, Default)]
pub struct Rule {
    tables: Vec<Table>,
    by_logic: HashMap<Arc<str>, usize>,
    by_actual: HashMap<UnitName, HashMap<String, usize>>,
}

impl Rule {
    /// Resolves a configured section. `units` are the names that data nodes may use: storage units and groups of them.
    ///
    /// # Errors
    /// Everything that is wrong with it, with places.
    pub fn new(config: &rules::Sharding, units: &[UnitName]) -> Result<Self, Vec<Problem>> {
        Self::reading(config, units, Means { fold: Fold::Keep, modules: &NoModules })
    }

    /// The same, for storage units that read names so: an actual table is called as a statement means that writes its name as the section does, in quotes
    /// or without.
    ///
    /// # Errors
    /// As [`Rule::new`].
    pub fn reading(
        config: &rules::Sharding,
        units: &[UnitName],
        means: Means<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let builder = Builder::new(config, units, means, &mut problems);
        let mut rule = Self::default();
        for (name, table) in config.tables.iter() {
            match builder.table(name, table) {
                Ok(table) => rule.add(table, &name.at, &mut problems),
                Err(problem) => problems.push(problem),
            }
        }
        for (name, table) in config.auto_tables.iter() {
            match builder.auto_table(name, table) {
                Ok(table) => rule.add(table, &name.at, &mut problems),
                Err(problem) => problems.push(problem),
            }
        }
        // Bindings are only looked at when their tables are there, or every one of them would be missed again.
        if problems.is_empty() {
            for (group, config) in config.binding_tables.iter().enumerate() {
                let bound = binding::bind(&mut rule.tables, &rule.by_logic, group, config);
                problems.extend(bound.err());
            }
        }
        if problems.is_empty() { Ok(rule) } else { Err(problems) }
    }

    /// A table by its name in lower case, or exactly as configured.
    pub fn table(&self, logic: &str) -> Option<&Table> {
        self.table_at(self.place(logic)?)
    }

    /// The place of a logic table among [`Rule::tables`].
    pub(crate) fn place(&self, logic: &str) -> Option<usize> {
        self.by_logic.get(logic).copied()
    }

    /// The table at that place.
    pub(crate) fn table_at(&self, place: usize) -> Option<&Table> {
        self.tables.get(place)
    }

    /// All tables in the order configured, those with data nodes before auto tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter()
    }

    /// The table that an actual table belongs to.
    pub fn by_actual(&self, unit: &str, table: &str) -> Option<&Table> {
        let tables = self.by_actual.get(unit)?;
        self.tables.get(*tables.get(&table.to_lowercase())?)
    }

    /// Whether two tables are the same or bound, so that rows with equal sharding values are in the same place.
    pub fn are_bound(&self, a: &Table, b: &Table) -> bool {
        a.is_bound_to(b)
    }

    /// The tables bound to this one, itself among them, in the order configured.
    pub fn binding_group<'r>(&'r self, table: &'r Table) -> impl Iterator<Item = &'r Table> {
        self.tables.iter().filter(|other| other.is_bound_to(table))
    }

    fn add(&mut self, table: Table, at: &At, problems: &mut Vec<Problem>) {
        let position = self.tables.len();
        if self.by_logic.insert(table.logic().clone(), position).is_some() {
            problems.push(at.problem(format!("table `{}` was already given", table.name())));
            return;
        }
        // Where case tells tables apart, this is how it is written in quotes.
        self.by_logic.insert(table.name().into(), position);
        for node in table.nodes() {
            let tables = self.by_actual.entry(node.unit.clone()).or_default();
            let Some(other) = tables.insert(node.table.to_lowercase(), position) else { continue };
            let owner = self.tables.get(other).map_or(table.name(), Table::name);
            let message = format!(
                "data node `{}.{}` of table `{}` is already one of table `{owner}`",
                node.unit,
                node.table,
                table.name()
            );
            problems.push(at.problem(message));
            return;
        }
        self.tables.push(table);
    }
}

/// An algorithm, and what it sees of texts.
struct Built {
    algorithm: Arc<dyn Algorithm>,
    text_keys: TextKeys,
}

/// What tables are built from: algorithms and generators by name, each built once.
struct Builder<'c> {
    config: &'c rules::Sharding,
    units: &'c [UnitName],
    algorithms: HashMap<&'c str, Built>,
    generators: HashMap<&'c str, Arc<dyn KeyGenerator>>,
    default_generator: Option<Arc<dyn KeyGenerator>>,
    fold: Fold,
}

/// Which level a strategy is for.
#[derive(Clone, Copy)]
enum Level {
    Unit,
    Table,
}

impl<'c> Builder<'c> {
    fn new(
        config: &'c rules::Sharding,
        units: &'c [UnitName],
        means: Means<'_>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let Means { fold, modules } = means;
        let mut algorithms = HashMap::new();
        for (name, algorithm) in config.algorithms.iter() {
            let built = algorithm::build(algorithm, modules).and_then(|built| {
                let text_keys = TextKeys::of(algorithm)?;
                Ok(Built { algorithm: built, text_keys })
            });
            match built {
                Ok(built) => drop(algorithms.insert(name.as_str(), built)),
                Err(problem) => problems.push(problem),
            }
        }
        let mut generators = HashMap::new();
        for (name, generator) in config.key_generators.iter() {
            match keygen::build(generator, modules) {
                Ok(generator) => drop(generators.insert(name.as_str(), generator)),
                Err(problem) => problems.push(problem),
            }
        }
        for (_, auditor) in config.auditors.iter() {
            if !auditor.kind.eq_ignore_ascii_case(AUDITOR.name) {
                let hint = suggest::hint(&auditor.kind, [AUDITOR.name]);
                let message = format!("unknown auditor `{}`{hint}", auditor.kind.value);
                problems.push(auditor.kind.at.problem(message));
            }
        }
        let snowflake = pando_config::Algorithm::nowhere("SNOWFLAKE", []);
        let default_generator = keygen::build(&snowflake, modules).ok();
        Self { config, units, algorithms, generators, default_generator, fold }
    }

    fn table(&self, name: &Placed<String>, config: &rules::Table) -> Result<Table, Problem> {
        let database = config.database_strategy.as_ref();
        let database = database.or(self.config.default_database_strategy.as_ref());
        let table = config.table_strategy.as_ref();
        let table = table.or(self.config.default_table_strategy.as_ref());
        let nodes = match &config.actual_data_nodes {
            Some(expression) => nodes::parse(expression, self.units)?,
            None => {
                if let Some(strategy) = table.filter(|s| s.kind != StrategyKind::None) {
                    let message = format!("table `{}` needs `actualDataNodes`", name.value);
                    return Err(strategy.at.problem(message));
                }
                let node =
                    |unit: &UnitName| DataNode { unit: unit.clone(), table: name.as_str().into() };
                self.units.iter().map(node).collect()
            }
        };
        if nodes.is_empty() {
            let message = format!("table `{}` has no data node", name.value);
            return Err(config.at.problem(message));
        }
        let layout = Layout::new(nodes::read(nodes, self.fold));
        Ok(Table::new(Parts {
            name: name.value.clone(),
            database: self.strategy(database, Level::Unit, &layout)?,
            table: self.strategy(table, Level::Table, &layout)?,
            key_generator: self.key_generator(config.key_generate.as_ref())?,
            audit: self.audit(config.audit.as_ref()),
            layout,
        }))
    }

    fn auto_table(
        &self,
        name: &Placed<String>,
        config: &rules::AutoTable,
    ) -> Result<Table, Problem> {
        let units = match &config.actual_data_sources {
            Some(expression) => nodes::units(expression, self.units)?,
            None => self.units.to_vec(),
        };
        let strategy = config.strategy.as_ref();
        let shards = strategy.and_then(|strategy| strategy_algorithm(&strategy.kind));
        let shards = shards.and_then(|algorithm| self.algorithms.get(algorithm.as_str()));
        let Some(shards) = shards.and_then(|built| built.algorithm.shards()) else {
            let at = strategy.map_or(&config.at, |strategy| &strategy.at);
            let message = format!(
                "auto table `{}` needs a sharding algorithm that says how many shards there are, as `MOD` or `HASH_MOD`",
                name.value
            );
            return Err(at.problem(message));
        };
        let nodes = nodes::auto_table_nodes(name, &units, shards);
        if nodes.is_empty() {
            let message = format!("auto table `{}` has no storage unit", name.value);
            return Err(config.at.problem(message));
        }
        let layout = Layout::new(nodes::read(nodes, self.fold));
        Ok(Table::new(Parts {
            name: name.value.clone(),
            database: Strategy::none(),
            table: self.strategy(strategy, Level::Table, &layout)?,
            key_generator: self.key_generator(config.key_generate.as_ref())?,
            audit: self.audit(config.audit.as_ref()),
            layout,
        }))
    }

    fn strategy(
        &self,
        config: Option<&rules::Strategy>,
        level: Level,
        layout: &Layout,
    ) -> Result<Strategy, Problem> {
        let Some(config) = config else { return Ok(Strategy::none()) };
        let Some(name) = strategy_algorithm(&config.kind) else { return Ok(Strategy::none()) };
        let Some(Built { algorithm, text_keys }) = self.algorithms.get(name.as_str()) else {
            let message = format!("sharding algorithm `{}` cannot be used", name.value);
            return Err(name.at.problem(message));
        };
        // Bound tables share their storage units, so only table names may differ.
        let (targets, prefix) = match level {
            Level::Unit => (&layout.units, ""),
            Level::Table => (&layout.tables, layout.tables.prefix()),
        };
        let strategy = match &config.kind {
            StrategyKind::None => return Ok(Strategy::none()),
            StrategyKind::Standard { column, .. } => {
                let default = self.config.default_sharding_column.as_ref();
                let Some(column) = column.as_ref().or(default) else {
                    return Err(config.at.problem("field `shardingColumn` is required"));
                };
                Strategy::standard(&**algorithm, column, targets, prefix)
            }
            StrategyKind::Complex { columns, .. } => {
                let columns: Vec<String> = columns.iter().map(|c| c.value.clone()).collect();
                Strategy::complex(&**algorithm, &columns, targets, prefix)
            }
            StrategyKind::Hint { .. } => Strategy::hint(&**algorithm, targets, prefix),
        };
        strategy
            .map(|strategy| strategy.seeing(*text_keys))
            .map_err(|why| config.at.problem(format!("sharding algorithm `{}`: {why}", name.value)))
    }

    fn key_generator(
        &self,
        config: Option<&rules::KeyGenerate>,
    ) -> Result<Option<KeyColumn>, Problem> {
        let default = self.config.default_key_generate_strategy.as_ref();
        let Some(config) = config.or(default) else { return Ok(None) };
        let named = config.generator.as_ref();
        let named = named.or_else(|| default.and_then(|default| default.generator.as_ref()));
        let generator = match named {
            Some(name) => self.generators.get(name.as_str()).ok_or_else(|| {
                let message = format!("key generator `{}` cannot be used", name.value);
                name.at.problem(message)
            })?,
            None => match &self.default_generator {
                Some(generator) => generator,
                None => return Err(config.at.problem("field `keyGeneratorName` is required")),
            },
        };
        Ok(Some((config.column.value.clone(), generator.clone())))
    }

    fn audit(&self, config: Option<&rules::Audit>) -> Option<Audit> {
        let config = config.or(self.config.default_audit_strategy.as_ref())?;
        let auditors = config.auditors.iter().map(|name| name.value.clone()).collect();
        Some(Audit { auditors, allow_hint_disable: config.allow_hint_disable })
    }
}

fn strategy_algorithm(kind: &StrategyKind) -> Option<&Placed<String>> {
    match kind {
        StrategyKind::None => None,
        StrategyKind::Standard { algorithm, .. }
        | StrategyKind::Complex { algorithm, .. }
        | StrategyKind::Hint { algorithm } => Some(algorithm),
    }
}
