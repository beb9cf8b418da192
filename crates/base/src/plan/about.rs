//! What planning looks at.

use pando_kernel::dialect::Dialect;
use pando_kernel::error::Result;
use pando_kernel::request::Parameter;
use pando_sql::ast::Statement;

use crate::table::{Table, undo_of};

/// A statement, its table and its language.
pub(crate) struct About<'a> {
    pub(crate) stmt: &'a Statement,
    pub(crate) table: &'a Table,
    pub(crate) parameters: &'a [Parameter],
    pub(crate) dialect: &'a dyn Dialect,
}

impl About<'_> {
    /// The expressions that read these columns of a table called `owner`.
    pub(crate) fn reads(&self, owner: &str, places: &[usize]) -> Result<Vec<String>> {
        let undo = undo_of(self.dialect)?;
        let columns = places.iter().filter_map(|at| self.table.shape.columns.get(*at));
        Ok(columns
            .map(|column| undo.read(column.form, &self.column(owner, &column.name)))
            .collect())
    }

    /// The expressions that read every column.
    pub(crate) fn all_reads(&self, owner: &str) -> Result<Vec<String>> {
        let all: Vec<usize> = (0..self.table.shape.columns.len()).collect();
        self.reads(owner, &all)
    }

    /// A column as it is written behind its owner.
    pub(crate) fn column(&self, owner: &str, name: &str) -> String {
        format!("{owner}.{}", self.dialect.quote(name))
    }

    /// What the statement calls a table: its alias, or its name as written.
    pub(crate) fn owner(&self, table: &pando_sql::ast::Table) -> String {
        let span = table.alias.as_ref().map_or(table.name.span, |alias| alias.span);
        span.of(&self.stmt.text).to_owned()
    }

    /// A writer of texts made of the statement's.
    pub(crate) fn writer(&self) -> crate::text::Writer<'_> {
        crate::text::Writer::new(self.stmt, self.dialect.syntax().placeholder)
    }
}
