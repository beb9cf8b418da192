//! Statements of a shape that has been planned before: run by its template, past parsing and planning.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::{Chance, Fit, Lifted, Plan, Template, unread as syntax_error};
use crate::snapshot::LiveDatabase;
use crate::templates::{Entry, Kept, Moment, with_shape};

use crate::session::Session;
use crate::session::given::Given;
use crate::session::place::changed_rules;
use crate::session::reply::warnings;
use crate::session::settings::Settings;
use crate::session::statement::text::piped;
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::{Work, snapshot, units};

/// A statement that needs no planning.
#[derive(Debug)]
pub(in crate::session) struct Recalled {
    live: Arc<LiveDatabase>,
    kept: Arc<Kept>,
    fit: Fit,
    /// One for each of the plan's units, or none.
    lifted: Vec<Lifted>,
}

impl Recalled {
    /// What is lifted out of the text for each unit.
    pub(in crate::session) fn take_lifted(&mut self) -> Vec<Lifted> {
        std::mem::take(&mut self.lifted)
    }
}

impl Work {
    /// Whether the storage unit may answer a statement that is sent now with an error, and then be asked again.
    fn chance(&self, dialect: &dyn Dialect) -> Chance {
        let alone = self.autocommit && self.transaction.state() == TransactionState::Idle;
        if alone || !dialect.error_fails_transaction() { Chance::Second } else { Chance::Only }
    }
}

impl Settings {
    /// Whether names mean other tables to this session than to others.
    fn renames(&self, dialect: &dyn Dialect) -> bool {
        if self.variables.id() == 0 && self.local.is_empty() {
            return false;
        }
        let is_named = |name: &&str| {
            let mut settings = self.variables.list().iter();
            settings.any(|(known, _)| known.eq_ignore_ascii_case(name))
                || self.local.iter().any(|text| text.to_ascii_lowercase().contains(*name))
        };
        dialect.names_by().iter().any(is_named)
    }
}

impl Session {
    /// The plan of a text by its template; `None` when it has to be parsed and planned. Notes then whether that is worth remembering.
    pub(in crate::session) fn recall(
        &mut self,
        text: &Arc<str>,
        given: &Given,
    ) -> Option<Recalled> {
        self.work.planning.learns = false;
        if self.place.properties().sql_show {
            // The log tells the statement's own text, which a template does not have.
            return None;
        }
        if piped::is_piped(self, text) {
            return None;
        }
        let live = self.place.live.clone()?;
        self.place.facts.database.as_ref()?;
        if self.place.own_database().is_some()
            || self.work.definitions.own.is_some()
            || self.temporary.own.is_some()
        {
            // Its tables are not those of the database that stands behind it, or not those that others see.
            return None;
        }
        // What is set now decides, not what was when the last statement began.
        if !self.settings.variables.are(&self.place.facts.settings) {
            self.place.facts_mut().settings = self.settings.variables.shared();
        }
        let now = moment(&live);
        if given.prepared
            && let Some(kept) = self.memory.at_hand.find_text(text, now)
        {
            let kept = Arc::clone(kept);
            let fit =
                self.in_context(&live, Some(given), |ctx| kept.template.plan(ctx, text, &[]))?;
            return Some(Recalled { live, kept, fit, lifted: Vec::new() });
        }
        let syntax = live.database.dialect.syntax();
        let (kept, fit, lifted) = with_shape(|shape| {
            if !shape.read(text, syntax) {
                return None;
            }
            let hash = shape.hash();
            let kept = match self.memory.at_hand.find(shape, hash, now) {
                Some(kept) => Arc::clone(kept),
                None => self.look_up(&live, (shape, hash), now)?,
            };
            if given.prepared && shape.slots().is_empty() {
                self.memory.at_hand.know(&kept, text);
            }
            let (fit, lifted) = self.in_context(&live, Some(given), |ctx| {
                let fit = kept.template.plan(ctx, text, shape.slots())?;
                let lifted = match given.prepared || self.settings.renames(ctx.dialect) {
                    true => Vec::new(),
                    false => {
                        let (statement, chance) =
                            ((&**text, shape.slots()), self.work.chance(ctx.dialect));
                        kept.template.lifted(ctx, statement, &fit.plan, chance)
                    }
                };
                Some((fit, lifted))
            })?;
            Some((kept, fit, lifted))
        })?;
        Some(Recalled { live, kept, fit, lifted })
    }

