//! What a statement is, as conditions see it.

use pando_inline::{Datum, Type, Variable};
use pando_kernel::feature::{Context, Footprint};
use pando_kernel::session::TransactionState;
use pando_sql::Span;
use pando_sql::ast::{
    CopyDirection, DefineAction, InsertSource, Kind, Limit, Literal, Node, Query, QueryBody,
};
use pando_sql::visit;

use crate::changes::{changes, explained};
use crate::stars;

/// How many properties there are.
const COUNT: usize = 16;

/// All properties, by the number that a condition knows them by.
pub(crate) const VARIABLES: [Variable; COUNT] = [
    of("kind", Type::Text),
    of("tables", Type::Texts),
    of("has_where", Type::Bool),
    of("has_limit", Type::Bool),
    of("limit", Type::Number),
    of("has_star", Type::Bool),
    of("star_tables", Type::Texts),
    of("rows", Type::Number),
    of("writes", Type::Bool),
    of("units", Type::Number),
    of("unit_names", Type::Texts),
    of("shards", Type::Number),
    of("user", Type::Text),
    of("host", Type::Text),
    of("database", Type::Text),
    of("in_transaction", Type::Bool),
];

/// The number of `limit`, which is not the same for all statements of a shape.
pub(crate) const LIMIT: usize = 4;

const fn of(name: &'static str, of: Type) -> Variable {
    Variable { name, of }
}

/// The properties of one statement, or of a change inside of it, each read when it is asked for.
pub(crate) struct Properties<'a> {
    ctx: &'a Context<'a>,
    footprint: &'a Footprint<'a>,
    /// What they are of.
    kind: &'a Kind,
    /// The statement that it stands in, and where.
    whole: &'a Kind,
    within: Option<Span>,
    values: [Datum<'a>; COUNT],
    known: [bool; COUNT],
}

impl<'a> Properties<'a> {
    /// Those of the statement, and of each change that a common table expression of it makes.
    pub(crate) fn all(ctx: &'a Context<'a>, footprint: &'a Footprint<'a>) -> Vec<Self> {
        let whole = explained(&footprint.stmt.kind);
        let of = |kind: &'a Kind, within: Option<Span>| Self {
            ctx,
            footprint,
            kind,
            whole,
            within,
            values: [const { Datum::Null }; COUNT],
            known: [false; COUNT],
        };
        let mut all = vec![of(whole, None)];
        all.extend(changes(whole).into_iter().map(|part| of(&part.body, Some(part.span))));
        all
    }

    /// A value for each property, of which only those that are used are read.
    pub(crate) fn values(&mut self, used: &[usize]) -> &[Datum<'a>] {
        for at in used {
            if self.known.get(*at) == Some(&false) {
                self.values[*at] = self.read(*at);
                self.known[*at] = true;
            }
        }
        &self.values
    }

    /// The tables that it names itself. What is a table and what a common table expression the whole statement shows.
    fn tables(&self) -> impl Iterator<Item = String> {
        let is_inside = |span: Span| {
            self.within.is_none_or(|own| own.start <= span.start && span.end <= own.end)
        };
        let all = visit::tables(self.whole).into_iter();
        all.filter(move |table| is_inside(table.name.span)).map(|table| table.name.key())
    }

    fn read(&self, at: usize) -> Datum<'a> {
        let (facts, kind) = (&self.ctx.session.facts, self.kind);
        let name = VARIABLES.get(at).map_or("", |own| own.name);
        match name {
            "kind" => Datum::text(word(kind)),
            "tables" => texts(self.tables()),
            "has_where" => Datum::Bool(has_where(kind)),
            "has_limit" => Datum::Bool(has_limit(kind)),
            "limit" => Datum::int(limit(kind).and_then(count).unwrap_or(-1)),
            "has_star" => Datum::Bool(!stars::tables(kind).is_empty()),
            "star_tables" => texts(stars::tables(kind).into_iter().flatten()),
            "rows" => Datum::int(rows(kind)),
            "writes" => Datum::Bool(self.footprint.writes),
            "units" => number(self.footprint.units.len()),
            "unit_names" => texts(self.footprint.units.iter().map(ToString::to_string)),
            "shards" => number(self.footprint.shards),
            "user" => Datum::text(facts.user.clone()),
            "host" => Datum::text(facts.host.clone()),
            "database" => Datum::text(self.ctx.database.name.clone()),
            "in_transaction" => Datum::Bool(self.ctx.session.transaction != TransactionState::Idle),
            _ => Datum::Null,
        }
    }
}

