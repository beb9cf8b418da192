//! Templates of queries that go to the same several targets whatever their values: the texts cut at their literals, and the recipe for merging with
//! its limit left open. Where literals stand in the texts is found by planning the query with literals that occur nowhere else.

use std::sync::{Arc, OnceLock};

use pando_kernel::dialect::Takes;
use pando_kernel::effects::Leaves;
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_kernel::shortcut::{Everywhere, Shortcut, Values};
use pando_kernel::{Attribute, Parameter, Timed, Value};
use pando_sql::ast::{Expr, Kind, Literal, Node, QueryBody, Statement};
use pando_sql::{Slot, Span, TokenKind};

use super::parameterize::liftable::{LONGEST_NAME, liftable};
use super::parameterize::lifted::{Chance, Form, Lifted, Lifting, Piece};
use crate::plan::merge_plan::unions;
use crate::plan::{Plan, Planned, Purpose, Told, Unit};

/// The first of the numbers that literals are replaced by, and the step from one to the next: ranges between two of them are wide, and all fit into 32 bits.
const FIRST: u64 = 700_000_001;
const STEP: u64 = 1_000_003;
/// Literals a text may have.
const MOST: usize = 1000;

/// What is known of such a query.
#[derive(Debug)]
pub(super) struct Wide {
    sent: Vec<Sent>,
    merge: Box<MergePlan>,
    limit: Limit,
    everywhere: Arc<dyn Everywhere>,
    /// Rooms that redirect, by their place in the database.
    redirects: Vec<usize>,
    /// How many connections of a unit it was planned for: tables are read together or not by that.
    connections: usize,
    lifting: Option<Lifting>,
    /// As [`Plan::timed`].
    timed: Timed,
    /// As [`Plan::leaves`].
    leaves: Leaves,
    judged: Option<u64>,
    /// The plan, where it is the same for all values.
    kept: OnceLock<Arc<Plan>>,
}

