//! One sharded table: its nodes in order, and the way from sharding values to them.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::feature::DataNode;
use pando_kernel::route::TableName;
use pando_kernel::{Error, ErrorKind, Result, Unroutable, Value};

use crate::algorithm::{Selection, Targets};
use crate::domain::Domain;
use crate::keygen::KeyGenerator;
use crate::strategy::Strategy;
use crate::text_keys::TextKeys;

/// A logic table and its actual tables.
#[derive(Debug)]
pub struct Table {
    name: String,
    logic: Arc<str>,
    layout: Layout,
    configured: Arc<str>,
    database: Strategy,
    table: Strategy,
    keys: Vec<String>,
    is_placed_by_keys: bool,
    text_keys: TextKeys,
    key_generator: Option<KeyColumn>,
    audit: Option<Audit>,
    binding: Binding,
}

/// Nodes among which one is found by looking at each.
const FEW: usize = 8;

/// A generated column and its generator.
pub(crate) type KeyColumn = (String, Arc<dyn KeyGenerator>);

/// Which statements on a table are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Names of the auditors, all of type `DML_SHARDING_CONDITIONS`: no DML without a sharding condition.
    pub auditors: Vec<String>,
    /// Whether a hint in the statement may switch them off.
    pub allow_hint_disable: bool,
}

/// The nodes of a table, by number and by place.
#[derive(Debug)]
pub(crate) struct Layout {
    nodes: Vec<DataNode>,
    pub(crate) units: Targets,
    pub(crate) tables: Targets,
    by_pair: HashMap<(usize, usize), usize>,
    unit_of: Vec<usize>,
    of_unit: Vec<Vec<usize>>,
    of_table: Vec<Vec<usize>>,
}

/// The numbers a table's nodes have in its binding group: those of the group's first table.
#[derive(Debug, Default)]
struct Binding {
    group: Option<usize>,
    to_group: Vec<usize>,
    from_group: Vec<usize>,
}

/// What a table is made of, once everything in it has been checked.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) database: Strategy,
    pub(crate) table: Strategy,
    pub(crate) key_generator: Option<KeyColumn>,
    pub(crate) audit: Option<Audit>,
}

impl Layout {
    pub(crate) fn new(nodes: Vec<DataNode>) -> Self {
        let units = Targets::new(nodes.iter().map(|node| node.unit.clone()));
        let tables = Targets::new(nodes.iter().map(|node| node.table.clone()));
        let mut by_pair = HashMap::with_capacity(nodes.len());
        let mut unit_of = vec![0; nodes.len()];
        let mut of_unit = vec![Vec::new(); units.len()];
        let mut of_table = vec![Vec::new(); tables.len()];
        for (i, node) in nodes.iter().enumerate() {
            let pair = (units.find(&node.unit), tables.find(&node.table));
            if let (Some(unit), Some(table)) = pair {
                by_pair.insert((unit, table), i);
                unit_of[i] = unit;
                of_unit[unit].push(i);
                of_table[table].push(i);
            }
        }
        Self { nodes, units, tables, by_pair, unit_of, of_unit, of_table }
    }

    pub(crate) fn nodes(&self) -> &[DataNode] {
        &self.nodes
    }

    /// The end of a node's table name that says which part of the rows it has.
    pub(crate) fn suffix(&self, node: &DataNode) -> String {
        let prefix = self.tables.prefix();
        node.table.strip_prefix(prefix).unwrap_or(&node.table).to_owned()
    }

    /// The node of one unit and table.
    fn node_at(&self, unit: usize, table: usize) -> Option<usize> {
        let same_table = self.of_table.get(table)?;
        if same_table.len() <= FEW {
            return same_table.iter().copied().find(|node| self.unit_of[*node] == unit);
        }
        self.by_pair.get(&(unit, table)).copied()
    }

