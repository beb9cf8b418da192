//! Queries: how the rows of a SELECT, of a set operation and of WITH lie, and what of the outermost one each shard may do alone.

use pando_sql::ast::{
    Cte, Distinct, Expr, Function, Kind, Literal, Node, ObjectName, OrderItem, Query, QueryBody,
    Select, SelectItem, SetOp,
};

use super::expr::Nulls;
use super::from::Sides;
use super::level::{Level, Origin};
use super::sorted;
use super::{Change, Column, Env, Lie, Part, Prover, Rows, Step, Why};
use crate::literal::unwrapped;
use crate::scope::last;

/// What is proven of the outermost query.
pub(super) struct Answer {
    pub(super) nodes: Vec<usize>,
    pub(super) groups: bool,
    pub(super) rows: bool,
}

/// A SELECT, or what stands for one.
struct Core {
    rows: Rows,
    groups: bool,
    distinct: bool,
}

/// Where a query stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Its groups, ORDER BY and LIMIT are merged afterwards.
    Top,
    Inside,
}

/// What a set operation compares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compares {
    /// UNION ALL.
    Nothing,
    Rows,
}

/// A SELECT with what its query sorts by.
#[derive(Clone, Copy)]
struct Sorted<'q> {
    select: &'q Select,
    order_by: &'q [OrderItem],
}

/// Functions of plain values; what is none of them might be an aggregate that users have made. Sorted.
const PLAIN: &[&str] = &[
    "abs",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "concat_ws",
    "date",
    "date_trunc",
    "day",
    "extract",
    "floor",
    "greatest",
    "if",
    "ifnull",
    "least",
    "left",
    "length",
    "lower",
    "ltrim",
    "mod",
    "month",
    "now",
    "nullif",
    "replace",
    "right",
    "round",
    "rtrim",
    "substr",
    "substring",
    "to_char",
    "trim",
    "upper",
    "year",
];

impl<'a> Prover<'a> {
    /// Proves the outermost query.
    pub(super) fn answer(&self, query: &Query) -> Step<Answer> {
        let core = self.whole_query(query, None, &Env::new(), At::Top)?;
        if core.rows.lie != Lie::Parts {
            return Err(Why::Doubt("its rows come from tables that stand whole on every shard"));
        }
        if core.rows.nodes.len() > 1 && sorted::inside(query) {
            return Err(Why::Doubt(
                "ORDER BY inside a statement sorts the rows of all shards together",
            ));
        }
        Ok(Answer { nodes: core.rows.nodes, groups: core.groups, rows: core.distinct })
    }

    /// Proves an UPDATE or DELETE; gives the nodes that can have rows.
    pub(super) fn change(&self, change: &Change<'_>) -> Step<Vec<usize>> {
        let env = Env::new();
        let sides = Sides {
            targets: change.targets.clone(),
            factors: change.factors.clone(),
            filter: change.filter,
        };
        let (level, lie, nodes) = self.level(&sides, None, &env)?;
        if let Some(filter) = change.filter {
            self.expr(&level, filter, Nulls::AreFalse, &env)?;
        }
        self.exprs(&level, change.values.iter().copied(), &env)?;
        match lie {
            Lie::Parts => Ok(nodes),
            Lie::Whole | Lie::Local => Err(Why::Doubt("the table it changes is not sharded")),
        }
    }

