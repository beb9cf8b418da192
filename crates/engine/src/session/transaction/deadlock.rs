//! When others have ended what a session is at: its transaction to break a deadlock, its statement as it ran too long.

use pando_kernel::error::{Error, ErrorKind, Result};

use crate::handle::{Doom, Manner};

use crate::session::Session;
use crate::session::connections::locks;
use crate::session::cursors::close;
use crate::session::reply::warnings;
use crate::session::transaction::{base, end};

/// The letter of an error's detail.
/// <https://www.postgresql.org/docs/current/protocol-error-fields.html>
const DETAIL: u8 = b'D';

/// A result as it is told: see [`as_told`].
pub(in crate::session) async fn or_doomed<T>(
    session: &mut Session,
    result: Result<T>,
) -> Result<T> {
    match result {
        Ok(told) => Ok(told),
        Err(error) => Err(as_told(session, error).await),
    }
}

/// An error as it is told. That of a statement which ran too long says so. That of one which was cancelled to break a deadlock is the vendor's own for that,
/// and the whole transaction is undone, as on one server.
pub(in crate::session) async fn as_told(session: &mut Session, error: Error) -> Error {
    let told = match session.place.handle().doom() {
        Some(Doom::Deadlock(cycle)) => Box::pin(give_way(session, error, &cycle)).await,
        Some(Doom::Overran(told)) if is_of_cancel(&error) => {
            let told = Error::new(ErrorKind::Overran(told.to_string())).caused_by(error);
            warnings::note_error(session, &told);
            told
        }
        Some(Doom::Overran(_)) => session.place.in_logic_names(error),
        None => session.place.in_logic_names(error),
    };
    // Also what no statement has failed with: the error that its client hears is what a COMMIT is judged by.
    end::fail_with_door(session);
    told
}

/// Whether it is what a statement fails with that was cancelled: the session's own error, or the server's.
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
/// <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html#error_er_query_interrupted>
fn is_of_cancel(error: &Error) -> bool {
    if let ErrorKind::Server(told) = error.kind() {
        return told.sqlstate == "57014" || told.number == 1317;
    }
    matches!(error.kind(), ErrorKind::Cancelled)
}

async fn give_way(session: &mut Session, error: Error, cycle: &str) -> Error {
    let Some(dialect) = session.place.dialect() else { return error };
    let Some(mut told) = dialect.waits().map(|waits| waits.deadlock()) else { return error };
    if !session.work.is_idle() {
        if dialect.error_fails_transaction() {
            forfeit(session).await;
        } else if let Err(error) = end::roll_back_with_cursors(session).await {
            tracing::debug!(%error, "a deadlock's victim could not be rolled back in order");
        }
    }
    if dialect.error_fails_transaction() {
        told.fields.push((DETAIL, format!("{cycle}.")));
    }
    let told = Error::new(ErrorKind::Server(Box::new(told))).caused_by(error);
    warnings::note_error(session, &told);
    told
}

/// Rolls back on every unit, so that their locks are free; the client is still in its transaction, which has failed.
pub(in crate::session) async fn forfeit(session: &mut Session) {
    close::close_unheld(session).await;
    if let Err(error) = base::undo_in_base(session, 0).await {
        tracing::warn!(%error, "what a failed transaction has changed is not taken back yet");
    }
    session.place.handle().lets_go();
    session.place.handle().overlook();
    for connection in session.work.transaction.connections() {
        // What is not to be cancelled is not refused.
        let _ = session.place.handle().runs_on(connection, Manner::Leave);
    }
    let ended = session.work.transaction.forfeit().await;
    session.place.handle().lets_go();
    session.place.handle().parts();
    locks::free_transactions(session).await;
    if let Err(error) = end::parted(session, ended) {
        tracing::debug!(%error, "a failed transaction could not be rolled back in order");
    }
}
