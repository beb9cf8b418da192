//! Templates: the plan of a statement that goes to one target, or to the same ones whatever its values, with the places left open where these stand.
//! Made from a plan, and only if it gives the same plan as planning does for this statement and for others of its shape.

mod sides;

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use pando_kernel::changes::{Put, Turn};
use pando_kernel::effects::Leaves;
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Spread, Target};
use pando_kernel::shortcut::{Pick, Values};
use pando_kernel::{CellMap, Lists, Parameter, Timed, Value};
use pando_sql::ast::{BinaryOp, Kind, Literal, Node, Statement};
use pando_sql::{Fold, Piece, Shape, Slot, Span, Syntax, TokenKind, visit};

use self::sides::Sides;
use super::everywhere::{Given, Source, Wide};
use super::parameterize::liftable::{LONGEST_NAME, liftable};
use super::parameterize::lifted::{Chance, Lifted, Lifting, Piece as Lift, cuts};
use super::redirect::{Redirect, asked, redirected};
use super::text_parts::{Part, Parts, is_marked, is_plain_name, marked};
use crate::plan::effects::{OfText, is_plain_function};
use crate::plan::labels::labelled;
use crate::plan::{Plan, Planned, Purpose, Told, Unit, clock, rewrite, row_tables};

/// The values that statements of one shape are tried with before a template is trusted.
const TRIALS: [Trial; 2] = [
    Trial { whole: "7", fraction: "7.25", text: "'x7'" },
    Trial { whole: "0", fraction: "0.0", text: "''" },
];

/// Targets whose plans are kept at most.
const MOST_KEPT: usize = 64;
/// About how many bytes such a plan takes besides its text.
const KEPT: usize = 512;

struct Trial {
    whole: &'static str,
    fraction: &'static str,
    text: &'static str,
}

/// A plan with open places.
#[derive(Debug)]
pub struct Template {
    /// A statement of this shape. Its values, and so its text, are another's.
    pub(crate) statement: Arc<Statement>,
    /// Where its literals stand.
    spans: Vec<Span>,
    goes: Goes,
    sides: Sides,
    /// It is for INSERTs whose rows have their numbers for a counted column, or bring them:
    /// [`SessionView::is_counted`].
    pub(crate) is_counted: bool,
}

/// Where a statement goes, and with what.
#[derive(Debug)]
enum Goes {
    /// To one target that its values decide.
    ToOne(One),
    /// To the same targets whatever its values.
    Everywhere(Wide),
}

/// What is kept of a target.
#[derive(Debug)]
struct Kept {
    /// The target's.
    number: usize,
    /// The plan of the statement that came first.
    plan: Arc<Plan>,
}

/// A statement's plan by its template.
#[derive(Debug)]
pub struct Fit {
    /// The plan, of another statement where `text` is given.
    pub plan: Arc<Plan>,
    /// What the plan's one unit is sent instead of its text. All else of the plan is this statement's, too.
    pub text: Option<Arc<str>>,
}

impl Fit {
    /// The statement's own plan.
    pub fn whole(self) -> Arc<Plan> {
        match self.text {
            Some(text) => with_text(&self.plan, text),
            None => self.plan,
        }
    }
}

/// The plan of a statement that is another's but for the text of its one unit.
pub(crate) fn with_text(plan: &Plan, text: Arc<str>) -> Arc<Plan> {
    let mut own = plan.clone();
    if let [unit] = &mut own.units[..] {
        unit.sql = text;
    }
    Arc::new(own)
}

#[derive(Debug)]
struct One {
    pick: Arc<dyn Pick>,
    /// What is kept of each target that was asked for. By the target's number, of which several may share a place: it belongs to the first that came.
    kept: Box<[OnceLock<Kept>]>,
    /// No value is part of the text: only the target decides the plan.
    is_decided: bool,
    /// What rooms redirect, in their order.
    redirects: Vec<Redirect>,
    parts: Vec<Part>,
    parameters: Vec<u32>,
    /// As [`MergePlan::cells`].
    cells: Vec<CellMap>,
    turns: Vec<(usize, Turn)>,
    writes: bool,
    timed: Timed,
    effects: OfText,
    /// With the text cut at the values that are lifted.
    lifting: Option<(Lifting, Vec<Part>)>,
    /// How columns are told: of all targets alike, as their names are the logic ones.
    lists: Arc<Lists>,
}

