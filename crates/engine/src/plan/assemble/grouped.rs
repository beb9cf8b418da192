//! Queries whose groups and aggregates can be merged, but not what is computed of them (HAVING, expressions over aggregates, an order only
//! the server knows): the groups are merged first, and one unit computes the rest over one row for each group.

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::relation::{Carried, Relations};
use pando_kernel::route::{Need, UnitName};
use pando_sql::ast::{
    Distinct, Expr, Ident, Kind, Node, Query, QueryBody, Select, SelectItem, Statement, TableFactor,
};
use pando_sql::{Edits, Fold, Span};

use super::assembly::{Assembly, Place, Read, Typed};
use crate::plan::merge_plan::aggregate;
use crate::plan::merge_plan::resolve::{Info, Scope, output_name, unwrapped};
use crate::plan::parse::parsed;
use crate::plan::plain::direct;
use crate::plan::{Planned, Purpose};

/// What the rows of groups are called in the rest of the statement.
const ROWS: &str = "pando_groups";

/// The assembly over groups; `None` where there is none, or its groups cannot be merged.
pub(super) fn grouped(
    ctx: &Context<'_>,
    stmt: &Statement,
    relations: &dyn Relations,
    at: UnitName,
) -> Option<Planned> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let plain = query.with.is_empty()
        && !select.grouping_sets
        && select.window.is_none()
        // Such an order would go with GROUP BY.
        && !(select.sorts_groups() && query.order_by.is_empty())
        && !matches!(select.distinct, Distinct::On(..))
        && select.items.iter().all(|item| matches!(item, SelectItem::Expr { .. }));
    if !plain {
        return None;
    }
    let scope = Scope::new(ctx, stmt, select);
    if shows_turned(&scope, query, select) {
        return None;
    }
    let mut parts = Parts { ctx, stmt, select, scope, relations, list: Vec::new() };
    if let Some(need) = parts.keys()? {
        return Some(Planned::Needs(need));
    }
    let mut edits = Edits::default();
    let exprs = items(select).map(|(expr, _)| expr).chain(&select.having);
    for expr in exprs.chain(query.order_by.iter().map(|item| &item.expr)) {
        if let Some(need) = parts.replace(expr, &mut edits)? {
            return Some(Planned::Needs(need));
        }
    }
    if !parts.list.iter().any(|part| part.is_aggregate) {
        return None;
    }
    parts.label(&mut edits)?;
    let (text, columns) = parts.read()?;
    match direct(ctx, &parsed(ctx, &text).ok()?, Purpose::Run) {
        Ok(Planned::Run(_)) => {}
        Ok(Planned::Needs(need)) => return Some(Planned::Needs(need)),
        Ok(Planned::Assembly(_) | Planned::Steps(_)) | Err(_) => return None,
    }
    let place = parts.place()?;
    let reads = vec![Read { table: String::new(), text, columns, is_about_stored: false }];
    let assembly =
        Assembly { reads, places: vec![place], rest: stmt.clone(), edits, at, is_beside: false };
    Some(Planned::Assembly(Box::new(assembly)))
}

/// Whether a column that is not as it is stored is shown, grouped by or compared once the groups are there: what rooms
/// make of the statement is about its tables, and not about groups.
fn shows_turned(scope: &Scope<'_>, query: &Query, select: &Select) -> bool {
    let order = query.order_by.iter().map(|item| &item.expr);
    let exprs = items(select).map(|(expr, _)| expr).chain(&select.group_by).chain(&select.having);
    let mut left: Vec<&Expr> = exprs.chain(order).collect();
    let mut found = false;
    while let Some(expr) = left.pop() {
        found |= matches!(scope.info(expr), Info::Turned(logic, at) if logic.list.get(at).is_none_or(|one| !one.is_plain()));
        aggregate::push_children(expr, &mut left);
    }
    found
}

fn items(select: &Select) -> impl Iterator<Item = (&Expr, Option<&Ident>)> {
    select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, alias, .. } => Some((expr, alias.as_ref())),
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
    })
}

/// A column of the rows of groups.
struct Part {
    text: String,
    is_aggregate: bool,
    typed: Typed,
}

struct Parts<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    select: &'a Select,
    scope: Scope<'a>,
    relations: &'a dyn Relations,
    list: Vec<Part>,
}

/// `None` gives the form up; a need must be met first.
type Step = Option<Option<Need>>;

