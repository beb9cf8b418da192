//! What of a statement may be lifted out of its text: the rules stand in [`super::lifted`].

mod aggregate;
mod narrow;

use pando_kernel::LogicColumns;
use pando_kernel::dialect::{TableColumn, Takes};
use pando_kernel::feature::Context;
use pando_sql::ast::{
    BinaryOp, ColumnAssignment, Delete, Distinct, Expr, Ident, Insert, InsertSource, Kind, Limit,
    Literal, Node, ObjectName, OrderItem, Query, QueryBody, Select, SelectItem, Statement, Table,
    TableFactor, Update,
};
use pando_sql::{Slot, Span, TokenKind, visit};

use super::lifted::Tells;
use aggregate::Aggregate;
use narrow::{Compared, Found, How};

/// Values lifted out of one statement; longer lists of IN hardly come with the same length again.
pub(in crate::plan::template) const MOST: usize = 16;
/// Bytes of the longest name that the server does not shorten, with a notice each time it reads it.
pub(in crate::plan::template) const LONGEST_NAME: usize = 63;

/// What may be lifted out of a statement.
#[derive(Debug)]
pub(in crate::plan::template) struct Liftable {
    /// The values, numbers with the minus in front, in text order, and which others may stand there; at least one.
    pub(in crate::plan::template) values: Vec<(Span, Takes)>,
    pub(in crate::plan::template) tells: Tells,
}

/// What may be lifted; `None` when nothing may. `sharding` are the literals that a sharding column equals.
pub(in crate::plan::template) fn liftable(
    ctx: &Context<'_>,
    stmt: &Statement,
    slots: &[Slot],
    sharding: &[Span],
) -> Option<Liftable> {
    if stmt.parameters > 0 || !stmt.hints.is_empty() || stmt.hint_span.is_some() {
        return None;
    }
    let sums = ctx.dialect.lifts_sums();
    let mut reader = Reader { text: &stmt.text, sums, ..Reader::default() };
    let From { table, tells } = reader.statement(&stmt.kind)?;
    let name = own_name(&table.name)?;
    // What a value is compared with is what is stored, whose type is another.
    if ctx.catalog.logic(&name).is_some_and(|logic| names_turned(stmt, &reader, &logic)) {
        return None;
    }
    let columns = ctx.catalog.columns(&name);
    let columns = columns.as_deref().map_or(&[][..], Vec::as_slice);
    let known = |name: &str| only(columns, name);
    let suits = reader.beside.iter().all(|name| ctx.dialect.lifts_beside(known(name)));
    let exist = reader.aggregates.iter().all(|one| one.exists(known));
    if !suits || !exist || !reader.found.is_narrow(columns, sharding) {
        return None;
    }
    let takes = |span: &Span| {
        let into = reader.into.iter().find(|(_, assigned)| assigned == span);
        into.map_or(Takes::ANY_NUMBER, |(name, _)| ctx.dialect.lifts_into(known(name)))
    };
    let mut values: Vec<_> = reader.values.iter().map(|span| (*span, takes(span))).collect();
    if values.iter().any(|(_, takes)| *takes == Takes::Nothing) {
        return None;
    }
    values.sort_unstable_by_key(|(span, _)| span.start);
    let apart = values.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
    // A string that stays could be a date, which is read when the statement is prepared.
    let is_gone = |slot: &Slot| {
        slot.kind == TokenKind::Number
            || slot.kind == TokenKind::String
                && values
                    .iter()
                    .any(|(span, takes)| *span == slot.span && matches!(takes, Takes::Texts(_)))
    };
    let is_it = apart && (1..=MOST).contains(&values.len()) && slots.iter().all(is_gone);
    is_it.then_some(Liftable { values, tells })
}

/// Whether a column is named that is not as it is stored.
fn names_turned(stmt: &Statement, reader: &Reader<'_>, logic: &LogicColumns) -> bool {
    let mut found = reader.into.iter().any(|(name, _)| logic.turns(name));
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Column(name) = &expr.node {
            found |= name.parts.last().is_some_and(|last| logic.turns(&last.value));
        }
    });
    found
}

/// The name that the catalogue knows the table by. Not one in a schema.
fn own_name(name: &ObjectName) -> Option<String> {
    let [only] = &name.parts[..] else { return None };
    Some(only.key())
}

/// The column of this name, if there is one in whatever case and no other.
fn only<'a>(columns: &'a [TableColumn], name: &str) -> Option<&'a TableColumn> {
    let mut called = columns.iter().filter(|column| column.name.eq_ignore_ascii_case(name));
    called.next().filter(|_| called.next().is_none())
}

/// Where a statement's rows come from or go to, and what it tells.
struct From<'a> {
    table: &'a Table,
    tells: Tells,
}

