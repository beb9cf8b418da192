//! A SELECT that goes to several targets: how its rows are merged, and what must be added to its text for that (paper §VI.C, "derive
//! columns", "revise pagination", "stream merger optimization").

use pando_kernel::Compares;
use pando_kernel::dialect::{Compare, Comparison};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::{
    Aggregate, AggregateFunction, Group, KeyCompare, MergePlan, Position, SortKey,
};
use pando_kernel::route::{Alone, Need, Units};
use pando_sql::ast::{
    BinaryOp, Distinct, Expr, Function, Literal, Node, Query, Select, SelectItem, Statement,
};
use pando_sql::{Edits, Span};

use super::aggregate::{self, Combinable};
use super::paginate::{Share, paginate};
use super::resolve::{Info, Meaning, Scope, unwrapped};

/// What rows are compared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    Order,
    Groups,
    Distinct,
}

impl Usage {
    /// What a derived item is called by.
    fn label(self) -> &'static str {
        match self {
            Self::Order => "ORDER_BY",
            Self::Groups => "GROUP_BY",
            Self::Distinct => "DISTINCT",
        }
    }
}

/// Refuses to compare what is stored of a column in the place of its values where that says nothing of these.
fn compared(text: &str, compares: Compares, usage: Usage) -> Result<()> {
    match (compares, usage) {
        (Compares::AsStored, _) | (Compares::EqualOnly, Usage::Groups | Usage::Distinct) => Ok(()),
        (Compares::EqualOnly | Compares::NotAtAll, _) => Err(Error::unmerged(
            30001,
            format!(
                "rows of several shards cannot be merged by `{text}`: what is stored of it does not compare as its values do"
            ),
            "leave the column out of ORDER BY, GROUP BY, DISTINCT, MIN and MAX, or narrow it to one shard",
        )),
    }
}

/// What merging needs.
pub(in crate::plan) enum Gathered {
    Plan(Box<MergePlan>, Edits),
    Needs(Need),
}

/// Builds the merge plan and the edits of one SELECT.
struct Builder<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    query: &'a Query,
    select: &'a Select,
    scope: Scope<'a>,
    /// What each unit does alone, so that its rows pass as they are.
    alone: Alone,
    derived: Vec<String>,
    need: Option<Need>,
    edits: Edits,
}

/// Plans the merge of `query`.
pub(in crate::plan) fn gather(
    ctx: &Context<'_>,
    stmt: &Statement,
    query: &Query,
    select: &Select,
    units: &Units,
) -> Result<Gathered> {
    let scope = Scope::new(ctx, stmt, select);
    let (derived, need, edits) = (Vec::new(), None, Edits::default());
    let alone = units.alone;
    let builder = Builder { ctx, stmt, query, select, scope, alone, derived, need, edits };
    builder.build()
}

impl<'a> Builder<'a> {
    fn build(mut self) -> Result<Gathered> {
        let mut plan = MergePlan::iterate();
        let grouped = !self.select.group_by.is_empty();
        let aggregated =
            aggregate::any_in(self.item_exprs().chain(aggregate::order_exprs(self.query)));
        let merges_groups = (grouped || aggregated) && !self.alone.groups;
        if !merges_groups && self.sorts_by_groups() {
            return Err(sorted_by_groups());
        }
        if merges_groups {
            self.group(&mut plan)?;
        } else {
            plan.order = self.order_keys()?;
        }
        if let Distinct::Yes(_) = self.select.distinct
            && !self.alone.rows
        {
            if merges_groups {
                return Err(refused("DISTINCT together with aggregates"));
            }
            plan.distinct = Some(self.distinct_keys()?);
        }
        let share = match &plan.group {
            Some(group) if !group.sorted || group.keys.is_empty() => Share::All,
            Some(_) | None => Share::First,
        };
        paginate(self.ctx, self.query, share, &mut plan, &mut self.edits)?;
        if let Some(need) = self.need {
            return Ok(Gathered::Needs(need));
        }
        if !self.derived.is_empty() {
            let at = Span::at(self.select.items_span.end);
            self.edits.replace(at, format!(", {}", self.derived.join(", ")));
        }
        plan.derived = self.derived.len();
        Ok(Gathered::Plan(Box::new(plan), self.edits))
    }

