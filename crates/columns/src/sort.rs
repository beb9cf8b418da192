//! Items of ORDER BY, GROUP BY and DISTINCT ON: numbers, names of the result, columns.

use std::rc::Rc;

use pando_sql::Span;
use pando_sql::ast::{Expr, Ident, Literal, Node, OrderItem};

use crate::analysis::{Analysis, Result};
use crate::lookup::Mention;
use crate::scope::{Carries, Naming, Output, Outputs};
use crate::stop::Stop;
use crate::uses::{Place, Reference};

/// What is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sorted {
    /// The rows of one SELECT, whose tables are known.
    Rows,
    /// The result of a set operation: its names alone are known.
    Results,
    /// Rows of one SELECT, by DISTINCT ON.
    Distinct,
}

impl Sorted {
    fn place(self) -> Place {
        match self {
            Self::Rows | Self::Results => Place::OrderKey,
            Self::Distinct => Place::DistinctKey,
        }
    }
}

impl<'a> Analysis<'a> {
    pub(crate) fn order(
        &mut self,
        items: &'a [OrderItem],
        outputs: &Outputs,
        sorted: Sorted,
    ) -> Result<()> {
        items.iter().try_for_each(|item| self.sort_key(&item.expr, outputs, sorted))
    }

    /// A name alone is one of the result first, and a column after that.
    pub(crate) fn sort_key(
        &mut self,
        expr: &'a Expr,
        outputs: &Outputs,
        sorted: Sorted,
    ) -> Result<()> {
        let bare = unwrapped(expr);
        if let Some(number) = ordinal(bare) {
            return self.numbered(bare.span, number, outputs, sorted.place());
        }
        if let Some(name) = single(bare)
            && let Some(output) = self.output(outputs, name)?
        {
            let is_stated = output.naming == Naming::Alias || sorted == Sorted::Results;
            let is_looked_up = !is_stated && output.carries != Carries::Nothing;
            let by = if is_looked_up { self.by(bare)? } else { Reference::Named };
            self.put_output(&output, name.span, by, sorted.place());
            return Ok(());
        }
        if sorted == Sorted::Results && !self.found.is_empty() && !self.is_plain_of(outputs) {
            return Err(Stop::unclear(format!(
                "it cannot be told what `{}` sorts by",
                self.shown(expr.span)
            )));
        }
        self.key(expr, sorted.place())
    }

    fn is_plain_of(&self, outputs: &Outputs) -> bool {
        let mut all = outputs.iter().flat_map(|list| list.iter());
        all.all(|one| one.carries == Carries::Nothing)
    }

    /// What is written for an item that is sorted by under its own name.
    fn by(&mut self, expr: &'a Expr) -> Result<Reference> {
        let Node::Column(name) = &expr.node else { return Ok(Reference::Named) };
        Ok(self.column(name)?.map_or(Reference::Named, |mention| mention.by))
    }

    /// A name alone is a column first, and an alias after that.
    pub(crate) fn group_key(&mut self, expr: &'a Expr, outputs: &Outputs) -> Result<()> {
        let bare = unwrapped(expr);
        if let Some(number) = ordinal(bare) {
            return self.numbered(bare.span, number, outputs, Place::GroupKey);
        }
        if let Some(name) = single(bare)
            && let Some(output) = self.output_alias(outputs, name)
        {
            let aliases = self.scopes.last_mut().and_then(|scope| scope.aliases.take());
            let has = self.has_here(name)?;
            match has {
                Some(true) => self.key(expr, Place::GroupKey)?,
                Some(false) => {
                    self.put_output(&output, name.span, Reference::Named, Place::GroupKey);
                }
                None if output.carries == Carries::Nothing => self.other(name.span),
                None => return Err(self.mixed(name.span)),
            }
            if let Some(scope) = self.scopes.last_mut() {
                scope.aliases = aliases;
            }
            return Ok(());
        }
        self.key(expr, Place::GroupKey)
    }

    fn key(&mut self, expr: &'a Expr, place: Place) -> Result<()> {
        if let Some(mention) = self.value(expr)?.mention {
            self.put(mention, place);
        }
        Ok(())
    }

    fn numbered(&mut self, span: Span, number: i64, outputs: &Outputs, place: Place) -> Result<()> {
        let Some(list) = outputs else {
            let is_free = self.found.is_empty();
            let why = "a column's number counts columns that are not known";
            return if is_free { Ok(()) } else { Err(Stop::unclear(why)) };
        };
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let Some(output) = at.and_then(|at| list.get(at)).cloned() else {
            return Err(Stop::unclear(format!("position {number} is not in the select list")));
        };
        if output.carries == Carries::Several {
            return Err(self.mixed(span));
        }
        self.put_output(&output, span, Reference::Ordinal, place);
        Ok(())
    }

    fn put_output(&mut self, output: &Output, span: Span, by: Reference, place: Place) {
        match &output.carries {
            Carries::Column(of) => {
                self.put(Mention { of: of.clone(), span, qualifier: None, by }, place);
            }
            Carries::Nothing | Carries::Several => self.other(span),
        }
    }

    /// The column of the result with this name. Several of it must be alike.
    fn output(&self, outputs: &Outputs, name: &Ident) -> Result<Option<Output>> {
        let list = outputs.clone().unwrap_or_else(|| Rc::from(Vec::new()));
        let mut fits = list.iter().filter(|one| self.is_called(one.name.as_deref(), name));
        let Some(first) = fits.next() else { return Ok(None) };
        let is_mixed = first.carries == Carries::Several;
        if is_mixed || fits.any(|other| other.carries != first.carries) {
            return Err(self.mixed(name.span));
        }
        Ok(Some(first.clone()))
    }

    fn output_alias(&self, outputs: &Outputs, name: &Ident) -> Option<Output> {
        let mut list = outputs.iter().flat_map(|list| list.iter());
        let found = list
            .find(|one| one.naming == Naming::Alias && self.is_called(one.name.as_deref(), name));
        found.cloned()
    }
}

fn unwrapped(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Node::Nested(inner) = &expr.node {
        expr = inner;
    }
    expr
}

fn ordinal(expr: &Expr) -> Option<i64> {
    if let Node::Literal(Literal::Integer(number)) = &expr.node { Some(*number) } else { None }
}

fn single(expr: &Expr) -> Option<&Ident> {
    if let Node::Column(name) = &expr.node
        && let [only] = &name.parts[..]
    {
        return Some(only);
    }
    None
}