/// The values of one statement of a template's shape.
struct Now<'a> {
    spans: &'a [Span],
    text: &'a str,
    slots: &'a [Slot],
    syntax: &'a Syntax,
    parameters: Option<&'a [Parameter]>,
}

impl Values for Now<'_> {
    fn literal(&self, at: Span) -> Option<Literal> {
        let number = self.spans.binary_search_by_key(&at.start, |span| span.start).ok()?;
        let slot = self.slots.get(number).filter(|_| self.spans[number] == at)?;
        slot.literal(self.text, self.syntax)
    }

    fn parameter(&self, index: u32) -> Option<&Value> {
        self.parameters?.get(index as usize).map(|parameter| &parameter.value)
    }
}

/// Values, with a note of those that were asked for.
struct Watched<'a> {
    now: Now<'a>,
    asked: RefCell<Vec<Span>>,
}

impl Values for Watched<'_> {
    fn literal(&self, at: Span) -> Option<Literal> {
        self.asked.borrow_mut().push(at);
        self.now.literal(at)
    }

    fn parameter(&self, index: u32) -> Option<&Value> {
        self.now.parameter(index)
    }
}

impl Template {
    /// A template of a statement that was planned so; `None` when it has none. `shape` is the shape of the statement's text.
    pub fn of(
        ctx: &Context<'_>,
        stmt: &Arc<Statement>,
        shape: &Shape,
        plan: &Plan,
    ) -> Option<Self> {
        let is_apt = are_plain(ctx, stmt)
            && !is_marked(&stmt.text)
            && !names_by_values(ctx, stmt, shape.slots(), plan);
        if !is_apt {
            return None;
        }
        if !clock::differs_inside(ctx, stmt) {
            return Self::of_side(ctx, stmt, shape, plan);
        }
        let own = Self::of_side(ctx, stmt, shape, plan);
        Self::beside(own, Self::of_other_side(ctx, stmt, shape))
    }

    fn of_side(
        ctx: &Context<'_>,
        stmt: &Arc<Statement>,
        shape: &Shape,
        plan: &Plan,
    ) -> Option<Self> {
        let sides = Sides::of(ctx, stmt, plan)?;
        let spans: Vec<Span> = shape.slots().iter().map(|slot| slot.span).collect();
        let statement = Arc::clone(stmt);
        let Some(one) = One::of(ctx, stmt, &spans, plan) else {
            let source = Source { stmt, spans: &spans, slots: shape.slots(), plan };
            let goes = Goes::Everywhere(Wide::of(ctx, &source)?);
            let is_counted = ctx.session.is_counted;
            let template = Self { statement, spans, goes, sides, is_counted };
            let mut template = template.tried(ctx, shape, plan)?;
            if let Goes::Everywhere(wide) = &mut template.goes {
                wide.lift(ctx, (stmt, shape.slots()));
            }
            return Some(template);
        };
        let [unit] = &plan.units[..] else { return None };
        let (goes, is_counted) = (Goes::ToOne(one), ctx.session.is_counted);
        let template = Self { statement, spans, goes, sides, is_counted };
        let mut template = template.tried(ctx, shape, plan)?;
        let lifting = template.lifting(ctx, shape.slots(), &unit.target);
        if let Goes::ToOne(one) = &mut template.goes {
            one.lifting = lifting;
        }
        Some(template)
    }

    fn tried(self, ctx: &Context<'_>, shape: &Shape, plan: &Plan) -> Option<Self> {
        self.is_right(ctx, shape, plan).then_some(self)
    }

    fn lifting(
        &self,
        ctx: &Context<'_>,
        slots: &[Slot],
        target: &Target,
    ) -> Option<(Lifting, Vec<Part>)> {
        ctx.dialect.lifted(Value::Int(0))?;
        let Goes::ToOne(one) = &self.goes else { return None };
        let stmt = &self.statement;
        let syntax = ctx.dialect.syntax();
        let now = Now { spans: &self.spans, text: &stmt.text, slots, syntax, parameters: None };
        let watched = Watched { now, asked: RefCell::default() };
        one.pick.number(ctx, &watched)?;
        let liftable = liftable(ctx, stmt, slots, &watched.asked.into_inner())?;
        let parts = parts(ctx, stmt, target, &cuts(slots, &liftable.values)?)?;
        Some((Lifting::new(slots, &liftable), parts))
    }

