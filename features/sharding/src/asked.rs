//! A statement being routed: where it names sharded tables, and which of these places have been looked at.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Units};
use pando_sql::Span;
use pando_sql::ast::Statement;
use pando_sql::visit::Names;

use crate::found::{Found, spans_shards};
use crate::kept::Keeper;
use crate::rule::Rule;
use crate::scope::Scope;
use crate::table::Table;
use crate::text_keys::TextKeys;

/// A statement being routed.
pub(crate) struct Asked<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) ctx: &'a Context<'a>,
    pub(crate) stmt: &'a Statement,
    pub(crate) names: Names<'a>,
    /// Every place that names a sharded table, and whether it belongs to a scope that was placed.
    named: Vec<(Span, Cell<bool>)>,
    /// What must be read before the route can be told.
    need: RefCell<Option<Need>>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(rule: &'a Rule, ctx: &'a Context<'a>, stmt: &'a Statement) -> Self {
        let names = Names::of(&stmt.kind, &mut |_| {});
        let named = names
            .tables
            .iter()
            .filter(|occurrence| rule.table(&occurrence.name.key()).is_some())
            .map(|occurrence| (occurrence.name.span, Cell::new(false)))
            .collect();
        Self { rule, ctx, stmt, names, named, need: RefCell::new(None) }
    }

    /// Whether something must be read before the route can be told.
    pub(crate) fn needs(&self) -> bool {
        self.need.borrow().is_some()
    }

    /// Whether the statement names no sharded table.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The sharded tables of a scope, by source. A common table expression may have the name of one.
    pub(crate) fn tables(&self, scope: &Scope<'_>) -> Vec<Option<&'a Table>> {
        let table = |span: Span, logic: &str| match self.mark(span) {
            true => self.rule.table(logic),
            false => None,
        };
        scope.sources.iter().map(|source| table(source.span, &source.logic)).collect()
    }

    /// The sharded table that a place names.
    pub(crate) fn sharded(&self, span: Span, logic: &str) -> Option<&'a Table> {
        self.named.iter().find(|(named, _)| *named == span)?;
        self.rule.table(logic)
    }

    /// Every place that names a sharded table.
    pub(crate) fn places(&self) -> impl Iterator<Item = Span> + '_ {
        self.named.iter().map(|(span, _)| *span)
    }

    /// Remembers that a place has been looked at; false when it names no sharded table.
    pub(crate) fn mark(&self, span: Span) -> bool {
        let place = self.named.iter().find(|(named, _)| *named == span);
        place.is_some_and(|(_, seen)| {
            seen.set(true);
            true
        })
    }

    /// Asks how a column of a sharded table keeps its values.
    pub(crate) fn keeper<T>(
        &self,
        logic: &str,
        column: &str,
        ask: impl FnOnce(Keeper<'_>) -> T,
    ) -> T {
        let columns = self.columns(logic);
        let own = |known: &&TableColumn| known.name.eq_ignore_ascii_case(column);
        let own = columns.as_deref().and_then(|columns| columns.iter().find(own));
        let text_keys = self.rule.table(logic).map_or(TextKeys::Bytes, Table::text_keys);
        ask(Keeper::new(self.ctx, own, text_keys))
    }

    /// A table's columns; none while they are not known, which is then what the route needs.
    pub(crate) fn columns(&self, logic: &str) -> Option<Arc<Vec<TableColumn>>> {
        let columns = self.ctx.catalog.columns(logic);
        if columns.is_none() {
            self.need.borrow_mut().get_or_insert_with(|| Need::Columns(logic.to_owned()));
        }
        columns
    }

    /// What must be read first.
    pub(crate) fn need(&self) -> Option<Need> {
        self.need.borrow().clone()
    }

    /// The route found, once every place that names a sharded table has had its say in it.
    pub(crate) fn all_placed(&self, units: Units) -> Result<Found> {
        if self.named.iter().all(|(_, seen)| seen.get()) {
            return Ok(Found::Units(units));
        }
        Err(spans_shards(
            20030,
            "a sharded table stands in a part of the statement that cannot be routed (a change inside WITH, for one)",
        ))
    }
}
