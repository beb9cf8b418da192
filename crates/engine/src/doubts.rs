//! Sharded and broadcast tables of which nobody has looked yet whether their rows are where the rule looks for them.
//!
//! Statements that change rules count rows before. A configuration may come another way: from files at a start, from a repository that somebody
//! has written to by hand. So the first statement about a table looks at some of its rows, once for each configuration, before it is planned.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pando_kernel::feature::{Database, LogicTable, TableKind};

/// A table that could not be looked at, as a storage unit was away, is left alone so long. So is one that was found to be wrong: somebody may put it right.
const AGAIN: Duration = Duration::from_secs(5);

/// The tables in doubt.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// Whether there are any: all that a statement asks once they are settled.
    any: AtomicBool,
    /// By the tables' names in lower case.
    tables: Mutex<HashMap<String, Doubt>>,
    /// One looks at a time: of a thousand clients that begin at once the others go by what the first has seen.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone)]
struct Doubt {
    table: Arc<LogicTable>,
    /// When it was looked at last, and what was wrong.
    last: Option<(Instant, Option<Arc<str>>)>,
}

/// What is to be done about a table.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Nothing.
    Fine,
    /// Its rows are to be looked at.
    Look(Arc<LogicTable>),
    /// Statements about it are refused for this reason.
    Wrong(Arc<str>),
}

impl Doubts {
    /// All sharded and broadcast tables of a database, but those that were settled under the same rule before.
    pub(crate) fn of(database: &Database, before: Option<(&Database, &Self)>) -> Self {
        let ruled = |database: &Database| -> Vec<LogicTable> {
            let tables = database.features.iter().flat_map(|room| room.tables());
            tables.filter(|table| table.kind != TableKind::Single).collect()
        };
        let settled: Vec<LogicTable> = before
            .map(|(before, doubts)| {
                let known = doubts.known();
                let mut settled = ruled(before);
                settled.retain(|table| !known.contains_key(&table.name.to_lowercase()));
                settled
            })
            .unwrap_or_default();
        let tables = ruled(database).into_iter().filter(|table| !settled.contains(table));
        let tables: HashMap<String, Doubt> = tables
            .map(|table| {
                let key = table.name.to_lowercase();
                (key, Doubt { table: Arc::new(table), last: None })
            })
            .collect();
        let any = AtomicBool::new(!tables.is_empty());
        Self { any, tables: Mutex::new(tables), turn: tokio::sync::Mutex::default() }
    }

    /// Whether any table is in doubt.
    pub(crate) fn are(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// What is to be done about a table, by its name in any case.
    pub(crate) fn about(&self, name: &str, now: Instant) -> Verdict {
        let known = self.known();
        let Some(doubt) = known.get(&name.to_lowercase()) else { return Verdict::Fine };
        match &doubt.last {
            Some((when, wrong)) if now.saturating_duration_since(*when) < AGAIN => match wrong {
                Some(why) => Verdict::Wrong(Arc::clone(why)),
                None => Verdict::Fine,
            },
            Some(_) | None => Verdict::Look(Arc::clone(&doubt.table)),
        }
    }

    /// The table's rows are where they are looked for.
    pub(crate) fn settle(&self, table: &LogicTable) {
        let mut known = self.known();
        known.remove(&table.name.to_lowercase());
        self.any.store(!known.is_empty(), Ordering::Release);
    }

    /// The table was looked at and is wrong, or could not be looked at.
    pub(crate) fn keep(&self, table: &LogicTable, now: Instant, wrong: Option<Arc<str>>) {
        if let Some(doubt) = self.known().get_mut(&table.name.to_lowercase()) {
            doubt.last = Some((now, wrong));
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Doubt>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> LogicTable {
        LogicTable {
            name: "T".into(),
            kind: TableKind::Sharded,
            nodes: Vec::new(),
            spread: String::new(),
            keys: Vec::new(),
        }
    }

    #[test]
    fn a_table_is_looked_at_once_unless_something_is_wrong_with_it() {
        let doubt = Doubt { table: Arc::new(table()), last: None };
        let doubts = Doubts {
            any: AtomicBool::new(true),
            tables: Mutex::new([("t".to_owned(), doubt)].into()),
            ..Doubts::default()
        };
        let now = Instant::now();
        let word = |verdict: Verdict| match verdict {
            Verdict::Fine => "fine".to_owned(),
            Verdict::Look(table) => format!("look at {}", table.name),
            Verdict::Wrong(why) => why.to_string(),
        };
        assert_eq!(word(doubts.about("other", now)), "fine");
        assert_eq!(word(doubts.about("T", now)), "look at T");
        doubts.keep(&table(), now, Some("rows".into()));
        assert_eq!(word(doubts.about("t", now)), "rows");
        assert_eq!(
            word(doubts.about("t", now + AGAIN)),
            "look at T",
            "somebody may have moved them"
        );
        doubts.keep(&table(), now, None);
        assert_eq!(word(doubts.about("t", now)), "fine", "a unit is away");
        doubts.settle(&table());
        assert_eq!(word(doubts.about("t", now + AGAIN)), "fine");
        assert!(!doubts.are());
    }
}
