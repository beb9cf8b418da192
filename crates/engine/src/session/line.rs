//! From a request to a started statement.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::merge::MergePlan;
use pando_kernel::request::{Execute, Pipeline};
use pando_kernel::route::Spread;
use pando_kernel::runtime::LONG;
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Kind, QueryBody, Statement};

use crate::bulk::Splice;
use crate::execute::{Loaded, Source, columns_of, load, run_out, share};
use crate::merge::{Input, Limits, Merge};
use crate::plan::{self, Plan, Planned, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::place::Place;
use crate::session::reply::command_tag::tag;
use crate::session::reply::logic_names::Origin;
use crate::session::reply::pieces::{CopyOut, Merged, Pass, Reply, Verb};
use crate::session::reply::show_rows::Retelling;
use crate::session::run::connect::Started;
use crate::session::run::early_release::Parted;
use crate::session::run::finish::{first_key, unit_lost, upserts};
use crate::session::run::release::Rest;
use crate::session::run::template::moment;
use crate::session::statement::administer::{show, told};
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::modes::opens_transaction;
use crate::session::{Bound, Opened, Session, Window};

pub(in crate::session) use crate::plan::unread as syntax_error;

/// How often a statement may ask for something to be found out before it is planned.
pub(in crate::session) const MAX_NEEDS: usize = 64;

impl Place {
    pub(in crate::session) fn syntax(&self) -> Result<&'static pando_sql::Syntax> {
        if let Some(live) = &self.live {
            return Ok(live.database.dialect.syntax());
        }
        let family = self.login.family;
        self.snapshot
            .databases
            .iter()
            .map(|live| &live.database.dialect)
            .find(|dialect| dialect.family() == family)
            .or_else(|| self.snapshot.databases.first().map(|live| &live.database.dialect))
            .map(|dialect| dialect.syntax())
            .ok_or_else(|| ErrorKind::NoDatabase.into())
    }
}

