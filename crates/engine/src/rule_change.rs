//! Tables whose rows have another place in a newer configuration, or are stored otherwise: what an old transaction would
//! do to them would be lost to everybody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::feature::{Database, LogicTable, TableKind};

/// Tables by their names, in lower case and as configured, with what has become of them.
pub(crate) type Moved = HashMap<String, Change>;

/// What a newer configuration does otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Rows have other places; of a table that was or has become so.
    Place(TableKind),
    /// Values are stored otherwise. What an older configuration reads it still can, or is told that it cannot.
    Storage,
}

/// What has moved between a database and a newer one, kept for the newest one asked about, by its number.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Option<(u64, Arc<Moved>)>>);

impl Known {
    /// What is known of the database with this number, found out where it is not.
    pub(crate) fn of(&self, number: u64, find: impl FnOnce() -> Moved) -> Arc<Moved> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((own, moved)) if *own == number => Arc::clone(moved),
            Some(_) | None => {
                let moved = Arc::new(find());
                *known = Some((number, Arc::clone(&moved)));
                moved
            }
        }
    }
}

/// The tables whose rows a newer database looks for in other places, or stores otherwise. No newer one at all has none
/// of them.
pub(crate) fn moved(old: &Database, new: Option<&Database>) -> Moved {
    let restored = stored_otherwise(old, new);
    let (old, mut new) = (spread(old), new.map(spread).unwrap_or_default());
    let mut moved = Moved::new();
    for (name, table) in old {
        match new.remove(&name) {
            Some(now)
                if (now.kind, &now.nodes, &now.spread)
                    == (table.kind, &table.nodes, &table.spread) => {}
            Some(now) => drop(moved.insert(name, Change::Place(stricter(table.kind, now.kind)))),
            None => drop(moved.insert(name, Change::Place(table.kind))),
        }
    }
    moved.extend(new.into_iter().map(|(name, table)| (name, Change::Place(table.kind))));
    for name in restored {
        moved.entry(name).or_insert(Change::Storage);
    }
    moved
}

/// The tables of which two configurations store values otherwise.
fn stored_otherwise(old: &Database, new: Option<&Database>) -> Vec<String> {
    let of = |database: &Database| -> HashMap<String, Vec<u64>> {
        let mut all: HashMap<String, Vec<u64>> = HashMap::new();
        for shows in database.features.iter().filter_map(|room| room.columns()) {
            for (table, number) in shows.storage() {
                all.entry(table).or_default().push(number);
            }
        }
        all
    };
    let (old, new) = (of(old), new.map(of).unwrap_or_default());
    let names = old.keys().chain(new.keys());
    names.filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

/// The tables that a rule spreads, by their names in lower case and as configured. Where a single table stands is the catalogue's business.
fn spread(database: &Database) -> HashMap<String, LogicTable> {
    let tables = database.features.iter().flat_map(|feature| feature.tables());
    let spread = tables.filter(|table| match table.kind {
        TableKind::Sharded | TableKind::Broadcast => true,
        TableKind::Single => false,
    });
    let both = |table: LogicTable| {
        [(table.name.to_lowercase(), table.clone()), (table.name.clone(), table)]
    };
    spread.flat_map(both).collect()
}

fn stricter(a: TableKind, b: TableKind) -> TableKind {
    if a == TableKind::Sharded { a } else { b }
}