    /// The values of a statement lifted out of what its plan, made by this template, sends to each of its units, in their order; empty when that is to be sent
    /// as it is.
    pub fn lifted(
        &self,
        ctx: &Context<'_>,
        statement: (&str, &[Slot]),
        plan: &Plan,
        chance: Chance,
    ) -> Vec<Lifted> {
        if plan.leaves >= Leaves::Anything {
            // Its connections forget what is prepared on them.
            return Vec::new();
        }
        let (text, slots) = statement;
        let Some(own) = self.side(ctx) else { return Vec::new() };
        match &own.goes {
            Goes::ToOne(one) => {
                let lifting = one.lifting.as_ref();
                let lifting = lifting.filter(|(lifting, _)| lifting.admits(text, slots, chance));
                let lifted =
                    lifting.zip(plan.units.first()).and_then(|((lifting, parts), unit)| {
                        let piece = |part| piece(part, &unit.target);
                        lifting.lifted(ctx.dialect, statement, parts.iter().map(piece))
                    });
                lifted.into_iter().collect()
            }
            Goes::Everywhere(wide) => {
                wide.lifted(ctx, statement, (plan, chance)).unwrap_or_default()
            }
        }
    }

    /// The plan of another statement of this shape; `None` when it must be planned in full.
    pub fn plan(&self, ctx: &Context<'_>, text: &str, slots: &[Slot]) -> Option<Fit> {
        let syntax = ctx.dialect.syntax();
        let now = Now { spans: &self.spans, text, slots, syntax, parameters: ctx.parameters };
        match &self.side(ctx)?.goes {
            Goes::ToOne(one) => one.plan(ctx, &self.statement, &now),
            Goes::Everywhere(wide) => {
                let statement = &self.statement;
                let given = Given { statement, text, slots, values: &now, spans: &self.spans };
                let plan = wide.plan(ctx, &given)?;
                Some(Fit { plan, text: None })
            }
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        // Tree and parts of the text are each some times as large as the text.
        let more = match &self.goes {
            Goes::ToOne(one) => {
                let cells = one.cells.len() * size_of::<CellMap>();
                one.kept.len() * (2 * KEPT + 2 * self.statement.text.len() + cells)
            }
            Goes::Everywhere(wide) => wide.weight(),
        };
        1024 + 24 * self.statement.text.len() + more + self.sides.weight()
    }

    /// Whether it gives what planning gives: for the statement it was made of, and for others.
    fn is_right(&self, ctx: &Context<'_>, shape: &Shape, plan: &Plan) -> bool {
        let own = &self.statement.text;
        // Made anew, and as it is kept.
        for _ in 0..2 {
            let short = self.plan(ctx, own, shape.slots()).map(Fit::whole);
            if short.as_deref() != Some(plan) {
                return false;
            }
        }
        TRIALS.iter().all(|trial| {
            let other = written(own, shape.slots(), trial);
            let mut read = Shape::default();
            let syntax = ctx.dialect.syntax();
            let Ok(stmt) = pando_sql::parse(&other, syntax) else { return false };
            if !read.read(&other, syntax) || read.key() != shape.key() {
                return false;
            }
            let short = self.plan(ctx, &other, read.slots()).map(Fit::whole);
            match crate::plan::plan(ctx, &stmt, Purpose::Run) {
                Ok(Planned::Run(full)) => short.is_none_or(|short| *short == *full),
                Ok(Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_)) | Err(_) => {
                    short.is_none()
                }
            }
        })
    }
}

impl One {
    fn of(ctx: &Context<'_>, stmt: &Arc<Statement>, spans: &[Span], plan: &Plan) -> Option<Self> {
        let [unit] = &plan.units[..] else { return None };
        let is_plain = plan.before.is_empty()
            && plan.keys.is_none()
            && plan.spread == Spread::Gather
            && plan.merge == turning(plan.merge.cells.clone())
            && unit.replaced.is_empty()
            && unit.target.rows.is_none()
            && !counts_keys(ctx, stmt);
        if !is_plain {
            return None;
        }
        let (pick, redirects) = asked(ctx, stmt)?;
        if !pick.names().iter().all(|name| is_plain_name(name)) {
            return None;
        }
        let parts = parts(ctx, stmt, &unit.target, spans)?;
        let (parameters, turns) = (unit.parameters.clone(), unit.turns.clone());
        let (writes, timed) = (plan.writes, plan.timed);
        let cells = plan.merge.cells.clone();
        let count = if redirects.is_empty() { pick.count().min(MOST_KEPT) } else { 0 };
        let kept = (0..count).map(|_| OnceLock::new()).collect();
        let is_decided = spans.is_empty();
        let effects = OfText::of(ctx, stmt, &unit.target.unit);
        let (lifting, lists) = (None, Arc::default());
        Some(Self {
            pick,
            kept,
            is_decided,
            redirects,
            parts,
            parameters,
            cells,
            turns,
            writes,
            timed,
            effects,
            lifting,
            lists,
        })
    }

