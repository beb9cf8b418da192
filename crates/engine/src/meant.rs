//! What a session's statement means by names of tables, where others mean something else by them: tables of one name
//! may stand in several schemas.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Names, Routines, Spellings};
use pando_kernel::oids::Oids;
use pando_kernel::route::UnitName;
use pando_kernel::views::Views;
use pando_kernel::{Effectful, LogicColumns};

use crate::catalog::TableMap;

/// What the statement under way means, as far as that is not what everybody does.
#[derive(Debug, Default)]
pub(crate) struct Meant {
    /// By table's key the schemas in which it means one of that name; never empty, and more than one where it names
    /// several of them.
    schemas: HashMap<String, BTreeSet<String>>,
    views: Option<Arc<Views>>,
    /// What the session looks into, as it was told last.
    looked: Option<Looked>,
}

/// The schemas that a session looks into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looked {
    /// The number of the settings that it was told under.
    pub(crate) settings: u64,
    /// The epoch that it was told in.
    pub(crate) epoch: u64,
    /// First to last.
    pub(crate) path: Arc<[String]>,
    /// Names mean the same as to everybody.
    pub(crate) is_usual: bool,
}

impl Meant {
    /// Another statement begins, which means what everybody does.
    pub(crate) fn begins(&mut self) {
        if self.is_usual() {
            return;
        }
        self.schemas.clear();
        self.views = None;
    }

    /// Whether the statement means what everybody does.
    pub(crate) fn is_usual(&self) -> bool {
        self.schemas.is_empty() && self.views.is_none()
    }

    /// Notes what the statement means.
    pub(crate) fn means(
        &mut self,
        schemas: HashMap<String, BTreeSet<String>>,
        views: Option<Arc<Views>>,
    ) {
        self.schemas = schemas;
        self.views = views;
    }

    /// In which schemas it means tables of this key; `None` where it means what everybody does.
    pub(crate) fn schemas(&self, table: &str) -> Option<&BTreeSet<String>> {
        self.schemas.get(table)
    }

    /// What the session looks into, where it was told under these settings and in this epoch.
    pub(crate) fn looked(&self, settings: u64, epoch: u64) -> Option<&Looked> {
        self.looked.as_ref().filter(|known| known.settings == settings && known.epoch == epoch)
    }

    /// Notes what the session looks into.
    pub(crate) fn looks(&mut self, into: Looked) {
        self.looked = Some(into);
    }
}

/// What the columns of the tables of one key in these schemas are known under.
pub(crate) fn key_in(table: &str, schemas: &BTreeSet<String>) -> String {
    let mut key = table.to_owned();
    for schema in schemas {
        // No name has such a character in it.
        key.push('\0');
        key.push_str(schema);
    }
    key
}

/// What everybody knows, but for what the statement means otherwise.
#[derive(Debug)]
pub(crate) struct InSchemas<'a> {
    pub(crate) others: &'a dyn Catalog,
    pub(crate) meant: &'a Meant,
}

impl Catalog for InSchemas<'_> {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        match self.meant.schemas(table) {
            Some(schemas) => self.others.columns(&key_in(table, schemas)),
            None => self.others.columns(table),
        }
    }

    fn logic(&self, table: &str) -> Option<Arc<LogicColumns>> {
        match self.meant.schemas(table) {
            Some(schemas) => self.others.logic(&key_in(table, schemas)),
            None => self.others.logic(table),
        }
    }

    fn views(&self) -> Option<Arc<Views>> {
        match &self.meant.views {
            Some(views) => Some(Arc::clone(views)),
            None => self.others.views(),
        }
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
