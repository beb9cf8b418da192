//! Which columns a room cares about.

use std::collections::BTreeMap;
use std::sync::Arc;

use pando_sql::Fold;

use crate::uses::Origin;

/// Columns of interest, by the key of their table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interest {
    tables: BTreeMap<String, Vec<Origin>>,
}

impl Interest {
    /// From pairs of a table's key ([`pando_sql::Syntax::table_key`]) and a column's name as the catalogue spells it.
    pub fn new<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> Self {
        let mut tables: BTreeMap<String, Vec<Origin>> = BTreeMap::new();
        for (table, column) in pairs {
            let of = Origin { table: Arc::from(table), column: Arc::from(column) };
            let list = tables.entry(table.to_owned()).or_default();
            if !list.contains(&of) {
                list.push(of);
            }
        }
        Self { tables }
    }

    /// Whether a table of this key has columns of interest.
    pub fn has_table(&self, key: &str) -> bool {
        self.tables.contains_key(key)
    }

    /// The columns of interest of a table.
    pub(crate) fn of_table(&self, key: &str) -> &[Origin] {
        self.tables.get(key).map_or(&[], Vec::as_slice)
    }

    /// The keys of its tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }
}

/// Whether two spellings name one column.
pub(crate) fn same(fold: Fold, a: &str, b: &str) -> bool {
    match fold {
        Fold::Lower => a == b,
        Fold::Keep => is_alike(a, b),
    }
}

/// Whether two spellings may name one column in some language.
pub(crate) fn is_alike(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
        || !(a.is_ascii() && b.is_ascii())
            && (a.to_lowercase() == b.to_lowercase() || a.to_uppercase() == b.to_uppercase())
}