    fn plan(&self, ctx: &Context<'_>, stmt: &Statement, now: &Now<'_>) -> Option<Fit> {
        let number = self.pick.number(ctx, now)?;
        let place = number.checked_rem(self.kept.len()).and_then(|place| self.kept.get(place));
        let kept = place.and_then(OnceLock::get).filter(|kept| kept.number == number);
        if let Some(Kept { plan, .. }) = kept {
            let text = match &plan.units[..] {
                [unit] if !self.is_decided => {
                    Some(self.text(ctx, now.text, now.slots, &unit.target)?)
                }
                _ => None,
            };
            return Some(Fit { plan: Arc::clone(plan), text });
        }
        let mut target = self.pick.target(number)?;
        if !self.redirects.is_empty() {
            target = redirected(&self.redirects, ctx, stmt, now, target)?;
        }
        let told = place.map_or_else(Told::default, |_| Told::noted(&self.lists));
        let leaves = self.effects.leaves_at(ctx, &target)?;
        let judged = self.effects.judged;
        let plan = Arc::new(Plan { leaves, judged, ..self.made(ctx, target, now, told)? });
        // Long values of one statement are not kept for all others of its shape.
        let is_usual = |unit: &Unit| unit.sql.len() <= 2 * stmt.text.len() + KEPT;
        if let Some(place) = place.filter(|_| plan.units.iter().all(is_usual)) {
            // Another's is as good.
            let _taken = place.set(Kept { number, plan: Arc::clone(&plan) });
        }
        Some(Fit { plan, text: None })
    }

    fn made(&self, ctx: &Context<'_>, target: Target, now: &Now<'_>, told: Told) -> Option<Plan> {
        let sql = self.text(ctx, now.text, now.slots, &target)?;
        let parameters = self.parameters.clone();
        let (turns, replaced, attributes) = (self.turns.clone(), Vec::new(), Vec::new());
        let unit = Unit { target, sql, parameters, turns, replaced, attributes };
        Some(Plan {
            units: vec![unit],
            spread: Spread::Gather,
            merge: turning(self.cells.clone()),
            keys: None,
            fields: Vec::new(),
            writes: self.writes,
            before: Vec::new(),
            timed: self.timed,
            asks_catalogue: false,
            leaves: Leaves::Nothing,
            judged: None,
            assigns: None,
            read_here: Vec::new(),
            told,
        })
    }

    fn text(
        &self,
        ctx: &Context<'_>,
        text: &str,
        slots: &[Slot],
        target: &Target,
    ) -> Option<Arc<str>> {
        let mut sql = String::with_capacity(text.len() + 16 * target.tables.len());
        for part in &self.parts {
            sql.push_str(match part {
                Part::Text(text) => text,
                Part::Slot(at) => slots.get(*at)?.span.of(text),
                Part::Name(at) => &target.tables.get(*at)?.actual,
                // One that cannot be stored is planned in full, which says why.
                Part::Turned(at, turn) => {
                    let literal = slots.get(*at)?.literal(text, ctx.dialect.syntax())?;
                    let value = turn.of(&Value::of_literal(&literal)?).ok()?;
                    sql.push_str(&ctx.dialect.literal(&value));
                    continue;
                }
            });
        }
        Some(sql.into())
    }
}

/// Rows that pass but for these cells.
fn turning(cells: Vec<CellMap>) -> MergePlan {
    MergePlan { cells, ..MergePlan::iterate() }
}

fn piece<'a>(part: &'a Part, target: &'a Target) -> Option<Lift<'a>> {
    Some(match part {
        Part::Text(text) => Lift::Text(text),
        Part::Slot(at) => Lift::Slot(*at),
        Part::Turned(..) => return None,
        Part::Name(at) => {
            let name = &target.tables.get(*at)?.actual;
            Lift::Text(Some(name).filter(|name| name.len() <= LONGEST_NAME)?)
        }
    })
}

