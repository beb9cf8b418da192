//! Rounds: the connections that work for a statement, while they may be cancelled, and how they are let go.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::Execution;
use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::Result;
use pando_kernel::runtime::within;
use pando_kernel::session::TransactionState;
use pando_pool::{Connection, Left};
use pando_transaction::{drain, finish_all};

use crate::execute::{Channel, run_out, unshare};
use crate::handle::Manner;
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::reply::pieces::Reply;
use crate::session::transaction::attend;

/// Rows of an abandoned reply that are read away rather than closing the connection, in bytes.
pub(in crate::session) const DRAIN_BYTES: usize = 1 << 20;

/// Name of the savepoint that undoes one statement on every unit.
pub(in crate::session) const STATEMENT_SAVEPOINT: &str = "pando_statement";

/// How connections' work for the session has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Round {
    /// Nobody disturbs them any more.
    Over,
    /// They were being cancelled: a request may reach them late.
    Cancelled,
}

/// What a failed or abandoned statement still runs elsewhere may come to its end within so long; then it is cancelled.
const GRACE: Duration = Duration::from_millis(100);

/// Whether parts of a failed statement that still run are of any use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Rest {
    /// Definitions: what can be done is done on every unit.
    Wanted,
    /// All will be undone, or was only read.
    Useless,
}

/// Brings the channels of a failed statement to the end of their replies, as far as the transaction or the
/// statement needs them there.
pub(in crate::session) async fn stop(session: &mut Session, channels: &mut [Channel], rest: Rest) {
    match rest {
        Rest::Wanted => drop(run_out(channels).await),
        Rest::Useless => {
            channels.iter_mut().for_each(Channel::forgo);
            let runtime = Arc::clone(session.place.runtime());
            let in_time = within(&*runtime, GRACE, run_out(channels)).await.is_some();
            // The transaction goes on with its connections, so it must wait for them; a pool need not.
            if !in_time && channels.iter().any(|channel| is_inside(session, &channel.connection)) {
                session.place.handle().cancel(&runtime);
                drop(run_out(channels).await);
            }
        }
    }
}

/// Whether a channel's connection is the transaction's, or the session's own.
fn is_inside(session: &Session, connection: &Connection) -> bool {
    session.work.transaction().expects(connection.unit())
        || session.temporary.has_temporaries(connection)
}

/// Whether a paused reply has connections of the transaction.
pub(in crate::session) fn is_at_work(session: &Session, reply: &Reply) -> bool {
    match reply {
        Reply::Idle => false,
        Reply::Pass(pass) => is_inside(session, &pass.channel.connection),
        Reply::Merged(_) | Reply::CopyOut(_) | Reply::CopyIn(_) => {
            !session.work.transaction().is_whole()
        }
    }
}

/// Gives connections back to the transaction or to their pools.
pub(in crate::session) async fn release_channels(session: &mut Session, channels: Vec<Channel>) {
    let mut channels = channels;
    let round = gather_home(session, &mut channels).await;
    for channel in channels {
        hand_back(session, channel, round);
    }
}

/// Gives one connection back to the transaction or to its pool.
pub(in crate::session) async fn release_channel(session: &mut Session, channel: Channel) {
    let mut channel = channel;
    let round = gather_home(session, std::slice::from_mut(&mut channel)).await;
    hand_back(session, channel, round);
}

/// Ends the work of connections for the session.
pub(in crate::session) async fn gather_home(
    session: &mut Session,
    channels: &mut [Channel],
) -> Round {
    channels.iter_mut().for_each(Channel::forgo);
    bring_home(session, channels).await;
    if !session.place.handle().lets_go() {
        return Round::Over;
    }
    session.place.handle().settled(session.place.runtime()).await;
    Round::Cancelled
}

/// Gives one connection back after [`gather_home`].
pub(in crate::session) fn hand_back(session: &mut Session, channel: Channel, round: Round) {
    let Channel { connection, apart, .. } = channel;
    match apart {
        true => hand_back_apart(connection, round),
        false => hand_back_own(session, connection, round),
    }
}

/// The same of one that serves the session as its transaction or a pool has given it.
pub(in crate::session) fn hand_back_own(
    session: &mut Session,
    connection: Connection,
    round: Round,
) {
    let is_cancelled = round == Round::Cancelled;
    let home = connection.condition().outstanding == 0;
    if session.work.transaction().expects(connection.unit()) {
        if is_cancelled {
            session.work.transaction_mut().taint();
        }
        session.work.transaction_mut().give_back(connection);
    } else if session.temporary.has_temporaries(&connection) {
        if is_cancelled {
            session.temporary.taint_temporaries();
        }
        session.temporary.take_connection_home(connection, session.settings.variables());
    } else if home && is_cancelled {
        connection.discard();
    }
    // One that is not at home is brought to order by its pool.
}

