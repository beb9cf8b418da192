//! Whether a statement over split tables stays right when the other tables it reads stand whole on every target.
//!
//! Each target answers from its part of the split tables and from all of the others. The union of the answers is the answer only when
//! no row comes from the whole tables alone: such a row would come once from every target.

use std::collections::HashMap;

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{
    Expr, InsertSource, Join, JoinKind, Kind, Node, ObjectName, Query, QueryBody, Select,
    SelectItem, TableFactor,
};

/// How the rows of a relation lie over the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// Each row on one target.
    Parts,
    /// Each row on every target.
    Whole,
}

/// Common table expressions in scope, by name in lower case.
type Scope = HashMap<String, Lie>;

/// Checks a statement that goes to several targets. `is_split` tells whether a table (by its key) is split over them.
///
/// # Errors
/// `Refused` with the construct that would give rows more than once.
pub(crate) fn check(kind: &Kind, is_split: &dyn Fn(&str) -> bool) -> Result<()> {
    let walk = Walk { is_split };
    let scope = Scope::new();
    match kind {
        Kind::Select(query) => walk.result(query, &scope),
        Kind::Explain { inner, .. } => check(inner, is_split),
        Kind::Copy(copy) => match &copy.query {
            Some(query) => walk.result(query, &scope),
            None => Ok(()),
        },
        Kind::Insert(insert) => {
            let scope = walk.with(&insert.with, &scope)?;
            match &insert.source {
                InsertSource::Query(query) => walk.result(query, &scope),
                InsertSource::Values { .. } | InsertSource::Set(_) | InsertSource::Default => {
                    Ok(())
                }
            }
        }
        // The changed table drives an UPDATE and a DELETE: the other tables only choose among its rows.
        Kind::Update(update) => {
            let scope = walk.with(&update.with, &scope)?;
            walk.factors(&update.tables, &scope)?;
            walk.factors(&update.from, &scope)?;
            let values = update.assignments.iter().map(|assignment| &assignment.value);
            walk.expressions(values.chain(&update.filter), Lie::Parts, &scope)
        }
        Kind::Delete(delete) => {
            let scope = walk.with(&delete.with, &scope)?;
            walk.factors(&delete.from, &scope)?;
            walk.expressions(&delete.filter, Lie::Parts, &scope)
        }
        Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Load(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => Ok(()),
        Kind::Cursor(cursor) => match &**cursor {
            pando_sql::ast::Cursor::Declare { query, .. } => walk.result(query, &scope),
            pando_sql::ast::Cursor::Fetch { .. } | pando_sql::ast::Cursor::Close(_) => Ok(()),
        },
    }
}

struct Walk<'a> {
    is_split: &'a dyn Fn(&str) -> bool,
}