impl Session {
    /// Starts a prepared statement.
    pub(in crate::session) async fn begin_execute(&mut self, execute: Execute) -> Result<()> {
        self.outbox.is_text = false;
        if execute.pipeline == Pipeline::More {
            self.open_pipeline();
        }
        if let Some(cursor) = execute.cursor {
            Box::pin(self.end_cursor(cursor)).await?;
        }
        if execute.prepared.has_open_types()
            && let Err(error) = Box::pin(self.learn_types(&execute.prepared)).await
        {
            return Err(Box::pin(self.fail_statement(error)).await);
        }
        let mut bound = Bound {
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
        if let Err(error) = self.refuse_older_pipes(&statement.text) {
            return Err(Box::pin(self.fail_statement(error)).await);
        }
        let started = match self.recall(&statement.text, &bound) {
            Some(recalled) => self.start_recalled(&recalled, &statement.text, &mut bound).await,
            // Boxed, as all that is rare: every client's task is as large as the largest of what it may wait for.
            None => Box::pin(self.start_statement(&statement, bound)).await,
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
        let committed = self.end_transaction(commit).await?;
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
        bound: Bound,
    ) -> Result<()> {
        if stmt.text.len() > LONG {
            Box::pin(self.place.step_aside()).await;
        }
        self.place.ticket = self.place.ticket.wrapping_add(1);
        self.place.handle.begins(&told(stmt));
        if self.show_warnings(stmt)? {
            return Ok(());
        }
        self.forget_warnings();
        self.work.touched = self.work.touched.max(Touched::by(&stmt.kind));
        let (settings, isolation) = (self.settings.variables.shared(), self.told_isolation());
        let facts = self.place.facts_mut();
        (facts.settings, facts.isolation) = (settings, isolation);
        self.show_own(&stmt.text)?;
        if self.start_local(stmt, &bound).await? {
            return Ok(());
        }
        let away = self.leave(stmt)?;
        self.work.planning.learns &= away.is_none();
        let result = self.start_on_units(stmt, bound).await;
        self.place.come_back(away);
        result
    }

    /// Starts one statement on storage units.
    pub(in crate::session) async fn start_on_units(
        &mut self,
        stmt: &Statement,
        bound: Bound,
    ) -> Result<()> {
        let mut bound = bound;
        self.work.refuse_if_failed(false)?;
        self.refuse_without_database(stmt)?;
        let live = self.place.live()?;
        if !live.has_units() {
            return self.answer_alone(stmt, &bound);
        }
        bound.era = moment(&live).era();
        Box::pin(self.look_at_temporaries(&live, stmt)).await?;
        let temporary = self.temporary.concerns_temporaries();
        if let Kind::Define(define) = &stmt.kind
            && !temporary
        {
            self.cursors.refuse_in_use(define)?;
            self.begin_definition(&live)?;
            live.catalog.forget();
        }
        if live.database.dialect.definitions_commit()
            && plan::commits(&stmt.kind)
            && self.work.transaction.state() != TransactionState::Idle
        {
            self.commit_implicitly().await?;
        }
        self.settle_cursors().await?;
        let plan = match self.plan(&live, stmt, &bound, Purpose::Run).await {
            Err(refusal) => {
                if self.drops_nothing(stmt, &refusal) {
                    Box::pin(self.end_definition()).await;
                    return Ok(());
                }
                self.refuse_moved(&live, stmt, true)?;
                self.temporary.refuse_steps_of_temporaries(stmt, &refusal)?;
                return self.start_in_steps(&live, stmt, &bound, refusal).await;
            }
            Ok(plan) => plan,
        };
        let plan = Arc::new(self.on_leaders(&live, (stmt, &bound), plan).await?);
        self.refuse_moved(&live, stmt, plan.writes)?;
        self.work.planning.learns &= self.temporary.own.is_none();
        if self.work.planning.learns && !bound.prepared {
            Box::pin(self.look_at_table(&live, stmt)).await;
        }
        self.learn(&live, stmt, (&bound, &plan));
        match self.start_plan(&live, stmt, &plan, &mut bound).await {
            // Only the answers' types showed that they cannot be merged.
            Err(refusal) if plan::is_for_assembly(&refusal) && is_select(&stmt.kind) => {
                let plan = self.planned_apart(&live, stmt, &bound, refusal).await?;
                self.start_plan(&live, stmt, &Arc::new(plan), &mut bound).await
            }
            started => started.inspect(|()| self.work.note_unseen_writes(&live, stmt, &plan)),
        }
    }

    /// Plans a statement, finding out what planning asks for, and reads the rows of an assembly.
    pub(in crate::session) async fn plan(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        bound: &Bound,
        purpose: Purpose,
    ) -> Result<Plan> {
        match self.planned(live, stmt, bound, purpose).await? {
            Planned::Plan(plan) => Ok(*plan),
            Planned::Assembly(assembly) => match self.assemble(live, &assembly, bound).await {
                Err(refusal) if assembly.is_of_groups() && plan::is_for_assembly(&refusal) => {
                    Box::pin(self.planned_apart(live, stmt, bound, refusal)).await
                }
                assembled => assembled,
            },
            Planned::Needs(_) => Err(Error::internal("planning asks for what is known")),
        }
    }

    /// Plans a statement, finding out what planning asks for. Never gives `Needs`.
    pub(in crate::session) async fn planned(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        bound: &Bound,
        purpose: Purpose,
    ) -> Result<Planned> {
        self.work.keep_own_up(live);
        if live.doubts.are() {
            Box::pin(self.vouch(live, stmt)).await?;
        }
        self.sought(live, stmt, bound, purpose).await
    }

    /// As [`Session::planned`], with what is known of the tables as it is.
    pub(in crate::session) async fn sought(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        bound: &Bound,
        purpose: Purpose,
    ) -> Result<Planned> {
        for _ in 0..MAX_NEEDS {
            let parameters = (purpose == Purpose::Run).then_some(bound);
            let catalog = Arc::clone(self.work.catalog(live));
            let epoch = catalog.epoch();
            let outcome = self.in_context(live, parameters, |ctx| plan::plan(ctx, stmt, purpose));
            let need = match outcome {
                Ok(Planned::Needs(need)) => need,
                // One half of it may rest on other columns than the other.
                Ok(_) if catalog.epoch() != epoch => continue,
                Ok(planned) if self.learns_of_effects(live, &planned).await? => continue,
                Ok(planned) => return Ok(planned),
                Err(error) if unknown(&error) && catalog.forget_stale() => continue,
                Err(error) => return Err(error),
            };
            self.find_out(live, need).await?;
        }
        Err(Error::internal("planning asks for ever more"))
    }

    /// Plans an assembly in place of a plan whose answers could not be merged; `refusal` when there is none.
    pub(in crate::session) async fn planned_apart(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        bound: &Bound,
        refusal: Error,
    ) -> Result<Plan> {
        let mut refusal = refusal;
        for _ in 0..MAX_NEEDS {
            let kept = refusal.kind().clone();
            let outcome = self.in_context(live, Some(bound), |ctx| plan::apart(ctx, stmt, refusal));
            match outcome? {
                Planned::Plan(plan) => return Ok(*plan),
                Planned::Assembly(assembly) => return self.assemble(live, &assembly, bound).await,
                Planned::Needs(need) => self.find_out(live, need).await?,
            }
            refusal = Error::new(kept);
        }
        Err(refusal)
    }

    /// Opens a transaction that ends with the statement.
    pub(in crate::session) fn open_for_statement(&mut self, modes: Vec<String>) {
        let modes = self.work.modes_for(modes);
        self.work.transaction.begin(modes, self.course());
        self.work.opened = Opened::Statement;
    }

    /// Runs a plan up to its first piece of reply. The parameters of a plan for one unit go with it, once nothing can refuse it any more.
    pub(in crate::session) async fn start_plan(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        plan: &Arc<Plan>,
        bound: &mut Bound,
    ) -> Result<()> {
        self.place.refuse_unadmitted(plan.writes)?;
        if self.place.properties().sql_show {
            show(stmt, plan);
        }
        if self.work.transaction.state() == TransactionState::Idle {
            self.refuse_unheeding(stmt)?;
            if !self.work.autocommit && opens_transaction(&stmt.kind) {
                Box::pin(self.ready_all()).await?;
                self.begin(Vec::new());
            } else if plan.writes && self.work.modes.session.iter().any(|mode| mode == "READ ONLY")
            {
                return Err(ErrorKind::TransactionState("the session is read only".into()).into());
            } else if (plan.writes
                && plan.units.len() > 1
                && (!is_definition(&stmt.kind) || self.is_taken_back(live, stmt)))
                || self.changes_in_base(stmt)
                || (plan.writes && self.locks_alone(live))
            {
                self.open_for_statement(Vec::new());
            } else if self.reads_as_one(plan) {
                // A snapshot is enough, and waits for nobody.
                let only_reads = self.locks_alone(live) && !plan::may_write(&stmt.kind);
                let modes = if only_reads { vec!["READ ONLY".to_owned()] } else { Vec::new() };
                self.open_for_statement(modes);
            } else if !is_definition(&stmt.kind) && self.work.uses_up_modes(&stmt.kind) {
                self.open_for_statement(Vec::new());
            }
        }
        self.work.planning.only_changes =
            matches!(stmt.kind, Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_));
        if plan.writes {
            self.work.transaction.wrote_if_open();
        }
        let gives_keys = self.gives_keys(live, stmt, bound).await?;
        let verb = Verb {
            gives_keys,
            tag: tag(&stmt.kind),
            selects: matches!(stmt.kind, Kind::Select(_) | Kind::Show(_)),
            defines: defines(&stmt.kind) && !self.temporary.concerns_temporaries(),
            key: first_key(plan),
            upserts: upserts(&stmt.kind),
            changes: plan::changes_in_with(&stmt.kind),
            calculates: calculates(&stmt.kind),
            unread: plan::is_unread(&stmt.kind),
        };
        if self.work.is_for_base(stmt)? {
            let plan = bound.written(plan);
            return Box::pin(self.start_in_base(live, &plan, bound, verb)).await;
        }
        if let [unit] = &plan.units[..] {
            let channel = self.start_unit(live, (plan, unit), bound).await?;
            let origin = Origin::of(live, plan);
            let retell = Retelling::of(&live.database, &stmt.kind, &unit.target.unit);
            let pass = Pass {
                channel,
                origin,
                retell,
                columns: None,
                completion: None,
                rows: 0,
                refusal: None,
                verb,
            };
            self.outbox.reply = Reply::Pass(Box::new(pass));
            return Ok(());
        }
        let splice = splice(&stmt.kind, plan.units.len())?;
        let mut started = self.start_units(live, plan, bound).await?;
        if verb.defines {
            started.channels.iter_mut().for_each(crate::execute::Channel::go_on_after_errors);
        }
        Box::pin(self.start_many(live, plan, started, (verb, splice))).await
    }

    /// Several units: reads the beginning of each reply, then merges rows or adds up counts.
    async fn start_many(
        &mut self,
        live: &Arc<LiveDatabase>,
        plan: &Arc<Plan>,
        started: Started,
        (verb, splice): (Verb, Option<Splice>),
    ) -> Result<()> {
        let Started { mut channels, jobs } = started;
        let may_part = self.work.may_part(plan, &verb, &jobs);
        let result = match self.beginnings(&mut channels, may_part).await {
            Ok((mut heads, _))
                if heads.iter().any(|head| matches!(head, Some(Event::CopyOut(_)))) =>
            {
                self.outbox.pending.extend(heads.drain(..).flatten().next());
                let splice = splice.ok_or_else(|| Error::internal("a COPY nobody asked for"))?;
                let copy = CopyOut { channels, splice, at: 0, ended: false, verb };
                self.outbox.reply = Reply::CopyOut(Box::new(copy));
                return Ok(());
            }
            Ok((heads, parted))
                if parted.is_empty() && heads.iter().all(|head| columns_of(head).is_none()) =>
            {
                run_out(&mut channels).await.map(|()| None)
            }
            Ok(begun) => Ok(Some(begun)),
            Err(error) => Err(error),
        };
        match result {
            Ok(None) => {
                // Where all do the same thing the answer is the first target's.
                let leading = jobs.iter().position(|jobs| jobs.contains(&0));
                if let (Spread::Same, Some(leading)) = (plan.spread, leading) {
                    channels.swap(0, leading);
                }
                self.end_counts(channels, plan, &verb).await
            }
            Ok(Some(begun)) => self.merge(live, (plan, verb), (channels, jobs), begun).await,
            Err(error) => {
                let rest = if verb.defines { Rest::Wanted } else { Rest::Useless };
                self.stop(&mut channels, rest).await;
                self.undo_if_open(&mut channels).await;
                self.release_channels(channels).await;
                Err(error)
            }
        }
    }

    async fn merge(
        &mut self,
        live: &Arc<LiveDatabase>,
        (plan, verb): (&Arc<Plan>, Verb),
        (channels, jobs): (Vec<crate::execute::Channel>, Vec<Vec<usize>>),
        (heads, parted): (Vec<Option<Event>>, Vec<Parted>),
    ) -> Result<()> {
        let mut channels = channels;
        let one_each = jobs.iter().all(|jobs| jobs.len() == 1);
        let numbered = plan.merge.turns.is_some();
        let in_turn = plan.merge.order.is_empty()
            && plan.merge.group.is_none()
            && plan.merge.distinct.is_none();
        let limit = self.place.properties().memory_bytes;
        let dialect = Arc::clone(&live.database.dialect);
        let origin = Origin::of(live, plan);
        let dress = move |mut columns: Columns| {
            origin.rename(&mut columns);
            columns
        };
        let same = plan.spread == Spread::Same;
        let (inputs, shared, loaded) = if !same && !numbered && (one_each || in_turn) {
            let shared = share(channels);
            let columns = heads.iter().filter_map(columns_of).cloned();
            let input =
                |(columns, channel)| Input { columns, rows: Source::Stream(Arc::clone(channel)) };
            let mut inputs: Vec<_> = columns.zip(&shared).map(input).collect();
            let loaded = among(&mut inputs, parted);
            // The client is told those of the first.
            if let Some(first) = inputs.first_mut() {
                first.columns = dress(first.columns.clone());
            }
            (inputs, shared, loaded)
        } else {
            let replies = match load(&mut channels, heads, limit).await {
                Ok(replies) => replies,
                Err(error) => {
                    self.abort(channels).await;
                    return Err(error);
                }
            };
            let mut inputs = in_plan_order(replies, &jobs, &dress);
            let said = if same { channels.len().min(1) } else { channels.len() };
            self.outbox.pass_notices(&mut channels[..said]);
            let mut ended: Vec<_> =
                channels.iter_mut().flat_map(|c| std::mem::take(&mut c.completions)).collect();
            self.release_channels(channels).await;
            if same {
                inputs.truncate(1);
                ended.truncate(1);
            }
            (inputs, Vec::new(), ended)
        };
        let limits = Limits { memory_bytes: limit };
        let one_by_one;
        let how = if numbered && !has_all(&plan.merge, &inputs) {
            one_by_one = MergePlan { turns: None, ..plan.merge.clone() };
            &one_by_one
        } else {
            &plan.merge
        };
        match Merge::new(how, inputs, dialect.as_ref(), limits) {
            Ok(merge) => {
                let merged =
                    Merged { merge, channels: shared, rows: 0, announced: false, loaded, verb };
                self.outbox.reply = Reply::Merged(Box::new(merged));
                Ok(())
            }
            Err(error) => {
                self.abort(crate::execute::unshare(shared)).await;
                Err(error)
            }
        }
    }
}

/// How the bulk data of several units becomes one stream.
fn splice(kind: &Kind, units: usize) -> Result<Option<Splice>> {
    if let Kind::Copy(copy) = kind
        && units > 1
    {
        return Splice::new(copy).map(Some);
    }
    Ok(None)
}

/// Whether a query asks for the number of rows it would have without its LIMIT.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn calculates(kind: &Kind) -> bool {
    let Kind::Select(query) = kind else { return false };
    match &query.body {
        QueryBody::Select(select) => {
            select.modifiers.iter().any(|word| word == "SQL_CALC_FOUND_ROWS")
        }
        _ => false,
    }
}