    /// How the rows of a query inside a statement lie.
    pub(super) fn query<'l>(
        &self,
        query: &Query,
        outer: Option<&'l Level<'l, 'a>>,
        env: &Env,
    ) -> Step<Rows> {
        Ok(self.whole_query(query, outer, env, At::Inside)?.rows)
    }

    fn whole_query<'l>(
        &self,
        query: &Query,
        outer: Option<&'l Level<'l, 'a>>,
        env: &Env,
        at: At,
    ) -> Step<Core> {
        let env = self.with(query, outer, env)?;
        let level = Level::new(outer);
        let mut core = match &query.body {
            QueryBody::Select(select) => {
                let sorted = Sorted { select, order_by: &query.order_by };
                self.select(sorted, outer, &env, at)?
            }
            QueryBody::Set { op, all, left, right } => {
                let left = self.query(left, outer, &env)?;
                let right = self.query(right, outer, &env)?;
                let compares = match (op, all) {
                    (SetOp::Union, true) => Compares::Nothing,
                    (SetOp::Union | SetOp::Intersect | SetOp::Except, _) => Compares::Rows,
                };
                let rows = self.set(compares, left, right)?;
                Core { rows, groups: false, distinct: false }
            }
            QueryBody::Values(rows) => {
                self.exprs(&level, rows.iter().flatten(), &env)?;
                Core { rows: Rows::whole(Lie::Whole), groups: false, distinct: false }
            }
        };
        if !matches!(query.body, QueryBody::Select(_)) {
            self.exprs(&level, query.order_by.iter().map(|item| &item.expr), &env)?;
        }
        if let Some(limit) = &query.limit {
            self.exprs(&level, limit.count.iter().chain(&limit.offset), &env)?;
            if at == At::Inside && core.rows.lie != Lie::Local {
                return Err(Why::Doubt(
                    "LIMIT inside a statement takes rows of all shards together",
                ));
            }
        }
        if level.is_local.get() && core.rows.lie == Lie::Whole {
            core.rows.lie = Lie::Local;
        }
        Ok(core)
    }

    fn with<'l>(&self, query: &Query, outer: Option<&'l Level<'l, 'a>>, env: &Env) -> Step<Env> {
        let mut env = env.clone();
        for cte in &query.with {
            let name = cte.name.key();
            let Kind::Select(body) = &*cte.body else {
                return Err(Why::Doubt("a change inside WITH"));
            };
            if query.recursive {
                env.insert(name.clone(), Rows::whole(Lie::Whole));
            }
            let mut rows = self.query(body, outer, &env)?;
            if query.recursive && rows.lie == Lie::Parts {
                return Err(Why::Doubt("WITH RECURSIVE over a sharded table"));
            }
            rows.columns = renamed(cte, rows.columns);
            env.insert(name, rows);
        }
        Ok(env)
    }

    /// Rows that are equal must be on one shard wherever the operation compares them.
    fn set(&self, compares: Compares, left: Rows, right: Rows) -> Step<Rows> {
        if left.lie != Lie::Parts && right.lie != Lie::Parts {
            let local = left.lie == Lie::Local || right.lie == Lie::Local;
            return Ok(Rows::whole(if local { Lie::Local } else { Lie::Whole }));
        }
        if left.lie != right.lie {
            return Err(Why::Doubt("a set operation joins split rows with whole ones"));
        }
        let columns = match (left.columns, right.columns) {
            (Some(left), Some(right)) if left.len() == right.len() => {
                Some(left.into_iter().zip(right).map(|(left, right)| both(left, &right)).collect())
            }
            _ => None,
        };
        let keys: Vec<Part> =
            columns.iter().flatten().filter_map(|column: &Column| column.key).collect();
        if compares == Compares::Rows && !self.covers(&keys) {
            return Err(Why::Doubt("a set operation compares rows without their sharding key"));
        }
        let mut nodes = left.nodes;
        nodes.extend(right.nodes);
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Rows { lie: Lie::Parts, nodes, columns })
    }

    fn select<'l>(
        &self,
        sorted: Sorted<'_>,
        outer: Option<&'l Level<'l, 'a>>,
        env: &Env,
        at: At,
    ) -> Step<Core> {
        let Sorted { select, order_by } = sorted;
        if select.into.is_some() {
            return Err(Why::Doubt("SELECT … INTO"));
        }
        let sides = Sides {
            targets: Vec::new(),
            factors: select.from.iter().collect(),
            filter: select.filter.as_ref(),
        };
        let (level, mut lie, nodes) = self.level(&sides, outer, env)?;
        let conditions = select.filter.iter().chain(&select.having);
        conditions
            .into_iter()
            .try_for_each(|expr| self.expr(&level, expr, Nulls::AreFalse, env))?;
        let on: &[Expr] = match &select.distinct {
            Distinct::On(list, _) => list,
            Distinct::No | Distinct::Yes(_) => &[],
        };
        let order = || order_by.iter().map(|item| &item.expr);
        let rest = items(select).chain(on).chain(&select.group_by).chain(&select.window_exprs);
        self.exprs(&level, rest.chain(order()), env)?;
        let outputs = || items(select).chain(&select.having).chain(order());
        if outer.is_some() && !outputs().all(|expr| self.aggregates_own(&level, expr)) {
            return Err(Why::Doubt("an aggregate may belong to the query outside"));
        }
        if lie == Lie::Whole && level.is_local.get() {
            lie = Lie::Local;
        }
        if lie != Lie::Parts {
            let rows = Rows { columns: self.columns(&level, select), ..Rows::whole(lie) };
            return Ok(Core { rows, groups: false, distinct: false });
        }
        let groups = self.keeps_groups(&level, select, outputs().collect());
        let keys = self.contained(&level, select);
        let distinct = groups && self.covers(&keys);
        if at == At::Inside {
            if !groups {
                return Err(Why::Doubt(
                    "groups, windows or aggregates inside a statement have rows of several shards",
                ));
            }
            if !distinct && matches!(select.distinct, Distinct::Yes(_)) {
                return Err(Why::Doubt(
                    "DISTINCT inside a statement compares rows of several shards",
                ));
            }
            let plain = select.group_by.is_empty();
            if plain && !outputs().all(|expr| calls(expr).iter().all(|call| is_known(call))) {
                return Err(Why::Doubt("a function inside a statement may be an aggregate"));
            }
        }
        let rows = Rows { lie, nodes, columns: self.columns(&level, select) };
        Ok(Core { rows, groups, distinct })
    }

    /// Whether every group, partition of a window and DISTINCT ON has rows of one shard only.
    fn keeps_groups(&self, level: &Level<'_, 'a>, select: &Select, outputs: Vec<&Expr>) -> bool {
        let calls: Vec<&Function> = outputs.iter().flat_map(|expr| calls(expr)).collect();
        let grouped = !select.group_by.is_empty();
        let by_key = |list: &[&Expr]| {
            let parts: Vec<Part> =
                list.iter().filter_map(|expr| self.grouping(level, select, expr)).collect();
            self.covers(&parts)
        };
        let groups = match grouped {
            true => !select.grouping_sets && by_key(&select.group_by.iter().collect::<Vec<_>>()),
            false => {
                let one = |call: &&Function| call.over.is_none() && call.is_aggregate();
                select.having.is_none() && !calls.iter().any(one)
            }
        };
        let mut windows = calls.iter().filter(|call| call.over.is_some()).peekable();
        // Without GROUP BY a function that is not known might make one group of all rows.
        let known = grouped || windows.peek().is_none() || calls.iter().all(|c| is_known(c));
        let windows = windows.all(|call| self.partition(call).is_some_and(|list| by_key(&list)));
        let on = match &select.distinct {
            Distinct::On(list, _) => by_key(&list.iter().collect::<Vec<_>>()),
            Distinct::No | Distinct::Yes(_) => true,
        };
        groups && known && windows && on && select.window.is_none()
    }

    /// The key that a GROUP BY or PARTITION BY item is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn grouping(&self, level: &Level<'_, 'a>, select: &Select, expr: &Expr) -> Option<Part> {
        match &unwrapped(expr).node {
            Node::Column(name) => self.own_key(level, name),
            Node::Literal(Literal::Integer(n)) => {
                let at = usize::try_from(*n).ok()?.checked_sub(1)?;
                let item = |item: &SelectItem| matches!(item, SelectItem::Expr { .. });
                let front = select.items.get(..=at)?;
                match (front.iter().all(item), front.last()?) {
                    (true, SelectItem::Expr { expr, .. }) => match &unwrapped(expr).node {
                        Node::Column(name) => self.own_key(level, name),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn own_key(&self, level: &Level<'_, 'a>, name: &ObjectName) -> Option<Part> {
        let key = self.key(level, level.all(), name)?;
        (key.depth == level.depth).then_some(key.part)
    }

    /// The PARTITION BY items of `OVER (PARTITION BY …)`; `None` when it begins otherwise.
    fn partition<'e>(&self, call: &'e Function) -> Option<Vec<&'e Expr>> {
        let text = &self.asked.stmt.text;
        let first = call.inner.first()?;
        let over = call.over.filter(|_| call.within_group.is_none())?;
        let head: String = text.get(over.start as usize..first.span.start as usize)?.to_lowercase();
        let head: Vec<&str> = head.split_whitespace().collect();
        (head.concat() == "over(partitionby").then_some(())?;
        let mut list = vec![first];
        for pair in call.inner.windows(2) {
            let [before, next] = pair else { break };
            let gap = text.get(before.span.end as usize..next.span.start as usize)?;
            if gap.trim() != "," {
                break;
            }
            list.push(next);
        }
        Some(list)
    }

    /// The keys that the rows of a SELECT contain.
    fn contained(&self, level: &Level<'_, 'a>, select: &Select) -> Vec<Part> {
        let mut keys = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Expr { expr, .. } => {
                    if let Node::Column(name) = &unwrapped(expr).node {
                        keys.extend(self.own_key(level, name));
                    }
                }
                SelectItem::Star(_) => {
                    level.all().for_each(|at| keys.extend(self.keys_of(level, at)));
                }
                SelectItem::QualifiedStar(name, _) => {
                    let label = name.parts.last().map(|part| &part.value);
                    let is = |at: &usize| Some(&level.sources[*at].label) == label;
                    level.all().filter(is).for_each(|at| keys.extend(self.keys_of(level, at)));
                }
            }
        }
        keys
    }

    fn keys_of(&self, level: &Level<'_, 'a>, at: usize) -> Vec<Part> {
        let source = &level.sources[at];
        let parts: Vec<Part> = match &source.origin {
            Origin::Sharded(table) => {
                table.keys().iter().filter_map(|key| self.part(table, key)).collect()
            }
            Origin::Whole(_) | Origin::Query(None) => Vec::new(),
            Origin::Query(Some(columns)) => columns.iter().filter_map(|c| c.key).collect(),
        };
        parts.into_iter().map(|part| self.key_of(level, at, part).part).collect()
    }

    /// The columns of a SELECT in order.
    fn columns(&self, level: &Level<'_, 'a>, select: &Select) -> Option<Vec<Column>> {
        let mut columns = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Expr { expr, alias, .. } => {
                    let column = if let Node::Column(name) = &unwrapped(expr).node {
                        Some(name)
                    } else {
                        None
                    };
                    let name = alias.as_ref().map(|alias| alias.value.to_lowercase());
                    columns.push(Column {
                        name: name.or_else(|| column.map(last)),
                        key: column.and_then(|column| self.own_key(level, column)),
                    });
                }
                SelectItem::Star(_) => {
                    if level.has_natural || !level.merged.is_empty() {
                        return None;
                    }
                    for at in level.all() {
                        columns.extend(self.columns_of(level, at)?);
                    }
                }
                SelectItem::QualifiedStar(name, _) => {
                    let label = &name.parts.last()?.value;
                    let mut own = level.all().filter(|at| level.sources[*at].label == *label);
                    let at = own.next().filter(|_| name.parts.len() == 1)?;
                    if own.next().is_some() {
                        return None;
                    }
                    columns.extend(self.columns_of(level, at)?);
                }
            }
        }
        Some(columns)
    }

    fn columns_of(&self, level: &Level<'_, 'a>, at: usize) -> Option<Vec<Column>> {
        let source = level.sources.get(at)?;
        let logic = match &source.origin {
            Origin::Sharded(table) => &**table.logic(),
            Origin::Whole(logic) => logic,
            Origin::Query(columns) => {
                let weaker = |column: &Column| Column {
                    key: column.key.map(|part| self.key_of(level, at, part).part),
                    ..column.clone()
                };
                return columns.as_ref().map(|columns| columns.iter().map(weaker).collect());
            }
        };
        let known = self.asked.columns(logic).filter(|columns| !columns.is_empty())?;
        let column = |name: &str| {
            let part = self.carries(source, name);
            let key = part.map(|part| self.key_of(level, at, part).part);
            Column { name: Some(name.to_lowercase()), key }
        };
        Some(known.iter().map(|own| column(&own.name)).collect())
    }

    /// Whether every aggregate in an expression is computed here: one that names only columns of an outer query would be computed there.
    fn aggregates_own(&self, level: &Level<'_, 'a>, expr: &Expr) -> bool {
        calls(expr).iter().filter(|call| call.is_aggregate() && call.over.is_none()).all(|call| {
            let mut named = Vec::new();
            for argument in call.arguments.iter().chain(call.filter.as_deref()).chain(&call.inner) {
                walk(argument, &mut |inner| {
                    if let Node::Column(name) = &inner.node {
                        named.push(name);
                    }
                });
            }
            named.is_empty() || named.into_iter().any(|name| self.is_own(level, name))
        })
    }
}

