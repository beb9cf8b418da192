//! How transactions end: committed, rolled back, undone by a statement.

use pando_kernel::error::{Error, Result};
use pando_transaction::{Ended, Outcome};

use crate::handle::Manner;

use crate::session::Session;
use crate::session::connections::{channels, locks};
use crate::session::cursors::close;
use crate::session::errors::server_error;
use crate::session::transaction::{End, Opened, base, deferred, definition, units};

/// Commits the transaction, whose cursors have nothing more to find, or have failed to find it. False where it was
/// rolled back: because its client has heard before that it has failed.
///
/// # Errors
/// `unfound`, what came in place of the rows of a cursor; whatever else kept it from being committed.
pub(in crate::session) async fn commit_parted(
    session: &mut Session,
    unfound: Option<Error>,
) -> Result<bool> {
    let failed = match unfound {
        None if deferred::may_defer(session) => {
            Box::pin(deferred::check_deferred(session)).await.err()
        }
        failed => failed,
    };
    let committed = end_parted(session, End::Commit).await;
    match failed {
        None => committed,
        Some(error) => Err(error),
    }
}

/// Rolls back the transaction, and closes the cursors that end with it.
///
/// # Errors
/// What a unit says to it.
pub(in crate::session) async fn roll_back_with_cursors(session: &mut Session) -> Result<()> {
    Box::pin(close::part_for_rollback(session)).await;
    end_parted(session, End::RollBack).await.map(drop)
}

/// Ends a transaction of a statement's own, whose cursor waits for nobody. As [`commit_parted`].
///
/// # Errors
/// As [`commit_parted`].
pub(in crate::session) async fn end_own(session: &mut Session, end: End) -> Result<bool> {
    match end {
        End::Commit => commit_parted(session, None).await,
        End::RollBack => end_parted(session, end).await,
    }
}

/// Ends the transaction, and what hangs on it besides cursors that are open. Returns whether it was committed.
async fn end_parted(session: &mut Session, end: End) -> Result<bool> {
    let is_clients = session.work.opened != Opened::Statement;
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
        Box::pin(close::hold_declared(session, ended)).await;
    }
    if !committed
        && session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction())
        && let Some(before) = before
    {
        session.settings.go_back_to(before);
        session.settings.shown_mut().is_rolled_back();
        session.work.modes.session = std::mem::take(&mut session.work.modes.at_begin);
    }
    result.map(|_| committed)
}

/// A procedure may have ended the client's transaction, on its own unit: where no other has been changed, the
/// transaction is over; else what it has not ended is undone.
pub(in crate::session) async fn look_whether_ended(session: &mut Session) -> Result<()> {
    if session.work.opened != Opened::Client || !session.work.transaction.has_ended_part() {
        return Ok(());
    }
    let is_whole = !session.work.transaction.has_open_changes();
    roll_back_with_cursors(session).await?;
    match is_whole {
        true => Ok(()),
        false => Err(server_error(
            1180,
            "HY000",
            "the statement has ended its storage unit's part of the transaction: what it committed stays, everything else is rolled back",
        )),
    }
}

/// Commits or rolls back on every unit. Who cancels that waits for silent units no longer than for a cancel request; a
/// unit that answers is let finish, since others may have committed.
pub(in crate::session) async fn wind_up(session: &mut Session, end: End) -> Result<Outcome> {
    session.work.forget_held_keys();
    session.place.handle().lets_go();
    session.place.handle().overlook();
    for connection in session.work.transaction.connections() {
        session.place.handle().runs_on(connection, Manner::Leave)?;
    }
    let stand = match end {
        End::Commit if session.work.locks().are_there() => Box::pin(locks::stand(session)).await,
        End::Commit | End::RollBack => Ok(()),
    };
    let mut rest = channels::Rest::default();
    let stand = match stand {
        Ok(()) if end == End::Commit && session.work.tells_at_commit() => {
            Box::pin(channels::before_commit(session)).await.map(|found| rest = found)
        }
        stand => stand,
    };
    let end = if stand.is_ok() { end } else { End::RollBack };
    let parts = base::end_base(session, end).await.and(stand);
    let commit = end == End::Commit && parts.is_ok();
    let ended: Ended = if commit {
        session.work.transaction.commit().await
    } else {
        session.work.transaction.rollback().await
    };
    session.place.handle().lets_go();
    session.place.handle().parts();
    Box::pin(locks::free_transactions(session)).await;
    let outcome = parts.and(parted(session, ended));
    session.work.gatherings_mut().end(match &outcome {
        Ok(Outcome::Committed) => Some(true),
        Ok(Outcome::RolledBack) => Some(false),
        Err(_) => None,
    });
    if session.work.channels().are_pending() {
        let ended = match outcome {
            Ok(Outcome::Committed) => End::Commit,
            Ok(Outcome::RolledBack) | Err(_) => End::RollBack,
        };
        Box::pin(channels::after_end(session, rest, ended)).await;
    }
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
        session.temporary.take_connection_home(own, session.settings.variables());
    }
    ended.release()
}

/// An error that the door has told counts like one of a statement.
pub(in crate::session) fn fail_with_door(session: &mut Session) {
    let fails = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
    if fails {
        session.work.transaction.fail();
    }
}
