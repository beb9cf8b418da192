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

use crate::plan;
use crate::plan::{Planned, Purpose, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::given::{Given, Queued, Run, Window};
use crate::session::place::admission;
use crate::session::reply::pieces::Verb;
use crate::session::steps::{assembly, chosen_rows, first_rows, insert_select, move_rows};
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{base, begin, end};
use crate::session::{Session, line};

/// Name of the savepoint that undoes the whole statement on every unit.
const SAVEPOINT: &str = "pando_steps";
/// Bytes of one INSERT; a single longer row makes a longer one.
const BATCH: usize = 256 << 10;

/// What the session was about when the steps began.
pub(in crate::session) struct Kept {
    facts: Arc<Facts>,
    window: Option<Window>,
    queue: VecDeque<Queued>,
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

/// Runs a statement in steps that planning refused to run in one; the refusal stands when that is not possible either.
pub(in crate::session) async fn start_in_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<()> {
    let reads_first = plan::is_for_reading_first(stmt, &refusal);
    let moves = plan::is_for_moving(stmt, &refusal);
    let chooses = plan::is_for_choosing(stmt, &refusal);
    if !reads_first && !moves && !chooses && !plan::is_for_keys(stmt, &refusal) {
        return Err(refusal);
    }
    if chooses && chosen_rows::chosen_of(session, live, stmt).await?.is_none() {
        return Err(refusal);
    }
    admission::admit_change(session, live, stmt)?;
    base::refuse_in_base(session, "a statement that runs in several steps")?;
    if reads_first {
        return insert_select::start_insert_query(session, live, stmt, given, refusal).await;
    }
    if moves {
        return move_rows::start_relocation(session, live, stmt, given).await;
    }
    if chooses {
        return chosen_rows::start_chosen(session, live, stmt, given, refusal).await;
    }
    first_rows::start_limited(session, live, stmt, given, refusal).await
}

/// What a prepared statement takes and returns that will run in steps; the refusal stands when it will not.
pub(in crate::session) async fn describe_in_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    prepared: &Arc<Prepared>,
    refusal: Error,
) -> Result<Description> {
    let stmt = &prepared.statement;
    if plan::is_for_reading_first(stmt, &refusal) {
        return insert_select::describe_insert_query(session, live, prepared, refusal).await;
    }
    if plan::is_for_choosing(stmt, &refusal) {
        return chosen_rows::describe_chosen(session, live, prepared, refusal).await;
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
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<Vec<Unit>> {
    let texts = if plan::is_for_reading_first(stmt, &refusal) {
        let parts = insert_select::insert_query_of(session, live, stmt, refusal).await?;
        vec![(parts.query, parts.query_parameters)]
    } else if plan::is_for_moving(stmt, &refusal) {
        let parts = move_rows::relocation_parts(session, live, stmt).await?;
        let all = (0..stmt.parameters).collect();
        vec![(parts.read, all), (parts.delete, parts.delete_parameters)]
    } else if plan::is_for_keys(stmt, &refusal) {
        let Some(parts) = first_rows::limited_of(session, live, stmt).await? else {
            return Err(refusal);
        };
        vec![(parts.read, parts.read_parameters)]
    } else if plan::is_for_choosing(stmt, &refusal) {
        let Some(parts) = chosen_rows::chosen_of(session, live, stmt).await? else {
            return Err(refusal);
        };
        let reads = parts.choices.into_iter();
        reads.map(|choice| (choice.read, choice.read_parameters)).collect()
    } else {
        return Err(refusal);
    };
    let syntax = live.database.dialect.syntax();
    let mut units = Vec::new();
    for (text, parameters) in texts {
        let step = pando_sql::parse(&text, syntax).map_err(crate::plan::unread)?;
        let mut own = given.part(syntax.placeholder, &parameters, Vec::new());
        own.prepared = given.prepared;
        match Box::pin(session.planned(live, &step, &own, Purpose::Run)).await? {
            Planned::Plan(plan) => units.extend(plan.units),
            Planned::Assembly(assembly) => {
                units.extend(Box::pin(assembly::shown(session, live, &assembly, &own)).await?);
            }
            Planned::Needs(_) => {
                return Err(Error::internal("planning asks for what is known"));
            }
        }
    }
    Ok(units)
}

/// Before the first step: a transaction, or a savepoint in the client's.
pub(in crate::session) async fn begin_steps(
    session: &mut Session,
    live: &LiveDatabase,
) -> Result<Kept> {
    let dialect = live.database.dialect.as_ref();
    if session.work.is_idle() {
        if session.work.autocommit {
            session.work.refuse_if_read_only()?;
        }
        begin::open_if_idle(session, Opened::Steps);
    }
    let savepoint = session.work.opened == Opened::Client && !dialect.error_fails_transaction();
    if savepoint {
        end::attend_transaction(session)?;
        let set = session.work.transaction.savepoint(SAVEPOINT, dialect).await;
        end::let_go(session).await;
        set?;
    }
    session.work.transaction.wrote_if_open();
    Ok(Kept {
        facts: session.place.facts.clone(),
        window: session.outbox.window.take(),
        queue: std::mem::take(&mut session.outbox.queue),
        savepoint,
    })
}

/// After the last step, or the one that failed.
pub(in crate::session) async fn end_steps(
    session: &mut Session,
    live: &LiveDatabase,
    kept: Kept,
    stepped: Result<Stepped>,
    tag: &'static str,
) -> Result<()> {
    let ended = match stepped {
        Ok(stepped) if kept.savepoint => match keep_steps(session, live).await {
            Ok(()) => Ok(stepped),
            Err(error) => {
                undo_steps(session, live).await;
                Err(error)
            }
        },
        Err(error) if kept.savepoint => {
            undo_steps(session, live).await;
            Err(error)
        }
        ended => ended,
    };
    (session.place.facts, session.outbox.window, session.outbox.queue) =
        (kept.facts, kept.window, kept.queue);
    let stepped = ended?;
    if session.work.opened == Opened::Steps {
        session.work.opened = Opened::Statement;
    }
    if stepped.key != 0 {
        session.place.facts_mut().last_insert_id = stepped.key;
    }
    session.outbox.pending.extend(stepped.told);
    let verb = Verb { tag, gives_keys: true, ..Verb::default() };
    session.conclude(stepped.completion, &verb).await
}

async fn keep_steps(session: &mut Session, live: &LiveDatabase) -> Result<()> {
    end::attend_transaction(session)?;
    let dialect = live.database.dialect.as_ref();
    let released = session.work.transaction.release(SAVEPOINT, dialect).await;
    end::let_go(session).await;
    released
}

async fn undo_steps(session: &mut Session, live: &LiveDatabase) {
    // A unit that has rolled all of it back takes the others with it.
    if session.work.transaction.state() != TransactionState::Open
        || session.work.transaction.is_torn()
    {
        return;
    }
    let dialect = live.database.dialect.as_ref();
    end::let_go(session).await;
    let undone = match end::attend_transaction(session) {
        Ok(()) => match session.work.transaction.rollback_to(SAVEPOINT, dialect).await {
            Ok(()) => session.work.transaction.release(SAVEPOINT, dialect).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    end::let_go(session).await;
    if undone.is_err() {
        session.work.transaction.lose();
    }
}

/// Runs a query as a step, and gives its columns alone and then with its rows to `take`. Result: its notices.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the rest only notices are for the client")]
pub(in crate::session) async fn read_step(
    session: &mut Session,
    stmt: &Statement,
    given: Given,
    take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
) -> Result<Vec<Event>> {
    let given = Given { is_step: true, ..given };
    Box::pin(line::run_on_units(session, stmt, given)).await?;
    let mut notices = Vec::new();
    let mut columns: Option<Columns> = None;
    while let Some(event) = Box::pin(session.next_of_reply()).await? {
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
            drop_reply(session).await;
            return Err(error);
        }
    }
    Ok(notices)
}

/// Runs a change as a step.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the rest only notices are for the client")]
pub(in crate::session) async fn write_step(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    text: &Arc<str>,
    given: &Given,
    limit: usize,
) -> Result<Answer> {
    let stmt =
        pando_sql::parse(text, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    let plan = Box::pin(session.plan(live, &stmt, given, Purpose::Run)).await?;
    let mut answer = Answer { has_keys: plan.keys.is_some(), ..Answer::default() };
    let mut own = given.clone();
    Box::pin(line::run_plan(session, Run { live, stmt: &stmt, plan: &Arc::new(plan) }, &mut own))
        .await?;
    let mut held = 0;
    while let Some(event) = Box::pin(session.next_of_reply()).await? {
        match event {
            Event::Columns(columns) => answer.columns = Some(columns),
            Event::Rows(rows) => {
                held += rows.bytes.len();
                answer.rows.push(rows);
                if held > limit {
                    drop_reply(session).await;
                    return Err(crate::execute::too_much(session.place.properties().memory_bytes));
                }
            }
            Event::Complete(completion) => answer.completion = completion,
            other => answer.notices.extend(Some(other).filter(is_notice)),
        }
    }
    Ok(answer)
}

/// Gives back what a step's reply holds that will not be read to its end.
async fn drop_reply(session: &mut Session) {
    session.outbox.pending.clear();
    let reply = std::mem::take(&mut session.outbox.reply);
    session.abort_reply(reply).await;
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