/// The column that a set operation makes of two.
fn both(left: Column, right: &Column) -> Column {
    let key = left.key.zip(right.key).filter(|(a, b)| a.at == b.at && a.kept == b.kept);
    let key = key.map(|(a, b)| Part { firm: a.firm && b.firm, ..a });
    Column { key, ..left }
}

/// The columns of a common table expression, by the names it gives them.
fn renamed(cte: &Cte, columns: Option<Vec<Column>>) -> Option<Vec<Column>> {
    let mut columns = columns?;
    if cte.columns.len() > columns.len() {
        return None;
    }
    for (column, name) in columns.iter_mut().zip(&cte.columns) {
        column.name = Some(name.value.to_lowercase());
    }
    Some(columns)
}

pub(crate) fn items(select: &Select) -> impl Iterator<Item = &Expr> {
    select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
    })
}

fn is_known(call: &Function) -> bool {
    let name = call.plain_name();
    call.over.is_some() || call.is_aggregate() || PLAIN.binary_search(&name.as_str()).is_ok()
}

/// The calls in an expression, those of sub-queries left out.
pub(super) fn calls(expr: &Expr) -> Vec<&Function> {
    let mut found = Vec::new();
    walk(expr, &mut |inner| {
        if let Node::Function(call) = &inner.node {
            found.push(&**call);
        }
    });
    found
}