/// What is sent to one target.
#[derive(Debug)]
struct Sent {
    /// Under the name by which the claiming room knows it, which may be a group's.
    target: Target,
    parts: Vec<Part>,
    parameters: Vec<u32>,
    attributes: Vec<Attribute>,
    /// What is sent when all literals are lifted.
    form: OnceLock<Form>,
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
            && plan.merge.told.is_none()
            && plan.spread == Spread::Gather
            && plan.units.iter().all(is_plain)
            && slots.len() <= MOST;
        // What is added to the select list for merging may hold a parameter.
        let is_settled = plan.merge.derived > 0 || plan.merge.group.is_some();
        if !fits || is_settled && stmt.parameters > 0 || is_limited(ctx) {
            return None;
        }
        let (everywhere, redirects) = everywhere(ctx, stmt)?;
        let limit = limit(stmt, spans)?;
        let (other, marks) = marked(ctx, stmt, (slots, limit))?;
        let is_named = |unit: &Unit| names_by(ctx, &unit.sql, &marks);
        if other.units.iter().any(is_named) {
            return None;
        }
        let same = other.units.len() == plan.units.len()
            && other.units.iter().zip(&plan.units).all(|(a, b)| {
                a.target == b.target && a.parameters == b.parameters && a.attributes == b.attributes
            });
        if !same {
            return None;
        }
        let named = named(ctx, stmt, &redirects, plan)?;
        let sent = other.units.into_iter().zip(named).map(|(unit, named)| Sent {
            parts: parts(&unit.sql, &marks),
            target: Target { unit: named, ..unit.target },
            parameters: unit.parameters,
            attributes: unit.attributes,
            form: OnceLock::new(),
        });
        let (merge, connections) = (Box::new(plan.merge.clone()), unions::connections(ctx));
        let (sent, lifting, kept) = (sent.collect(), None, OnceLock::new());
        let (timed, leaves, judged) = (plan.timed, plan.leaves, plan.judged);
        Some(Self {
            sent,
            merge,
            limit,
            everywhere,
            redirects,
            connections,
            lifting,
            timed,
            leaves,
            judged,
            kept,
        })
    }

    /// Finds out what of such queries may be lifted, where each unit is asked once: several texts travel together, and of several prepared ones not all could be asked
    /// again. A minus is no part of what the texts are cut at.
    pub(super) fn lift(&mut self, ctx: &Context<'_>, (stmt, slots): (&Statement, &[Slot])) {
        let is_short =
            |sent: &Sent| sent.target.tables.iter().all(|table| table.actual.len() <= LONGEST_NAME);
        let is_first = |(at, sent): (usize, &Sent)| {
            let before = self.sent.iter().take(at);
            before.into_iter().all(|other| other.target.unit != sent.target.unit)
        };
        let may_be = ctx.dialect.lifted(Value::Int(0)).is_some()
            && self.sent.iter().all(is_short)
            && self.sent.iter().enumerate().all(is_first);
        if !may_be {
            return;
        }
        let is_literal = |(value, _): &(Span, Takes)| slots.iter().any(|slot| slot.span == *value);
        let liftable = liftable(ctx, stmt, slots, &[]);
        let liftable = liftable.filter(|liftable| liftable.values.iter().all(is_literal));
        self.lifting = liftable.map(|liftable| Lifting::new(slots, &liftable));
    }

    /// As [`super::one::Template::lifted`].
    pub(super) fn lifted(
        &self,
        ctx: &Context<'_>,
        statement: (&str, &[Slot]),
        (plan, chance): (&Plan, Chance),
    ) -> Option<Vec<Lifted>> {
        let (text, slots) = statement;
        let lifting = self.lifting.as_ref()?;
        if plan.units.len() != self.sent.len() || !lifting.admits(text, slots, chance) {
            return None;
        }
        let limit = plan.merge.limit.map(|limit| limit.to_string());
        let mut all = Vec::with_capacity(self.sent.len());
        for sent in &self.sent {
            let pieces = sent.parts.iter().map(|part| match part {
                Part::Slot(at) => Some(Piece::Slot(*at)),
                Part::Text(text) => Some(Piece::Text(text)),
                Part::Limit => limit.as_deref().map(Piece::Text),
            });
            let lifted = match sent.form.get() {
                Some(form) => lifting.filled(ctx.dialect, statement, form)?,
                None if lifting.lifts_all() && !sent.is_limited() => {
                    let form = lifting.form(ctx.dialect, statement, pieces)?;
                    lifting.filled(ctx.dialect, statement, sent.form.get_or_init(|| form))?
                }
                None => lifting.lifted(ctx.dialect, statement, pieces)?,
            };
            all.push(lifted);
        }
        Some(all)
    }

    /// The plan of another query of the shape; `None` when it must be planned in full.
    pub(super) fn plan(&self, ctx: &Context<'_>, given: &Given<'_>) -> Option<Arc<Plan>> {
        let is_so = unions::connections(ctx) == self.connections
            && !is_limited(ctx)
            && self.everywhere.holds(ctx, given.values);
        if !is_so {
            return None;
        }
        if let Some(kept) = self.kept.get() {
            return Some(Arc::clone(kept));
        }
        let plan = Arc::new(self.planned(ctx, given)?);
        let is_plain = |part: &Part| matches!(part, Part::Text(_));
        let is_one = self.limit == Limit::AsPlanned
            && self.redirects.is_empty()
            && self.sent.iter().flat_map(|sent| &sent.parts).all(is_plain);
        Some(if is_one { Arc::clone(self.kept.get_or_init(|| plan)) } else { plan })
    }

    fn planned(&self, ctx: &Context<'_>, given: &Given<'_>) -> Option<Plan> {
        let limit = self.limit_now(given)?;
        let targets = self.redirected(ctx, given.statement)?;
        let units = self.sent.iter().zip(targets);
        let units: Option<Vec<Unit>> =
            units.map(|(sent, target)| sent.unit(given, limit, target)).collect();
        let merge = MergePlan { limit, ..MergePlan::clone(&self.merge) };
        let (keys, fields, before) = (None, Vec::new(), Vec::new());
        Some(Plan {
            units: units?,
            spread: Spread::Gather,
            merge,
            keys,
            fields,
            writes: false,
            before,
            timed: self.timed,
            asks_catalogue: false,
            leaves: self.leaves,
            judged: self.judged,
            assigns: None,
            told: Told::default(),
            read_here: Vec::new(),
        })
    }

    /// Its targets, of groups the units that shall answer now.
    fn redirected(&self, ctx: &Context<'_>, stmt: &Statement) -> Option<Vec<Target>> {
        let targets: Vec<Target> = self.sent.iter().map(|sent| sent.target.clone()).collect();
        if self.redirects.is_empty() {
            return Some(targets);
        }
        let count = targets.len();
        let mut route = Route::Units(Units::new(targets, Spread::Gather));
        redirect(ctx, stmt, &self.redirects, &mut route)?;
        match route {
            Route::Units(units) if units.targets.len() == count => Some(units.targets),
            Route::Units(_) | Route::Unclaimed | Route::Needs(_) => None,
        }
    }

    /// About how many bytes it takes, with a plan and forms that are kept.
    pub(super) fn weight(&self) -> usize {
        let text = |part: &Part| match part {
            Part::Text(text) => 40 + 3 * text.len(),
            Part::Slot(_) | Part::Limit => 24,
        };
        let all = self.sent.iter().flat_map(|sent| &sent.parts).map(text).sum::<usize>();
        all + 768 * self.sent.len()
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
    fn is_limited(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Limit))
    }

    fn unit(&self, given: &Given<'_>, limit: Option<u64>, target: Target) -> Option<Unit> {
        let mut sql = String::with_capacity(given.text.len() + 64 * target.tables.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => sql.push_str(text),
                Part::Slot(at) => sql.push_str(given.slots.get(*at)?.span.of(given.text)),
                Part::Limit => sql.push_str(&limit?.to_string()),
            }
        }
        Some(Unit {
            target,
            sql: sql.into(),
            parameters: self.parameters.clone(),
            turns: Vec::new(),
            replaced: Vec::new(),
            attributes: self.attributes.clone(),
        })
    }
}

