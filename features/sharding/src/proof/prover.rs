//! What one proof has met so far, and what follows from keys.

use std::cell::RefCell;
use std::collections::HashSet;

use pando_kernel::route::Target;
use pando_sql::Span;

use super::{Part, Step, Why};
use crate::asked::Asked;
use crate::class::{Class, target};
use crate::table::Table;

/// One proof: all its sharded tables are one table or bound to one.
pub(super) struct Prover<'a> {
    pub(super) asked: &'a Asked<'a>,
    /// The sharded tables met, each once; the first one's nodes are numbered.
    pub(super) tables: RefCell<Vec<&'a Table>>,
    pub(super) seen: RefCell<HashSet<Span>>,
}

impl<'a> Prover<'a> {
    pub(super) fn new(asked: &'a Asked<'a>) -> Self {
        Self { asked, tables: RefCell::default(), seen: RefCell::default() }
    }

    /// Notes a sharded table; its place is then accounted for.
    pub(super) fn meets(&self, table: &'a Table, span: Span) -> Step<()> {
        let mut tables = self.tables.borrow_mut();
        if let Some(first) = tables.first()
            && !self.asked.rule.are_bound(first, table)
        {
            return Err(Why::Doubt("it names sharded tables that are not binding tables"));
        }
        if !tables.iter().any(|known| known.logic() == table.logic()) {
            tables.push(table);
        }
        self.seen.borrow_mut().insert(span);
        Ok(())
    }

    /// How many keys tell where a row is; none where other things decide, too.
    pub(super) fn keys(&self) -> usize {
        let tables = self.tables.borrow();
        tables.first().filter(|table| table.is_placed_by_keys()).map_or(0, |t| t.keys().len())
    }

    /// Whether columns with these keys tell where a row is, and are never NULL.
    pub(super) fn covers(&self, parts: &[Part]) -> bool {
        let keys = self.keys();
        keys > 0 && (0..keys).all(|at| parts.iter().any(|part| part.at == at && part.firm))
    }

    /// Nodes of a table as the first table numbers them.
    pub(super) fn numbered(&self, table: &Table, nodes: &[usize]) -> Step<Vec<usize>> {
        match self.tables.borrow().first() {
            Some(first) => Ok(first.counterparts(table, nodes)?),
            None => Ok(nodes.to_vec()),
        }
    }

    /// The targets, once every place that names a sharded table is accounted for.
    pub(super) fn targets(&self, nodes: Vec<usize>) -> Step<Vec<Target>> {
        let seen = self.seen.borrow();
        if !self.asked.places().all(|span| seen.contains(&span)) {
            return Err(Why::Doubt("a sharded table stands where it is not looked for"));
        }
        let tables = self.tables.borrow().clone();
        let class = Class { tables, members: Vec::new(), nodes };
        Ok(class.nodes.iter().map(|node| target(&class, *node)).collect::<Result<_, _>>()?)
    }
}