/// Visits an expression and everything in it, sub-queries left out.
fn walk<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        visit(expr);
        match &expr.node {
            Node::Unary { operand, .. }
            | Node::IsNull { operand, .. }
            | Node::Cast { operand, .. }
            | Node::Collate { operand, .. }
            | Node::InQuery { operand, .. }
            | Node::Nested(operand) => stack.push(operand),
            Node::Binary { left, right, .. } => stack.extend([&**left, right]),
            Node::Between { operand, low, high, .. } => stack.extend([&**operand, low, high]),
            Node::InList { operand, list, .. } => {
                stack.push(operand);
                stack.extend(list.trees());
            }
            Node::Like { operand, pattern, .. } => stack.extend([&**operand, pattern]),
            Node::Function(call) => {
                stack.extend(&call.arguments);
                stack.extend(call.order_by.iter().map(|item| &item.expr));
                stack.extend(call.filter.as_deref());
                stack.extend(&call.inner);
            }
            Node::Case { operand, branches, otherwise } => {
                stack.extend(operand.as_deref());
                stack.extend(branches.iter().flat_map(|(when, then)| [when, then]));
                stack.extend(otherwise.as_deref());
            }
            Node::Row(list) | Node::Other(list) => stack.extend(list),
            Node::Column(_)
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Subquery(_)
            | Node::Exists(_)
            | Node::Default => {}
        }
    }
}
