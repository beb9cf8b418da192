//! CREATE TABLE … AS SELECT in steps: what table the query makes, the table, its rows.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Completion;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::{Purpose, Rows, Steps, TableOfQuery};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{Given, Run};
use crate::session::run::ready;
use crate::session::run::ready::Ready;
use crate::session::steps::frame::{Answer, Stepped};
use crate::session::steps::refill::Fills;
use crate::session::steps::{frame, insert_select, probe, refill};
use crate::session::transaction::temporary::look;
use crate::session::transaction::{Opened, begin, end};

/// Runs the statement. Where definitions commit, one whose rows cannot be written is taken back by a DROP.
pub(in crate::session) async fn start_table_of_query(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    parts: &TableOfQuery,
) -> Result<()> {
    if !live.database.dialect.definitions_commit() {
        let kept = frame::begin_steps(session, live, stmt).await?;
        if parts.is_materialized {
            let stepped = made_materialized(session, live, stmt, parts).await;
            return frame::end_steps(session, live, kept, stepped).await;
        }
        let stepped = match made(session, live, parts).await {
            Ok(made) => filled(session, live, parts, made).await,
            Err(error) => Err(error),
        };
        return frame::end_steps(session, live, kept, stepped).await;
    }
    refuse_inside(session, parts)?;
    let (facts, aside) = (Arc::clone(session.place.facts()), session.outbox.set_aside());
    let made = made(session, live, parts).await;
    session.place.knows_again(facts);
    session.outbox.take_up(aside);
    let made = made?;
    let filled = fill_committed(session, live, stmt, parts, made).await;
    if let Err(error) = filled {
        if !parts.is_temporary {
            end::roll_back(session).await;
        }
        drop_table(session, live, parts).await;
        return Err(error);
    }
    Ok(())
}

async fn made_materialized(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    parts: &TableOfQuery,
) -> Result<Stepped> {
    let name = if let Kind::Define(define) = &stmt.kind { define.names.first() } else { None };
    let name = name.ok_or_else(|| Error::internal("a view without a name"))?;
    let fills = if parts.rows == Rows::Written { Fills::All } else { Fills::Nothing };
    refill::made(session, live, parts, name, fills).await
}

/// Where definitions commit the rows of a temporary table that is made of a query stay when the transaction around it
/// is rolled back; those that are written into it would not.
fn refuse_inside(session: &Session, parts: &TableOfQuery) -> Result<()> {
    if !parts.is_temporary || session.work.is_idle() && session.work.autocommit() {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "CREATE TEMPORARY TABLE … SELECT over several shards is not supported inside a transaction",
        "make it before, or write its columns and use INSERT … SELECT",
    ))
}

/// A table that is there.
struct Made {
    columns: Vec<String>,
    answer: Answer,
}

/// Makes the table, without rows.
async fn made(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &TableOfQuery,
) -> Result<Made> {
    let found = probe::find_table(session, live, parts).await?;
    let text: Arc<str> = format!("{} {}", parts.head, found.body).into();
    let limit = session.place.properties().memory_bytes;
    let answer = frame::write_step(session, live, &text, &Given::default(), limit).await?;
    Ok(Made { columns: found.columns, answer })
}

/// Writes the rows in a transaction of their own, which is committed whatever the session's autocommit is: with the
/// definition the statement has begun to commit.
async fn fill_committed(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    parts: &TableOfQuery,
    made: Made,
) -> Result<()> {
    if session.work.is_idle() && !parts.is_temporary {
        begin::open(session, Opened::Steps, Vec::new());
    }
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = filled(session, live, parts, made).await;
    frame::end_steps(session, live, kept, stepped).await
}

/// Writes the query's rows into the table.
async fn filled(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &TableOfQuery,
    made: Made,
) -> Result<Stepped> {
    let counts = live.database.dialect.definitions_commit();
    let told = made.answer.notices;
    if parts.rows != Rows::Written {
        let completion = match counts {
            true => Completion { affected: Some(0), ..made.answer.completion },
            false => Completion { tag: "CREATE TABLE AS".into(), ..Completion::default() },
        };
        return Ok(Stepped { told, completion, key: 0 });
    }
    let text =
        format!("{} {} ({}) {}", parts.verb, parts.table, made.columns.join(", "), parts.query);
    let written = written(session, live, &text).await?;
    let completion = written.completion;
    let rows = completion.affected.unwrap_or(0);
    let completion = match counts {
        true if completion.info.is_empty() => {
            let info = format!("Records: {rows}  Duplicates: 0  Warnings: {}", completion.warnings);
            Completion { info, ..completion }
        }
        true => completion,
        false => Completion { tag: "SELECT".into(), affected: Some(rows), ..Completion::default() },
    };
    Ok(Stepped { completion, ..written }.after(told))
}

/// Runs an INSERT … SELECT as one plan, or row by row, in the transaction that is open.
async fn written(session: &mut Session, live: &Arc<LiveDatabase>, text: &str) -> Result<Stepped> {
    let stmt = pando_sql::parse(text, live.database.dialect.syntax()).map_err(plan::unread)?;
    look::look_at_temporaries(session, live, &stmt).await?;
    let given = Given { is_step: true, ..Given::default() };
    let ready = Box::pin(ready::ready(session, live, &stmt, &given, Purpose::Run)).await?;
    match ready {
        Ready::Run(plan) => {
            let run = Run { live, stmt: &stmt, plan: &Arc::new(*plan) };
            let limit = session.place.properties().memory_bytes;
            let answer = frame::run_step(session, run, &given, limit).await?;
            Ok(Stepped { told: answer.notices, completion: answer.completion, key: 0 })
        }
        Ready::Steps(found) => match found.steps {
            Steps::InsertSelect(parts) => {
                insert_select::target_is_fit(session, live, &stmt, &parts).await?;
                insert_select::insert_select_steps(session, live, &given, &parts).await
            }
            Steps::MoveRows(_)
            | Steps::ChosenRows(_)
            | Steps::FirstRows(_)
            | Steps::ServerCalls(_)
            | Steps::LockedRows(_)
            | Steps::Refill(_)
            | Steps::TableLike(_)
            | Steps::TableOfQuery(_) => Err(found.refusal),
        },
    }
}

/// Takes back a table whose rows could not be written; where that fails it is left, without rows.
async fn drop_table(session: &mut Session, live: &Arc<LiveDatabase>, parts: &TableOfQuery) {
    let words = if parts.is_temporary { "DROP TEMPORARY TABLE" } else { "DROP TABLE" };
    let text: Arc<str> = format!("{words} {}", parts.table).into();
    let dropped = frame::write_step(session, live, &text, &Given::default(), usize::MAX).await;
    if let Err(error) = dropped {
        let error: Error = error;
        tracing::warn!(%error, "a table whose rows could not be written is left empty");
    }
}
