//! `!SHADOW`, validated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_config::{Placed, Problem, rules};
use pando_kernel::Around;
use pando_kernel::route::{Place, UnitName};

use crate::algorithm::{self, Marks, Operation, Test};

/// Pairs of places, tables, and what marks their rows.
#[derive(Debug)]
pub(crate) struct Rule {
    /// In file order.
    pub(crate) pairs: Vec<Pair>,
    /// By the key of the table; also by its name as written, where case tells tables apart.
    tables: HashMap<String, Arc<Table>>,
    /// A hint decides for any table: each has a shadow in every pair.
    pub(crate) takes_all: bool,
}

/// Two storage units, or groups of them, under one name.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) name: UnitName,
    pub(crate) production: Place,
    pub(crate) shadow: Place,
}

/// A table with rows in both environments.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Those of the pairs that it has a shadow in.
    pairs: Vec<usize>,
    /// The hint decides.
    pub(crate) hinted: bool,
    pub(crate) columns: Vec<Column>,
}

/// A column whose values mark rows.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) tests: Vec<Test>,
}

impl Rule {
    /// Every problem is found, not only the first.
    pub(crate) fn new(section: &rules::Shadow, around: &Around<'_>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let pairs = pairs(section, around, &mut problems);
        let mut algorithms = HashMap::new();
        for (name, given) in section.algorithms.iter() {
            match algorithm::algorithm(given, around.modules) {
                Ok(marks) => {
                    algorithms.insert(name.as_str(), marks);
                }
                Err(problem) => problems.push(problem),
            }
        }
        let default = section.default_algorithm.as_ref();
        let marks = default.and_then(|name| algorithms.get(name.as_str()));
        if let (Some(name), Some(Marks::Column(..))) = (default, marks) {
            problems
                .push(name.at.problem("the default shadow algorithm looks at a hint: `SQL_HINT`"));
        }
        let mut rule = Self { pairs, tables: HashMap::new(), takes_all: default.is_some() };
        let mut known = HashSet::new();
        for (name, table) in section.tables.iter() {
            if !known.insert(name.to_lowercase()) {
                let message = format!("table `{}` is named twice", name.value);
                problems.push(name.at.problem(message));
            }
            match rule.table_of(name, table, &algorithms) {
                Ok(table) => {
                    let table = Arc::new(table);
                    for key in [name.to_lowercase(), name.value.clone()] {
                        rule.tables.insert(key, Arc::clone(&table));
                    }
                }
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(rule) } else { Err(problems) }
    }

    fn table_of(
        &self,
        name: &Placed<String>,
        table: &rules::ShadowTable,
        algorithms: &HashMap<&str, Marks>,
    ) -> Result<Table, Problem> {
        let number =
            |pair: &Placed<String>| self.pairs.iter().position(|own| *own.name == *pair.value);
        let pairs: Vec<usize> = table.data_sources.iter().filter_map(number).collect();
        let mut own = Table { name: name.value.clone(), pairs, hinted: false, columns: Vec::new() };
        if table.data_sources.is_empty() {
            let message = format!("table `{}` names no shadow data source", own.name);
            return Err(table.at.problem(message));
        }
        if table.algorithms.is_empty() && !self.takes_all {
            let message =
                format!("no algorithm says which statements of `{}` are shadows", own.name);
            return Err(table.at.problem(message));
        }
        for marks in table.algorithms.iter().filter_map(|name| algorithms.get(name.as_str())) {
            match marks {
                Marks::Hint => own.hinted = true,
                Marks::Column(column, test) => own.add(column, test.clone()),
            }
        }
        Ok(own)
    }

    /// A table of the rule, by its key.
    pub(crate) fn table(&self, key: &str) -> Option<&Arc<Table>> {
        self.tables.get(key)
    }

    /// Whether a table of this key has a shadow in a pair.
    pub(crate) fn has_shadow(&self, key: &str, pair: usize) -> bool {
        self.takes_all || self.table(key).is_some_and(|table| table.pairs.contains(&pair))
    }

    /// The pair that a route's target names: itself, or what it has in production.
    pub(crate) fn pair(&self, unit: &str) -> Option<usize> {
        let is_it = |pair: &Pair| *pair.name == *unit || *pair.production.name == *unit;
        self.pairs.iter().position(is_it)
    }
}

impl Pair {
    /// What other rooms see of it: what stands in production.
    pub(crate) fn place(&self) -> Place {
        Place { name: self.name.clone(), members: self.production.members.clone() }
    }
}

impl Table {
    fn add(&mut self, name: &str, test: Test) {
        match self.columns.iter_mut().find(|column| column.is_called(name)) {
            Some(column) => column.tests.push(test),
            None => self.columns.push(Column { name: name.to_owned(), tests: vec![test] }),
        }
    }

    /// The column of this name, where statements of a kind are told by it.
    pub(crate) fn column(&self, name: &str, operation: Operation) -> Option<usize> {
        self.columns.iter().position(|own| own.is_called(name) && own.decides(operation))
    }

    /// Whether statements of a kind are told by a column of it.
    pub(crate) fn decides(&self, operation: Operation) -> bool {
        self.columns.iter().any(|column| column.decides(operation))
    }
}

impl Column {
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    pub(crate) fn decides(&self, operation: Operation) -> bool {
        self.tests.iter().any(|test| test.operation == operation)
    }
}

fn pairs(section: &rules::Shadow, around: &Around<'_>, problems: &mut Vec<Problem>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut taken: HashSet<UnitName> = HashSet::new();
    for (name, given) in section.data_sources.iter() {
        let production = member(&given.production, around, problems);
        let shadow = member(&given.shadow, around, problems);
        let (Some(production), Some(shadow)) = (production, shadow) else { continue };
        let is_unit = around.units.iter().any(|unit| **unit == *name.value);
        if is_unit && *production.name != *name.value {
            let message = format!("`{}` is the name of a storage unit already", name.value);
            problems.push(name.at.problem(message));
        }
        for (of, place) in [(&given.production, &production), (&given.shadow, &shadow)] {
            if let Some(unit) = place.members.iter().find(|unit| !taken.insert((*unit).clone())) {
                let message = format!(
                    "storage unit `{unit}` stands in two shadow data sources, or twice in one"
                );
                problems.push(of.at.problem(message));
            }
        }
        pairs.push(Pair { name: name.as_str().into(), production, shadow });
    }
    pairs
}

/// A storage unit or a group of them; not a unit that is in a group, whose other members would be passed by.
fn member(
    name: &Placed<String>,
    around: &Around<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Place> {
    let found = around.places.iter().find(|place| *place.name == *name.value);
    if found.is_none() {
        let is_in = |place: &&Place| place.members.iter().any(|unit| **unit == *name.value);
        problems.push(name.at.problem(match around.places.iter().find(is_in) {
            Some(group) => {
                format!("`{}` is in the group `{}`: name the group", name.value, group.name)
            }
            None if name.contains("${") || name.contains("$->{") => {
                format!(
                    "inline expression `{}` is not served here; write the names out",
                    name.value
                )
            }
            None => format!("storage unit `{}` is not defined", name.value),
        }));
    }
    found.cloned()
}
