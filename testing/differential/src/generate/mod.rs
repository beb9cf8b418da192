//! Random statements over given tables, each a tree.

mod condition;
mod grouped;
mod limited;
mod made;
mod plain;
mod scalar;
mod shared;
mod source;
mod transaction;
mod write;

use crate::chance::Chance;
use crate::layout::Layout;
use crate::schema::{Class, Kind, Server, Table};
use crate::tree::{Expr, Query, Statement};

pub(crate) use transaction::Step;

/// Makes statements; the same seed and tables give the same ones.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) chance: Chance,
    server: Server,
    tables: &'a [Table],
    layout: &'a Layout,
    /// Ids that no row has yet.
    next_id: i64,
    items: usize,
    aliases: usize,
    /// Rows are changed: a warning of a SELECT is an error here, so that nothing may be warned of.
    is_writing: bool,
    /// Views are read in the places of tables.
    may_see: bool,
}

/// A column that an expression may name.
#[derive(Debug, Clone)]
struct Field {
    alias: String,
    name: String,
    class: Class,
    kind: Kind,
    standing: Standing,
}

/// How far a column's value is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Exact,
    /// One of several texts that a collation calls equal, of a group: it may be shown and compared, not looked into.
    OneOfEquals,
    /// Floats added up in whatever order: it may be shown.
    Loose,
}

impl Field {
    fn expr(&self) -> Expr {
        Expr::Column(self.alias.clone(), self.name.clone())
    }
}

impl<'a> Maker<'a> {
    pub(crate) fn new(
        chance: Chance,
        server: Server,
        tables: &'a [Table],
        layout: &'a Layout,
    ) -> Self {
        let (items, aliases, is_writing, may_see) = (0, 0, false, false);
        Self { chance, server, tables, layout, next_id: 1000, items, aliases, is_writing, may_see }
    }

    /// A SELECT with any of its clauses.
    pub(crate) fn select(&mut self) -> Statement {
        (self.items, self.aliases, self.is_writing) = (0, 0, false);
        let form = self.chance.below(100);
        // MariaDB 10.11 crashes at `lag` over a view with LIMIT 0.
        self.may_see = (self.server != Server::MariaDb || !(85..=90).contains(&form))
            && self.layout.encrypted.is_empty();
        let query = match form {
            0..=44 => self.plain(),
            45..=58 => self.aggregate(),
            59..=78 => self.grouped(),
            79..=84 => self.united(),
            85..=90 => self.windowed(),
            91..=95 => self.common(),
            _ => self.over_derived(),
        };
        Statement::Select(query)
    }

    fn postgres(&self) -> bool {
        self.server.is_postgres()
    }

    /// Whether `*` could show a time, which differs on the two sides.
    fn is_timed(&self) -> bool {
        self.tables.iter().any(|table| table.timed)
    }

    fn item_id(&mut self) -> usize {
        self.items += 1;
        self.items
    }

    fn table(&mut self) -> &'a Table {
        // The first ones belong together.
        let at = if self.chance.percent(50) {
            self.chance.below(2)
        } else {
            self.chance.below(self.tables.len())
        };
        &self.tables[at]
    }

    fn maybe<T>(&mut self, share: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance.percent(share).then(|| make(self))
    }

    fn bracketed(query: Query) -> Expr {
        Expr::Query(Box::new(query))
    }
}