    fn item_exprs(&self) -> impl Iterator<Item = &Expr> {
        self.select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        })
    }

    /// Adds a select item at the end; equal ones are added once.
    fn derive(&mut self, text: &str, label: &str) -> Position {
        let prefix = format!("{text} AS ");
        if let Some(at) = self.derived.iter().position(|item| item.starts_with(&prefix)) {
            return Position::Derived(at);
        }
        let name = format!("{label}_DERIVED_{}", self.derived.len());
        self.derived.push(format!("{prefix}{name}"));
        Position::Derived(self.derived.len() - 1)
    }

    /// The key of an item: where it stands, and how it compares.
    fn key(&mut self, meaning: Meaning<'_>, usage: Usage) -> Result<SortKey> {
        let label = usage.label();
        let Meaning { text, at, info, expr } = meaning;
        let is_column = expr.is_none_or(|expr| matches!(unwrapped(expr).node, Node::Column(_)));
        if let Info::Needs(need) = info {
            self.need.get_or_insert(need);
            return Ok(plain_key(Position::Index(0)));
        }
        compared(&text, info.compares(), usage)?;
        let place = |this: &mut Self| at.map_or_else(|| this.derive(&text, label), Position::Index);
        let (position, compare) = match self.ctx.dialect.comparison(&text, info.column()) {
            Comparison::Value(compare) => (place(self), KeyCompare::Known(compare)),
            Comparison::Derive(weights) => {
                (self.derive(&weights, label), KeyCompare::Known(Compare::Bytes))
            }
            Comparison::DeriveNumber(number) => {
                (self.derive(&number, label), KeyCompare::Known(Compare::Number))
            }
            Comparison::ByResult { derive } => {
                let position = place(self);
                // Under ONLY_FULL_GROUP_BY a server does not see that weights of a computed item hang on its group.
                let is_free = usage != Usage::Groups && self.select.group_by.is_empty();
                let derive = derive.filter(|_| is_column || is_free);
                let weights = derive.map(|weights| self.derive(&weights, label));
                (position, KeyCompare::ByResult { weights })
            }
            Comparison::Refuse(reason) => {
                return Err(Error::unmerged(
                    30001,
                    format!("rows of several shards cannot be sorted by `{text}`: {reason}"),
                    "sort by a number or a column with a binary collation, or narrow it to one shard",
                ));
            }
        };
        let nulls_first = self.ctx.dialect.nulls_first();
        Ok(SortKey { position, compare, descending: false, nulls_first })
    }

    fn order_keys(&mut self) -> Result<Vec<SortKey>> {
        let distinct = matches!(self.select.distinct, Distinct::Yes(_));
        let mut keys = Vec::new();
        let query = self.query;
        for item in &query.order_by {
            let meaning = self.scope.ordered(&item.expr)?;
            if distinct && meaning.at.is_none() && !self.scope.has_star() {
                return Err(refused(
                    "SELECT DISTINCT with ORDER BY an expression that is not selected",
                ));
            }
            let computed = meaning.expr.is_some_and(|expr| {
                !matches!(unwrapped(expr).node, Node::Column(_)) && !aggregate::contains(expr)
            });
            let of_group = computed && !self.select.group_by.is_empty();
            let mut key = match self.number_of_group(&meaning) {
                true => {
                    let Meaning { text, at, .. } = meaning;
                    let position =
                        at.map_or_else(|| self.derive(&text, "ORDER_BY"), Position::Index);
                    plain_key(position)
                }
                false => self.key(meaning, if of_group { Usage::Groups } else { Usage::Order })?,
            };
            key.descending = item.descending;
            let default = self.ctx.dialect.nulls_first() != item.descending;
            key.nulls_first = item.nulls_first.unwrap_or(default);
            // Sorting twice by one column changes nothing.
            if keys.iter().any(|known: &SortKey| known.position == key.position) {
                continue;
            }
            keys.push(key);
        }
        Ok(keys)
    }

    /// Whether an item is an aggregate that is always a number, or as good as one: it needs no weights.
    fn number_of_group(&self, meaning: &Meaning<'_>) -> bool {
        meaning.expr.is_some_and(|expr| {
            let kind = aggregate::of(expr, &self.stmt.text).ok().flatten();
            matches!(kind, Some((Combinable::Count | Combinable::Sum | Combinable::Average, _)))
        })
    }

    fn distinct_keys(&mut self) -> Result<Vec<SortKey>> {
        if self.scope.has_star() {
            return Err(Error::unmerged(
                30001,
                "SELECT DISTINCT * cannot be answered across shards yet",
                "name the columns instead of `*`",
            ));
        }
        let items = 0..self.select.items.len();
        items.map(|at| self.key(self.scope.of_item(at), Usage::Distinct)).collect()
    }

    fn group(&mut self, plan: &mut MergePlan) -> Result<()> {
        if self.scope.has_star() {
            return Err(refused("`*` together with aggregates or GROUP BY"));
        }
        let mut aggregates = self.aggregates()?;
        let (select, query) = (self.select, self.query);
        if select.group_by.is_empty() {
            self.only_aggregates()?;
        }
        let mut keys: Vec<SortKey> = Vec::new();
        for (at, expr) in select.group_by.iter().enumerate() {
            let mut key = self.key(self.scope.grouped(expr)?, Usage::Groups)?;
            if self.sorts_by_groups() {
                key.descending = select.group_descending.get(at).copied().flatten() == Some(true);
                key.nulls_first = self.ctx.dialect.nulls_first() != key.descending;
            }
            if !keys.iter().any(|known| known.position == key.position) {
                keys.push(key);
            }
        }
        let mut order = Vec::new();
        // One row needs no order.
        for item in query.order_by.iter().filter(|_| !select.group_by.is_empty()) {
            let mut key = self.group_order_key(&item.expr, &mut aggregates)?;
            key.descending = item.descending;
            let default = self.ctx.dialect.nulls_first() != item.descending;
            key.nulls_first = item.nulls_first.unwrap_or(default);
            order.push(key);
        }
        let (sorted, then_order) = self.group_order(&mut keys, order);
        if !sorted && self.sorts_by_groups() {
            return Err(sorted_by_groups());
        }
        if sorted {
            plan.order.clone_from(&keys);
        }
        plan.single_row = keys.is_empty();
        plan.group = Some(Group { keys, sorted, aggregates, then_order });
        Ok(())
    }

    /// Whether GROUP BY says how the rows are sorted.
    fn sorts_by_groups(&self) -> bool {
        self.query.order_by.is_empty() && self.select.sorts_groups()
    }

    /// Decides between the stream form (the shards sort by the group's items) and the memory form.
    fn group_order(
        &mut self,
        keys: &mut Vec<SortKey>,
        order: Vec<SortKey>,
    ) -> (bool, Vec<SortKey>) {
        if keys.is_empty() {
            return (true, Vec::new());
        }
        if order.is_empty() {
            let select = self.select;
            if select.group_by.iter().any(|expr| self.scope.sorts_otherwise(expr)) {
                return (false, Vec::new());
            }
            let directions = select.group_descending.iter().copied().chain(std::iter::repeat(None));
            let item = |(expr, descending)| match descending {
                Some(true) => format!("{} DESC", self.scope.text(expr)),
                Some(false) | None => self.scope.text(expr).to_owned(),
            };
            let items: Vec<String> = select.group_by.iter().zip(directions).map(item).collect();
            let text = format!(" ORDER BY {}", items.join(", "));
            self.edits.replace(Span::at(self.select.end), text);
            return (true, Vec::new());
        }
        let has = |list: &[SortKey], key: &SortKey| list.iter().any(|k| k.position == key.position);
        let same_items = order.len() == keys.len()
            && keys.iter().all(|key| has(&order, key))
            && order.iter().all(|key| has(keys, key));
        if same_items {
            *keys = order;
            return (true, Vec::new());
        }
        (false, order)
    }

    fn group_order_key(
        &mut self,
        expr: &'a Expr,
        aggregates: &mut Vec<Aggregate>,
    ) -> Result<SortKey> {
        let meaning = self.scope.ordered(expr)?;
        let Some(behind) = meaning.expr else { return self.key(meaning, Usage::Order) };
        let Some((kind, function)) = aggregate::of(behind, &self.stmt.text)? else {
            return self.key(meaning, Usage::Order);
        };
        let position = match meaning.at {
            Some(at) => Position::Index(at),
            None => {
                let position = self.derive(&meaning.text, "ORDER_BY");
                let aggregate = self.aggregate(kind, &function, behind, position.clone())?;
                aggregates.push(aggregate);
                position
            }
        };
        Ok(plain_key(position))
    }

    /// Beside aggregates of all rows, a column would come from whichever shard answers first, which may have no row at all.
    fn only_aggregates(&self) -> Result<()> {
        for expr in self.item_exprs() {
            let mut has_column = false;
            aggregate::walk(expr, &mut |node| has_column |= matches!(node, Node::Column(_)));
            if has_column && !aggregate::contains(expr) {
                return Err(refused("a column beside aggregates without GROUP BY"));
            }
        }
        Ok(())
    }

    fn aggregates(&mut self) -> Result<Vec<Aggregate>> {
        let exprs: Vec<Expr> = self.item_exprs().cloned().collect();
        let mut aggregates = Vec::new();
        for (at, expr) in exprs.iter().enumerate() {
            if let Some((kind, function)) = aggregate::of(expr, &self.stmt.text)? {
                aggregates.push(self.aggregate(kind, &function, expr, Position::Index(at))?);
            }
        }
        Ok(aggregates)
    }

    fn aggregate(
        &mut self,
        kind: Combinable,
        function: &Function,
        expr: &Expr,
        output: Position,
    ) -> Result<Aggregate> {
        if matches!(kind, Combinable::Sum | Combinable::Average) {
            self.adds_exactly(function)?;
        }
        let function = match kind {
            Combinable::Count => AggregateFunction::Count,
            Combinable::Sum => AggregateFunction::Sum,
            Combinable::Min | Combinable::Max => {
                let compare = self.extreme(function)?;
                if kind == Combinable::Min {
                    AggregateFunction::Min(compare)
                } else {
                    AggregateFunction::Max(compare)
                }
            }
            Combinable::Average => {
                let expr = unwrapped(expr);
                let rest = self.arguments(function, expr);
                let sum = self.derive(&format!("SUM{rest}"), "AVG_SUM");
                let count = self.derive(&format!("COUNT{rest}"), "AVG_COUNT");
                AggregateFunction::Average { sum, count }
            }
        };
        Ok(Aggregate { output, function })
    }

    /// What stands behind a function's name, from the parenthesis on: MySQL takes a name with anything between for a function of the user's.
    fn arguments(&self, function: &Function, expr: &Expr) -> &'a str {
        let rest = Span::new(function.name.span.end, expr.span.end).of(&self.stmt.text);
        let tokens = pando_sql::tokenize(rest, self.ctx.dialect.syntax());
        let first = tokens.ok().and_then(|tokens| tokens.list.first().map(|token| token.span));
        first.and_then(|first| rest.get(first.start as usize..)).unwrap_or(rest)
    }

    /// A server may keep more decimals of a quotient while it adds up than it shows of a part of the sum.
    fn adds_exactly(&self, function: &Function) -> Result<()> {
        let mut divides = false;
        for argument in &function.arguments {
            aggregate::walk(argument, &mut |node| {
                divides |= matches!(node, Node::Binary { op: BinaryOp::Divide, .. });
            });
        }
        if divides && !self.ctx.dialect.adds_quotients() {
            return Err(refused("the sum or average of a quotient"));
        }
        Ok(())
    }

    /// How MIN and MAX compare. Text needs a collation that sorts as bytes: weights of a minimum cannot be derived.
    fn extreme(&mut self, function: &Function) -> Result<KeyCompare> {
        let Some(argument) = function.arguments.first() else {
            return Ok(KeyCompare::ByResult { weights: None });
        };
        let info = self.scope.info(argument);
        if let Info::Needs(need) = info {
            self.need.get_or_insert(need);
            return Ok(KeyCompare::ByResult { weights: None });
        }
        let text = self.scope.text(argument).to_owned();
        compared(&text, info.compares(), Usage::Order)?;
        match self.ctx.dialect.comparison(&text, info.column()) {
            Comparison::Value(compare) => Ok(KeyCompare::Known(compare)),
            // Which of two values is shown that look alike makes no difference.
            Comparison::DeriveNumber(_) => Ok(KeyCompare::Known(Compare::Number)),
            Comparison::ByResult { .. } => Ok(KeyCompare::ByResult { weights: None }),
            Comparison::Derive(_) | Comparison::Refuse(_) => Err(Error::unmerged(
                30001,
                format!("the least or greatest `{text}` of several shards needs its collation"),
                "use ORDER BY … LIMIT 1, or narrow it to one shard",
            )),
        }
    }
}

