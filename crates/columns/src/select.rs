//! One SELECT: its clauses, its items, its `*`.

use std::rc::Rc;

use pando_sql::ast::{Distinct, Expr, Ident, Node, ObjectName, OrderItem, Select, SelectItem};
use pando_sql::{Fold, Span};

use crate::analysis::{Analysis, Result};
use crate::outlet::Outlet;
use crate::scope::{Carries, Naming, Nature, Output, Outputs, Scope, Source};
use crate::sort::Sorted;
use crate::stop::Stop;
use crate::uses::{Duplicates, Reference, Star, StarColumn};

/// The columns collected so far, and where they go.
struct Items<'o> {
    outlet: &'o Outlet,
    duplicates: Duplicates,
    list: Vec<Output>,
    /// A `*` in front stands for nobody knows how many.
    is_open: bool,
}

impl<'a> Analysis<'a> {
    pub(crate) fn select(
        &mut self,
        select: &'a Select,
        order: &'a [OrderItem],
        outlet: &Outlet,
        duplicates: Duplicates,
    ) -> Result<Outputs> {
        self.scopes.push(Scope::default());
        select.from.iter().try_for_each(|factor| self.factor(factor))?;
        if select.into.is_some() && self.is_concerned() {
            return Err(Stop::unclear("SELECT … INTO stores what it reads"));
        }
        self.clause(select.filter.as_ref())?;
        let duplicates = match &select.distinct {
            Distinct::Yes(_) => Duplicates::Compared,
            Distinct::No | Distinct::On(..) => duplicates,
        };
        let outputs = self.items(&select.items, outlet, duplicates)?;
        if let Distinct::On(list, _) = &select.distinct {
            list.iter().try_for_each(|expr| self.sort_key(expr, &outputs, Sorted::Distinct))?;
        }
        self.show_aliases(&outputs);
        select.group_by.iter().try_for_each(|expr| self.group_key(expr, &outputs))?;
        self.clause(select.having.as_ref())?;
        let window = select.window.unwrap_or_default();
        self.exprs(&select.window_exprs, window)?;
        self.order(order, &outputs, Sorted::Rows)?;
        self.scopes.pop();
        Ok(outputs)
    }

