//! How transactions end: committed, rolled back, undone by a statement.

use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Statement;
use pando_transaction::{Ended, Outcome};

use crate::handle::Manner;
use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::cursors::{declared, portals};
use crate::session::errors::{server_error, unit_lost};
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{End, base, deferred, definition, temporary, units};

/// Commits the transaction, where no client may be told that it is rolled back but by an error: what a statement
/// commits by itself before it runs.
///
/// # Errors
/// Whatever kept it from being committed.
pub(in crate::session) async fn commit_implicitly(session: &mut Session) -> Result<()> {
    match end_transaction(session, End::Commit).await? {
        true => Ok(()),
        false => Err(unit_lost()),
    }
}

/// Ends the transaction and what hangs on it. False where it was rolled back: because that was asked for, or
/// because its client has heard before that it has
/// failed.
///
/// # Errors
/// Whatever else kept it from being committed.
pub(in crate::session) async fn end_transaction(session: &mut Session, end: End) -> Result<bool> {
    let commit = end == End::Commit;
    let was_open = !session.work.is_idle();
    let is_clients = session.work.opened != Opened::Statement;
    let parted = portals::part_from_cursors(session, end).await;
    if commit && was_open && session.work.is_idle() {
        // What a cursor still had to find has ended the whole transaction.
        parted?;
        return Err(Error::internal("a transaction has ended while its cursors were read"));
    }
    // PostgreSQL's commit fails with what a cursor still had to find, and rolls back.
    let failed = parted
        .err()
        .filter(|_| commit && session.work.transaction.state() == TransactionState::Failed);
    let failed = match failed {
        None if commit && deferred::may_defer(session) => {
            Box::pin(deferred::check_deferred(session)).await.err()
        }
        failed => failed,
    };
    let before = session.settings.transaction_ends();
    let defined = session.work.definitions.own.take().is_some();
    session.work.opened = Opened::Client;
    let wrote = session.work.transaction.has_written();
    let result = wind_up(session, end).await;
    if let Ok(live) = session.place.live() {
        if defined {
            Box::pin(definition::forget_tables(session, &live)).await;
        } else if wrote {
            live.catalog.forget_missing();
        }
    }
    let committed = matches!(result, Ok(pando_transaction::Outcome::Committed));
    if is_clients && session.cursors.are_declared() {
        let ended = if committed { End::Commit } else { End::RollBack };
        Box::pin(declared::hold_declared(session, ended)).await;
    }
    if !committed
        && session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction())
        && let Some(before) = before
    {
        session.settings.go_back_to(before);
        session.work.modes.session = std::mem::take(&mut session.work.modes.at_begin);
    }
    match failed {
        None => result.map(|_| committed),
        Some(error) => Err(error),
    }
}

/// A procedure may have ended the client's transaction, on its own unit: where no other has been changed, the
/// transaction is over; else what it has not ended is undone.
pub(in crate::session) async fn look_whether_ended(session: &mut Session) -> Result<()> {
    if session.work.opened != Opened::Client || !session.work.transaction.has_ended_part() {
        return Ok(());
    }
    let is_whole = !session.work.transaction.has_open_changes();
    end_transaction(session, End::RollBack).await?;
    match is_whole {
        true => Ok(()),
        false => Err(server_error(
            1180,
            "HY000",
            "the statement has ended its storage unit's part of the transaction: what it committed stays, everything else is rolled back",
        )),
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

/// Commits or rolls back on every unit. Who cancels that waits for silent units no longer than for a cancel request; a
/// unit that answers is let finish, since others may have committed.
pub(in crate::session) async fn wind_up(session: &mut Session, end: End) -> Result<Outcome> {
    session.place.handle().lets_go();
    session.place.handle().overlook();
    for connection in session.work.transaction.connections() {
        session.place.handle().runs_on(connection, Manner::Leave)?;
    }
    let parts = base::end_base(session, end).await;
    let commit = end == End::Commit && parts.is_ok();
    let ended: Ended = if commit {
        session.work.transaction.commit().await
    } else {
        session.work.transaction.rollback().await
    };
    session.place.handle().lets_go();
    session.place.handle().parts();
    let outcome = parts.and(parted(session, ended));
    if let Err(error) = &outcome {
        units::learn_of_loss(session, error);
    }
    outcome
}

/// Rolls back what the session itself has opened or what cannot go on.
pub(in crate::session) async fn roll_back(session: &mut Session) {
    if let Err(error) = wind_up(session, End::RollBack).await {
        tracing::debug!(%error, "a transaction could not be rolled back in order");
    }
}

/// Gives the connections of a transaction that is over to their pools, but for that of temporary tables.
pub(in crate::session) fn parted(session: &mut Session, ended: Ended) -> Result<Outcome> {
    let mut ended = ended;
    session.temporary.doubt_temporaries();
    if let Some(own) = ended.take(|connection| session.temporary.has_temporaries(connection)) {
        if ended.is_tainted() {
            session.temporary.taint_temporaries();
        }
        temporary::temporaries_come_home(session, own);
    }
    ended.release()
}

/// All the transaction's connections are about to work. To be followed by [`let_go`].
///
/// # Errors
/// `Cancelled` when that has been cancelled already.
pub(in crate::session) fn attend_transaction(session: &mut Session) -> Result<()> {
    let handle = session.place.handle();
    session.work.transaction.connections().try_for_each(|one| handle.runs_on(one, Manner::Ask))
}

/// Lets go of a statement's connections without giving them back, so that nothing is cancelled that they do from here
/// on.
pub(in crate::session) async fn let_go(session: &mut Session) {
    if session.place.handle().lets_go() {
        session.place.handle().settled(session.place.runtime()).await;
        session.work.transaction.taint();
        session.place.handle().overlook();
    }
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
    let end = session.work.end_by_itself();
    let committed = end_transaction(session, end).await?;
    if end == End::Commit && !committed { Err(unit_lost()) } else { Ok(()) }
}

/// An error that the door has told counts like one of a statement.
pub(in crate::session) fn fail_with_door(session: &mut Session) {
    let fails = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
    if fails {
        session.work.transaction.fail();
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