fn number(count: usize) -> Datum<'static> {
    Datum::int(i128::try_from(count).unwrap_or(i128::MAX))
}

/// Each once, in order.
fn texts(all: impl Iterator<Item = String>) -> Datum<'static> {
    let mut found: Vec<String> = Vec::new();
    for text in all {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    Datum::List(found.into_iter().map(Datum::text).collect())
}

/// The first word of its statement, as clients would say it.
fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Select(_) => "SELECT",
        Kind::Insert(insert) if insert.replace => "REPLACE",
        Kind::Insert(_) => "INSERT",
        Kind::Update(_) => "UPDATE",
        Kind::Delete(_) => "DELETE",
        Kind::Define(define) => match define.action {
            DefineAction::Create => "CREATE",
            DefineAction::Alter => "ALTER",
            DefineAction::Drop => "DROP",
            DefineAction::Truncate => "TRUNCATE",
            DefineAction::Rename => "RENAME",
            DefineAction::Comment => "COMMENT",
        },
        Kind::Show(_) => "SHOW",
        Kind::Explain { .. } => "EXPLAIN",
        Kind::Copy(copy) if copy.direction == CopyDirection::ToClient => "COPY TO",
        Kind::Copy(_) => "COPY FROM",
        Kind::Load(_) => "LOAD DATA",
        Kind::Lock(_) => "LOCK",
        Kind::Set(_) | Kind::SetFor(_) => "SET",
        Kind::Transaction(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Immediate(_)
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => "OTHER",
    }
}

/// Of a set operation each branch has one.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other statement has a WHERE of its own")]
fn has_where(kind: &Kind) -> bool {
    fn of_query(query: &Query) -> bool {
        match &query.body {
            QueryBody::Select(select) => select.filter.is_some(),
            QueryBody::Set { left, right, .. } => of_query(left) && of_query(right),
            QueryBody::Values(_) => false,
        }
    }
    match query(kind) {
        Some(query) => of_query(query),
        None => match kind {
            Kind::Update(update) => update.filter.is_some(),
            Kind::Delete(delete) => delete.filter.is_some(),
            _ => false,
        },
    }
}

/// The query that a statement is, or takes its rows from.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other statement has rows of a query")]
fn query(kind: &Kind) -> Option<&Query> {
    match kind {
        Kind::Select(query) => Some(query),
        Kind::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => Some(query),
            InsertSource::Values { .. } | InsertSource::Set(_) | InsertSource::Default => None,
        },
        Kind::Copy(copy) => copy.query.as_deref(),
        Kind::Define(define) => define.query.as_deref(),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other statement has a limit")]
fn limit(kind: &Kind) -> Option<&Limit> {
    match query(kind) {
        Some(query) => query.limit.as_ref(),
        None => match kind {
            Kind::Update(update) => update.limit.as_ref(),
            Kind::Delete(delete) => delete.limit.as_ref(),
            _ => None,
        },
    }
}

/// Whether it, or a change inside of it, has a limit of rows.
pub(crate) fn has_any_limit(kind: &Kind) -> bool {
    let kind = explained(kind);
    has_limit(kind) || changes(kind).iter().any(|part| has_limit(&part.body))
}

/// Whether it has a limit of rows.
fn has_limit(kind: &Kind) -> bool {
    limit(kind).is_some_and(|limit| limit.count.is_some())
}

/// The number that is written there.
fn count(limit: &Limit) -> Option<i128> {
    let Node::Literal(Literal::Integer(count)) = &limit.count.as_ref()?.node else { return None };
    Some(i128::from(*count))
}

/// The rows that an INSERT brings itself.
fn rows(kind: &Kind) -> i128 {
    let Kind::Insert(insert) = kind else { return 0 };
    match &insert.source {
        InsertSource::Values { rows, .. } => i128::try_from(rows.len()).unwrap_or(i128::MAX),
        InsertSource::Set(_) | InsertSource::Default => 1,
        InsertSource::Query(_) => 0,
    }
}
