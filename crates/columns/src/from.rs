//! FROM: its factors become sources of columns, one after the other.

use std::rc::Rc;

use pando_sql::Span;
use pando_sql::ast::{Expr, Ident, Join, JoinConstraint, ObjectName, Query, Table, TableFactor};

use crate::analysis::{Analysis, Result};
use crate::outlet::Outlet;
use crate::scope::{Carries, Columns, Label, Naming, Nature, Output, Source, columns_of, has_all};
use crate::stop::Stop;

impl<'a> Analysis<'a> {
    pub(crate) fn factor(&mut self, factor: &'a TableFactor) -> Result<()> {
        match factor {
            TableFactor::Table(table) => self.table(table),
            TableFactor::Derived { query, alias, lateral, span } => {
                let columns = if *lateral {
                    self.query(query, &Outlet::Inner)?.into()
                } else {
                    self.apart(query)?
                };
                self.derived(columns, alias.as_ref(), *span)
            }
            TableFactor::Join(join) => self.join(join),
            TableFactor::Function { expr, alias, span } => {
                self.function_factor(expr, alias.as_ref(), *span)
            }
        }
    }

    fn here(&mut self, source: Source<'a>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.sources.push(source);
        }
    }

    /// A derived table does not see the factors beside it.
    fn apart(&mut self, query: &'a Query) -> Result<Columns> {
        let own = self.scopes.pop();
        let outputs = self.query(query, &Outlet::Inner)?;
        self.scopes.extend(own);
        Ok(outputs.into())
    }

    fn derived(&mut self, columns: Columns, alias: Option<&'a Ident>, span: Span) -> Result<()> {
        let columns = match alias {
            Some(alias) => self.renamed(columns, alias, span.end)?,
            None => columns,
        };
        self.others.extend(alias.map(|alias| alias.span));
        let label = alias.map_or(Label::None, Label::Alias);
        self.here(Source { label, columns, nature: Nature::Derived });
        Ok(())
    }

    /// Columns by the names of a list behind the alias.
    fn renamed(&mut self, columns: Columns, alias: &Ident, end: u32) -> Result<Columns> {
        let list = Span::new(alias.span.end, end);
        let Ok(names) = self.text.names_behind(alias, end) else {
            return Err(Stop::unclear(format!("`{}` cannot be read", self.shown(list))));
        };
        self.other(list);
        self.named(columns, names)
    }

    /// Columns whose first ones have these names.
    pub(crate) fn named(&self, columns: Columns, names: Vec<String>) -> Result<Columns> {
        match columns {
            Columns::Known(_) if names.is_empty() => Ok(columns),
            Columns::Known(list) if names.len() <= list.len() => {
                let mut list = list.to_vec();
                for (one, name) in list.iter_mut().zip(names) {
                    one.name = Some(name);
                }
                Ok(Columns::Known(list.into()))
            }
            Columns::Known(_) => {
                Err(Stop::unclear("a list has more names than its query has columns"))
            }
            Columns::Unread(_) | Columns::Open if names.is_empty() => Ok(columns),
            Columns::Unread(_) | Columns::Open => Ok(Columns::Open),
        }
    }

    fn function_factor(
        &mut self,
        expr: &'a Expr,
        alias: Option<&'a Ident>,
        span: Span,
    ) -> Result<()> {
        self.expr(expr, expr.span)?;
        if let Some(alias) = alias {
            // Names and types of what the function gives.
            self.other(Span::new(alias.span.start, span.end));
        }
        let label = alias.map_or(Label::None, Label::Alias);
        self.here(Source { label, columns: Columns::Open, nature: Nature::Derived });
        Ok(())
    }

    /// A table of FROM, or a common table expression.
    pub(crate) fn table(&mut self, table: &'a Table) -> Result<()> {
        let label = table.alias.as_ref().map_or(Label::Name(&table.name), Label::Alias);
        self.others.push(table.name.span);
        self.others.extend(table.alias.as_ref().map(|alias| alias.span));
        let Some(columns) = self.common(&table.name)? else { return self.stored(table, label) };
        let columns = match (&table.alias, table.columns) {
            (Some(alias), Some(list)) => self.renamed(columns, alias, list.end)?,
            (_, _) => columns,
        };
        self.here(Source { label, columns, nature: Nature::Derived });
        Ok(())
    }

    /// A table, wherever a common table expression may not stand.
    pub(crate) fn target(&mut self, table: &'a Table) -> Result<()> {
        let label = table.alias.as_ref().map_or(Label::Name(&table.name), Label::Alias);
        self.others.push(table.name.span);
        self.others.extend(table.alias.as_ref().map(|alias| alias.span));
        self.stored(table, label)
    }

    fn stored(&mut self, table: &'a Table, label: Label<'a>) -> Result<()> {
        let columns = self.columns_of(&table.name)?;
        let columns = match (columns, table.columns) {
            (columns, None) => columns,
            (Columns::Known(_), Some(list)) => {
                let list = self.shown(list);
                return Err(Stop::unclear(format!(
                    "`{list}` gives columns of a table other names"
                )));
            }
            (Columns::Unread(_) | Columns::Open, Some(list)) => {
                self.other(list);
                Columns::Open
            }
        };
        self.here(Source { label, columns, nature: Nature::Table });
        Ok(())
    }

    /// A table's columns: all of them, where some are of interest.
    pub(crate) fn columns_of(&self, name: &ObjectName) -> Result<Columns> {
        let key = name.key();
        if !self.interest.has_table(&key) {
            return Ok(Columns::Unread(key));
        }
        let names = self.read(&key)?;
        let of = self.interest.of_table(&key);
        if names.iter().any(|column| column.invisible) {
            let table = self.shown(name.span);
            return Err(Stop::unclear(format!("`{table}` has columns that `*` does not give")));
        }
        let names = names.iter().map(|column| column.name.clone());
        let list = columns_of(names, of, |a, b| self.same(a, b));
        if has_all(self.interest, &key, &list) {
            return Ok(Columns::Known(list));
        }
        Err(Stop::unclear(format!(
            "`{}` is not known to have all columns of its rule",
            self.shown(name.span)
        )))
    }

    /// The columns of the common table expression that a name means. Servers that tell names by their case may read a
    /// table instead.
    pub(crate) fn common(&self, name: &ObjectName) -> Result<Option<Columns>> {
        let [only] = &name.parts[..] else { return Ok(None) };
        let Some(found) = self.common.iter().rev().find(|one| one.name.is_alike(only)) else {
            return Ok(None);
        };
        if found.name.value != only.value && self.interest.has_table(&name.key()) {
            let shown = self.shown(name.span);
            return Err(Stop::unclear(format!("`{shown}` may be a table, or what WITH names so")));
        }
        Ok(Some(found.columns.clone()))
    }

    fn join(&mut self, join: &'a Join) -> Result<()> {
        let from = self.scopes.last().map_or(0, |scope| scope.sources.len());
        self.factor(&join.left)?;
        self.factor(&join.right)?;
        if join.columns.is_some() {
            return Err(Stop::unclear("a join gives its columns other names"));
        }
        match &join.constraint {
            JoinConstraint::On(condition) => self.on(condition, from),
            JoinConstraint::Using(names) => self.using(names, from),
            JoinConstraint::Natural => self.natural(from),
            JoinConstraint::None => Ok(()),
        }
    }

    /// ON knows the factors of its own join.
    fn on(&mut self, condition: &'a Expr, from: usize) -> Result<()> {
        let before = self.scopes.last_mut().and_then(|scope| {
            let all = from..scope.sources.len();
            scope.visible.replace(all)
        });
        self.expr(condition, condition.span)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.visible = before;
        }
        Ok(())
    }

    fn using(&mut self, names: &'a [Ident], from: usize) -> Result<()> {
        for name in names {
            let sources = self.scopes.last().map_or(&[][..], |scope| &scope.sources);
            let joins = sources.iter().skip(from).any(|source| self.joins_by(source, name));
            if joins {
                let name = &name.value;
                return Err(Stop::unclear(format!("USING joins by `{name}`, which is turned")));
            }
            self.other(name.span);
        }
        self.merges();
        Ok(())
    }

    fn joins_by(&self, source: &Source<'_>, name: &Ident) -> bool {
        let Columns::Known(list) = &source.columns else { return false };
        let mut fits = list.iter().filter(|one| self.is_called(one.name.as_deref(), name));
        fits.any(|one| one.carries != Carries::Nothing)
    }

    fn natural(&mut self, from: usize) -> Result<()> {
        let sources = self.scopes.last().map_or(&[][..], |scope| &scope.sources);
        if sources.iter().skip(from).any(Source::is_of_interest) {
            return Err(Stop::unclear("NATURAL joins by whatever columns are alike"));
        }
        self.merges();
        Ok(())
    }

    fn merges(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.merges = true;
        }
    }

    /// Every column of a source, in order; `None` where they cannot be known.
    pub(crate) fn listed(&self, source: &Source<'_>) -> Result<Option<Rc<[Output]>>> {
        Ok(match &source.columns {
            Columns::Known(list) => Some(Rc::clone(list)),
            Columns::Open => None,
            Columns::Unread(key) => {
                let columns = self.read(key)?;
                let output = |name: &str| Output {
                    name: Some(name.to_owned()),
                    naming: Naming::Own,
                    carries: Carries::Nothing,
                };
                let list: Vec<Output> = columns.iter().map(|one| output(&one.name)).collect();
                (!list.is_empty()).then(|| list.into())
            }
        })
    }
}