impl Parts<'_> {
    /// The columns grouped by.
    fn keys(&mut self) -> Step {
        for expr in &self.select.group_by {
            let Node::Column(_) = &expr.node else { return None };
            let column = match self.scope.info(expr) {
                Info::Needs(need) => return Some(Some(need)),
                info @ (Info::Column(..) | Info::Turned(..) | Info::Unknown) => {
                    info.column()?.clone()
                }
            };
            let text = expr.span.of(&self.stmt.text).to_owned();
            let typed = Typed::Known(self.carried(column)?);
            self.list.push(Part { text, is_aggregate: false, typed });
        }
        Some(None)
    }

    /// The column under the name it has among the groups; `None` when its values need another form to travel in.
    fn carried(&self, column: TableColumn) -> Option<Carried> {
        if self.relations.carry(&column).ok()? != self.ctx.dialect.quote(&column.name) {
            return None;
        }
        let name = format!("c{}", self.list.len());
        let column = TableColumn { name, primary_key: false, nullable: true, ..column };
        Some(Carried { column, is_key: false, is_compared: false })
    }

    /// Puts columns of the groups in the place of aggregates and of columns that are grouped by.
    fn replace(&mut self, expr: &Expr, edits: &mut Edits) -> Step {
        match &expr.node {
            Node::Function(call) if call.is_aggregate() => self.aggregate(expr, edits),
            Node::Function(call) if call.over.is_some() => None,
            Node::Column(name) => {
                let [.., last] = &name.parts[..] else { return None };
                let alias = items(self.select).any(|(item, alias)| {
                    let same = |alias: &&Ident| alias.value.eq_ignore_ascii_case(&last.value);
                    let itself = unwrapped(item).span.of(&self.stmt.text);
                    alias.filter(same).is_some() && itself != expr.span.of(&self.stmt.text)
                });
                if alias && name.parts.len() == 1 {
                    // A name of the result stays one; in HAVING it would not be one any more.
                    let having = self.select.having.as_ref();
                    let inside = having.is_some_and(|having| {
                        having.span.start <= expr.span.start && expr.span.end <= having.span.end
                    });
                    return (!inside && !self.is_key(expr)).then_some(None);
                }
                let at = self.key_of(expr)?;
                edits.replace(expr.span, format!("{ROWS}.c{at}"));
                Some(None)
            }
            Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. } | Node::Variable(_) => None,
            Node::Function(call) => self.all(call.arguments.iter(), edits),
            Node::Unary { operand, .. }
            | Node::IsNull { operand, .. }
            | Node::Cast { operand, .. }
            | Node::Collate { operand, .. }
            | Node::Nested(operand) => self.replace(operand, edits),
            Node::Binary { left, right, .. } => self.all([&**left, &**right].into_iter(), edits),
            Node::Between { operand, low, high, .. } => {
                self.all([&**operand, &**low, &**high].into_iter(), edits)
            }
            Node::InList { operand, list, .. } => {
                self.all(std::iter::once(&**operand).chain(list.trees()), edits)
            }
            Node::Like { operand, pattern, .. } => {
                self.all([&**operand, &**pattern].into_iter(), edits)
            }
            Node::Case { operand, branches, otherwise } => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                let ends = operand.iter().chain(otherwise).map(|expr| &**expr);
                self.all(ends.chain(branches), edits)
            }
            Node::Row(list) | Node::Other(list) => self.all(list.iter(), edits),
            Node::Literal(_) | Node::Parameter(_) => Some(None),
            Node::Default => None,
        }
    }

    fn all<'e>(&mut self, list: impl Iterator<Item = &'e Expr>, edits: &mut Edits) -> Step {
        for expr in list {
            if let Some(need) = self.replace(expr, edits)? {
                return Some(Some(need));
            }
        }
        Some(None)
    }

    fn is_key(&self, expr: &Expr) -> bool {
        self.key_of(expr).is_some()
    }

    /// Which of the columns that are grouped by an expression is.
    fn key_of(&self, expr: &Expr) -> Option<usize> {
        self.select.group_by.iter().position(|key| self.scope.are_same_column(key, expr))
    }

    fn aggregate(&mut self, expr: &Expr, edits: &mut Edits) -> Step {
        let Node::Function(call) = &expr.node else { return None };
        // Refuses what cannot be merged.
        aggregate::of(expr, &self.stmt.text).ok()??;
        let whole = items(self.select).any(|(item, _)| unwrapped(item).span == expr.span);
        let rounds = call.plain_name() == "avg" && !self.ctx.dialect.adds_quotients();
        // Inside an expression an average has more digits than it shows.
        if call.filter.is_some() || rounds && !whole {
            return None;
        }
        let text = self.with_values(expr.span)?;
        let at = match self.list.iter().position(|part| part.is_aggregate && part.text == text) {
            Some(at) => at,
            None => {
                let typed = match self.typed(&call.plain_name(), call.arguments.first())? {
                    Ok(typed) => typed,
                    Err(need) => return Some(Some(need)),
                };
                self.list.push(Part { text, is_aggregate: true, typed });
                self.list.len() - 1
            }
        };
        edits.replace(expr.span, format!("{ROWS}.c{at}"));
        Some(None)
    }

    /// The type of an aggregate: that of the answer, and for the least and greatest of a text the collation of its column.
    fn typed(&self, name: &str, argument: Option<&Expr>) -> Option<Result<Typed, Need>> {
        let name = (name, format!("c{}", self.list.len()));
        if !matches!(name.0, "min" | "max") {
            return Some(Ok(Typed::AsRead { name: name.1, like: None }));
        }
        match self.scope.info(argument?) {
            Info::Needs(need) => Some(Err(need)),
            info @ (Info::Column(..) | Info::Turned(..) | Info::Unknown) => {
                let like = self.carried(info.column()?.clone())?.column;
                Some(Ok(Typed::AsRead { name: name.1, like: Some(like) }))
            }
        }
    }

    /// Keeps the labels of items that are columns or aggregates alone.
    fn label(&self, edits: &mut Edits) -> Option<()> {
        let lower = self.ctx.dialect.syntax().fold == Fold::Lower;
        for (expr, alias) in items(self.select) {
            if alias.is_some() {
                continue;
            }
            let is_column = matches!(unwrapped(expr).node, Node::Column(_));
            let name = if lower || is_column { output_name(expr) } else { None };
            if let Some(name) = name {
                let label = format!(" AS {}", self.ctx.dialect.quote(&name));
                edits.replace(Span::at(expr.span.end), label);
            }
        }
        Some(())
    }

    /// The query for the groups.
    fn read(&self) -> Option<(String, Vec<Typed>)> {
        let items: Vec<String> = self
            .list
            .iter()
            .enumerate()
            .map(|(at, part)| format!("{} AS c{at}", part.text))
            .collect();
        let from = self.with_values(Span::new(self.select.items_span.end, self.core_end()?))?;
        let keys: Vec<&str> =
            self.select.group_by.iter().map(|key| key.span.of(&self.stmt.text)).collect();
        let group =
            if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", keys.join(", ")) };
        let text = format!("SELECT {}{from}{group}", items.join(", "));
        Some((text, self.list.iter().map(|part| part.typed.clone()).collect()))
    }

    /// Where FROM and WHERE end.
    fn core_end(&self) -> Option<u32> {
        if let Some(filter) = &self.select.filter {
            return Some(filter.span.end);
        }
        Some(match self.select.from.last()? {
            TableFactor::Table(table) => table.span.end,
            TableFactor::Join(join) => join.span.end,
            TableFactor::Derived { span, .. } | TableFactor::Function { span, .. } => span.end,
        })
    }

    /// A part of the text with its parameters' values in it.
    fn with_values(&self, span: Span) -> Option<String> {
        let mut edits = Edits::default();
        let mut unknown = false;
        pando_sql::visit::exprs(&self.stmt.kind, &mut |expr| {
            if let Node::Parameter(index) = expr.node
                && span.start <= expr.span.start
                && expr.span.end <= span.end
            {
                match self.ctx.parameter(index) {
                    Some(value) => edits.replace(expr.span, self.ctx.dialect.literal(value)),
                    None => unknown = true,
                }
            }
        });
        if unknown {
            return None;
        }
        let whole = edits.apply(self.stmt.text.get(..span.end as usize)?);
        whole.get(span.start as usize..).map(str::to_owned)
    }

    /// FROM to the end of GROUP BY gives way to the rows of groups, and HAVING becomes WHERE.
    fn place(&self) -> Option<Place> {
        let mut end = self.core_end()?;
        if let Some(group) = self.select.group_span {
            end = group.end;
        }
        let mut after = format!(" AS {ROWS}");
        if let Some(having) = &self.select.having {
            end = having.span.start;
            after.push_str(" WHERE ");
        }
        let span = Span::new(self.select.items_span.end, end);
        Some(Place { span, before: " FROM ".into(), after, read: 0 })
    }
}
