//! Templates of queries that go to the same several targets whatever their values: the texts cut at their literals, and the recipe for merging with
//! its limit left open. Where literals stand in the texts is found by planning the query with literals that occur nowhere else.

use std::sync::Arc;

use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Route, Spread, Target, Units};
use pando_kernel::shortcut::{Everywhere, Shortcut, Values};
use pando_kernel::{Attribute, Parameter, Value};
use pando_sql::ast::{Expr, Kind, Literal, Node, QueryBody, Statement};
use pando_sql::{Slot, Span, TokenKind};

use super::{Plan, Planned, Purpose, Told, Unit, unions};

/// The first of the numbers that literals are replaced by, and the step from one to the next: ranges between two of them are wide, and all fit into 32 bits.
const FIRST: u64 = 700_000_001;
const STEP: u64 = 1_000_003;
/// Literals a text may have.
const MOST: usize = 1000;

/// What is known of such a query.
#[derive(Debug)]
pub(super) struct Wide {
    sent: Vec<Sent>,
    merge: MergePlan,
    limit: Limit,
    everywhere: Arc<dyn Everywhere>,
    /// Rooms that redirect, by their place in the database.
    redirects: Vec<usize>,
    /// How many connections of a unit it was planned for: tables are read together or not by that.
    connections: usize,
}

/// What is sent to one target.
#[derive(Debug)]
struct Sent {
    target: Target,
    parts: Vec<Part>,
    parameters: Vec<u32>,
    attributes: Vec<Attribute>,
}

#[derive(Debug)]
enum Part {
    Text(Box<str>),
    /// The literal of this number.
    Slot(usize),
    /// The limit.
    Limit,
}

/// Where the limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// There is none, or it is part of the shape: every statement of it has the same.
    AsPlanned,
    /// The literal of this number.
    Slot(usize),
    /// This parameter.
    Parameter(u32),
}

/// A statement, its literals and its plan.
pub(super) struct Source<'a> {
    pub(super) stmt: &'a Statement,
    pub(super) spans: &'a [Span],
    pub(super) slots: &'a [Slot],
    pub(super) plan: &'a Plan,
}

/// The values of one statement of the template's shape.
pub(super) struct Given<'a> {
    pub(super) statement: &'a Statement,
    pub(super) text: &'a str,
    pub(super) slots: &'a [Slot],
    pub(super) values: &'a dyn Values,
    pub(super) spans: &'a [Span],
}

impl Wide {
    /// What is known of a query after it was planned; `None` when it is not of this kind. It is not tried out yet.
    pub(super) fn of(ctx: &Context<'_>, source: &Source<'_>) -> Option<Self> {
        let Source { stmt, spans, slots, plan } = source;
        let fits = plan.before.is_empty()
            && plan.keys.is_none()
            && !plan.writes
            && plan.spread == Spread::Gather
            && plan.units.iter().all(|unit| unit.replaced.is_empty() && unit.target.rows.is_none())
            && slots.len() <= MOST;
        // What is added to the select list for merging may hold a parameter.
        let is_settled = plan.merge.derived > 0 || plan.merge.group.is_some();
        if !fits || is_settled && stmt.parameters > 0 {
            return None;
        }
        let (everywhere, redirects) = everywhere(ctx, stmt)?;
        let limit = limit(stmt, spans)?;
        let (other, marks) = marked(ctx, stmt, (slots, limit))?;
        let same = other.units.len() == plan.units.len()
            && other.units.iter().zip(&plan.units).all(|(a, b)| {
                a.target == b.target && a.parameters == b.parameters && a.attributes == b.attributes
            });
        if !same {
            return None;
        }
        let sent = other.units.into_iter().map(|unit| Sent {
            parts: parts(&unit.sql, &marks),
            target: unit.target,
            parameters: unit.parameters,
            attributes: unit.attributes,
        });
        let (merge, connections) = (plan.merge.clone(), unions::connections(ctx));
        Some(Self { sent: sent.collect(), merge, limit, everywhere, redirects, connections })
    }

