//! What becomes of a session's channels when its transaction ends, and what they have told it.
//!
//! What is told goes to one storage unit, the home of all channels: so the order in which it is heard is that of the
//! commits. It goes with the transaction where that has been nowhere else; where other units have to commit, behind
//! them: who hears of it is to see what it speaks of.

use std::sync::Arc;
use std::task::{Context, Poll};

use pando_kernel::Notification;
use pando_kernel::error::{Error, Result};
use pando_kernel::notifications::Notice;
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_pool::Connection;

use crate::channels::{CHANGED, Hub, Origin, Take};
use crate::handle::Manner;
use crate::homes::home_of;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{ask, release};
use crate::session::transaction::{End, Opened};

/// Notices that one statement tells.
const AT_ONCE: usize = 1_000;
/// How often a hub may end before it is joined, as its last session has left it.
const ATTEMPTS: usize = 8;

/// What is left to be done when all units have committed.
#[derive(Debug, Default)]
pub(in crate::session) struct Rest {
    /// What is to be told then.
    untold: Vec<Notice>,
    /// What goes with the transaction.
    told: Option<Told>,
}

/// What is noted with a hub, as long as that may hear it.
#[derive(Debug)]
struct Told {
    hub: Arc<Hub>,
    id: u64,
}

/// Does what may still fail: listens to what is to be listened to, and tells where that goes with the transaction.
/// Returns what is to be done behind it.
///
/// # Errors
/// What a unit says: the transaction is not to be committed.
pub(in crate::session) async fn before_commit(session: &mut Session) -> Result<Rest> {
    for channel in session.work.channels().wanted()? {
        join(session, channel).await?;
    }
    let live = current(session)?;
    let notices = session.work.channels().notices();
    if notices.is_empty() {
        return Ok(Rest::default());
    }
    let home = home(&live)?;
    let held = session.work.transaction().units();
    if held.is_empty() && session.work.has_reached_none() {
        return send(session, &live, &home, &notices).await.map(|()| Rest::default());
    }
    if held != [Arc::clone(&home)] {
        return Ok(Rest { untold: notices, told: None });
    }
    let own = session.work.transaction_mut().connections().next().map(|one| one.token().id);
    let told =
        note(session, &live, Origin { process: own.unwrap_or(0), ..of(session, &home) }, &notices);
    for part in notices.chunks(AT_ONCE) {
        let text = text(&live, part)?;
        if let Err(error) = session.work.transaction_mut().run_everywhere(&text).await {
            settle(session, told);
            return Err(error);
        }
    }
    Ok(Rest { untold: Vec::new(), told })
}

/// As the end of a transaction of its own, where none is open.
///
/// # Errors
/// As [`before_commit`].
pub(in crate::session) async fn commit_alone(session: &mut Session) -> Result<()> {
    let rest = before_commit(session).await;
    let (rest, end, result) = match rest {
        Ok(rest) => (rest, End::Commit, Ok(())),
        Err(error) => (Rest::default(), End::RollBack, Err(error)),
    };
    after_end(session, rest, end).await;
    result
}

/// The transaction is over.
pub(in crate::session) async fn after_end(session: &mut Session, rest: Rest, end: End) {
    session.work.channels_mut().end(end);
    settle(session, rest.told);
    if end == End::RollBack || rest.untold.is_empty() {
        return;
    }
    let sent = match current(session).and_then(|live| Ok((home(&live)?, live))) {
        Ok((home, live)) => send(session, &live, &home, &rest.untold).await,
        Err(error) => Err(error),
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "the notifications of a committed transaction are lost");
        let message = format!(
            "the transaction is committed, but its notifications could not be sent: {error}"
        );
        session.outbox.warn("01000", &message);
    }
}

/// What a session that listens was told; nothing inside a transaction.
///
/// # Errors
/// It is to end.
pub(in crate::session) async fn notified(session: &mut Session) -> Result<Vec<Notification>> {
    let Some(mailbox) = session.work.channels().mailbox().cloned() else { return Ok(Vec::new()) };
    if is_inside(session) {
        return Ok(Vec::new());
    }
    for hub in session.work.channels().hubs() {
        if let Err(error) = hub.catch_up().await {
            tracing::debug!(%error, "a session listens to what is heard no longer");
        }
    }
    mailbox.take()
}