impl Walk<'_> {
    fn result(&self, query: &Query, scope: &Scope) -> Result<()> {
        match self.query(query, scope)? {
            Lie::Parts => Ok(()),
            Lie::Whole => Err(refused(
                "its rows come from tables that stand whole on every target, and would come once from each",
            )),
        }
    }

    fn query(&self, query: &Query, scope: &Scope) -> Result<Lie> {
        let scope = self.with(&query.with, scope)?;
        let lie = match &query.body {
            QueryBody::Select(select) => self.select(select, &scope)?,
            QueryBody::Set { left, right, .. } => {
                let (left, right) = (self.query(left, &scope)?, self.query(right, &scope)?);
                if left != right {
                    return Err(refused("a set operation joins split rows with whole tables"));
                }
                left
            }
            QueryBody::Values(rows) => {
                self.expressions(rows.iter().flatten(), Lie::Whole, &scope)?;
                Lie::Whole
            }
        };
        self.expressions(query.order_by.iter().map(|item| &item.expr), lie, &scope)?;
        Ok(lie)
    }

    fn with(&self, list: &[pando_sql::ast::Cte], outer: &Scope) -> Result<Scope> {
        let mut scope = outer.clone();
        for cte in list {
            let name = cte.name.key();
            let own = if let Kind::Select(query) = &*cte.body {
                self.cte(&name, query, &scope)?
            } else {
                check(&cte.body, self.is_split)?;
                Lie::Parts
            };
            scope.insert(name, own);
        }
        Ok(scope)
    }

    /// While its own body is read, a recursive expression lies like the first operand, which does not name it.
    fn cte(&self, name: &str, query: &Query, scope: &Scope) -> Result<Lie> {
        let first = match &query.body {
            QueryBody::Set { left, .. } => left,
            QueryBody::Select(_) | QueryBody::Values(_) => query,
        };
        let mut inner = scope.clone();
        inner.remove(name);
        let lie = self.query(first, &inner)?;
        inner.insert(name.to_owned(), lie);
        self.query(query, &inner)
    }

    fn select(&self, select: &Select, scope: &Scope) -> Result<Lie> {
        let lie = self.factors(&select.from, scope)?;
        let items = select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        });
        let rest = select.filter.iter().chain(&select.group_by).chain(&select.having);
        self.expressions(items.chain(rest), lie, scope)?;
        Ok(lie)
    }

    fn factors(&self, list: &[TableFactor], scope: &Scope) -> Result<Lie> {
        let mut lie = Lie::Whole;
        for factor in list {
            if self.factor(factor, scope)? == Lie::Parts {
                lie = Lie::Parts;
            }
        }
        Ok(lie)
    }

    fn factor(&self, factor: &TableFactor, scope: &Scope) -> Result<Lie> {
        match factor {
            TableFactor::Table(table) => Ok(self.table(&table.name, scope)),
            TableFactor::Derived { query, .. } => self.query(query, scope),
            TableFactor::Join(join) => self.join(join, scope),
            TableFactor::Function { expr, .. } => {
                self.expressions([expr], Lie::Whole, scope)?;
                Ok(Lie::Whole)
            }
        }
    }

    fn join(&self, join: &Join, scope: &Scope) -> Result<Lie> {
        let (left, right) = (self.factor(&join.left, scope)?, self.factor(&join.right, scope)?);
        if let pando_sql::ast::JoinConstraint::On(on) = &join.constraint {
            let lie = if left == right { left } else { Lie::Parts };
            self.expressions([on], lie, scope)?;
        }
        let kept_alone = match (join.kind, left, right) {
            (_, Lie::Parts, Lie::Parts) | (_, Lie::Whole, Lie::Whole) => return Ok(left),
            (JoinKind::Inner | JoinKind::Cross, ..) => false,
            (JoinKind::Left, left, _) => left == Lie::Whole,
            (JoinKind::Right, _, right) => right == Lie::Whole,
            (JoinKind::Full, ..) => true,
        };
        if kept_alone {
            return Err(refused(
                "an outer join keeps the unmatched rows of a table that stands whole on every target",
            ));
        }
        Ok(Lie::Parts)
    }

    fn table(&self, name: &ObjectName, scope: &Scope) -> Lie {
        let Some(last) = name.parts.last() else { return Lie::Whole };
        let last = last.key();
        if name.parts.len() == 1
            && let Some(lie) = scope.get(&last)
        {
            return *lie;
        }
        if (self.is_split)(&last) { Lie::Parts } else { Lie::Whole }
    }

    /// A sub-query over split rows sees one part of them per target: that only fits rows that are parts themselves.
    fn expressions<'e>(
        &self,
        list: impl IntoIterator<Item = &'e Expr>,
        around: Lie,
        scope: &Scope,
    ) -> Result<()> {
        let mut waiting: Vec<&Expr> = list.into_iter().collect();
        while let Some(expr) = waiting.pop() {
            if let Some(query) = subquery(&expr.node)
                && self.query(query, scope)? == Lie::Parts
                && around == Lie::Whole
            {
                return Err(refused(
                    "rows of a table that stands whole on every target are chosen by a sub-query over a split table",
                ));
            }
            children(&expr.node, &mut waiting);
        }
        Ok(())
    }
}

fn refused(reason: &str) -> Error {
    Error::spans_shards(
        30001,
        format!("the statement goes to several targets, and {reason}"),
        "add a condition on the sharding key so that it goes to one target",
    )
}

fn subquery(node: &Node) -> Option<&Query> {
    match node {
        Node::InQuery { query, .. } | Node::Subquery(query) | Node::Exists(query) => Some(query),
        Node::Column(_)
        | Node::Literal(_)
        | Node::Parameter(_)
        | Node::Variable(_)
        | Node::Unary { .. }
        | Node::Binary { .. }
        | Node::Between { .. }
        | Node::InList { .. }
        | Node::Like { .. }
        | Node::IsNull { .. }
        | Node::Function(_)
        | Node::Case { .. }
        | Node::Cast { .. }
        | Node::Collate { .. }
        | Node::Row(_)
        | Node::Nested(_)
        | Node::Other(_)
        | Node::Default => None,
    }
}

fn children<'e>(node: &'e Node, out: &mut Vec<&'e Expr>) {
    match node {
        Node::Unary { operand, .. }
        | Node::InQuery { operand, .. }
        | Node::IsNull { operand, .. }
        | Node::Cast { operand, .. }
        | Node::Collate { operand, .. }
        | Node::Nested(operand) => out.push(operand),
        Node::Binary { left, right, .. } => out.extend([&**left, right]),
        Node::Between { operand, low, high, .. } => out.extend([&**operand, low, high]),
        Node::InList { operand, list, .. } => {
            out.push(operand);
            out.extend(list.trees());
        }
        Node::Like { operand, pattern, .. } => out.extend([&**operand, pattern]),
        Node::Function(function) => {
            out.extend(&function.arguments);
            out.extend(function.order_by.iter().map(|item| &item.expr));
            out.extend(function.filter.as_deref());
        }
        Node::Case { operand, branches, otherwise } => {
            out.extend(operand.as_deref());
            out.extend(branches.iter().flat_map(|(when, then)| [when, then]));
            out.extend(otherwise.as_deref());
        }
        Node::Row(list) | Node::Other(list) => out.extend(list),
        Node::Subquery(_)
        | Node::Exists(_)
        | Node::Column(_)
        | Node::Literal(_)
        | Node::Parameter(_)
        | Node::Variable(_)
        | Node::Default => {}
    }
}
