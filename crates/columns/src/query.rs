//! Queries: WITH, set operations, VALUES.

use std::rc::Rc;

use pando_sql::ast::{Cte, Expr, Limit, ObjectName, Query, QueryBody, SetOp};
use pando_sql::{Fold, visit};

use crate::analysis::{Analysis, Result};
use crate::outlet::Outlet;
use crate::scope::{Carries, Columns, Common, Naming, Output, Outputs};
use crate::sort::Sorted;
use crate::stop::Stop;
use crate::uses::Duplicates;

impl<'a> Analysis<'a> {
    /// A query; gives its columns.
    pub(crate) fn query(&mut self, query: &'a Query, outlet: &Outlet) -> Result<Outputs> {
        self.query_of(query, outlet, Duplicates::Kept)
    }

    fn query_of(
        &mut self,
        query: &'a Query,
        outlet: &Outlet,
        duplicates: Duplicates,
    ) -> Result<Outputs> {
        let before = self.common.len();
        match query.recursive {
            true => self.with_recursive(&query.with)?,
            false => self.with(&query.with)?,
        }
        let outputs = match &query.body {
            QueryBody::Select(select) => {
                self.select(select, &query.order_by, outlet, duplicates)?
            }
            QueryBody::Set { op, all, left, right } => {
                let is_plain = *all && *op == SetOp::Union;
                let duplicates = if is_plain { duplicates } else { Duplicates::Compared };
                let left = self.query_of(left, outlet, duplicates)?;
                let right = self.query_of(right, outlet, duplicates)?;
                let outputs = united(&left, &right)?;
                self.order(&query.order_by, &outputs, Sorted::Results)?;
                outputs
            }
            QueryBody::Values(rows) => {
                let outputs = self.values(rows)?;
                self.order(&query.order_by, &outputs, Sorted::Results)?;
                outputs
            }
        };
        self.limit(query.limit.as_ref())?;
        for name in query.lock.iter().flat_map(|lock| &lock.of) {
            self.other(name.span);
        }
        self.common.truncate(before);
        Ok(outputs)
    }

    pub(crate) fn limit(&mut self, limit: Option<&'a Limit>) -> Result<()> {
        let Some(limit) = limit else { return Ok(()) };
        self.clause(limit.count.as_ref())?;
        self.clause(limit.offset.as_ref())
    }

    /// WITH. Whoever calls cuts `common` back to what it was.
    pub(crate) fn with(&mut self, with: &'a [Cte]) -> Result<()> {
        for cte in with {
            let columns = self.body(cte)?;
            self.declare(cte, columns)?;
        }
        Ok(())
    }

    /// The same for WITH RECURSIVE.
    fn with_recursive(&mut self, with: &'a [Cte]) -> Result<()> {
        let rest = |at: usize| with.get(at..).unwrap_or(&[]);
        let mut all = with.iter().enumerate();
        all.try_for_each(|(at, cte)| self.recursive(cte, rest(at)))
    }

    fn body(&mut self, cte: &'a Cte) -> Result<Columns> {
        // A common table expression sees what is around the query, and nothing of its FROM.
        Ok(self.kind(&cte.body, &Outlet::Inner)?.into())
    }

    fn declare(&mut self, cte: &'a Cte, columns: Columns) -> Result<()> {
        let names = cte.columns.iter().map(|name| name.value.clone()).collect();
        let columns = self.named(columns, names)?;
        self.others.push(cte.name.span);
        self.others.extend(cte.columns.iter().map(|name| name.span));
        self.common.push(Common { name: &cte.name, columns });
        Ok(())
    }

    /// The first of some of WITH RECURSIVE: one that names itself or a later one may have nothing of interest in it.
    fn recursive(&mut self, cte: &'a Cte, from_here: &'a [Cte]) -> Result<()> {
        let own = visit::tables(&cte.body);
        let is_pending = |name: &ObjectName| match &name.parts[..] {
            [only] => from_here.iter().any(|one| one.name.is_alike(only)),
            _ => false,
        };
        if !own.iter().any(|place| is_pending(place.name)) {
            let columns = self.body(cte)?;
            return self.declare(cte, columns);
        }
        let mut is_free = true;
        for place in own {
            is_free &= match self.common(place.name)? {
                Some(Columns::Known(list)) => {
                    list.iter().all(|one| one.carries == Carries::Nothing)
                }
                Some(Columns::Unread(_) | Columns::Open) => true,
                None => !self.interest.has_table(&place.name.key()),
            };
        }
        if !is_free || self.is_concerned() {
            return Err(Stop::unclear(
                "a recursive common table expression reads columns that are turned",
            ));
        }
        self.other(cte.span);
        self.declare(cte, Columns::Open)
    }

    fn values(&mut self, rows: &'a [Vec<Expr>]) -> Result<Outputs> {
        for expr in rows.iter().flatten() {
            self.expr(expr, expr.span)?;
        }
        let width = rows.first().map_or(0, Vec::len);
        let (stem, first) = match self.fold() {
            Fold::Lower => ("column", 1),
            Fold::Keep => ("column_", 0),
        };
        let output = |at: usize| Output {
            name: Some(format!("{stem}{}", at + first)),
            naming: Naming::Own,
            carries: Carries::Nothing,
        };
        Ok(Some((0..width).map(output).collect()))
    }
}

/// The columns of a set operation: names of the left side, values of both.
fn united(left: &Outputs, right: &Outputs) -> Result<Outputs> {
    let (Some(left), Some(right)) = (left, right) else {
        let known = left.iter().chain(right).flat_map(|list| list.iter());
        let carries = known.into_iter().any(|one| one.carries != Carries::Nothing);
        return if carries { Err(beside()) } else { Ok(None) };
    };
    if left.len() != right.len() {
        return Err(Stop::unclear(
            "the queries of a set operation have different numbers of columns",
        ));
    }
    let mut list = left.to_vec();
    for (one, other) in list.iter_mut().zip(right.iter()) {
        match (&one.carries, &other.carries) {
            (a, b) if a == b => {}
            (Carries::Nothing, _) | (_, Carries::Nothing) => return Err(beside()),
            (_, _) => one.carries = Carries::Several,
        }
    }
    Ok(Some(Rc::from(list)))
}

fn beside() -> Stop {
    Stop::unclear("a set operation puts a column that is turned beside values that are not")
}
