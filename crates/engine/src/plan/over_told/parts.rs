//! A query taken apart: what storage units are asked, and what is done with its rows once they are told.

use pando_kernel::dialect::{Compare, Comparison};
use pando_kernel::error::{Because, Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::{Condition, KeyCompare, MergePlan, Position, SortKey};
use pando_kernel::route::{Need, Route};
use pando_kernel::{Compares, DeclaredType};
use pando_sql::ast::{Distinct, Expr, Node, Query, Select, SelectItem, Statement, TableFactor};
use pando_sql::{Edits, Fold, Span};

use super::computed::{Is, Made};
use super::told_column::{ToldColumn, refused, unsorted};
use super::unsaid;
use crate::plan::assemble::conjuncts;
use crate::plan::labels;
use crate::plan::merge_plan::aggregate;
use crate::plan::merge_plan::gather::plain_key;
use crate::plan::merge_plan::paginate::{Share, paginate};
use crate::plan::merge_plan::resolve::{Info, Meaning, Scope, output_name, unwrapped};
use crate::plan::parse::parsed;

/// What came of taking a query apart.
pub(super) enum Taken {
    Apart(Box<Parts>),
    /// It has nothing that can be done with its rows.
    Not,
    Needs(Need),
}

/// The parts.
pub(super) struct Parts {
    /// What becomes of the text for the units.
    pub(super) edits: Edits,
    /// What is done with the rows.
    pub(super) told: MergePlan,
    /// How many columns the client sees.
    pub(super) visible: usize,
    /// Columns whose values are looked into.
    pub(super) looked_into: Vec<LookedInto>,
    /// Parameters that no unit may take, and their types.
    pub(super) read_here: Vec<(u32, DeclaredType)>,
}

/// A column whose values are looked into.
pub(super) struct LookedInto {
    pub(super) position: Position,
    pub(super) text: String,
}

/// Why there are no parts.
pub(super) enum Stop {
    Refused(Error),
    Needs(Need),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// What is known while they are made.
pub(super) type Known<T> = std::result::Result<T, Stop>;

/// Makes the parts of one SELECT.
pub(super) struct Builder<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) stmt: &'a Statement,
    pub(super) select: &'a Select,
    pub(super) scope: Scope<'a>,
    query: &'a Query,
    derived: Vec<String>,
    /// The items that are computed here, and what they are.
    made: Vec<(usize, Is)>,
    pub(super) looked_into: Vec<LookedInto>,
    pub(super) read_here: Vec<(u32, DeclaredType)>,
    edits: Edits,
}

impl Parts {
    /// Takes a query apart.
    ///
    /// # Errors
    /// `Refused` for what could not be right.
    pub(super) fn of(
        ctx: &Context<'_>,
        stmt: &Statement,
        query: &Query,
        select: &Select,
    ) -> Result<Taken> {
        let scope = Scope::new(ctx, stmt, select);
        let builder = Builder {
            ctx,
            stmt,
            select,
            scope,
            query,
            derived: Vec::new(),
            made: Vec::new(),
            looked_into: Vec::new(),
            read_here: Vec::new(),
            edits: Edits::default(),
        };
        match builder.build() {
            Ok(Some(parts)) => Ok(Taken::Apart(Box::new(parts))),
            Ok(None) => Ok(Taken::Not),
            Err(Stop::Needs(need)) => Ok(Taken::Needs(need)),
            Err(Stop::Refused(error)) => Err(error),
        }
    }
}

impl<'a> Builder<'a> {
    fn build(mut self) -> Known<Option<Parts>> {
        // Rows of sums have NULL for what they sum up, and MariaDB sorts no such groups.
        if self.scope.has_star() || self.select.grouping_sets {
            return Ok(None);
        }
        let mut told = MergePlan::iterate();
        told.filter = self.filter()?;
        if self.is_grouped() && self.groups_here(&told)? {
            self.group(&mut told)?;
            return self.finished(told).map(Some);
        }
        self.compute(&mut told)?;
        let is_changed = told.filter.is_some() || !told.computed.is_empty();
        if is_changed && self.is_grouped() || told.filter.is_some() && self.has_windows() {
            return Ok(None);
        }
        self.sort(&mut told)?;
        self.distinct(&mut told)?;
        let is_more = told.filter.is_some() || told.distinct.is_some();
        if !is_more && told.sort.is_empty() && told.computed.is_empty() {
            return Ok(None);
        }
        self.finished(told).map(Some)
    }

