//! Every kind of statement: what is walked, what has no columns, and what nobody can walk.

use pando_sql::Fold;
use pando_sql::ast::{Cursor, Delete, Kind, Show, TableFactor, Update};

use crate::analysis::{Analysis, Result};
use crate::outlet::Outlet;
use crate::scope::{Outputs, Scope};
use crate::stop::Stop;
use crate::uses::Duplicates;

/// Utilities that are about whole tables. What they say of single columns is left to the safety net.
const WHOLE_TABLES: &[&str] = &[
    "ANALYZE",
    "ANALYZE TABLE",
    "CHECK TABLE",
    "CHECKSUM TABLE",
    "CLUSTER",
    "GRANT",
    "OPTIMIZE TABLE",
    "REINDEX",
    "REPAIR TABLE",
    "REVOKE",
    "VACUUM",
];

/// Functions that read tables which a text names, or all there are.
const READERS: &[&str] = &[
    // MariaDB's PROCEDURE ANALYSE(), which answers with values of each column.
    "analyse",
    "crosstab",
    "cursor_to_xml",
    "database_to_xml",
    "database_to_xml_and_xmlschema",
    "dblink",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "schema_to_xml",
    "schema_to_xml_and_xmlschema",
    "table_to_xml",
    "table_to_xml_and_xmlschema",
    "ts_rewrite",
    "ts_stat",
];

impl<'a> Analysis<'a> {
    /// A statement, or what stands in a common table expression; gives its columns.
    pub(crate) fn kind(&mut self, kind: &'a Kind, outlet: &Outlet) -> Result<Outputs> {
        match kind {
            Kind::Select(query) => return self.query(query, outlet),
            Kind::Insert(insert) => return self.insert(insert, outlet),
            Kind::Update(update) => return self.update(update, outlet),
            Kind::Delete(delete) => return self.delete(delete, outlet),
            // Its answer is no row of the query's.
            Kind::Explain { inner, .. } => {
                self.kind(inner, &Outlet::Inner)?;
            }
            Kind::Define(define) => self.define(define)?,
            Kind::Copy(copy) => self.copy(copy)?,
            Kind::Load(load) => self.load(load)?,
            Kind::Cursor(cursor) => match cursor.as_ref() {
                Cursor::Declare { query, .. } => return self.query(query, outlet),
                Cursor::Fetch { .. } | Cursor::Close(_) => {}
            },
            Kind::Show(show) => self.show(show)?,
            Kind::Utility { verb, tables, merge: None, .. }
                if WHOLE_TABLES.contains(&verb.as_str()) =>
            {
                self.others.extend(tables.iter().map(|table| table.span));
            }
            Kind::Lock(_)
            | Kind::Transaction(_)
            | Kind::Use(_)
            | Kind::Deallocate(_)
            | Kind::Kill { .. }
            | Kind::Administration
            | Kind::Empty => {}
            Kind::Set(_)
            | Kind::Prepare { .. }
            | Kind::Execute { .. }
            | Kind::Preview(_)
            | Kind::SetFor(_)
            | Kind::Immediate(_)
            | Kind::Utility { .. }
            | Kind::Opaque => {
                return Err(Stop::unclear(
                    "a statement of this kind may do anything with a table that it names",
                ));
            }
        }
        Ok(None)
    }

    /// Whether the statement may name a table of interest in any way.
    pub(crate) fn may_concern(&self) -> bool {
        let has_any = self.interest.tables().next().is_some();
        let names_one = self.interest.tables().any(|table| self.text.mentions(table));
        has_any && (names_one || self.text.has_disguised_name() || self.calls_reader())
    }

    /// Whether it calls a function that reads what nobody sees.
    pub(crate) fn calls_reader(&self) -> bool {
        let names = self.text.list.iter().filter_map(|token| self.text.name(token));
        names.into_iter().any(|name| READERS.contains(&name.to_lowercase().as_str()))
    }

    /// SHOW and DESCRIBE tell how a table is stored, but for those that the engine tells in what clients see.
    fn show(&mut self, show: &'a Show) -> Result<()> {
        let is_about =
            show.table.as_ref().is_some_and(|table| self.interest.has_table(&table.key()));
        let is_retold = show.what == "CREATE TABLE";
        if is_about && !is_retold || show.filter.is_some() {
            return Err(Stop::unclear("it shows how a table is stored"));
        }
        Ok(())
    }

    fn update(&mut self, update: &'a Update, outlet: &Outlet) -> Result<Outputs> {
        let before = self.common.len();
        self.with(&update.with)?;
        self.scopes.push(Scope::default());
        for factor in &update.tables {
            match (factor, self.fold()) {
                // What is changed is never a common table expression.
                (TableFactor::Table(table), Fold::Lower) => self.target(table)?,
                (factor, _) => self.factor(factor)?,
            }
        }
        update.from.iter().try_for_each(|factor| self.factor(factor))?;
        self.assignments(&update.assignments)?;
        self.clause(update.filter.as_ref())?;
        self.order(&update.order_by, &None, crate::sort::Sorted::Rows)?;
        self.limit(update.limit.as_ref())?;
        let outputs = match &update.returning {
            Some((items, _)) => self.items(items, &outlet.returning(), Duplicates::Kept)?,
            None => None,
        };
        self.scopes.pop();
        self.common.truncate(before);
        Ok(outputs)
    }

    fn delete(&mut self, delete: &'a Delete, outlet: &Outlet) -> Result<Outputs> {
        let before = self.common.len();
        self.with(&delete.with)?;
        self.scopes.push(Scope::default());
        // With several tables, in one of the languages, targets name what stands in FROM or USING.
        let names_factors = self.fold() == Fold::Keep && !delete.from.is_empty();
        for target in &delete.targets {
            if names_factors {
                self.other(target.span);
            } else {
                self.target(target)?;
            }
        }
        delete.from.iter().try_for_each(|factor| self.factor(factor))?;
        self.clause(delete.filter.as_ref())?;
        self.order(&delete.order_by, &None, crate::sort::Sorted::Rows)?;
        self.limit(delete.limit.as_ref())?;
        let outputs = match &delete.returning {
            Some((items, _)) => self.items(items, &outlet.returning(), Duplicates::Kept)?,
            None => None,
        };
        self.scopes.pop();
        self.common.truncate(before);
        Ok(outputs)
    }
}