    /// From here on expressions may name items, in languages that let them.
    fn show_aliases(&mut self, outputs: &Outputs) {
        if self.sees_aliases()
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.aliases.clone_from(outputs);
        }
    }

    /// The items of a select list or of RETURNING.
    pub(crate) fn items(
        &mut self,
        items: &'a [SelectItem],
        outlet: &Outlet,
        duplicates: Duplicates,
    ) -> Result<Outputs> {
        let mut so_far = Items { outlet, duplicates, list: Vec::new(), is_open: false };
        for item in items {
            match item {
                SelectItem::Star(span) => {
                    let scope = self.scopes.last();
                    let sources = scope.map_or(Vec::new(), |scope| scope.sources.clone());
                    // The columns by which a join is made stand once, and first.
                    if scope.is_some_and(|scope| scope.merges) {
                        so_far.is_open = true;
                    }
                    self.star(&sources, *span, &mut so_far)?;
                }
                SelectItem::QualifiedStar(name, span) => {
                    let sources = self.starred(name)?;
                    self.other(*span);
                    self.star(&sources, *span, &mut so_far)?;
                }
                SelectItem::Expr { expr, alias, .. } => {
                    self.item(expr, alias.as_ref(), &mut so_far)?;
                }
            }
        }
        Ok((!so_far.is_open).then(|| Rc::from(so_far.list)))
    }

    /// The factor that `t.*` means.
    fn starred(&self, name: &ObjectName) -> Result<Vec<Source<'a>>> {
        match self.source(&name.parts)? {
            Some(source) => Ok(vec![source.clone()]),
            None if self.is_concerned() => Err(Stop::unclear(format!(
                "it cannot be told what `{}.*` means",
                self.shown(name.span)
            ))),
            None => Ok(Vec::new()),
        }
    }

    fn item(
        &mut self,
        expr: &'a Expr,
        alias: Option<&'a Ident>,
        so_far: &mut Items<'_>,
    ) -> Result<()> {
        self.others.extend(alias.map(|alias| alias.span));
        let valued = self.value(expr)?;
        let name = alias.map(|alias| alias.value.clone()).or_else(|| self.own_name(expr));
        let naming = if alias.is_some() { Naming::Alias } else { Naming::Own };
        let Some(mention) = valued.mention else {
            so_far.list.push(Output { name, naming, carries: Carries::Nothing });
            return Ok(());
        };
        let is_named = alias.is_some() || matches!(expr.node, Node::Column(_));
        if !is_named && matches!(so_far.outlet, Outlet::Inner) {
            let shown = self.shown(expr.span);
            return Err(Stop::unclear(format!(
                "it cannot be told by which name `{shown}` goes on"
            )));
        }
        if so_far.is_open {
            let shown = self.shown(expr.span);
            return Err(Stop::unclear(format!(
                "the number of columns in front of `{shown}` is not known"
            )));
        }
        let Items { outlet, duplicates, list, .. } = &*so_far;
        let alias = alias.map(|alias| alias.span);
        let place = outlet.place(list.len(), expr.span, alias, *duplicates)?;
        let carries = Carries::Column(mention.of.clone());
        self.put(mention, place);
        so_far.list.push(Output { name, naming, carries });
        Ok(())
    }

    /// What an item without an alias is called; `None` where languages or servers differ.
    fn own_name(&self, expr: &Expr) -> Option<String> {
        let is_lower = self.fold() == Fold::Lower;
        match &expr.node {
            Node::Column(name) => name.parts.last().map(|part| part.value.clone()),
            Node::Function(function) if is_lower => Some(function.plain_name()),
            Node::Nested(inner) if is_lower => self.own_name(inner),
            Node::Case { .. } if is_lower => Some("case".to_owned()),
            Node::Exists(_) if is_lower => Some("exists".to_owned()),
            Node::Cast { operand, .. } if is_lower => self.own_name(operand),
            Node::Nested(_)
            | Node::Function(_)
            | Node::Case { .. }
            | Node::Exists(_)
            | Node::Cast { .. }
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Unary { .. }
            | Node::Binary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::InQuery { .. }
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::Collate { .. }
            | Node::Subquery(_)
            | Node::Row(_)
            | Node::Other(_)
            | Node::Default => None,
        }
    }

    /// `*` over sources.
    fn star(&mut self, sources: &[Source<'a>], span: Span, so_far: &mut Items<'_>) -> Result<()> {
        let unclear = || Err(Stop::unclear("the columns that a `*` stands for are not known"));
        let is_of_interest = sources.iter().any(Source::is_of_interest);
        let (mut columns, mut outputs) = (Vec::new(), Vec::new());
        let mut is_open = sources.is_empty();
        for source in sources.iter().filter(|source| source.nature != Nature::Proposed) {
            let Some(list) = self.listed(source)? else {
                is_open = true;
                continue;
            };
            for one in list.iter() {
                if one.carries == Carries::Several {
                    return Err(self.mixed(span));
                }
                columns.push(StarColumn {
                    source: source.label.span(),
                    name: one.name.clone(),
                    of: one.carries.origin().cloned(),
                    by: reference(source.nature),
                });
                outputs.push(Output { naming: Naming::Own, ..one.clone() });
            }
        }
        if is_of_interest {
            if is_open || so_far.is_open {
                return unclear();
            }
            let at = so_far.list.len();
            let place = so_far.outlet.star(at, &outputs)?;
            let duplicates = so_far.duplicates;
            self.put_star(Star { span, at, columns, place, duplicates });
        }
        so_far.is_open |= is_open;
        so_far.list.extend(outputs);
        Ok(())
    }
}

fn reference(nature: Nature) -> Reference {
    match nature {
        Nature::Table => Reference::Column,
        Nature::Derived => Reference::Named,
        Nature::Proposed => Reference::Proposed,
    }
}