/// Plans the merge of a query whose units' answers together are the answer: only its ORDER BY, by places or names of columns, and LIMIT
/// are left.
///
/// # Errors
/// `Refused` for an ORDER BY that is more than that.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(in crate::plan) fn together(ctx: &Context<'_>, query: &Query) -> Result<Gathered> {
    let mut plan = MergePlan::iterate();
    for item in &query.order_by {
        let position = match &unwrapped(&item.expr).node {
            Node::Literal(Literal::Integer(n)) => {
                usize::try_from(*n).ok().and_then(|n| n.checked_sub(1)).map(Position::Index)
            }
            Node::Column(name) => match &name.parts[..] {
                [single] => Some(Position::Name(single.value.clone())),
                _ => None,
            },
            _ => None,
        };
        let position = position.ok_or_else(|| refused("ORDER BY an expression of a UNION"))?;
        let default = ctx.dialect.nulls_first() != item.descending;
        plan.order.push(SortKey {
            descending: item.descending,
            nulls_first: item.nulls_first.unwrap_or(default),
            ..plain_key(position)
        });
    }
    let mut edits = Edits::default();
    paginate(ctx, query, Share::First, &mut plan, &mut edits)?;
    Ok(Gathered::Plan(Box::new(plan), edits))
}

/// A key whose comparison the result's type tells.
pub(in crate::plan) fn plain_key(position: Position) -> SortKey {
    let compare = KeyCompare::ByResult { weights: None };
    SortKey { position, compare, descending: false, nulls_first: true }
}

fn sorted_by_groups() -> Error {
    refused("rows sorted by GROUP BY … ASC or DESC")
}

/// What cannot be merged.
pub(super) fn refused(what: &str) -> Error {
    Error::unmerged(
        30001,
        format!("{what} cannot be answered across shards yet"),
        "narrow it to one shard by an equality on the sharding key",
    )
}
