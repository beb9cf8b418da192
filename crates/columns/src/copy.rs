//! COPY and LOAD DATA.

use pando_sql::Span;
use pando_sql::ast::{Copy, Expr, Ident, Load, ObjectName};

use crate::analysis::{Analysis, Result};
use crate::lookup::Mention;
use crate::outlet::Outlet;
use crate::scope::{Columns, Label, Nature, Scope, Source};
use crate::uses::{Place, Reference};

impl<'a> Analysis<'a> {
    pub(crate) fn copy(&mut self, copy: &'a Copy) -> Result<()> {
        if let Some(query) = &copy.query {
            self.query(query, &Outlet::Result)?;
        }
        let Some(table) = &copy.table else { return Ok(()) };
        let list = Listing { columns: copy.columns.as_deref(), at: copy.columns_at };
        self.fields(table, list)?;
        self.over(
            table,
            |analysis, filter: Option<&'a Expr>| analysis.clause(filter),
            copy.filter.as_ref(),
        )
    }

    pub(crate) fn load(&mut self, load: &'a Load) -> Result<()> {
        let list = Listing { columns: load.columns.as_deref(), at: load.columns_at };
        self.fields(&load.table, list)?;
        self.over(&load.table, Self::assignments, &load.assignments)
    }

    /// Does something where the table's columns are known by name.
    fn over<T>(
        &mut self,
        table: &'a ObjectName,
        run: impl FnOnce(&mut Self, T) -> Result<()>,
        with: T,
    ) -> Result<()> {
        let columns = self.columns_of(table)?;
        let source = Source { label: Label::Name(table), columns, nature: Nature::Table };
        self.scopes.push(Scope { sources: vec![source], ..Scope::default() });
        run(self, with)?;
        self.scopes.pop();
        Ok(())
    }

    /// The columns that lines are made of: those listed, or all in the table's order.
    fn fields(&mut self, table: &'a ObjectName, list: Listing<'a>) -> Result<()> {
        self.other(table.span);
        let names = list.columns;
        let Columns::Known(own) = self.columns_of(table)? else {
            self.others.extend(names.into_iter().flatten().map(|name| name.span));
            return Ok(());
        };
        let Some(names) = names else {
            for (at, of) in own.iter().enumerate() {
                let Some(of) = of.carries.origin().cloned() else { continue };
                let (span, by) = (Span::at(list.at), Reference::Position);
                self.put(Mention { of, span, qualifier: None, by }, Place::Field { at });
            }
            return Ok(());
        };
        for (at, name) in names.iter().enumerate() {
            let found = own.iter().find(|one| self.is_called(one.name.as_deref(), name));
            if let Some(of) = found.and_then(|one| one.carries.origin()).cloned() {
                let span: Span = name.span;
                let by = Reference::Column;
                self.put(Mention { of, span, qualifier: None, by }, Place::Field { at });
            }
        }
        Ok(())
    }
}

/// The column list of a statement with lines, and where it stands or would stand.
struct Listing<'a> {
    columns: Option<&'a [Ident]>,
    at: u32,
}