/// Reads what is left on the connections: all of it when the transaction goes on with them, for it would be lost
/// with the connection, else for as long as that is worth it.
async fn bring_home(session: &mut Session, channels: &mut [Channel]) {
    let is_home = |channel: &Channel| channel.connection.condition().outstanding == 0;
    if channels.iter().all(is_home) {
        return;
    }
    channels.iter_mut().for_each(Channel::doubt);
    let runtime = Arc::clone(session.place.runtime());
    within(&*runtime, GRACE, drain_all(channels)).await;
    for channel in channels.iter_mut().filter(|channel| !is_home(channel)) {
        if is_inside(session, &channel.connection) {
            let _ = drain(&mut channel.connection, usize::MAX).await;
        }
    }
}

/// Gives one connection back, with all that was queued on it.
pub(in crate::session) async fn release(session: &mut Session, connection: Connection) {
    let mut connection = connection;
    if connection.condition().outstanding > 0 {
        // Whether it took what it was to wear is among what nobody reads.
        connection.set_session_state(UNKNOWN);
    }
    // Boxed, as nothing in a hurry ends here: a client's task has room for whatever it may wait for.
    Box::pin(release_channel(session, Channel::new(connection, 0, 0))).await;
}

/// The connections of a paused reply work for the session again.
///
/// # Errors
/// `Cancelled`.
pub(in crate::session) fn resume(session: &Session, reply: &Reply) -> Result<()> {
    match reply {
        Reply::Idle | Reply::CopyIn(_) => Ok(()),
        Reply::Pass(pass) => session.place.handle().runs_on(&pass.channel.connection, Manner::Ask),
        Reply::CopyOut(copy) => copy.channels.iter().try_for_each(|channel| {
            session.place.handle().runs_on(&channel.connection, Manner::Ask)
        }),
        Reply::Merged(merged) => merged.channels.iter().try_for_each(|shared| {
            let channel = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            session.place.handle().runs_on(&channel.connection, Manner::Ask)
        }),
    }
}

/// Drops a reply that will not be read to its end.
pub(in crate::session) async fn release_reply(session: &mut Session, reply: Reply) {
    release_channels(session, channels_of(reply)).await;
}

/// Gives back the connections of a statement that has failed: nobody waits for what is left of its replies.
pub(in crate::session) async fn abort(session: &mut Session, channels: Vec<Channel>) {
    let mut channels = channels;
    stop(session, &mut channels, Rest::Useless).await;
    undo_if_open(session, &mut channels).await;
    release_channels(session, channels).await;
}

/// Gives back a reply of which no more is wanted because the statement fails.
pub(in crate::session) async fn abort_reply(session: &mut Session, reply: Reply) {
    abort(session, channels_of(reply)).await;
}

/// Undoes a statement in the client's transaction, which goes on, where it has set savepoints for that.
pub(in crate::session) async fn undo_if_open(session: &mut Session, channels: &mut [Channel]) {
    let has_savepoints = channels.iter().any(|channel| channel.savepoint);
    if has_savepoints && session.work.transaction().state() == TransactionState::Open {
        Box::pin(undo_statement(session, channels)).await;
    }
}

/// Undoes one statement on the units it had been started on (families whose transactions go on after an error).
pub(in crate::session) async fn undo_statement(session: &mut Session, channels: &mut [Channel]) {
    let Some(dialect) = session.place.dialect() else { return };
    session.work.gatherings_mut().forgoes();
    let verb = TransactionVerb::RollbackTo(STATEMENT_SAVEPOINT);
    let Some(text) = dialect.transaction(&verb) else { return };
    attend::let_go(session).await;
    let mut started = Vec::new();
    for channel in channels {
        let connection = &mut channel.connection;
        let _ = session.place.handle().runs_on(connection, Manner::Leave);
        let home = drain(connection, DRAIN_BYTES).await.is_ok() && connection.condition().usable;
        if home && connection.start(Execution::Text(text.as_str().into())).is_ok() {
            started.push(connection);
        }
    }
    if finish_all(&mut started).await.iter().any(Result::is_err) {
        session.work.transaction_mut().lose();
    }
}

/// One that stands apart takes no part in the transaction.
pub(in crate::session) fn hand_back_apart(connection: Connection, round: Round) {
    match round == Round::Over && connection.condition().outstanding == 0 {
        true => put_back(connection),
        false => connection.discard(),
    }
}

/// Puts a connection back to how it was, tables of its own included, before it serves others.
pub(in crate::session) fn put_back(connection: Connection) {
    let mut connection = connection;
    connection.taint(Left::Anything, None);
}

/// The connections of a reply; what merges them is dropped.
pub(in crate::session) fn channels_of(reply: Reply) -> Vec<Channel> {
    match reply {
        Reply::Idle => Vec::new(),
        Reply::Pass(pass) => vec![pass.channel],
        Reply::CopyOut(copy) => copy.channels,
        Reply::Merged(merged) => {
            let merged = *merged;
            drop(merged.merge);
            unshare(merged.channels)
        }
        Reply::CopyIn(copy) => copy.into_channels(),
    }
}

async fn drain_all(channels: &mut [Channel]) {
    for channel in channels {
        channel.read_out(DRAIN_BYTES).await;
        if channel.connection.condition().outstanding > 0 {
            // Beyond the limit the rest is another's business.
            let _ = drain(&mut channel.connection, DRAIN_BYTES).await;
        }
    }
}
