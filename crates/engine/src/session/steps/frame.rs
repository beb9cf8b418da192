//! Statements of the client that run as several of the session's own: all of them or none take effect, and the client sees one.

use std::collections::VecDeque;
use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::dialect::Facts;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::{Completion, Description, Event};
use pando_kernel::request::Prepared;
use pando_kernel::row::Rows;
use pando_kernel::session::TransactionState;
use pando_sql::ast::Statement;

use crate::plan::{self, Planned, Purpose, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::reply::pieces::Verb;
use crate::session::{Bound, Opened, Session, Window};

/// Name of the savepoint that undoes the whole statement on every unit.
const SAVEPOINT: &str = "pando_steps";
/// Bytes of one INSERT; a single longer row makes a longer one.
const BATCH: usize = 256 << 10;

/// What the session was about when the steps began.
pub(in crate::session) struct Kept {
    facts: Arc<Facts>,
    window: Option<Window>,
    queue: VecDeque<Arc<str>>,
    savepoint: bool,
}

/// What the steps came to.
#[derive(Debug, Default)]
pub(in crate::session) struct Stepped {
    /// Notices, and rows for the client.
    pub(in crate::session) told: Vec<Event>,
    pub(in crate::session) completion: Completion,
    /// First key the servers or the key generators gave; 0 means none.
    pub(in crate::session) key: u64,
}

/// What one step gives back.
#[derive(Debug, Default)]
pub(in crate::session) struct Answer {
    pub(in crate::session) columns: Option<Columns>,
    pub(in crate::session) rows: Vec<Rows>,
    pub(in crate::session) notices: Vec<Event>,
    /// Keys were generated for it.
    pub(in crate::session) has_keys: bool,
    pub(in crate::session) completion: Completion,
}

/// Rows written as text, in batches.
#[derive(Debug, Default)]
pub(in crate::session) struct Batches {
    pub(in crate::session) list: Vec<String>,
    /// How many rows.
    pub(in crate::session) rows: u64,
    bytes: usize,
}

impl Batches {
    /// Adds a row of literals.
    ///
    /// # Errors
    /// `Memory` when all of them are more than `limit` bytes.
    pub(in crate::session) fn push(&mut self, literals: &[String], limit: usize) -> Result<()> {
        let length = literals.iter().map(|one| one.len() + 2).sum::<usize>() + 2;
        self.bytes += length;
        self.rows += 1;
        if self.bytes > limit {
            return Err(crate::execute::too_much(limit));
        }
        let batch = match self.list.last_mut() {
            Some(batch) if batch.len() + length <= BATCH => {
                batch.push_str(", ");
                batch
            }
            _ => {
                self.list.push(String::new());
                let Some(batch) = self.list.last_mut() else { return Ok(()) };
                batch
            }
        };
        batch.push('(');
        batch.push_str(&literals.join(", "));
        batch.push(')');
        Ok(())
    }
}

impl Session {
    /// Runs a statement in steps that planning refused to run in one; the refusal stands when that is not possible either.
    pub(in crate::session) async fn start_in_steps(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        bound: &Bound,
        refusal: Error,
    ) -> Result<()> {
        let reads_first = plan::is_for_reading_first(stmt, &refusal);
        let moves = plan::is_for_moving(stmt, &refusal);
        let chooses = plan::is_for_choosing(stmt, &refusal);
        if !reads_first && !moves && !chooses && !plan::is_for_keys(stmt, &refusal) {
            return Err(refusal);
        }
        if chooses && self.chosen_of(live, stmt).await?.is_none() {
            return Err(refusal);
        }
        self.place.refuse_unadmitted(true)?;
        self.refuse_in_base("a statement that runs in several steps")?;
        if reads_first {
            return self.start_insert_query(live, stmt, bound, refusal).await;
        }
        if moves {
            return self.start_relocation(live, stmt, bound).await;
        }
        if chooses {
            return self.start_chosen(live, stmt, bound, refusal).await;
        }
        self.start_limited(live, stmt, bound, refusal).await
    }

    /// What a prepared statement takes and returns that will run in steps; the refusal stands when it will not.
    pub(in crate::session) async fn describe_in_steps(
        &mut self,
        live: &Arc<LiveDatabase>,
        prepared: &Arc<Prepared>,
        refusal: Error,
    ) -> Result<Description> {
        let stmt = &prepared.statement;
        if plan::is_for_reading_first(stmt, &refusal) {
            return self.describe_insert_query(live, prepared, refusal).await;
        }
        if plan::is_for_choosing(stmt, &refusal) {
            return self.describe_chosen(live, prepared, refusal).await;
        }
        // With parameters it is described as it would run on one shard.
        if plan::is_for_moving(stmt, &refusal) && stmt.parameters == 0 {
            plan::moved_table(stmt)?;
            return Ok(Description { parameters: Vec::new(), columns: None });
        }
        Err(refusal)
    }

    /// What PREVIEW shows of a statement that runs in steps: all that can be told before its rows are read.
    pub(in crate::session) async fn shown_steps(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        bound: &Bound,
        refusal: Error,
    ) -> Result<Vec<Unit>> {
        let texts = if plan::is_for_reading_first(stmt, &refusal) {
            let parts = self.insert_query_of(live, stmt, refusal).await?;
            vec![(parts.query, parts.query_parameters)]
        } else if plan::is_for_moving(stmt, &refusal) {
            let parts = self.relocation_parts(live, stmt).await?;
            let all = (0..stmt.parameters).collect();
            vec![(parts.read, all), (parts.delete, parts.delete_parameters)]
        } else if plan::is_for_keys(stmt, &refusal) {
            let Some(parts) = self.limited_of(live, stmt).await? else { return Err(refusal) };
            vec![(parts.read, parts.read_parameters)]
        } else if plan::is_for_choosing(stmt, &refusal) {
            let Some(parts) = self.chosen_of(live, stmt).await? else { return Err(refusal) };
            let reads = parts.choices.into_iter();
            reads.map(|choice| (choice.read, choice.read_parameters)).collect()
        } else {
            return Err(refusal);
        };
        let syntax = live.database.dialect.syntax();
        let mut units = Vec::new();
        for (text, parameters) in texts {
            let step = pando_sql::parse(&text, syntax).map_err(crate::plan::unread)?;
            let mut own = bound.part(syntax.placeholder, &parameters, Vec::new());
            own.prepared = bound.prepared;
            match Box::pin(self.planned(live, &step, &own, Purpose::Run)).await? {
                Planned::Plan(plan) => units.extend(plan.units),
                Planned::Assembly(assembly) => {
                    units.extend(Box::pin(self.shown(live, &assembly, &own)).await?);
                }
                Planned::Needs(_) => {
                    return Err(Error::internal("planning asks for what is known"));
                }
            }
        }
        Ok(units)
    }

    /// Before the first step: a transaction, or a savepoint in the client's.
    pub(in crate::session) async fn begin_steps(&mut self, live: &LiveDatabase) -> Result<Kept> {
        let dialect = live.database.dialect.as_ref();
        if self.work.transaction.state() == TransactionState::Idle {
            if !self.work.autocommit {
                self.begin(Vec::new());
            } else if self.work.modes.session.iter().any(|mode| mode == "READ ONLY") {
                return Err(ErrorKind::TransactionState("the session is read only".into()).into());
            } else {
                let modes = self.work.modes_for(Vec::new());
                self.work.transaction.begin(modes, self.course());
                self.work.opened = Opened::Steps;
            }
        }
        let savepoint = self.work.opened == Opened::Client && !dialect.error_fails_transaction();
        if savepoint {
            self.attend_transaction()?;
            let set = self.work.transaction.savepoint(SAVEPOINT, dialect).await;
            self.let_go().await;
            set?;
        }
        self.work.transaction.wrote_if_open();
        Ok(Kept {
            facts: self.place.facts.clone(),
            window: self.outbox.window.take(),
            queue: std::mem::take(&mut self.outbox.queue),
            savepoint,
        })
    }

    /// After the last step, or the one that failed.
    pub(in crate::session) async fn end_steps(
        &mut self,
        live: &LiveDatabase,
        kept: Kept,
        stepped: Result<Stepped>,
        tag: &'static str,
    ) -> Result<()> {
        let ended = match stepped {
            Ok(stepped) if kept.savepoint => match self.keep_steps(live).await {
                Ok(()) => Ok(stepped),
                Err(error) => {
                    self.undo_steps(live).await;
                    Err(error)
                }
            },
            Err(error) if kept.savepoint => {
                self.undo_steps(live).await;
                Err(error)
            }
            ended => ended,
        };
        (self.place.facts, self.outbox.window, self.outbox.queue) =
            (kept.facts, kept.window, kept.queue);
        let stepped = ended?;
        if self.work.opened == Opened::Steps {
            self.work.opened = Opened::Statement;
        }
        if stepped.key != 0 {
            self.place.facts_mut().last_insert_id = stepped.key;
        }
        self.outbox.pending.extend(stepped.told);
        let verb = Verb { tag, gives_keys: true, ..Verb::default() };
        self.conclude(stepped.completion, &verb).await
    }

    async fn keep_steps(&mut self, live: &LiveDatabase) -> Result<()> {
        self.attend_transaction()?;
        let dialect = live.database.dialect.as_ref();
        let released = self.work.transaction.release(SAVEPOINT, dialect).await;
        self.let_go().await;
        released
    }

    async fn undo_steps(&mut self, live: &LiveDatabase) {
        // A unit that has rolled all of it back takes the others with it.
        if self.work.transaction.state() != TransactionState::Open
            || self.work.transaction.is_torn()
        {
            return;
        }
        let dialect = live.database.dialect.as_ref();
        self.let_go().await;
        let undone = match self.attend_transaction() {
            Ok(()) => match self.work.transaction.rollback_to(SAVEPOINT, dialect).await {
                Ok(()) => self.work.transaction.release(SAVEPOINT, dialect).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        self.let_go().await;
        if undone.is_err() {
            self.work.transaction.lose();
        }
    }

    /// Runs a query as a step, and gives its columns alone and then with its rows to `take`. Result: its notices.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the rest only notices are for the client"
    )]
    pub(in crate::session) async fn read_step(
        &mut self,
        stmt: &Statement,
        bound: Bound,
        take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
    ) -> Result<Vec<Event>> {
        Box::pin(self.start_on_units(stmt, bound)).await?;
        let mut notices = Vec::new();
        let mut columns: Option<Columns> = None;
        while let Some(event) = Box::pin(self.next_of_reply()).await? {
            let rows = match event {
                Event::Columns(described) => {
                    columns = Some(described);
                    None
                }
                Event::Rows(rows) => Some(rows),
                other => {
                    notices.extend(Some(other).filter(is_notice));
                    continue;
                }
            };
            let described = columns.as_ref().ok_or_else(|| Error::internal("rows without columns"));
            if let Err(error) = described.and_then(|columns| take(columns, rows.as_ref())) {
                self.drop_reply().await;
                return Err(error);
            }
        }
        Ok(notices)
    }

    /// Runs a change as a step.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the rest only notices are for the client"
    )]
    pub(in crate::session) async fn write_step(
        &mut self,
        live: &Arc<LiveDatabase>,
        text: &Arc<str>,
        bound: &Bound,
        limit: usize,
    ) -> Result<Answer> {
        let stmt =
            pando_sql::parse(text, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
        let plan = Box::pin(self.plan(live, &stmt, bound, Purpose::Run)).await?;
        let mut answer = Answer { has_keys: plan.keys.is_some(), ..Answer::default() };
        let mut own = bound.clone();
        Box::pin(self.start_plan(live, &stmt, &Arc::new(plan), &mut own)).await?;
        let mut held = 0;
        while let Some(event) = Box::pin(self.next_of_reply()).await? {
            match event {
                Event::Columns(columns) => answer.columns = Some(columns),
                Event::Rows(rows) => {
                    held += rows.bytes.len();
                    answer.rows.push(rows);
                    if held > limit {
                        self.drop_reply().await;
                        return Err(crate::execute::too_much(self.place.properties().memory_bytes));
                    }
                }
                Event::Complete(completion) => answer.completion = completion,
                other => answer.notices.extend(Some(other).filter(is_notice)),
            }
        }
        Ok(answer)
    }

    /// Gives back what a step's reply holds that will not be read to its end.
    async fn drop_reply(&mut self) {
        self.outbox.pending.clear();
        let reply = std::mem::take(&mut self.outbox.reply);
        self.abort_reply(reply).await;
    }
}

fn is_notice(event: &Event) -> bool {
    matches!(event, Event::Notice(_))
}

/// Rows came or changed between reading and changing them.
pub(in crate::session) fn changed_meanwhile() -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number: 1205,
        sqlstate: "40001".into(),
        message: "rows that were read have been changed by another transaction; try again".into(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}