    /// The nodes at chosen units and tables, ascending.
    fn nodes_at(&self, units: &Selection, tables: &Selection) -> Vec<usize> {
        let pair = |unit: usize, table: usize| self.by_pair.get(&(unit, table)).copied();
        match (units, tables) {
            (Selection::All, Selection::All) => (0..self.nodes.len()).collect(),
            (Selection::One(unit), Selection::One(table)) => {
                pair(*unit, *table).into_iter().collect()
            }
            (Selection::One(unit), Selection::All) => {
                self.of_unit.get(*unit).cloned().unwrap_or_default()
            }
            (Selection::All, Selection::One(table)) => {
                self.of_table.get(*table).cloned().unwrap_or_default()
            }
            (units, Selection::All) => {
                let units = units.positions(self.units.len());
                let nodes = units.into_iter().filter_map(|unit| self.of_unit.get(unit));
                ascending(nodes.flatten().copied().collect())
            }
            (units, tables) => {
                let mut nodes = Vec::new();
                for table in tables.positions(self.tables.len()) {
                    let of_table = self.of_table.get(table).into_iter().flatten();
                    nodes.extend(of_table.filter(|node| {
                        self.unit_of.get(**node).is_some_and(|unit| units.contains(*unit))
                    }));
                }
                ascending(nodes)
            }
        }
    }

    /// A combination of a chosen unit and a chosen table that is no node.
    fn missing(&self, units: &Selection, tables: &Selection) -> Option<(Arc<str>, Arc<str>)> {
        for unit in units.positions(self.units.len()) {
            for table in tables.positions(self.tables.len()) {
                if !self.by_pair.contains_key(&(unit, table)) {
                    return self.units.name(unit).cloned().zip(self.tables.name(table).cloned());
                }
            }
        }
        None
    }
}