    fn look_up(
        &mut self,
        live: &LiveDatabase,
        (shape, hash): (&pando_sql::Shape, u64),
        now: Moment,
    ) -> Option<Arc<Kept>> {
        match live.templates.meet(shape, hash) {
            Some(Entry::Template(kept)) if kept.holds(now) => {
                self.memory.at_hand.keep(Arc::clone(&kept));
                Some(kept)
            }
            Some(Entry::None(then)) if then == now => None,
            Some(Entry::Template(_) | Entry::None(_) | Entry::Seen) => {
                self.work.planning.learns = true;
                None
            }
            None => None,
        }
    }

    /// Starts a recalled statement: what [`Session::start_statement`] does for one that is for storage units.
    pub(in crate::session) async fn start_recalled(
        &mut self,
        recalled: &Recalled,
        text: &Arc<str>,
        given: &mut Given,
    ) -> Result<()> {
        self.place.ticket = self.place.ticket.wrapping_add(1);
        self.place.handle.begins(text);
        warnings::forget_warnings(self);
        self.work.touched = Touched::Data;
        self.work.refuse_if_failed(false)?;
        if !self.cursors.portals.is_empty() {
            Box::pin(self.settle_cursors()).await?;
        }
        let Recalled { live, kept, fit: Fit { plan, text: own }, .. } = recalled;
        given.era = kept.era();
        given.text.clone_from(own);
        changed_rules::refuse_moved(self, live, &kept.template.statement, plan.writes)?;
        let several = plan.units.len() > 1 && units::transaction_type(self) == TransactionType::Xa;
        if several && Box::pin(snapshot::strays(self, live, plan)).await {
            let stmt =
                pando_sql::parse(text, live.database.dialect.syntax()).map_err(syntax_error)?;
            return Box::pin(self.start_on_units(&stmt, Given { text: None, ..given.clone() }))
                .await;
        }
        match self.start_plan(live, &kept.template.statement, plan, given).await {
            // Only the answers' types showed that they cannot be merged.
            Err(refusal) if plan::is_for_assembly(&refusal) => {
                given.text = None;
                given.lifted.clear();
                Box::pin(self.start_assembled(live, text, given, refusal)).await
            }
            started => started,
        }
    }

    /// Starts a statement whose answers could not be merged as an assembly.
    async fn start_assembled(
        &mut self,
        live: &Arc<LiveDatabase>,
        text: &Arc<str>,
        given: &mut Given,
        refusal: Error,
    ) -> Result<()> {
        let stmt = pando_sql::parse(text, live.database.dialect.syntax()).map_err(syntax_error)?;
        if !matches!(stmt.kind, Kind::Select(_)) {
            return Err(refusal);
        }
        let plan = self.planned_apart(live, &stmt, given, refusal).await?;
        self.start_plan(live, &stmt, &Arc::new(plan), given).await
    }

    /// Remembers how a statement of a shape that came before was planned.
    pub(in crate::session) fn learn(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        (given, plan): (&Given, &Plan),
    ) {
        if !std::mem::take(&mut self.work.planning.learns) || self.work.definitions.own.is_some() {
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
            let template = self.in_context(live, Some(given), |ctx| {
                let stmt = pando_sql::parse(&stmt.text, syntax).ok().filter(|_| changes)?;
                Template::of(ctx, &Arc::new(stmt), shape, plan)
            });
            live.templates.learn(shape, now, template);
        });
    }
}

pub(in crate::session) fn moment(live: &LiveDatabase) -> Moment {
    Moment { database: live.number, epoch: live.catalog.epoch() }
}
