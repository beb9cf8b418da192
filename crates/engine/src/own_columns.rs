//! What is known of the columns of a session's temporary tables: its own, and for one statement.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Names, Routines, Spellings};
use pando_kernel::oids::Oids;
use pando_kernel::route::UnitName;
use pando_kernel::{Effectful, LogicColumns};

use crate::catalog::TableMap;

/// The columns of temporary tables, as far as the statement under way has asked for them.
#[derive(Debug, Default)]
pub(crate) struct OwnColumns {
    /// The tables that the statement means by these keys.
    names: Vec<String>,
    /// It means others by one of these keys, too.
    pub(crate) are_mixed: bool,
    known: HashMap<String, Arc<Vec<TableColumn>>>,
}

impl OwnColumns {
    /// For a statement that means temporary tables by these keys.
    pub(crate) fn of(names: Vec<String>) -> Self {
        Self { names, are_mixed: false, known: HashMap::new() }
    }

    /// Whether a table's key means a temporary one.
    pub(crate) fn hide(&self, table: &str) -> bool {
        self.names.iter().any(|name| name == table)
    }

    /// Whether there is nothing to be known.
    pub(crate) fn are_none(&self) -> bool {
        self.names.is_empty()
    }

    /// Remembers those of one.
    pub(crate) fn learn(&mut self, table: String, columns: Vec<TableColumn>) {
        self.known.insert(table, Arc::new(columns));
    }
}

/// What everybody knows, but for the tables that a session's own hide.
#[derive(Debug)]
pub(crate) struct Beside<'a> {
    pub(crate) others: &'a dyn Catalog,
    pub(crate) own: &'a OwnColumns,
}

impl Catalog for Beside<'_> {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        match self.own.hide(table) {
            true => self.own.known.get(table).cloned(),
            false => self.others.columns(table),
        }
    }

    fn logic(&self, table: &str) -> Option<Arc<LogicColumns>> {
        if self.own.hide(table) { None } else { self.others.logic(table) }
    }

    fn epoch(&self) -> u64 {
        self.others.epoch()
    }

    fn tables(&self) -> Option<Arc<TableMap>> {
        self.others.tables()
    }

    fn spellings(&self) -> Option<Arc<Spellings>> {
        self.others.spellings()
    }

    fn sequences(&self) -> Option<Arc<TableMap>> {
        self.others.sequences()
    }

    fn indexes(&self) -> Option<Arc<HashMap<String, String>>> {
        self.others.indexes()
    }

    fn names(&self, units: &[UnitName]) -> Option<Arc<Names>> {
        self.others.names(units)
    }

    fn effectful(&self, unit: &str) -> Option<Arc<Effectful>> {
        self.others.effectful(unit)
    }

    fn numbers(&self, unit: &str) -> Option<Arc<Oids>> {
        self.others.numbers(unit)
    }

    fn routines(&self, units: &[UnitName]) -> Routines {
        self.others.routines(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::UnitCatalog;

    #[test]
    fn a_temporary_table_hides_what_is_known_of_its_name() {
        let others = UnitCatalog::default();
        others.learn_columns(others.epoch(), "a".into(), Vec::new(), None);
        let mut own = OwnColumns::of(vec!["a".into()]);
        assert!(Beside { others: &others, own: &own }.columns("a").is_none());
        own.learn("a".into(), Vec::new());
        assert!(Beside { others: &others, own: &own }.columns("a").is_some());
        assert!(Beside { others: &others, own: &own }.columns("b").is_none());
    }
}