/// Puts replies whose connections are home in their places among the others, the last that was taken out first. Result: how they ended.
fn among(inputs: &mut Vec<Input<Source>>, parted: Vec<Parted>) -> Vec<Completion> {
    let mut ended = Vec::new();
    for Parted { at, columns, rows, completions } in parted.into_iter().rev() {
        inputs.insert(at.min(inputs.len()), Input { columns, rows: Source::Memory(rows) });
        ended.extend(completions);
    }
    ended
}

/// Whether every target has a row for each of its turns. Where one has left rows out (ON CONFLICT DO NOTHING, IGNORE, a trigger), nobody knows which.
pub(in crate::session) fn has_all(plan: &MergePlan, inputs: &[Input<Source>]) -> bool {
    let mut owed = vec![0usize; inputs.len()];
    for turn in plan.turns.iter().flat_map(|turns| turns.iter()) {
        if let Some(owed) = owed.get_mut(*turn as usize) {
            *owed += 1;
        }
    }
    let count = |source: &Source| match source {
        Source::Memory(rows) => Some(rows.iter().map(|rows| rows.count as usize).sum::<usize>()),
        Source::Stream(_) => None,
    };
    inputs.iter().zip(owed).all(|(input, owed)| count(&input.rows) == Some(owed))
}

fn in_plan_order(
    replies: Vec<Vec<Loaded>>,
    jobs: &[Vec<usize>],
    dress: &dyn Fn(Columns) -> Columns,
) -> Vec<Input<Source>> {
    let mut inputs: Vec<(usize, Input<Source>)> = Vec::new();
    for (replies, jobs) in replies.into_iter().zip(jobs) {
        for (reply, job) in replies.into_iter().zip(jobs) {
            let Some(columns) = reply.columns else { continue };
            inputs
                .push((*job, Input { columns: dress(columns), rows: Source::Memory(reply.rows) }));
        }
    }
    inputs.sort_by_key(|(job, _)| *job);
    inputs.into_iter().map(|(_, input)| input).collect()
}

fn unknown(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::UnknownTable(_) | ErrorKind::NothingToDrop { .. })
}

/// Whether a statement may change definitions.
fn defines(kind: &Kind) -> bool {
    let changes_rows = matches!(kind, Kind::Utility { verb, .. } if verb == "MERGE");
    matches!(kind, Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque) && !changes_rows
}

fn is_select(kind: &Kind) -> bool {
    matches!(kind, Kind::Select(_))
}

fn is_definition(kind: &Kind) -> bool {
    matches!(kind, Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque)
}