/// The same for who waits for it.
pub(in crate::session) fn poll_notified(
    session: &mut Session,
    cx: &mut Context<'_>,
) -> Poll<Result<Vec<Notification>>> {
    let Some(mailbox) = session.work.channels().mailbox() else { return Poll::Pending };
    let take = if is_inside(session) { Take::Nothing } else { Take::All };
    match mailbox.take_or_wait(cx, take) {
        Ok(told) if told.is_empty() => Poll::Pending,
        told => Poll::Ready(told),
    }
}

fn is_inside(session: &Session) -> bool {
    let opened = session.work.opened();
    opened == Opened::Client && session.work.transaction().state() != TransactionState::Idle
}

/// The session's database as it is now: others may listen to units that its transaction does not know.
fn current(session: &Session) -> Result<Arc<LiveDatabase>> {
    let live = session.place.live()?;
    let newest = session.place.engine().snapshot().database(&live.database.name).cloned();
    Ok(newest.unwrap_or(live))
}

/// Where everything is told.
fn home(live: &LiveDatabase) -> Result<UnitName> {
    home_of(live.leading().map(|pool| pool.unit()), "")
        .ok_or_else(|| Error::internal("a database without storage units"))
}

async fn join(session: &mut Session, channel: Arc<str>) -> Result<()> {
    let mailbox = session.work.channels_mut().own_mailbox();
    for _ in 0..ATTEMPTS {
        let live = current(session)?;
        let inner = &session.place.engine().inner;
        let hub = inner.hubs.open(&live, &inner.runtime);
        if !hub.join(&channel, &mailbox).await? {
            continue;
        }
        // The units may have become others after it was opened for those of before.
        if hub.is_of(&*current(session)?) {
            session.work.channels_mut().joins(hub, channel);
            return Ok(());
        }
        hub.leave(&channel, &mailbox);
        hub.end(CHANGED);
    }
    Err(Error::internal("nobody goes on to listen"))
}

fn text(live: &LiveDatabase, notices: &[Notice]) -> Result<String> {
    let words = live.database.dialect.notifications();
    let words = words.ok_or_else(|| Error::internal("a family without channels"))?;
    Ok(words.notify(notices))
}

/// Tells, by a transaction of its own.
async fn send(
    session: &mut Session,
    live: &LiveDatabase,
    home: &UnitName,
    notices: &[Notice],
) -> Result<()> {
    let mut connection = session.place.take(live.pool(home)?).await?;
    let process = connection.token().id;
    let told = note(session, live, Origin { process, ..of(session, home) }, notices);
    let sent = match session.place.handle().runs_on(&connection, Manner::Leave) {
        Ok(()) => send_on(&mut connection, live, notices).await,
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    session.place.handle().lets_go();
    settle(session, told);
    sent
}

async fn send_on(
    connection: &mut Connection,
    live: &LiveDatabase,
    notices: &[Notice],
) -> Result<()> {
    if notices.len() <= AT_ONCE {
        return ask::answer(connection, &text(live, notices)?).await.map(drop);
    }
    ask::answer(connection, "BEGIN").await?;
    for part in notices.chunks(AT_ONCE) {
        ask::answer(connection, &text(live, part)?).await?;
    }
    ask::answer(connection, "COMMIT").await.map(drop)
}

fn of(session: &Session, home: &UnitName) -> Origin {
    Origin { unit: Arc::clone(home), process: 0, session: session.place.handle().key.id }
}

/// Notes who is about to tell this.
fn note(
    session: &Session,
    live: &LiveDatabase,
    origin: Origin,
    notices: &[Notice],
) -> Option<Told> {
    let hub = session.place.engine().inner.hubs.find(&live.database.name)?;
    let id = hub.tells(&origin, notices)?;
    Some(Told { hub, id })
}

/// It is told, or is not to be: the note is kept until all was heard.
fn settle(session: &Session, told: Option<Told>) {
    let Some(Told { hub, id }) = told else { return };
    session.place.runtime().spawn(Box::pin(async move {
        // One that has ended hears nothing more, which is the same here.
        let _ = hub.catch_up().await;
        hub.has_told(id);
    }));
}