/// Whether what looks like a value names something: a string that is an alias, or a select item whose own text, values and all, becomes its label.
fn names_by_values(ctx: &Context<'_>, stmt: &Statement, slots: &[Slot], plan: &Plan) -> bool {
    if ctx.dialect.syntax().fold != Fold::Keep {
        return false;
    }
    let holds =
        |span: Span| move |slot: &&Slot| span.start <= slot.span.start && slot.span.end <= span.end;
    let mut literals = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if matches!(expr.node, Node::Literal(_)) {
            literals.push(expr.span);
        }
    });
    let mut strings = slots.iter().filter(|slot| slot.kind != TokenKind::Number);
    if strings.any(|slot| !literals.iter().any(|literal| holds(*literal)(&slot))) {
        return true;
    }
    let items = labelled(ctx, stmt);
    let items = items.iter().filter(|item| slots.iter().any(|slot| holds(item.span)(&slot)));
    let mut items = items.peekable();
    if items.peek().is_none() {
        return false;
    }
    plan.units.first().is_none_or(|unit| {
        let edits = rewrite::edits(ctx, stmt, &unit.target);
        edits.is_ok_and(|edits| items.any(|item| edits.touches(item.span)))
    })
}

/// The text with its literals replaced.
fn written(text: &str, slots: &[Slot], trial: &Trial) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for slot in slots {
        out.push_str(Span::new(done, slot.span.start).of(text));
        let is_fraction = slot.span.of(text).contains('.');
        out.push_str(match (slot.kind == TokenKind::Number, is_fraction) {
            (true, false) => trial.whole,
            (true, true) => trial.fraction,
            (false, _) => trial.text,
        });
        done = slot.span.end;
    }
    out.push_str(text.get(done as usize..).unwrap_or(""));
    out
}

/// What stands between the open places of the text for one target.
fn parts(
    ctx: &Context<'_>,
    stmt: &Statement,
    target: &Target,
    spans: &[Span],
) -> Option<Vec<Part>> {
    let (edits, literals) = rewrite::open_edits(ctx, stmt, &marked(target)).ok()?;
    // What is put behind a literal depends on it, and is no literal of the statement's.
    let further = literals.iter().any(|one| one.put != Put::InPlace);
    let turned = |span: Span| literals.iter().find(|one| one.span == span);
    let mut parts = Parts::default();
    let mut slots = spans.iter().enumerate().peekable();
    for piece in edits.pieces(&stmt.text) {
        match piece {
            Piece::New(text) => parts.marked(text)?,
            Piece::Kept(span) => {
                let mut done = span.start;
                while let Some((at, slot)) = slots.next_if(|(_, slot)| slot.start < span.end) {
                    if slot.start < done || slot.end > span.end {
                        return None;
                    }
                    parts.text(Span::new(done, slot.start).of(&stmt.text));
                    parts.push(match turned(*slot) {
                        Some(one) => Part::Turned(at, one.turn.clone()),
                        None => Part::Slot(at),
                    });
                    done = slot.end;
                }
                parts.text(Span::new(done, span.end).of(&stmt.text));
            }
        }
    }
    let parts = parts.done();
    let is_turned = |part: &&Part| matches!(part, Part::Turned(..));
    let has_all = parts.iter().filter(is_turned).count() == literals.len();
    // A literal that an edit takes out could say anything.
    (slots.next().is_none() && has_all && !further).then_some(parts)
}

/// Whether the server may count a row's key: what it then tells is read by the very values of the statement, and a template has another's.
fn counts_keys(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let Kind::Insert(insert) = &stmt.kind else { return false };
    let columns = ctx.catalog.columns(&insert.table.name.key());
    let never = columns
        .is_some_and(|all| !all.is_empty() && all.iter().all(|column| !column.auto_increment));
    // Those that are counted here have their keys all.
    ctx.dialect.reports_given_keys() && !never && !ctx.session.is_counted
}

/// Whether nothing in the statement asks for what only a session, a server or a sub-query knows.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is planned each time")]
fn are_plain(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let mut all = true;
    visit::exprs(&stmt.kind, &mut |expr| {
        all &= match &expr.node {
            Node::Column(name) => match &name.parts[..] {
                [single] => {
                    let name = single.value.to_lowercase();
                    ctx.dialect.session_function(&name, &ctx.session.facts).is_none()
                }
                _ => true,
            },
            Node::Function(call) => is_plain_function(call),
            Node::Binary { op: BinaryOp::Other(op), .. } => op == "||",
            Node::Literal(_)
            | Node::Parameter(_)
            | Node::Nested(_)
            | Node::Unary { .. }
            | Node::Binary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::Case { .. } => true,
            Node::Cast { .. } => !row_tables::asks(ctx, expr, &stmt.text),
            _ => false,
        };
    });
    all
}