impl Table {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { name, layout, database, table, key_generator, audit } = parts;
        let mut keys: Vec<String> = Vec::new();
        for column in database.columns().iter().chain(table.columns()) {
            if !keys.contains(column) {
                keys.push(column.clone());
            }
        }
        let single = |lists: &[Vec<usize>]| lists.iter().all(|list| list.len() < 2);
        let by_unit = !database.columns().is_empty() || single(&layout.of_table);
        let by_table = !table.columns().is_empty() || single(&layout.of_unit);
        let levels = [&database, &table];
        let is_written = levels.iter().any(|level| level.text_keys() == TextKeys::Bytes);
        Self {
            text_keys: if is_written { TextKeys::Bytes } else { TextKeys::Collation },
            logic: name.to_lowercase().into(),
            configured: name.as_str().into(),
            is_placed_by_keys: by_unit && by_table && !keys.is_empty(),
            name,
            layout,
            database,
            table,
            keys,
            key_generator,
            audit,
            binding: Binding::default(),
        }
    }

    /// Its name as configured.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name in lower case, as statements are looked up.
    pub fn logic(&self) -> &Arc<str> {
        &self.logic
    }

    /// Its name, at one of its nodes.
    pub(crate) fn named_at(&self, node: &DataNode) -> TableName {
        TableName {
            logic: Arc::clone(&self.logic),
            configured: Arc::clone(&self.configured),
            actual: Arc::clone(&node.table),
        }
    }

    /// Its actual tables in the order configured; never empty.
    pub fn nodes(&self) -> &[DataNode] {
        self.layout.nodes()
    }

    /// One actual table by its number.
    ///
    /// # Errors
    /// `Internal` for a number that is none of its own.
    pub fn node(&self, number: usize) -> Result<&DataNode> {
        let missing = || Error::internal(format!("`{}` has no node {number}", self.name));
        self.nodes().get(number).ok_or_else(missing)
    }

    /// The number of an actual table.
    pub fn number(&self, unit: &str, table: &str) -> Option<usize> {
        let pair = (self.layout.units.find(unit)?, self.layout.tables.find(table)?);
        self.layout.by_pair.get(&pair).copied()
    }

    /// Its sharding columns in lower case, those of the storage unit first, each once.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Whether nothing but its sharding columns decides where a row lives: no hint, and no choice that is left open.
    pub(crate) fn is_placed_by_keys(&self) -> bool {
        self.is_placed_by_keys
    }

    /// Whether a column decides where a row lives.
    pub fn is_key(&self, column: &str) -> bool {
        self.keys.iter().any(|key| key.eq_ignore_ascii_case(column))
    }

    /// The column that is generated where an INSERT leaves it out, and its generator.
    pub fn key_generator(&self) -> Option<(&str, &dyn KeyGenerator)> {
        self.key_generator.as_ref().map(|(column, generator)| (column.as_str(), &**generator))
    }

    /// Which statements are refused.
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// The nodes that hold rows of these domains, ascending; none where no row can match. `hints` are the statement's, by
    /// ShardingSphere's keys.
    ///
    /// # Errors
    /// `ShardingValue`: a value is NULL or of a wrong type, or its target is not among the configured ones.
    pub fn route(
        &self,
        domain: &dyn Fn(&str) -> Domain,
        hints: &[(String, String)],
    ) -> Result<Vec<usize>> {
        match self.choose(domain, hints) {
            Ok((units, tables)) => Ok(self.layout.nodes_at(&units, &tables)),
            Err(error) if is_of_another_type(&error) => Ok((0..self.layout.nodes.len()).collect()),
            Err(error) => Err(error),
        }
    }

    /// The number of the one node of a row with these values; `None` where they do not decide for one.
    pub(crate) fn exact<'v>(&self, value: &impl Fn(&str) -> Option<&'v Value>) -> Option<usize> {
        let one = |strategy: &Strategy, targets: &Targets| match targets.len() {
            1 if strategy.columns().is_empty() => Some(0),
            _ => strategy.exact(value),
        };
        let unit = one(&self.database, &self.layout.units)?;
        let table = one(&self.table, &self.layout.tables)?;
        self.layout.node_at(unit, table)
    }

    /// As [`Table::route`], for rows about to be written: each chosen table must also be there in each chosen storage unit.
    ///
    /// # Errors
    /// As [`Table::route`], and `ShardingValue` for a combination that is no node.
    pub fn route_exactly(
        &self,
        domain: &dyn Fn(&str) -> Domain,
        hints: &[(String, String)],
    ) -> Result<Vec<usize>> {
        let (units, tables) = self.choose(domain, hints)?;
        let decided = units != Selection::All && tables != Selection::All;
        if let Some((unit, table)) = decided.then(|| self.layout.missing(&units, &tables)).flatten()
        {
            let message = format!(
                "a row of `{}` is routed to `{unit}.{table}`, which is not among its data nodes",
                self.name
            );
            let is = Unroutable::NoPlace;
            return Err(ErrorKind::ShardingValue { is, code: 20051, message }.into());
        }
        Ok(self.layout.nodes_at(&units, &tables))
    }

    fn choose(
        &self,
        domain: &dyn Fn(&str) -> Domain,
        hints: &[(String, String)],
    ) -> Result<(Selection, Selection)> {
        let hint = |key| self.hint(key, hints);
        let (units, tables) = (&self.layout.units, &self.layout.tables);
        let database = hint("SHARDING_DATABASE_VALUE");
        let units = self.database.route(units.len(), domain, database.as_ref())?;
        let table = hint("SHARDING_TABLE_VALUE");
        let tables = self.table.route(tables.len(), domain, table.as_ref())?;
        Ok((units, tables))
    }

    /// The hint for this table, or else the one for every table.
    fn hint(&self, key: &str, hints: &[(String, String)]) -> Option<Value> {
        let own = |name: &str| {
            let table = name.rsplit_once('.').filter(|(_, rest)| rest.eq_ignore_ascii_case(key));
            table.is_some_and(|(table, _)| table.eq_ignore_ascii_case(&self.logic))
        };
        let find = |test: &dyn Fn(&str) -> bool| hints.iter().rev().find(|(name, _)| test(name));
        let found = find(&own).or_else(|| find(&|name| name.eq_ignore_ascii_case(key)));
        found.map(|(_, value)| match value.parse::<i64>() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Text(value.clone()),
        })
    }

    /// This table's node where the rows are that meet those of node `number` of `other`, itself or a binding table.
    ///
    /// # Errors
    /// `Internal` for tables that are not bound.
    pub fn counterpart(&self, other: &Self, number: usize) -> Result<&DataNode> {
        self.node(self.counterpart_number(other, number)?)
    }

    /// [`Table::counterpart`] for several nodes of `other`, as numbers of this table, ascending.
    ///
    /// # Errors
    /// `Internal` for tables that are not bound.
    pub fn counterparts(&self, other: &Self, numbers: &[usize]) -> Result<Vec<usize>> {
        if self.logic == other.logic {
            return Ok(numbers.to_vec());
        }
        let own = numbers.iter().map(|number| self.counterpart_number(other, *number));
        let mut own: Vec<usize> = own.collect::<Result<_>>()?;
        own.sort_unstable();
        Ok(own)
    }

    fn counterpart_number(&self, other: &Self, number: usize) -> Result<usize> {
        if self.logic == other.logic {
            return Ok(number);
        }
        let bound = self.is_bound_to(other);
        let shared = other.binding.to_group.get(number).filter(|_| bound);
        let own = shared.and_then(|shared| self.binding.from_group.get(*shared)).copied();
        own.ok_or_else(|| {
            Error::internal(format!("`{}` and `{}` are not bound", self.name, other.name))
        })
    }

    /// Whether this is the same table or one bound to it.
    pub(crate) fn is_bound_to(&self, other: &Self) -> bool {
        self.logic == other.logic
            || (self.binding.group.is_some() && self.binding.group == other.binding.group)
    }

    pub(crate) fn binding_group(&self) -> Option<usize> {
        self.binding.group
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What its algorithms see of texts: both as they are written where one of them does, as both may go by one column.
    pub(crate) fn text_keys(&self) -> TextKeys {
        self.text_keys
    }

    pub(crate) fn structures(&self) -> [&str; 2] {
        [self.database.structure(), self.table.structure()]
    }

    /// The sharding columns of both that take the same part in deciding where a row lives.
    pub(crate) fn key_pairs<'a>(&'a self, other: &'a Self) -> Vec<(&'a str, &'a str)> {
        let levels = [(&self.database, &other.database), (&self.table, &other.table)];
        let pairs = levels.into_iter().flat_map(|(a, b)| a.columns().iter().zip(b.columns()));
        pairs.map(|(a, b)| (a.as_str(), b.as_str())).collect()
    }

    /// How rows are spread over the nodes: the same for two tables with the same nodes only where every row has the same place.
    pub(crate) fn spread(&self) -> String {
        let level =
            |own: &Strategy| format!("{} by ({})", own.structure(), own.columns().join(", "));
        format!("{}; {}", level(&self.database), level(&self.table))
    }

    /// Joins a group; `to_group` has for each node its number in the group.
    pub(crate) fn bind(&mut self, group: usize, to_group: Vec<usize>) {
        let mut from_group = vec![0; to_group.len()];
        for (own, shared) in to_group.iter().enumerate() {
            if let Some(slot) = from_group.get_mut(*shared) {
                *slot = own;
            }
        }
        self.binding = Binding { group: Some(group), to_group, from_group };
    }
}

fn ascending(mut nodes: Vec<usize>) -> Vec<usize> {
    nodes.sort_unstable();
    nodes
}

/// Whether a value could not be read as what the algorithm takes. In a condition that says nothing about the shard: the storage units compare such a
/// value by their own rules, or refuse it with their own error.
fn is_of_another_type(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ShardingValue { is: Unroutable::OtherType, .. })
}