    /// The plan of another query of the shape; `None` when it must be planned in full.
    pub(super) fn plan(&self, ctx: &Context<'_>, given: &Given<'_>) -> Option<Plan> {
        let is_so = unions::connections(ctx) == self.connections
            && self.everywhere.holds(ctx, given.values)
            && self.stays(ctx, given.statement);
        if !is_so {
            return None;
        }
        let limit = self.limit_now(given)?;
        let units: Option<Vec<Unit>> =
            self.sent.iter().map(|sent| sent.unit(given, limit)).collect();
        let merge = MergePlan { limit, ..self.merge.clone() };
        let (keys, before) = (None, Vec::new());
        Some(Plan {
            units: units?,
            spread: Spread::Gather,
            merge,
            keys,
            writes: false,
            before,
            leaves: false,
            told: Told::default(),
        })
    }

    /// Whether nobody redirects its targets now.
    fn stays(&self, ctx: &Context<'_>, stmt: &Statement) -> bool {
        if self.redirects.is_empty() {
            return true;
        }
        let own: Vec<Target> = self.sent.iter().map(|sent| sent.target.clone()).collect();
        let mut route = Route::Units(Units::new(own, Spread::Gather));
        let features = &ctx.database.features;
        let asked = self.redirects.iter().all(|at| {
            features.get(*at).is_some_and(|room| room.route(ctx, stmt, &mut route).is_ok())
        });
        let Route::Units(units) = route else { return false };
        asked && units.targets.iter().eq(self.sent.iter().map(|sent| &sent.target))
    }

    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        let text = |part: &Part| match part {
            Part::Text(text) => 40 + text.len(),
            Part::Slot(_) | Part::Limit => 24,
        };
        let all = self.sent.iter().flat_map(|sent| &sent.parts).map(text).sum::<usize>();
        all + 256 * self.sent.len()
    }

    /// The limit of this query: outer `None` when it is not a plain number.
    #[expect(clippy::option_option, reason = "no limit is not an unknown limit")]
    fn limit_now(&self, given: &Given<'_>) -> Option<Option<u64>> {
        let number = match self.limit {
            Limit::AsPlanned => return Some(self.merge.limit),
            Limit::Slot(at) => match given.values.literal(*given.spans.get(at)?)? {
                Literal::Integer(number) => number,
                Literal::Number(_)
                | Literal::Text(_)
                | Literal::Typed(..)
                | Literal::Bytes(_)
                | Literal::Boolean(_)
                | Literal::Null => return None,
            },
            Limit::Parameter(index) => match given.values.parameter(index)? {
                Value::Int(number) => *number,
                Value::Null
                | Value::Bool(_)
                | Value::UInt(_)
                | Value::Float(_)
                | Value::Decimal(_)
                | Value::Text(_)
                | Value::Bytes(_) => return None,
            },
        };
        u64::try_from(number).ok().map(Some)
    }
}

impl Sent {
    fn unit(&self, given: &Given<'_>, limit: Option<u64>) -> Option<Unit> {
        let mut sql = String::with_capacity(given.text.len() + 64 * self.target.tables.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => sql.push_str(text),
                Part::Slot(at) => sql.push_str(given.slots.get(*at)?.span.of(given.text)),
                Part::Limit => sql.push_str(&limit?.to_string()),
            }
        }
        Some(Unit {
            target: self.target.clone(),
            sql: sql.into(),
            parameters: self.parameters.clone(),
            replaced: Vec::new(),
            attributes: self.attributes.clone(),
        })
    }
}

/// The room that knows where it goes, when no other claims it, and those that may redirect it.
fn everywhere(ctx: &Context<'_>, stmt: &Statement) -> Option<(Arc<dyn Everywhere>, Vec<usize>)> {
    let (mut found, mut redirects) = (None, Vec::new());
    for (at, feature) in ctx.database.features.iter().enumerate() {
        match feature.shortcut(ctx, stmt) {
            Shortcut::Idle => {}
            Shortcut::All(all) => {
                if found.replace(all).is_some() {
                    return None;
                }
            }
            Shortcut::Redirect => redirects.push(at),
            Shortcut::None | Shortcut::Pick(_) => return None,
        }
    }
    Some((found?, redirects))
}