/// Goes through a statement; `None` from any of its functions means that nothing may be lifted.
#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    /// Numbers added to columns are lifted, too.
    sums: bool,
    values: Vec<Span>,
    found: Found<'a>,
    /// The columns that numbers are compared with and added to.
    beside: Vec<&'a str>,
    /// The columns that values are assigned to.
    into: Vec<(&'a str, Span)>,
    aggregates: Vec<Aggregate<'a>>,
}

impl<'a> Reader<'a> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn statement(&mut self, kind: &'a Kind) -> Option<From<'a>> {
        match kind {
            Kind::Select(query) => self.query(query),
            Kind::Update(update) => self.update(update),
            Kind::Delete(delete) => self.delete(delete),
            Kind::Insert(insert) => self.insert(insert),
            _ => None,
        }
    }

    fn query(&mut self, query: &'a Query) -> Option<From<'a>> {
        let QueryBody::Select(select) = &query.body else { return None };
        if !query.with.is_empty() || query.lock.is_some() || !is_bare(select) {
            return None;
        }
        self.found.limit = match &query.limit {
            None => None,
            Some(limit) if is_plain_limit(limit) => Some(limit.count.as_ref()),
            Some(_) => return None,
        };
        let sorts = |item: &OrderItem| item.using.is_none() && is_simple(&item.expr);
        if !query.order_by.iter().all(sorts) || !select.items.iter().all(is_simple_item) {
            return None;
        }
        let [TableFactor::Table(table)] = &select.from[..] else { return None };
        let first = query.order_by.first().filter(|_| matches!(select.distinct, Distinct::No));
        let sorted = first.and_then(|item| column(&item.expr));
        // An alias goes before a column.
        self.found.sorted =
            sorted.filter(|name| !select.items.iter().any(|item| is_called(item, name)));
        self.terms(select.filter.as_ref()?)?;
        let exprs = select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        });
        self.aggregates.extend(exprs.filter_map(Aggregate::of));
        let names = |item: &SelectItem| matches!(item, SelectItem::Expr { .. });
        let tells = if select.items.iter().all(names) { Tells::Named } else { Tells::All };
        Some(From { table: plain(table)?, tells })
    }

    fn update(&mut self, update: &'a Update) -> Option<From<'a>> {
        let [TableFactor::Table(table)] = &update.tables[..] else { return None };
        let is_bare = update.with.is_empty()
            && update.from.is_empty()
            && update.order_by.is_empty()
            && update.limit.is_none()
            && update.returning.is_none();
        if !is_bare {
            return None;
        }
        update.assignments.iter().try_for_each(|one| self.assignment(one))?;
        self.terms(update.filter.as_ref()?)?;
        Some(From { table: plain(table)?, tells: Tells::Nothing })
    }

    fn delete(&mut self, delete: &'a Delete) -> Option<From<'a>> {
        let [table] = &delete.targets[..] else { return None };
        let is_bare = delete.with.is_empty()
            && delete.from.is_empty()
            && delete.order_by.is_empty()
            && delete.limit.is_none()
            && delete.returning.is_none();
        self.terms(delete.filter.as_ref()?)?;
        Some(From { table: plain(table).filter(|_| is_bare)?, tells: Tells::Nothing })
    }

    /// One row, whose columns are named.
    fn insert(&mut self, insert: &'a Insert) -> Option<From<'a>> {
        let InsertSource::Values { rows, .. } = &insert.source else { return None };
        let ([row], Some(columns)) = (&rows[..], &insert.columns) else { return None };
        let is_bare = insert.with.is_empty()
            && !insert.replace
            && insert.modifiers.is_empty()
            && insert.on_duplicate.is_empty()
            && insert.on_conflict.is_none()
            && insert.returning.is_none()
            && columns.len() == row.width()
            && columns.iter().all(fit);
        if !is_bare {
            return None;
        }
        let mut pairs = columns.iter().zip(row.trees()?);
        pairs.try_for_each(|(column, value)| self.assigned(&column.value, value))?;
        self.found.inserts = true;
        Some(From { table: plain(&insert.table)?, tells: Tells::Nothing })
    }

    /// `column = 5`, `column = other + 5`, and what holds no number.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn assignment(&mut self, one: &'a ColumnAssignment) -> Option<()> {
        fits(&one.column)?;
        let own = one.column.parts.last()?.value.as_str();
        match &one.value.node {
            Node::Column(name) => fits(name),
            Node::Binary { op: BinaryOp::Plus | BinaryOp::Minus, left, right } => {
                self.beside.extend([own, column(left)?]);
                let lifted = self.values.len();
                self.number(right)?;
                if !self.sums {
                    self.values.truncate(lifted);
                }
                Some(())
            }
            _ => self.assigned(own, &one.value),
        }
    }

    /// A value alone, for this column.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn assigned(&mut self, column: &'a str, value: &Expr) -> Option<()> {
        match &value.node {
            Node::Literal(Literal::Null | Literal::Boolean(_)) => Some(()),
            Node::Literal(Literal::Text(_)) => {
                self.into.push((column, value.span));
                self.values.push(value.span);
                Some(())
            }
            _ => {
                self.into.push((column, value.span));
                self.number(value).map(|_| ())
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn terms(&mut self, filter: &'a Expr) -> Option<()> {
        let how = |op: &BinaryOp| match op {
            BinaryOp::Equal => Some(How::Equal),
            BinaryOp::NotEqual => Some(How::Otherwise),
            BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => Some(How::Beyond),
            _ => None,
        };
        match &filter.node {
            Node::Nested(inner) => self.terms(inner),
            Node::Binary { op: BinaryOp::And, left, right } => {
                self.terms(left)?;
                self.terms(right)
            }
            Node::Binary { op, left, right } => {
                let how = how(op)?;
                match column(left) {
                    Some(name) => self.compared(name, how, &[right]),
                    None => self.compared(column(right)?, how, &[left]),
                }
            }
            Node::Between { operand, low, high, negated: false, symmetric: false } => {
                self.compared(column(operand)?, How::Between, &[low, high])
            }
            Node::InList { operand, list, negated: false } if !list.trees().is_empty() => {
                let list: Vec<&Expr> = list.trees().iter().collect();
                self.compared(column(operand)?, How::Among, &list)
            }
            Node::IsNull { operand, .. } => {
                let (column, numbers) = (column(operand)?, Vec::new());
                self.found.compared.push(Compared { column, how: How::Otherwise, numbers });
                Some(())
            }
            _ => None,
        }
    }

    fn compared(&mut self, column: &'a str, how: How, values: &[&Expr]) -> Option<()> {
        let numbers: Option<Vec<Span>> = values.iter().map(|value| self.number(value)).collect();
        self.found.compared.push(Compared { column, how, numbers: numbers? });
        self.beside.push(column);
        Some(())
    }

    /// A whole number, written in digits with at most a minus in front.
    fn number(&mut self, expr: &Expr) -> Option<Span> {
        let is_literal = |expr: &Expr| {
            matches!(expr.node, Node::Literal(Literal::Integer(_) | Literal::Number(_)))
        };
        let is_negative =
            matches!(&expr.node, Node::Unary { op, operand } if op == "-" && is_literal(operand));
        let is_number = is_negative || is_literal(expr);
        let text = expr.span.of(self.text);
        let digits = text.strip_prefix('-').map_or(text, str::trim_start);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || !is_whole {
            return None;
        }
        self.values.push(expr.span);
        Some(expr.span)
    }
}

fn is_bare(select: &Select) -> bool {
    let distinct = match select.distinct {
        Distinct::No | Distinct::Yes(_) => true,
        Distinct::On(..) => false,
    };
    distinct
        && select.modifiers.is_empty()
        && select.into.is_none()
        && select.group_by.is_empty()
        && select.group_span.is_none()
        && !select.grouping_sets
        && select.having.is_none()
        && select.window.is_none()
}

fn is_plain_limit(limit: &Limit) -> bool {
    limit.offset.is_none() && !limit.with_ties && limit.count.as_ref().is_none_or(is_simple)
}

fn is_simple_item(item: &SelectItem) -> bool {
    match item {
        SelectItem::Star(_) => true,
        SelectItem::QualifiedStar(name, _) => fits(name).is_some(),
        SelectItem::Expr { expr, alias, .. } => {
            (is_simple(expr) || Aggregate::of(expr).is_some()) && alias.as_ref().is_none_or(fit)
        }
    }
}

fn is_called(item: &SelectItem, name: &str) -> bool {
    matches!(item, SelectItem::Expr { alias: Some(alias), .. } if alias.value.eq_ignore_ascii_case(name))
}

/// A column or a number.
fn is_simple(expr: &Expr) -> bool {
    let is_number = matches!(expr.node, Node::Literal(Literal::Integer(_) | Literal::Number(_)));
    is_number || column(expr).is_some()
}

/// A table by its name alone.
fn plain(table: &Table) -> Option<&Table> {
    fits(&table.name)?;
    let is_plain = table.extras.is_empty() && table.alias.as_ref().is_none_or(fit);
    Some(table).filter(|_| is_plain)
}

/// A column's own name.
fn column(expr: &Expr) -> Option<&str> {
    let Node::Column(name) = &expr.node else { return None };
    fits(name)?;
    name.parts.last().map(|part| part.value.as_str())
}

fn fits(name: &ObjectName) -> Option<()> {
    name.parts.iter().all(fit).then_some(())
}

fn fit(name: &Ident) -> bool {
    // As it is written: the name has been shortened.
    (name.span.end - name.span.start) as usize <= LONGEST_NAME
}
