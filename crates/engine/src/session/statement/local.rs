//! Statements the session answers itself: SET, USE, PREPARE, KILL, PREVIEW.

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Event;
use pando_sql::ast::{Copy, CopyDirection, Kind, Statement, Transaction};

use crate::handle::Killed;
use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::statement::instead::Instead;
use crate::session::statement::{
    administer, channels, constraints, copy, current_of, cursor, database, end_backend, into_table,
    into_variables, lock_tables, maintain, named, oneself, preview, processlist, reset, set,
    set_config, set_for, shown_counter, stand, table_of_execute, verbs,
};
use crate::session::transaction::modes::is_global;
use crate::session::transaction::serializable;

/// What is left to be done of a statement.
#[derive(Debug)]
pub(in crate::session) enum Local {
    /// Nothing: it is answered, or its reply is under way.
    Answered,
    /// Another statement is to be run in its place.
    Instead(Box<Instead>),
    /// Storage units are to be asked.
    OnUnits,
}

/// Answers a statement that needs no storage unit.
pub(in crate::session) async fn start_local(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<Local> {
    let local = |is_answered| if is_answered { Local::Answered } else { Local::OnUnits };
    session.place.refuse_alone(&stmt.kind)?;
    match &stmt.kind {
        Kind::Empty => session.outbox.tell(Event::Empty),
        Kind::Transaction(Transaction::Set { session: true, .. }) if is_global(&stmt.text) => {
            return Err(Error::unsupported(
                30001,
                "the transaction modes of all sessions belong to each storage unit",
                "set them on the storage units themselves",
            ));
        }
        Kind::Transaction(verb) => {
            verbs::transaction_verb(session, verb).await?;
            session.outbox.name_start(&stmt.text);
        }
        Kind::Set(assignments) => {
            session.work.refuse_if_failed()?;
            match oneself::as_oneself(session, stmt, assignments)? {
                Some(own) => {
                    Box::pin(set::set(session, &own.stmt, &own.assignments, given)).await?
                }
                None => set::set(session, stmt, assignments, given).await?,
            }
        }
        Kind::Use(name) => {
            stand::use_database(session, &name.value).await?;
            made::complete(session, "USE");
        }
        Kind::Kill { id, query_only } => {
            let whose =
                (!session.place.login().is_administrator).then_some(&*session.place.login().user);
            let what = if *query_only { Killed::Statement } else { Killed::Session };
            session.place.engine().kill(*id, what, whose)?;
            made::complete(session, "KILL");
        }
        Kind::Preview(span) => {
            session.work.refuse_if_failed()?;
            preview::preview(session, stmt, *span, given).await?;
        }
        Kind::Administration => Box::pin(administer::administer(session, &stmt.text)).await?,
        Kind::Define(define) => {
            let table = Box::pin(table_of_execute::instead(session, stmt, define)).await?;
            if let Some(other) = table {
                return Ok(Local::Instead(Box::new(other)));
            }
            return Box::pin(database::define_database(session, stmt, define)).await.map(local);
        }
        Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Immediate(_)
        | Kind::SetFor(_)
        | Kind::Deallocate(_) => return start_named(session, stmt, given).await,
        Kind::Cursor(verb) => {
            session.work.refuse_if_failed()?;
            if let Some(query) = cursor::sql_cursor(session, stmt, verb, given).await? {
                return Ok(Local::Instead(Box::new(query)));
            }
        }
        Kind::Lock(tables) => {
            if !lock_tables::lock_in_transaction(session, stmt, tables).await? {
                Box::pin(lock_tables::lock_tables(session, stmt, tables)).await?;
            }
        }
        Kind::Copy(own) if own.direction == CopyDirection::FromClient => {
            return copy::start_bulk(session, stmt).await.map(local);
        }
        Kind::Copy(own) if own.direction == CopyDirection::ToClient => {
            return copy_out(session, stmt, own).await;
        }
        Kind::Load(_) => return copy::start_bulk(session, stmt).await.map(local),
        Kind::Utility { verb, .. } => return utility(session, stmt, verb).await,
        Kind::Show(show) if processlist::is_meant(&show.what) => processlist::processlist(session)?,
        Kind::Show(show) if Box::pin(shown_counter::show_created(session, stmt, show)).await? => {}
        Kind::Show(show) => return serializable::show_setting(session, show).map(local),
        Kind::Select(_) => return select(session, stmt, given).await,
        Kind::Update(_) | Kind::Delete(_) if current_of::may_be_meant(&stmt.kind) => {
            return match Box::pin(current_of::by_key(session, stmt, given)).await? {
                Some(other) => Ok(Local::Instead(Box::new(other))),
                None => Ok(Local::OnUnits),
            };
        }
        Kind::Copy(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Explain { .. }
        | Kind::Opaque => return Ok(Local::OnUnits),
    }
    Ok(Local::Answered)
}

/// Statements of which only the verb is known.
async fn utility(session: &mut Session, stmt: &Statement, verb: &str) -> Result<Local> {
    let local = |is_answered| if is_answered { Local::Answered } else { Local::OnUnits };
    if verb.starts_with("DISCARD") {
        reset::discard(session, verb).await?;
        return Ok(Local::Answered);
    }
    if channels::is_meant(session, stmt) {
        Box::pin(channels::channel_verb(session, stmt)).await?;
        return Ok(Local::Answered);
    }
    // Elsewhere LISTEN is refused: nobody listens.
    if verb.starts_with("UNLISTEN") {
        session.work.refuse_if_failed()?;
        made::complete(session, "UNLISTEN");
        return Ok(Local::Answered);
    }
    if verb == "SET CONSTRAINTS" {
        return Box::pin(constraints::set_constraints(session, stmt)).await.map(local);
    }
    maintain::maintain(session, stmt).await.map(local)
}

/// Queries that give their row to variables or to a table, or set something.
async fn select(session: &mut Session, stmt: &Statement, given: &Given) -> Result<Local> {
    if Box::pin(into_variables::select_into(session, stmt, given)).await? {
        return Ok(Local::Answered);
    }
    if let Some(other) = into_table::instead(session, stmt, given)? {
        return Ok(Local::Instead(Box::new(other)));
    }
    if let Some(other) = end_backend::instead(session, stmt, given)? {
        return Ok(Local::Instead(Box::new(other)));
    }
    let is_answered = set_config::set_config(session, stmt, given).await?;
    Ok(if is_answered { Local::Answered } else { Local::OnUnits })
}

/// COPY TO the client.
async fn copy_out(session: &mut Session, stmt: &Statement, own: &Copy) -> Result<Local> {
    if let Some(change) = own.change {
        let other = copy::copy_of_change(session, stmt, change)?;
        return Ok(Local::Instead(Box::new(other)));
    }
    let Some(query) = &own.query else { return Ok(Local::OnUnits) };
    let is_answered = copy::start_copy_of(session, stmt, query).await?;
    Ok(if is_answered { Local::Answered } else { Local::OnUnits })
}

/// Answers statements about statements that have names, and finds those that stand for another one.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others never come here")]
async fn start_named(session: &mut Session, stmt: &Statement, given: &Given) -> Result<Local> {
    session.work.refuse_if_failed()?;
    let other = match &stmt.kind {
        Kind::Prepare { name, types, body } => {
            named::prepare_named(session, &name.value, types, body, &stmt.text)?;
            return Ok(Local::Answered);
        }
        Kind::Deallocate(name) => {
            named::deallocate(session, name.as_ref().map(|name| &*name.value))?;
            return Ok(Local::Answered);
        }
        Kind::Execute { name, arguments } => {
            named::execute_named(session, &name.value, arguments, &stmt.text).await?
        }
        Kind::Immediate(own) => named::execute_immediate(session, own, &stmt.text).await?,
        Kind::SetFor(own) => Box::pin(set_for::set_for(session, stmt, own, given)).await?,
        _ => return Ok(Local::OnUnits),
    };
    Ok(Local::Instead(Box::new(other)))
}
