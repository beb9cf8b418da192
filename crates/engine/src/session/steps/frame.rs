//! Statements of the client that run as several of the session's own: all of them or none take effect, and the client
//! sees one.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::dialect::Facts;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::{Completion, Event};
use pando_kernel::row::Rows;
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Kind, Statement};

use crate::plan::{Purpose, Steps};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::given::{Given, Run};
use crate::session::reply::pieces::Verb;
use crate::session::reply::pull::{finish, piece};
use crate::session::reply::{Aside, command_tag};
use crate::session::run::on_units::Ran;
use crate::session::run::{entry, on_units, ready};
use crate::session::statement::{counters, numbered, sequence_calls};
use crate::session::steps::locked_rows;
use crate::session::transaction::temporary::look;
use crate::session::transaction::{Opened, attend, begin};

/// Name of the savepoint that undoes the whole statement on every unit.
const SAVEPOINT: &str = "pando_steps";
/// Bytes of one INSERT; a single longer row makes a longer one.
const BATCH: usize = 256 << 10;

/// What the session was about when the steps began.
pub(in crate::session) struct Kept {
    facts: Arc<Facts>,
    aside: Aside,
    savepoint: bool,
    /// What the client is told of the statement.
    tag: &'static str,
    /// It is a query.
    selects: bool,
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

impl Stepped {
    /// With what earlier steps told.
    pub(in crate::session) fn after(mut self, told: Vec<Event>) -> Self {
        self.told.splice(0..0, told);
        self
    }
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

/// Refuses steps where the session's settings would cut off what they read.
pub(in crate::session) fn refuse_cut_reads(session: &Session, live: &LiveDatabase) -> Result<()> {
    match live.database.dialect.relations() {
        Some(relations) => relations.check(session.settings.variables().list()),
        None => Ok(()),
    }
}

/// Before the first step: a transaction, or a savepoint in the client's.
pub(in crate::session) async fn begin_steps(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<Kept> {
    let dialect = live.database.dialect.as_ref();
    if session.work.is_idle() {
        if session.work.autocommit() {
            session.work.refuse_if_read_only()?;
        }
        begin::open_if_idle(session, Opened::Steps);
    }
    let savepoint = session.work.opened() == Opened::Client && !dialect.error_fails_transaction();
    if savepoint {
        attend::attend_transaction(session)?;
        let set = session.work.transaction_mut().savepoint(SAVEPOINT, dialect).await;
        attend::let_go(session).await;
        set?;
    }
    session.work.transaction_mut().wrote_if_open();
    Ok(Kept {
        facts: Arc::clone(session.place.facts()),
        aside: session.outbox.set_aside(),
        savepoint,
        tag: command_tag::tag(&stmt.kind),
        selects: matches!(stmt.kind, Kind::Select(_)),
    })
}

/// After the last step, or the one that failed.
pub(in crate::session) async fn end_steps(
    session: &mut Session,
    live: &LiveDatabase,
    kept: Kept,
    stepped: Result<Stepped>,
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
    session.place.knows_again(kept.facts);
    session.outbox.take_up(kept.aside);
    let stepped = ended?;
    session.work.ends_steps();
    if stepped.key != 0 {
        session.place.facts_mut().last_insert_id = stepped.key;
    }
    session.outbox.tell_all(stepped.told);
    let verb = Verb { tag: kept.tag, selects: kept.selects, gives_keys: true, ..Verb::default() };
    finish::conclude(session, stepped.completion, &verb).await
}

async fn keep_steps(session: &mut Session, live: &LiveDatabase) -> Result<()> {
    attend::attend_transaction(session)?;
    let dialect = live.database.dialect.as_ref();
    let released = session.work.transaction_mut().release(SAVEPOINT, dialect).await;
    attend::let_go(session).await;
    released
}

async fn undo_steps(session: &mut Session, live: &LiveDatabase) {
    // A unit that has rolled all of it back takes the others with it.
    if session.work.transaction().state() != TransactionState::Open
        || session.work.transaction().is_torn()
    {
        return;
    }
    let dialect = live.database.dialect.as_ref();
    session.work.gatherings_mut().forgoes();
    attend::let_go(session).await;
    let undone = match attend::attend_transaction(session) {
        Ok(()) => match session.work.transaction_mut().rollback_to(SAVEPOINT, dialect).await {
            Ok(()) => session.work.transaction_mut().release(SAVEPOINT, dialect).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    attend::let_go(session).await;
    if undone.is_err() {
        session.work.transaction_mut().lose();
    }
}

/// Runs a query as a step, and gives its columns alone and then with its rows to `take`. Result: its notices.
pub(in crate::session) async fn read_step(
    session: &mut Session,
    live: &LiveDatabase,
    text: &str,
    given: Given,
    take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
) -> Result<Vec<Event>> {
    let stmt =
        pando_sql::parse(text, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    let given = Given { is_step: true, ..given };
    Box::pin(on_units::run_as_one(session, &stmt, given)).await?;
    read_reply(session, take).await
}

/// A query that is a step, and the one unit that it goes to.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Step<'a> {
    pub(in crate::session) live: &'a LiveDatabase,
    pub(in crate::session) text: &'a str,
    pub(in crate::session) unit: &'a str,
}

/// As [`read_step`], on one unit.
pub(in crate::session) async fn read_step_at(
    session: &mut Session,
    step: Step<'_>,
    given: Given,
    take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
) -> Result<Vec<Event>> {
    let syntax = step.live.database.dialect.syntax();
    let mut stmt = pando_sql::parse(step.text, syntax).map_err(crate::plan::unread)?;
    stmt.hints.push(("DATA_SOURCE_NAME".to_owned(), step.unit.to_owned()));
    let given = Given { is_step: true, ..given };
    Box::pin(on_units::run_as_one(session, &stmt, given)).await?;
    read_reply(session, take).await
}

/// As [`read_step`], of a query that chooses rows: where it locks the first ones of several shards, no others are locked.
pub(in crate::session) async fn read_choice(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    text: &str,
    given: Given,
    take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
) -> Result<Vec<Event>> {
    let stmt =
        pando_sql::parse(text, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    let mut given = Given { is_step: true, ..given };
    let found = match Box::pin(on_units::run(session, &stmt, &mut given)).await? {
        Ran::Started => return read_reply(session, take).await,
        Ran::Retold(_) => return Err(Error::internal("a COPY of a table is no step")),
        Ran::InSteps(found) => found,
    };
    match found.steps {
        Steps::LockedRows(parts) if locked_rows::may_step(session, live, &given, &parts) => {
            Box::pin(locked_rows::read_locked(session, live, &given, &parts, take)).await
        }
        Steps::LockedRows(parts) => {
            on_units::run_merged(session, &stmt, &given, parts.into_one()?).await?;
            read_reply(session, take).await
        }
        Steps::InsertSelect(_)
        | Steps::MoveRows(_)
        | Steps::ChosenRows(_)
        | Steps::FirstRows(_)
        | Steps::TableOfQuery(_)
        | Steps::Refill(_)
        | Steps::TableLike(_)
        | Steps::ServerCalls(_) => Err(found.refusal),
    }
}

/// Reads a step's reply to its end.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the rest only notices are for the client")]
async fn read_reply(
    session: &mut Session,
    take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
) -> Result<Vec<Event>> {
    let mut notices = Vec::new();
    let mut columns: Option<Columns> = None;
    while let Some(event) = Box::pin(piece::next_of_reply(session)).await? {
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
pub(in crate::session) async fn write_step(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    text: &Arc<str>,
    given: &Given,
    limit: usize,
) -> Result<Answer> {
    let stmt =
        pando_sql::parse(text, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    Box::pin(look::look_at_temporaries(session, live, &stmt)).await?;
    let counted = match stmt.counts {
        true => Box::pin(sequence_calls::counted(session, live, &stmt, given)).await?,
        false => None,
    };
    let (stmt, given) = match &counted {
        Some((stmt, given)) => (stmt, given),
        None => (&stmt, given),
    };
    let mut given = given.clone();
    let filled = Box::pin(numbered::prepared(session, live, stmt, &mut given)).await?;
    let filled = match filled {
        Some(filled) => Some((numbered::read(live, &filled.text)?, filled.given)),
        None => None,
    };
    let (stmt, given) = match &filled {
        Some((stmt, given)) => (stmt, given),
        None => (stmt, &given),
    };
    let planned = Box::pin(ready::single_plan(session, live, stmt, given, Purpose::Run)).await;
    let own: (Statement, Given);
    let (stmt, given, plan) = match planned {
        Err(refusal) if counters::is_uncounted(stmt, &refusal) => {
            let counted = counters::counted(session, live, stmt, given, refusal);
            own = Box::pin(counted).await?;
            let plan = ready::single_plan(session, live, &own.0, &own.1, Purpose::Run);
            (&own.0, &own.1, Box::pin(plan).await?)
        }
        planned => (stmt, given, planned?),
    };
    let run = Run { live, stmt, plan: &Arc::new(plan) };
    run_step(session, run, given, limit).await
}

/// Runs the plan of a change as a step, and reads its reply to the end.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the rest only notices are for the client")]
pub(in crate::session) async fn run_step(
    session: &mut Session,
    run: Run<'_>,
    given: &Given,
    limit: usize,
) -> Result<Answer> {
    let mut answer = Answer { has_keys: run.plan.keys.is_some(), ..Answer::default() };
    let mut own = given.clone();
    Box::pin(entry::run_plan(session, run, &mut own)).await?;
    let mut held = 0;
    while let Some(event) = Box::pin(piece::next_of_reply(session)).await? {
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

/// Runs changes that differ by their rows only, one after the other, as one: what they told, the columns of their rows once, and their sums. Each sees the keys
/// generated before the statement, not those of the others.
pub(in crate::session) async fn write_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    texts: impl Iterator<Item = Arc<str>> + Send,
    given: &Given,
    limit: usize,
) -> Result<Stepped> {
    let (mut stepped, mut left, mut completions) = (Stepped::default(), limit, Vec::new());
    let facts = Arc::clone(session.place.facts());
    for text in texts {
        session.place.knows_again(Arc::clone(&facts));
        let answer = write_step(session, live, &text, given, left).await?;
        if stepped.key == 0 && session.place.facts().last_insert_id != facts.last_insert_id {
            stepped.key = session.place.facts().last_insert_id;
        }
        stepped.told.extend(answer.notices);
        let is_first = completions.is_empty();
        stepped.told.extend(answer.columns.filter(|_| is_first).map(Event::Columns));
        left = left.saturating_sub(answer.rows.iter().map(|rows| rows.bytes.len()).sum());
        stepped.told.extend(answer.rows.into_iter().map(Event::Rows));
        completions.push(answer.completion);
    }
    stepped.completion = crate::execute::sum(completions.iter());
    stepped.completion.more = false;
    stepped.completion.affected.get_or_insert(0);
    Ok(stepped)
}

/// Gives back what a step's reply holds that will not be read to its end.
async fn drop_reply(session: &mut Session) {
    let reply = session.outbox.drop_reply();
    release::abort_reply(session, reply).await;
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
