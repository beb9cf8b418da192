//! What of a statement may be lifted out of its text: the rules stand in [`super::lifted`].

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_sql::ast::{
    BinaryOp, ColumnAssignment, Delete, Distinct, Expr, Ident, Kind, Limit, Literal, Node,
    ObjectName, OrderItem, Query, QueryBody, Select, SelectItem, Statement, Table, TableFactor,
    Update,
};
use pando_sql::{Slot, Span, TokenKind};

/// Numbers lifted out of one statement; longer lists of IN hardly come with the same length again.
const MOST: usize = 16;
/// Bytes of the longest name that the server does not shorten, with a notice each time it reads it.
pub(super) const LONGEST_NAME: usize = 63;

/// The numbers that may be lifted, with the minus in front, in text order; `None` when there are none. `sharding` are the literals that a sharding column
/// equals.
pub(super) fn liftable(
    ctx: &Context<'_>,
    stmt: &Statement,
    slots: &[Slot],
    sharding: &[Span],
) -> Option<Vec<Span>> {
    let is_plain = stmt.parameters == 0
        && stmt.hints.is_empty()
        && stmt.hint_span.is_none()
        && slots.iter().all(|slot| slot.kind == TokenKind::Number);
    if !is_plain {
        return None;
    }
    let sums = ctx.dialect.lifts_sums();
    let mut reader = Reader { text: &stmt.text, sums, ..Reader::default() };
    let from = reader.statement(&stmt.kind)?;
    let name = from.table.name.parts.last()?.value.to_lowercase();
    let columns = ctx.catalog.columns(&name);
    let columns = columns.as_deref().map_or(&[][..], Vec::as_slice);
    let suits = |name: &&str| {
        let column = columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        ctx.dialect.lifts_beside(column)
    };
    if !reader.beside.iter().all(suits) {
        return None;
    }
    let is_narrow = reader.finds_one(columns)
        || !from.limited && (reader.finds_few(columns) || reader.finds_shard(sharding));
    let mut numbers = reader.numbers;
    numbers.sort_unstable_by_key(|span| span.start);
    let apart = numbers.windows(2).all(|pair| pair[0].end <= pair[1].start);
    (is_narrow && apart && (1..=MOST).contains(&numbers.len())).then_some(numbers)
}

/// Where a statement's rows come from.
struct From<'a> {
    table: &'a Table,
    limited: bool,
}

/// A column that is compared with numbers.
struct Compared<'a> {
    column: &'a str,
    how: How,
    numbers: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Equal,
    /// IN or BETWEEN.
    Among,
    Otherwise,
}

/// Goes through a statement; `None` from any of its functions means that nothing may be lifted.
#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    /// Numbers added to columns are lifted, too.
    sums: bool,
    numbers: Vec<Span>,
    compared: Vec<Compared<'a>>,
    /// The columns that numbers stand beside.
    beside: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn statement(&mut self, kind: &'a Kind) -> Option<From<'a>> {
        let (from, filter) = match kind {
            Kind::Select(query) => self.query(query)?,
            Kind::Update(update) => self.update(update)?,
            Kind::Delete(delete) => self.delete(delete)?,
            _ => return None,
        };
        self.terms(filter.as_ref()?)?;
        Some(from)
    }

    fn query(&mut self, query: &'a Query) -> Option<(From<'a>, &'a Option<Expr>)> {
        let QueryBody::Select(select) = &query.body else { return None };
        if !query.with.is_empty() || query.lock.is_some() || !is_bare(select) {
            return None;
        }
        let limited = match &query.limit {
            None => false,
            Some(limit) if is_plain_limit(limit) => true,
            Some(_) => return None,
        };
        let sorts = |item: &OrderItem| item.using.is_none() && is_simple(&item.expr);
        if !query.order_by.iter().all(sorts) || !select.items.iter().all(is_simple_item) {
            return None;
        }
        let [TableFactor::Table(table)] = &select.from[..] else { return None };
        Some((From { table: plain(table)?, limited }, &select.filter))
    }

    fn update(&mut self, update: &'a Update) -> Option<(From<'a>, &'a Option<Expr>)> {
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
        Some((From { table: plain(table)?, limited: false }, &update.filter))
    }

    fn delete(&mut self, delete: &'a Delete) -> Option<(From<'a>, &'a Option<Expr>)> {
        let [table] = &delete.targets[..] else { return None };
        let is_bare = delete.with.is_empty()
            && delete.from.is_empty()
            && delete.order_by.is_empty()
            && delete.limit.is_none()
            && delete.returning.is_none();
        Some((From { table: plain(table).filter(|_| is_bare)?, limited: false }, &delete.filter))
    }

    /// `column = 5`, `column = other + 5`, and what holds no number.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn assignment(&mut self, one: &'a ColumnAssignment) -> Option<()> {
        fits(&one.column)?;
        let own = one.column.parts.last()?.value.as_str();
        match &one.value.node {
            Node::Column(name) => fits(name),
            Node::Literal(Literal::Null | Literal::Boolean(_)) => Some(()),
            Node::Binary { op: BinaryOp::Plus | BinaryOp::Minus, left, right } => {
                self.beside.extend([own, column(left)?]);
                let lifted = self.numbers.len();
                self.number(right)?;
                if !self.sums {
                    self.numbers.truncate(lifted);
                }
                Some(())
            }
            _ => {
                self.beside.push(own);
                self.number(&one.value).map(|_| ())
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays in the text")]
    fn terms(&mut self, filter: &'a Expr) -> Option<()> {
        let how = |op: &BinaryOp| match op {
            BinaryOp::Equal => Some(How::Equal),
            BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => Some(How::Otherwise),
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
                self.compared(column(operand)?, How::Among, &[low, high])
            }
            Node::InList { operand, list, negated: false } if !list.is_empty() => {
                let list: Vec<&Expr> = list.iter().collect();
                self.compared(column(operand)?, How::Among, &list)
            }
            Node::IsNull { operand, .. } => column(operand).map(|_| ()),
            _ => None,
        }
    }

    fn compared(&mut self, column: &'a str, how: How, values: &[&Expr]) -> Option<()> {
        let numbers: Option<Vec<Span>> = values.iter().map(|value| self.number(value)).collect();
        self.compared.push(Compared { column, how, numbers: numbers? });
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
        self.numbers.push(expr.span);
        Some(expr.span)
    }

    /// Whether the whole primary key is given.
    fn finds_one(&self, columns: &[TableColumn]) -> bool {
        let mut key = columns.iter().filter(|column| column.primary_key).peekable();
        let given = |column: &TableColumn| {
            let is_it = |one: &Compared<'_>| one.column.eq_ignore_ascii_case(&column.name);
            self.compared.iter().any(|one| one.how == How::Equal && is_it(one))
        };
        key.peek().is_some() && key.all(given)
    }

    /// Whether a part of the primary key is given.
    fn finds_few(&self, columns: &[TableColumn]) -> bool {
        let is_key = |name: &str| {
            columns.iter().any(|own| own.primary_key && own.name.eq_ignore_ascii_case(name))
        };
        self.compared.iter().any(|one| one.how != How::Otherwise && is_key(one.column))
    }

    /// Whether a sharding column is given.
    fn finds_shard(&self, sharding: &[Span]) -> bool {
        let decides = |one: &Compared<'_>| one.numbers.iter().any(|span| sharding.contains(span));
        self.compared.iter().any(|one| one.how == How::Equal && decides(one))
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
        SelectItem::Expr { expr, alias, .. } => is_simple(expr) && alias.as_ref().is_none_or(fit),
    }
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
    name.value.len() <= LONGEST_NAME
}