/// Whether a unit is sent the client's own values, and all of them.
fn is_plain(unit: &Unit) -> bool {
    unit.replaced.is_empty() && unit.turns.is_empty() && unit.target.rows.is_none()
}

/// Whether the session limits the rows of all its queries: another one does not.
fn is_limited(ctx: &Context<'_>) -> bool {
    let limit = ctx.dialect.select_limit(&ctx.session.facts.settings);
    !matches!(limit, Ok(None))
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
            Shortcut::None | Shortcut::Pick(_) | Shortcut::Choose(_) => return None,
        }
    }
    Some((found?, redirects))
}

/// Asks the rooms that redirect.
fn redirect(ctx: &Context<'_>, stmt: &Statement, rooms: &[usize], route: &mut Route) -> Option<()> {
    let mut rooms = rooms.iter().map(|at| ctx.database.features.get(*at));
    rooms.try_for_each(|room| room?.route(ctx, stmt, route).ok())
}

/// The names by which the claiming room knows the units of a plan; `None` where a unit has several.
fn named(
    ctx: &Context<'_>,
    stmt: &Statement,
    redirects: &[usize],
    plan: &Plan,
) -> Option<Vec<UnitName>> {
    let units = plan.units.iter().map(|unit| &unit.target.unit);
    if redirects.is_empty() {
        return Some(units.cloned().collect());
    }
    let mut route = Route::Unclaimed;
    for (at, room) in ctx.database.features.iter().enumerate() {
        if !redirects.contains(&at) {
            room.route(ctx, stmt, &mut route).ok()?;
        }
    }
    let Route::Units(claimed) = &route else { return None };
    let names: Vec<UnitName> = claimed.targets.iter().map(|one| one.unit.clone()).collect();
    redirect(ctx, stmt, redirects, &mut route)?;
    let Route::Units(redirected) = &route else { return None };
    if redirected.targets.len() != names.len() {
        return None;
    }
    let pairs = || redirected.targets.iter().map(|one| &one.unit).zip(&names);
    let name = |unit: &UnitName| {
        let mut own = pairs().filter(|(known, _)| *known == unit).map(|(_, name)| name);
        let first = own.next()?;
        own.all(|other| other == first).then(|| first.clone())
    };
    units.map(name).collect()
}

/// Whether one of the marks has become part of a name: a value could say anything there.
fn names_by(ctx: &Context<'_>, sql: &str, marks: &[Mark]) -> bool {
    let Ok(tokens) = pando_sql::tokenize(sql, ctx.dialect.syntax()) else { return true };
    let mut names = tokens.list.iter().filter(|token| token.kind == TokenKind::QuotedIdentifier);
    names.any(|name| {
        let text = name.span.of(sql);
        marks.iter().any(|mark| text.contains(mark.text.trim_matches('\'')))
    })
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
    match crate::plan::plan(&ctx, &other, Purpose::Run) {
        Ok(Planned::Run(plan)) => Some((*plan, marks)),
        Ok(Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_)) | Err(_) => None,
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
