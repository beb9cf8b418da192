//! Statements of a shape that has been planned before: run by its template, past parsing and planning.

use std::sync::Arc;

use pando_kernel::dialect::Dialect;
use pando_kernel::feature::{Context, SessionView};
use pando_sql::Shape;
use pando_sql::ast::{Kind, Statement};

use crate::plan::{Chance, Fit, Plan, Template};
use crate::snapshot::LiveDatabase;
use crate::templates::{Entry, Kept, Moment, with_shape};

use crate::session::Session;
use crate::session::given::{Given, Run};
use crate::session::run::{context, find_out, meant};
use crate::session::settings::{Settings, modes};
use crate::session::transaction::Work;

/// A statement that needs no planning.
#[derive(Debug)]
pub(in crate::session) struct Recalled {
    live: Arc<LiveDatabase>,
    kept: Arc<Kept>,
    fit: Fit,
}

impl Recalled {
    /// The statement that the template was made of, and the plan of this one.
    pub(in crate::session) fn run(&self) -> Run<'_> {
        Run { live: &self.live, stmt: &self.kept.template.statement, plan: &self.fit.plan }
    }

    /// What goes with the statement to its units.
    pub(in crate::session) fn give(&self, given: &mut Given) {
        given.era = self.kept.era();
        given.text.clone_from(&self.fit.text);
    }
}

/// What is known of a shape that is not at hand.
enum Found {
    Kept(Arc<Kept>),
    /// It has come before, and no template was made of it.
    Worth,
    Nothing,
}

impl Work {
    /// Whether the storage unit may answer a statement that is sent now with an error, and then be asked again.
    fn chance(&self, dialect: &dyn Dialect) -> Chance {
        let alone = self.autocommit() && self.is_idle();
        if alone || !dialect.error_fails_transaction() { Chance::Second } else { Chance::Only }
    }
}

impl Settings {
    /// Whether names mean other tables to this session than to others.
    pub(in crate::session) fn renames(&self, dialect: &dyn Dialect) -> bool {
        if self.variables().id() == 0 && self.local().is_empty() {
            return false;
        }
        let is_named = |name: &&str| {
            let mut settings = self.variables().list().iter();
            settings.any(|(known, _)| known.eq_ignore_ascii_case(name))
                || self.local().iter().any(|text| text.to_ascii_lowercase().contains(*name))
        };
        dialect.names_by().settings.iter().any(is_named)
    }
}

/// The plan of a text by its template; `None` when it has to be parsed and planned. What is given notes then
/// whether that is worth remembering.
pub(in crate::session) fn recall(
    session: &mut Session,
    text: &Arc<str>,
    given: &mut Given,
) -> Option<Recalled> {
    // Its values say which environment it is for, and not what the statement before was for.
    let before = session.work.leaves_environment();
    let found = found(session, text, given);
    if found.is_none() {
        session.work.returns_to(before);
    }
    found
}

fn found(session: &mut Session, text: &Arc<str>, given: &mut Given) -> Option<Recalled> {
    session.meant.begins();
    if session.place.properties().sql_show {
        // The log tells the statement's own text, which a template does not have.
        return None;
    }
    // What was prepared has been restated.
    if !given.prepared && modes::restates(session, text) {
        return None;
    }
    let live = session.place.current().cloned()?;
    session.place.facts().database.as_ref()?;
    if session.place.own_database().is_some()
        || session.work.has_definitions_of_its_own()
        || session.settings.has_local_roles()
        || session.temporary.are_there()
    {
        // Its tables are not those of the database that stands behind it, or not those that others see.
        return None;
    }
    if meant::may_mean_others(session, &live) {
        return None;
    }
    // What is set now decides, not what was when the last statement began.
    if !session.settings.variables().are(&session.place.facts().settings) {
        session.place.facts_mut().settings = session.settings.variables().shared();
    }
    let now = moment(&live);
    if given.prepared
        && let Some(kept) = session.memory.at_hand().find_text(text, now)
    {
        let kept = Arc::clone(kept);
        if kept.template.is_counted != given.is_counted {
            return None;
        }
        let fit = context::in_context(session, &live, Some(given), |ctx| {
            kept.template.plan(ctx, text, &[])
        })?;
        return Some(Recalled { live, kept, fit });
    }
    let syntax = live.database.dialect.syntax();
    with_shape(|shape| {
        if !shape.read(text, syntax) {
            return None;
        }
        let hash = shape.hash();
        let kept = match session.memory.at_hand().find(shape, hash, now) {
            Some(kept) => Arc::clone(kept),
            None => match look_up(&live, shape, hash, now) {
                Found::Kept(kept) => {
                    session.memory.at_hand_mut().keep(Arc::clone(&kept));
                    kept
                }
                Found::Worth => {
                    given.learns = true;
                    return None;
                }
                Found::Nothing => return None,
            },
        };
        if kept.template.is_counted != given.is_counted {
            // The counter comes first.
            return None;
        }
        if given.prepared && shape.slots().is_empty() {
            session.memory.at_hand_mut().know(&kept, text);
        }
        let (fit, lifted) = context::in_context(session, &live, Some(given), |ctx| {
            let fit = kept.template.plan(ctx, text, shape.slots())?;
            let lifted = match given.prepared || session.settings.renames(ctx.dialect) {
                true => Vec::new(),
                false => {
                    let (statement, chance) =
                        ((&**text, shape.slots()), session.work.chance(ctx.dialect));
                    kept.template.lifted(ctx, statement, &fit.plan, chance)
                }
            };
            Some((fit, lifted))
        })?;
        given.lifted = lifted;
        Some(Recalled { live, kept, fit })
    })
}

/// Remembers how a statement was planned that is worth it, with what its table tells of it.
pub(in crate::session) async fn remember(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &mut Given,
    plan: &Plan,
) {
    given.learns &= !session.temporary.are_there();
    // Inside of transactions an INSERT is planned by its table's defaults.
    if given.learns && (!given.prepared || matches!(stmt.kind, Kind::Insert(_))) {
        Box::pin(find_out::look_at_table(session, live, stmt)).await;
    }
    learn(session, live, stmt, given, plan);
}

/// Remembers how a statement of a shape that came before was planned.
fn learn(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    plan: &Plan,
) {
    if !given.learns || plan.assigns.is_some() || session.work.has_definitions_of_its_own() {
        return;
    }
    let now = moment(live);
    let syntax = live.database.dialect.syntax();
    with_shape(|shape| {
        if !shape.read(&stmt.text, syntax) {
            return;
        }
        let changes = matches!(
            stmt.kind,
            Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_)
        );
        let template = context::in_context(session, live, Some(given), |ctx| {
            let stmt = pando_sql::parse(&stmt.text, syntax).ok().filter(|_| changes)?;
            // Other values may be for another environment.
            let session = SessionView { environment: None, ..ctx.session.clone() };
            Template::of(&Context { session: &session, ..*ctx }, &Arc::new(stmt), shape, plan)
        });
        live.templates.learn(shape, now, template);
    });
}

fn look_up(live: &LiveDatabase, shape: &Shape, hash: u64, now: Moment) -> Found {
    match live.templates.meet(shape, hash) {
        Some(Entry::Template(kept)) if kept.holds(now) => Found::Kept(kept),
        Some(Entry::None(then)) if then == now => Found::Nothing,
        Some(Entry::Template(_) | Entry::None(_) | Entry::Seen) => Found::Worth,
        None => Found::Nothing,
    }
}

pub(in crate::session) fn moment(live: &LiveDatabase) -> Moment {
    Moment { database: live.number, epoch: live.catalog.epoch() }
}
