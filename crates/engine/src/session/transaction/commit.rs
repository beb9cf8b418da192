//! Commits, for the client or by the session itself: what cursors still have to find is read before.

use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Statement;

use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::cursors::settle;
use crate::session::errors::unit_lost;
use crate::session::transaction::{End, Opened, end};

/// Commits the transaction, and ends the cursors that end with it. False where it was rolled back: because its client
/// has heard before that it has failed.
///
/// # Errors
/// Whatever else kept it from being committed.
pub(in crate::session) async fn commit(session: &mut Session) -> Result<bool> {
    let was_open = !session.work.is_idle();
    let parted = Box::pin(settle::part_for_commit(session)).await;
    if was_open && session.work.is_idle() {
        // What a cursor still had to find has ended the whole transaction.
        parted?;
        return Err(Error::internal("a transaction has ended while its cursors were read"));
    }
    // PostgreSQL's commit fails with what a cursor still had to find, and rolls back.
    let unfound =
        parted.err().filter(|_| session.work.transaction.state() == TransactionState::Failed);
    end::commit_parted(session, unfound).await
}

/// Commits the transaction, where no client may be told that it is rolled back but by an error: what a statement
/// commits by itself before it runs.
///
/// # Errors
/// Whatever kept it from being committed.
pub(in crate::session) async fn commit_implicitly(session: &mut Session) -> Result<()> {
    match commit(session).await? {
        true => Ok(()),
        false => Err(unit_lost()),
    }
}

/// Statements are committed by themselves from now on, and what is open is committed now.
///
/// # Errors
/// Whatever kept it from being committed.
pub(in crate::session) async fn commit_each(session: &mut Session) -> Result<()> {
    if !session.work.autocommit && !session.work.is_idle() {
        commit_implicitly(session).await?;
    }
    session.work.commits_each();
    session.place.facts_mut().autocommit = true;
    Ok(())
}

/// From now on statements open transactions, which end when the client says so.
pub(in crate::session) fn commit_when_told(session: &mut Session) {
    session.work.commits_when_told();
    session.place.facts_mut().autocommit = false;
}

/// Commits before a statement that commits by itself, where the language says so.
///
/// # Errors
/// Whatever kept it from being committed.
pub(in crate::session) async fn commit_before(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<()> {
    let commits = live.database.dialect.definitions_commit() && plan::commits(&stmt.kind);
    match commits && !session.work.is_idle() {
        true => commit_implicitly(session).await,
        false => Ok(()),
    }
}

/// Commits what a pipeline opened, or rolls it back when it failed.
///
/// # Errors
/// Whatever kept it from being committed.
pub(in crate::session) async fn sync(session: &mut Session) -> Result<()> {
    if session.work.opened != Opened::Pipeline || session.work.is_idle() {
        return Ok(());
    }
    match session.work.end_by_itself() {
        End::Commit => commit_implicitly(session).await,
        End::RollBack => end::roll_back_with_cursors(session).await,
    }
}

/// A statement of a text has failed while its reply was read: what the text opened ends with it, before the client
/// hears of the error.
pub(in crate::session) async fn end_failed_text(session: &mut Session) {
    if session.work.opened() == Opened::Pipeline
        && session.outbox.ends_text()
        && let Err(error) = sync(session).await
    {
        tracing::debug!(%error, "a failed text could not be rolled back in order");
    }
}
