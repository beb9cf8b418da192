//! From a request to a started statement.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::request::{Execute, Pipeline};
use pando_kernel::runtime::LONG;
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::Purpose;

use crate::session::Session;
use crate::session::errors::unit_lost;
use crate::session::given::{Given, Window};
use crate::session::place::{changed_rules, elsewhere, own_database};
use crate::session::reply::warnings;
use crate::session::run::template::moment;
use crate::session::statement::administer::told;
use crate::session::statement::text::piped;
use crate::session::statement::{local, own_rows, prepare, without_units};
use crate::session::steps::frame;
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{begin, definition, end, serializable, temporary};

impl Session {
    /// Starts a prepared statement.
    pub(in crate::session) async fn begin_execute(&mut self, execute: Execute) -> Result<()> {
        self.outbox.is_text = false;
        if execute.pipeline == Pipeline::More {
            begin::open_pipeline(self);
        }
        if let Some(cursor) = execute.cursor {
            Box::pin(self.end_cursor(cursor)).await?;
        }
        if execute.prepared.has_open_types()
            && let Err(error) = Box::pin(prepare::learn_types(self, &execute.prepared)).await
        {
            return Err(Box::pin(self.fail_statement(error)).await);
        }
        let mut given = Given {
            parameters: execute.parameters,
            formats: execute.result_formats,
            declared: Arc::clone(execute.prepared.types()),
            era: 0,
            prepared: true,
            lifted: Vec::new(),
            text: None,
        };
        let statement = Arc::clone(&execute.prepared.statement);
        self.outbox.window =
            execute.limit.map(|limit| Window { left: u64::from(limit), cursor: execute.cursor });
        if let Err(error) = piped::refuse_older_pipes(self, &statement.text) {
            return Err(Box::pin(self.fail_statement(error)).await);
        }
        let started = match self.recall(&statement.text, &given) {
            Some(recalled) => self.start_recalled(&recalled, &statement.text, &mut given).await,
            // Boxed, as all that is rare: every client's task is as large as the largest of what it may wait for.
            None => Box::pin(self.start_statement(&statement, given)).await,
        };
        match started {
            Ok(()) => Ok(()),
            Err(error) => Err(Box::pin(self.fail_statement(error)).await),
        }
    }

    /// Commits what a pipeline opened, or rolls it back when it failed.
    pub(in crate::session) async fn sync(&mut self) -> Result<()> {
        if self.work.opened != Opened::Pipeline
            || self.work.transaction.state() == TransactionState::Idle
        {
            return Ok(());
        }
        let commit = !self.work.transaction.is_told();
        let committed = end::end_transaction(self, commit).await?;
        if commit && !committed { Err(unit_lost()) } else { Ok(()) }
    }

    /// An error that the door has told counts like one of a statement.
    pub(in crate::session) fn fail_with_door(&mut self) {
        let fails = self.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
        if fails {
            self.work.transaction.fail();
        }
    }

    /// Starts one statement: here, or on storage units.
    pub(in crate::session) async fn start_statement(
        &mut self,
        stmt: &Statement,
        given: Given,
    ) -> Result<()> {
        if stmt.text.len() > LONG {
            Box::pin(self.place.step_aside()).await;
        }
        self.place.ticket = self.place.ticket.wrapping_add(1);
        self.place.handle.begins(&told(stmt));
        if warnings::show_warnings(self, stmt)? {
            return Ok(());
        }
        warnings::forget_warnings(self);
        self.work.touched = self.work.touched.max(Touched::by(&stmt.kind));
        let (settings, isolation) =
            (self.settings.variables.shared(), serializable::told_isolation(self));
        let facts = self.place.facts_mut();
        (facts.settings, facts.isolation) = (settings, isolation);
        own_rows::show_own(self, &stmt.text)?;
        if local::start_local(self, stmt, &given).await? {
            return Ok(());
        }
        let away = elsewhere::leave(self, stmt)?;
        self.work.planning.learns &= away.is_none();
        let result = self.start_on_units(stmt, given).await;
        self.place.come_back(away);
        result
    }

    /// Starts one statement on storage units.
    pub(in crate::session) async fn start_on_units(
        &mut self,
        stmt: &Statement,
        given: Given,
    ) -> Result<()> {
        let mut given = given;
        self.work.refuse_if_failed(false)?;
        own_database::refuse_without_database(self, stmt)?;
        let live = self.place.live()?;
        if !live.has_units() {
            return without_units::answer_alone(self, stmt, &given);
        }
        given.era = moment(&live).era();
        Box::pin(temporary::look_at_temporaries(self, &live, stmt)).await?;
        let temporary = self.temporary.concerns_temporaries();
        if let Kind::Define(define) = &stmt.kind
            && !temporary
        {
            self.cursors.refuse_in_use(define)?;
            definition::begin_definition(self, &live)?;
            live.catalog.forget();
        }
        if live.database.dialect.definitions_commit()
            && plan::commits(&stmt.kind)
            && self.work.transaction.state() != TransactionState::Idle
        {
            end::commit_implicitly(self).await?;
        }
        self.settle_cursors().await?;
        let plan = match self.plan(&live, stmt, &given, Purpose::Run).await {
            Err(refusal) => {
                if warnings::drops_nothing(self, stmt, &refusal) {
                    Box::pin(definition::end_definition(self)).await;
                    return Ok(());
                }
                changed_rules::refuse_moved(self, &live, stmt, true)?;
                self.temporary.refuse_steps_of_temporaries(stmt, &refusal)?;
                return frame::start_in_steps(self, &live, stmt, &given, refusal).await;
            }
            Ok(plan) => plan,
        };
        let plan = Arc::new(self.on_leaders(&live, (stmt, &given), plan).await?);
        changed_rules::refuse_moved(self, &live, stmt, plan.writes)?;
        self.work.planning.learns &= self.temporary.own.is_none();
        if self.work.planning.learns && !given.prepared {
            Box::pin(self.look_at_table(&live, stmt)).await;
        }
        self.learn(&live, stmt, (&given, &plan));
        match self.start_plan(&live, stmt, &plan, &mut given).await {
            // Only the answers' types showed that they cannot be merged.
            Err(refusal) if plan::is_for_assembly(&refusal) && is_select(&stmt.kind) => {
                let plan = self.planned_apart(&live, stmt, &given, refusal).await?;
                self.start_plan(&live, stmt, &Arc::new(plan), &mut given).await
            }
            started => started.inspect(|()| self.work.note_unseen_writes(&live, stmt, &plan)),
        }
    }
}

fn is_select(kind: &Kind) -> bool {
    matches!(kind, Kind::Select(_))
}