/// Where the limit comes from; `None` for what is more than a plain number of rows from the first on.
fn limit(stmt: &Statement, spans: &[Span]) -> Option<Limit> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(_) = &query.body else { return None };
    let Some(limit) = &query.limit else { return Some(Limit::AsPlanned) };
    let count = limit.count.as_ref().filter(|_| limit.offset.is_none() && !limit.with_ties)?;
    place(count, spans)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is planned each time")]
fn place(count: &Expr, spans: &[Span]) -> Option<Limit> {
    match &count.node {
        Node::Literal(Literal::Integer(_)) => {
            let at = spans.iter().position(|span| *span == count.span);
            Some(at.map_or(Limit::AsPlanned, Limit::Slot))
        }
        Node::Parameter(index) => Some(Limit::Parameter(*index)),
        _ => None,
    }
}

/// A text that stands for a literal, and what it stands for.
struct Mark {
    text: String,
    is: Part,
}

/// The plan of the same query with other literals, each of which occurs nowhere else.
fn marked(
    ctx: &Context<'_>,
    stmt: &Statement,
    (slots, limit): (&[Slot], Limit),
) -> Option<(Plan, Vec<Mark>)> {
    let mut text = String::with_capacity(stmt.text.len() + 16 * slots.len());
    let (mut marks, mut done) = (Vec::with_capacity(slots.len() + 1), 0);
    for (at, slot) in slots.iter().enumerate() {
        let number = FIRST + STEP * at as u64;
        let mark = match (slot.kind == TokenKind::Number, slot.span.of(&stmt.text).contains('.')) {
            (true, false) => number.to_string(),
            (true, true) => format!("{number}.5"),
            (false, _) => format!("'pando_literal_{number}'"),
        };
        text.push_str(Span::new(done, slot.span.start).of(&stmt.text));
        text.push_str(&mark);
        done = slot.span.end;
        let is = if limit == Limit::Slot(at) { Part::Limit } else { Part::Slot(at) };
        marks.push(Mark { text: mark, is });
    }
    text.push_str(stmt.text.get(done as usize..)?);
    let mut parameters: Option<Vec<Parameter>> = ctx.parameters.map(<[Parameter]>::to_vec);
    if let Limit::Parameter(index) = limit {
        let number = FIRST + STEP * MOST as u64;
        let given = parameters.as_mut()?.get_mut(index as usize)?;
        *given = Parameter::made(Value::Int(i64::try_from(number).ok()?));
        marks.push(Mark { text: number.to_string(), is: Part::Limit });
    }
    if marks.iter().any(|mark| stmt.text.contains(mark.text.trim_matches('\''))) {
        return None;
    }
    let other = pando_sql::parse(&text, ctx.dialect.syntax()).ok()?;
    let ctx = Context { parameters: parameters.as_deref(), ..*ctx };
    match super::plan(&ctx, &other, Purpose::Run) {
        Ok(Planned::Plan(plan)) => Some((*plan, marks)),
        Ok(Planned::Assembly(_) | Planned::Needs(_)) | Err(_) => None,
    }
}

/// A text cut at its marks.
fn parts(sql: &str, marks: &[Mark]) -> Vec<Part> {
    let (mut parts, mut rest) = (Vec::new(), sql);
    loop {
        let next = marks
            .iter()
            .filter_map(|mark| rest.find(&mark.text).map(|at| (at, mark)))
            .min_by_key(|(at, _)| *at);
        let Some((at, mark)) = next else { break };
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            parts.push(Part::Text(before.into()));
        }
        parts.push(match mark.is {
            Part::Slot(at) => Part::Slot(at),
            Part::Limit | Part::Text(_) => Part::Limit,
        });
        rest = after.get(mark.text.len()..).unwrap_or_default();
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.into()));
    }
    parts
}