    /// The parts, with what is derived in the text.
    fn finished(mut self, mut told: MergePlan) -> Known<Parts> {
        paginate(self.ctx, self.query, Share::All, &mut told, &mut self.edits)?;
        self.counts_here();
        if !self.derived.is_empty() {
            let at = Span::at(self.select.items_span.end);
            self.edits.replace(at, format!(", {}", self.derived.join(", ")));
        }
        told.derived = self.derived.len();
        let Self { edits, looked_into, read_here, select, .. } = self;
        let visible = select.items.len();
        Ok(Parts { edits, told, visible, looked_into, read_here })
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &'a Expr> {
        self.select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        })
    }

    /// Whether rows are groups of others.
    fn is_grouped(&self) -> bool {
        let mut exprs = self.items().chain(aggregate::order_exprs(self.query));
        let is_aggregate = |node: &Node| matches!(node, Node::Function(call) if call.is_aggregate() && call.over.is_none());
        let has_aggregate = exprs.any(|expr| {
            let mut found = false;
            aggregate::walk(expr, &mut |node| found |= is_aggregate(node));
            found
        });
        !self.select.group_by.is_empty() || self.select.having.is_some() || has_aggregate
    }

    /// Whether an item looks at other rows, so that none of these may be missing or too many.
    pub(super) fn has_windows(&self) -> bool {
        let mut found = self.select.window.is_some();
        for expr in self.items().chain(aggregate::order_exprs(self.query)) {
            aggregate::walk(expr, &mut |node| {
                found |= matches!(node, Node::Function(call) if call.over.is_some());
            });
        }
        found
    }

    /// Adds a select item at the end; equal ones are added once.
    pub(super) fn derive(&mut self, text: &str, label: &str) -> Position {
        let prefix = format!("{text} AS ");
        if let Some(at) = self.derived.iter().position(|item| item.starts_with(&prefix)) {
            return Position::Derived(at);
        }
        self.derived.push(format!("{prefix}{label}_DERIVED_{}", self.derived.len()));
        Position::Derived(self.derived.len() - 1)
    }

    /// Notes that a column's values are looked into.
    pub(super) fn looks_into(&mut self, position: &Position, text: &str) {
        self.looked_into.push(LookedInto { position: position.clone(), text: text.to_owned() });
    }

    /// The conditions that units cannot answer, taken out of the text.
    fn filter(&mut self) -> Known<Option<Condition>> {
        let Some(filter) = &self.select.filter else { return Ok(None) };
        let mut all = Vec::new();
        conjuncts(filter, &mut all);
        let mut moved = Vec::new();
        for one in all {
            if !self.is_answered(one)? {
                moved.push(self.condition(one)?);
                self.edits.replace(one.span, "TRUE");
            }
        }
        Ok((!moved.is_empty()).then_some(Condition::All(moved)))
    }

    /// Whether units answer a condition over what is stored.
    pub(super) fn is_answered(&self, expr: &Expr) -> Known<bool> {
        self.are_answered(expr, |with, from, text| format!("{with} SELECT 1 {from} WHERE {text}"))
    }

    /// Whether units give an item's values, be it as cipher text.
    pub(super) fn is_answered_item(&self, expr: &Expr) -> Known<bool> {
        self.are_answered(expr, |with, from, text| format!("{with} SELECT {text} AS item {from}"))
    }

    fn are_answered(
        &self,
        expr: &Expr,
        asking: impl FnOnce(&str, &str, &str) -> String,
    ) -> Known<bool> {
        if !self.may_turn(expr)? {
            return Ok(true);
        }
        let text = &self.stmt.text;
        let with = Span::new(self.query.span.start, self.select.keyword.start).of(text);
        let from = self.select.from.iter().map(|factor| span_of(factor).of(text));
        let from = format!("FROM {}", from.collect::<Vec<_>>().join(", "));
        let asked = parsed(self.ctx, &asking(with, &from, expr.span.of(text)))?;
        let rooms = self.ctx.database.features.iter();
        for room in rooms.filter(|room| room.columns().is_some()) {
            let mut route = Route::Unclaimed;
            match room.route(self.ctx, &asked, &mut route) {
                Err(error) if error.refusal() == Some(Because::StoredOtherwise) => {
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    if let Route::Needs(need) = route {
                        return Err(Stop::Needs(need));
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether an expression may name a column that is stored otherwise; in a sub-query any may be.
    fn may_turn(&self, expr: &Expr) -> Known<bool> {
        let mut left = vec![expr];
        while let Some(expr) = left.pop() {
            if matches!(expr.node, Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. }) {
                return Ok(true);
            }
            if let Node::Column(_) = &expr.node {
                match self.scope.info(expr) {
                    Info::Needs(need) => return Err(Stop::Needs(need)),
                    Info::Unknown => return Ok(true),
                    info @ (Info::Column(..) | Info::Turned(..)) => {
                        if info.turned().is_some() {
                            return Ok(true);
                        }
                    }
                }
            }
            aggregate::push_children(expr, &mut left);
        }
        Ok(false)
    }

    /// ORDER BY, where it names a column that is stored otherwise.
    fn sort(&mut self, told: &mut MergePlan) -> Known<()> {
        let query = self.query;
        let Some(span) = query.order_span else { return Ok(()) };
        let mut is_told = false;
        for item in &query.order_by {
            let meaning = self.scope.ordered(&item.expr)?;
            is_told |= self.told_column(&meaning)?.is_some() || self.is_made(&meaning)?;
        }
        if !is_told {
            return Ok(());
        }
        for item in &query.order_by {
            let meaning = self.scope.ordered(&item.expr)?;
            let mut key = match self.is_made(&meaning)? {
                true => self.made_key(&meaning, Usage::Order, told)?,
                false => self.key(meaning, Usage::Order)?,
            };
            key.descending = item.descending;
            let default = self.ctx.dialect.nulls_first() != item.descending;
            key.nulls_first = item.nulls_first.unwrap_or(default);
            if !told.sort.iter().any(|known| known.position == key.position) {
                told.sort.push(key);
            }
        }
        self.edits.replace(span, "");
        Ok(())
    }

    /// Items whose values are computed here.
    fn compute(&mut self, told: &mut MergePlan) -> Known<()> {
        for (at, item) in self.select.items.iter().enumerate() {
            let SelectItem::Expr { expr, .. } = item else { continue };
            if !aggregate::contains(expr) && self.is_computed(expr)? {
                self.compute_item(at, expr, told)?;
            }
        }
        Ok(())
    }

    /// An item whose values are computed here. Its label stays.
    pub(super) fn compute_item(
        &mut self,
        at: usize,
        expr: &Expr,
        told: &mut MergePlan,
    ) -> Known<Is> {
        let Made { value, is } = self.computed(expr)?;
        let text = self.typed_null(expr)?;
        self.put_item(at, text)?;
        told.computed.push((Position::Index(at), value));
        self.made.push((at, is));
        Ok(is)
    }

    /// Puts a text in the place of an item, which keeps its label.
    ///
    /// # Errors
    /// `Refused` where its unit would be told a value by that.
    pub(super) fn put_item(&mut self, at: usize, text: String) -> Known<()> {
        let item = self.select.items.get(at);
        let Some(SelectItem::Expr { expr, alias, .. }) = item else { return Ok(()) };
        let mut text = text;
        if alias.is_none() {
            let label = match self.ctx.dialect.syntax().fold {
                Fold::Lower => output_name(expr).unwrap_or_else(|| "?column?".to_owned()),
                Fold::Keep if unsaid::says_a_value(expr) => {
                    return Err(labels::named_by_value().into());
                }
                Fold::Keep => self.scope.text(expr).to_owned(),
            };
            text = format!("{text} AS {}", self.ctx.dialect.quote(&label));
        }
        self.edits.replace(expr.span, text);
        Ok(())
    }

    /// Takes a clause out of the text.
    pub(super) fn leaves_out(&mut self, clause: Option<Span>) {
        if let Some(span) = clause {
            self.edits.replace(span, "");
        }
    }

    /// The query that is taken apart.
    pub(super) fn query(&self) -> &'a Query {
        self.query
    }

    /// Adds a select item at the end, though there may be one like it.
    pub(super) fn derive_again(&mut self, text: &str, label: &str) -> Position {
        self.derived.push(format!("{text} AS {label}_DERIVED_{}", self.derived.len()));
        Position::Derived(self.derived.len() - 1)
    }

    /// Whether what is compared is computed here.
    pub(super) fn is_made(&self, meaning: &Meaning<'_>) -> Known<bool> {
        if meaning.at.is_some_and(|at| self.made.iter().any(|(own, _)| *own == at)) {
            return Ok(true);
        }
        match (meaning.at, meaning.expr) {
            (None, Some(expr)) if !aggregate::contains(expr) => self.is_computed(expr),
            _ => Ok(false),
        }
    }

    /// As [`Builder::key`], of what is computed here.
    pub(super) fn made_key(
        &mut self,
        meaning: &Meaning<'_>,
        usage: Usage,
        told: &mut MergePlan,
    ) -> Known<SortKey> {
        let known = self.made.iter().find(|(own, _)| Some(*own) == meaning.at).copied();
        let (position, is) = match (known, meaning.expr) {
            (Some((at, is)), _) => (Position::Index(at), is),
            (None, Some(expr)) => {
                let Made { value, is } = self.computed(expr)?;
                let text = self.typed_null(expr)?;
                let position = self.derive_again(&text, usage.label());
                told.computed.push((position.clone(), value));
                (position, is)
            }
            (None, None) => return Err(Error::internal("nothing is computed").into()),
        };
        let compare = match usage {
            Usage::Order => is.compare(),
            Usage::Distinct => is.equality(),
        };
        let unknown = || unsorted(&meaning.text, "only a server knows its order");
        let compare = KeyCompare::Known(compare.ok_or_else(unknown)?);
        let nulls_first = self.ctx.dialect.nulls_first();
        Ok(SortKey { position, compare, descending: false, nulls_first })
    }

    /// DISTINCT, where units cannot tell which rows are equal or which of them pass.
    fn distinct(&mut self, told: &mut MergePlan) -> Known<()> {
        let Distinct::Yes(span) = self.select.distinct else { return Ok(()) };
        let says_nothing = |expr: &Expr| self.scope.info(expr).compares() == Compares::NotAtAll;
        if self.derived.is_empty() && self.made.is_empty() && !self.items().any(says_nothing) {
            return Ok(());
        }
        if self.is_grouped() {
            return Err(refused("DISTINCT over groups").into());
        }
        for item in &self.query.order_by {
            if self.scope.ordered(&item.expr)?.at.is_none() {
                return Err(refused("SELECT DISTINCT with ORDER BY what is not selected").into());
            }
        }
        let mut keys = Vec::new();
        for at in 0..self.select.items.len() {
            let meaning = self.scope.of_item(at);
            keys.push(match self.is_made(&meaning)? {
                true => self.made_key(&meaning, Usage::Distinct, told)?,
                false => self.key(meaning, Usage::Distinct)?,
            });
        }
        told.distinct = Some(keys);
        self.edits.replace(span, "");
        Ok(())
    }

    /// The numbers of LIMIT and OFFSET, which no unit is told.
    fn counts_here(&mut self) {
        let limit = self.query.limit.iter();
        for expr in limit.flat_map(|limit| [&limit.count, &limit.offset]).flatten() {
            let mut expr = unwrapped(expr);
            while let Node::Cast { operand, .. } = &expr.node {
                expr = unwrapped(operand);
            }
            if let Node::Parameter(at) = expr.node {
                self.read_here.push((at, DeclaredType::Int { octets: 8, unsigned: false }));
            }
        }
    }

    /// The column that an item is whose values are told, perhaps with a collation of its own.
    fn told_column(&self, meaning: &Meaning<'_>) -> Known<Option<ToldColumn>> {
        if let Info::Needs(need) = &meaning.info {
            return Err(Stop::Needs(need.clone()));
        }
        if let Some(column) = meaning.info.turned() {
            let (column, text) = (column.clone(), meaning.text.clone());
            return Ok(Some(ToldColumn { column, shown: text.clone(), text, at: meaning.at }));
        }
        match meaning.expr {
            Some(expr) => self.told_expr(expr),
            None => Ok(None),
        }
    }

    /// As [`Builder::told_column`], of an expression.
    pub(super) fn told_expr(&self, expr: &Expr) -> Known<Option<ToldColumn>> {
        let shown = self.scope.text(expr).to_owned();
        let mut operand = unwrapped(expr);
        let mut collated = None;
        if let Node::Collate { operand: inner, collation } = &operand.node {
            (operand, collated) = (unwrapped(inner), Some(collation));
        }
        let info = self.scope.info(operand);
        if let Info::Needs(need) = info {
            return Err(Stop::Needs(need));
        }
        let Some(column) = info.turned() else { return Ok(None) };
        let mut column = column.clone();
        if let Some(name) = collated.and_then(|collation| collation.parts.last()) {
            column.collation.clone_from(&name.value);
        }
        Ok(Some(ToldColumn { column, text: self.scope.text(operand).to_owned(), shown, at: None }))
    }

    /// Where an item's values stand, and how they compare.
    pub(super) fn key(&mut self, meaning: Meaning<'_>, usage: Usage) -> Known<SortKey> {
        let nulls_first = self.ctx.dialect.nulls_first();
        if let Some(told) = self.told_column(&meaning)? {
            let compare = match usage {
                Usage::Order => told.order(self.ctx)?,
                Usage::Distinct => told.equality(self.ctx)?,
            };
            let position = match told.at {
                Some(at) => Position::Index(at),
                None => self.derive(&told.text, usage.label()),
            };
            self.looks_into(&position, &told.text);
            let compare = KeyCompare::Known(compare);
            return Ok(SortKey { position, compare, descending: false, nulls_first });
        }
        let Meaning { text, at, info, expr } = meaning;
        if expr.is_some_and(aggregate::contains) {
            let position = at.map_or_else(|| self.derive(&text, usage.label()), Position::Index);
            return Ok(plain_key(position));
        }
        let is_column = expr.is_none_or(|expr| matches!(unwrapped(expr).node, Node::Column(_)));
        let place =
            |this: &mut Self| at.map_or_else(|| this.derive(&text, usage.label()), Position::Index);
        let (position, compare) = match self.ctx.dialect.comparison(&text, info.column()) {
            Comparison::Value(compare) => (place(self), KeyCompare::Known(compare)),
            Comparison::Derive(weights) => {
                (self.derive(&weights, usage.label()), KeyCompare::Known(Compare::Bytes))
            }
            Comparison::DeriveNumber(number) => {
                (self.derive(&number, usage.label()), KeyCompare::Known(Compare::Number))
            }
            Comparison::ByResult { derive } => {
                let position = place(self);
                let derive = derive.filter(|_| is_column || self.select.group_by.is_empty());
                let weights = derive.map(|weights| self.derive(&weights, usage.label()));
                (position, KeyCompare::ByResult { weights })
            }
            Comparison::Refuse(reason) => return Err(unsorted(&text, &reason).into()),
        };
        Ok(SortKey { position, compare, descending: false, nulls_first })
    }
}

/// Where a part of FROM stands.
fn span_of(factor: &TableFactor) -> Span {
    match factor {
        TableFactor::Table(table) => table.span,
        TableFactor::Derived { span, .. } | TableFactor::Function { span, .. } => *span,
        TableFactor::Join(join) => join.span,
    }
}

/// What rows are compared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Order,
    Distinct,
}

impl Usage {
    /// What a derived item is called by.
    fn label(self) -> &'static str {
        match self {
            Self::Order => "ORDER_BY",
            Self::Distinct => "DISTINCT",
        }
    }
}
