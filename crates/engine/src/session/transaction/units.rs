//! Distributed transactions, as a session sees them: their type, and the units that can take part.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::TransactionType;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{BoxFuture, SharedRuntime, all, within};
use pando_kernel::session::TransactionState;
use pando_kernel::two_phase::Verdict;
use pando_pool::Connection;
use pando_transaction::xa::GlobalId;
use pando_transaction::{Course, Ready, aborted, is_missing};

use crate::readiness::{Trust, is_of_the_moment};
use crate::recovery::cannot_take_part;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::reply::made;

/// BEGIN waits no longer for a unit that has told once that it can take part.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a transaction that begins now ends.
pub(in crate::session) fn course(session: &Session) -> Course {
    let coordinator = Arc::clone(&session.place.engine().inner.coordinator);
    Course { kind: transaction_type(session), coordinator }
}

/// The type of a transaction that begins now.
pub(in crate::session) fn transaction_type(session: &Session) -> TransactionType {
    session.work.kind.unwrap_or(session.place.properties().transaction_type)
}

/// Chooses how the session's next transactions end.
///
/// # Errors
/// `TransactionState` inside one.
pub(in crate::session) fn choose_type(session: &mut Session, kind: TransactionType) -> Result<()> {
    if !session.work.is_idle() {
        let message = "the transaction type cannot change inside a transaction";
        return Err(ErrorKind::TransactionState(message.into()).into());
    }
    if let (TransactionType::Base, Some(dialect)) = (kind, session.place.dialect()) {
        pando_base::admits(dialect.as_ref(), &[])?;
    }
    session.work.kind = Some(kind);
    Ok(())
}

/// The branches in doubt, as rows.
pub(in crate::session) async fn show_doubts(session: &mut Session) -> Result<()> {
    let (engine, handle) = (session.place.engine().clone(), Arc::clone(session.place.handle()));
    let doubts = handle.taken(async { Ok(engine.doubts().await) }).await?;
    let rows = doubts.into_iter().map(|doubt| {
        let decision = match (doubt.verdict, &doubt.decider) {
            (Some(Verdict::Commit), _) => "COMMIT",
            (Some(Verdict::Abort), _) => "ROLLBACK",
            (None, Some(_)) => "NONE YET",
            (None, None) => "UNKNOWN",
        };
        let instance = GlobalId::read(&doubt.global);
        vec![
            doubt.unit.to_string(),
            doubt.part,
            doubt.seconds.to_string(),
            doubt.decider.map(|unit| unit.to_string()).unwrap_or_default(),
            decision.to_owned(),
            instance.map(|id| id.instance().to_owned()).unwrap_or_default(),
        ]
        .into_iter()
        .fold(vec![doubt.global], |mut row, cell| {
            row.push(cell);
            row
        })
    });
    let engine = session.place.engine().clone();
    let left =
        Arc::clone(session.place.handle()).taken(async { Ok(engine.left_in_base().await) }).await?;
    let left = left.into_iter().map(|(unit, open)| {
        let instance = GlobalId::read(&open.global);
        let instance = instance.map(|id| id.instance().to_owned()).unwrap_or_default();
        let why = open.dirty.unwrap_or_else(|| "its time is over".to_owned());
        let unit = unit.to_string();
        vec![open.global, unit, why, String::new(), open.decider, "BASE".to_owned(), instance]
    });
    let labels = [
        "transaction",
        "storage_unit",
        "branch",
        "age_seconds",
        "deciding_unit",
        "decision",
        "instance",
    ];
    made::text_rows(session, &labels, rows.chain(left).collect())
}

/// How transactions over several units have ended, as rows.
pub(in crate::session) fn show_transaction_status(session: &mut Session) -> Result<()> {
    let counts = session.place.engine().transaction_counts();
    let rows = [
        ("xa_committed", counts.committed),
        ("xa_rolled_back", counts.rolled_back),
        ("xa_left_to_recovery", counts.left),
        ("branches_recovered", counts.recovered),
        ("local_partial_commits", counts.partial),
        ("deadlocks_broken", session.place.engine().broken_deadlocks()),
    ];
    let rows = rows.map(|(name, value)| vec![name.to_owned(), value.to_string()]);
    made::text_rows(session, &["name", "value"], rows.to_vec())
}

/// Ends a transaction in doubt by hand.
///
/// # Errors
/// As [`crate::Engine::resolve`].
pub(in crate::session) async fn resolve(
    session: &mut Session,
    global: &str,
    verdict: Verdict,
) -> Result<()> {
    let (engine, handle) = (session.place.engine().clone(), Arc::clone(session.place.handle()));
    handle.taken(engine.resolve(global, verdict)).await?;
    made::complete(session, "RESOLVE IN DOUBT TRANSACTION");
    Ok(())
}

/// Whether a unit can take part in the open transaction; `None` where it need not be asked.
///
/// # Errors
/// `Refused`, with what is to be done on its server.
pub(in crate::session) async fn ready(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &UnitName,
) -> Result<Option<Arc<Ready>>> {
    if session.work.transaction.kind() != TransactionType::Xa {
        return Ok(None);
    }
    let now = session.place.runtime().now();
    if let Some(ready) = live.together.ready.of(unit, now) {
        return Ok(Some(ready));
    }
    let runtime = Arc::clone(session.place.runtime());
    let handle = Arc::clone(session.place.handle());
    let ready = handle.taken(Box::pin(readiness(live, unit, &runtime))).await;
    ready.map(Some)
}

/// Asks all units of the database that have not been asked yet, or whose server may have been started anew since, so
/// that a client learns when it begins a transaction, and not in its midst, that one of them cannot take part. A unit
/// that does not answer is asked again when it is needed.
///
/// # Errors
/// `Refused`, with what is to be done on a unit's server.
pub(in crate::session) async fn ready_all(session: &mut Session) -> Result<()> {
    if transaction_type(session) != TransactionType::Xa {
        return Ok(());
    }
    let live = session.place.live()?;
    let runtime = Arc::clone(session.place.runtime());
    let (now, mut asking) = (runtime.now(), Vec::new());
    if live.together.ready.was_just_seen(now) {
        return Ok(());
    }
    for unit in &live.database.units {
        let breaks = live.pool(unit)?.breaks();
        let (live, runtime) = (&live, &runtime);
        asking.push(match live.together.ready.trust(unit, breaks, now) {
            Trust::Known => continue,
            Trust::Unknown if live.together.ready.is_away(unit, now) => continue,
            Trust::Unknown => Box::pin(async move {
                match readiness(live, unit, runtime).await {
                    Err(error) if is_of_the_moment(error.kind()) => Ok(()),
                    told => told.map(drop),
                }
            }) as BoxFuture<'_, Result<()>>,
            Trust::Doubted(ready) => {
                Box::pin(async move { reassured(live, unit, &ready, breaks, runtime).await })
            }
        });
    }
    if asking.is_empty() {
        live.together.ready.all_are_known(now);
        return Ok(());
    }
    session.place.handle().taken(all(asking)).await.map(drop)
}

/// Asks a unit again over a connection that was opened after it had been asked: its server may have been started anew
/// with other settings, and a transaction is to learn of that before it changes anything there, not when it is to be
/// committed.
///
/// # Errors
/// `Refused`, with what is to be done on its server; what keeps it from answering.
pub(in crate::session) async fn still_ready(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    ready: Option<&Ready>,
) -> Result<()> {
    let Some(ready) = ready.filter(|ready| connection.is_younger_than(ready.asked)) else {
        return Ok(());
    };
    let unit = Arc::clone(connection.unit());
    let (breaks, now) = (live.pool(&unit)?.breaks(), session.place.runtime().now());
    match session.place.handle().taken(Box::pin(ready.again(connection, now))).await {
        Ok(ready) => live.together.ready.keep(&unit, ready, breaks).map(drop),
        Err(error) => Err(no_longer(live, &unit, error)),
    }
}

/// When an error says that a unit lacks Pando's own tables, what is known of the units is forgotten: the next
/// transaction makes them.
pub(in crate::session) fn learn_of_loss(session: &Session, error: &Error) {
    if let (true, Some(live)) = (lacks_own_tables(error), session.place.current()) {
        tracing::warn!(%error, "Pando's own tables were removed from a storage unit, and are made anew");
        live.together.forget();
    }
}

fn lacks_own_tables(error: &Error) -> bool {
    let message = error.to_string();
    is_missing(error) && message.contains("pando")
        || message.contains("Pando's own tables were removed")
}

async fn readiness(
    live: &LiveDatabase,
    unit: &UnitName,
    runtime: &SharedRuntime,
) -> Result<Arc<Ready>> {
    let pool = live.pool(unit)?;
    let breaks = pool.breaks();
    let known = &live.together.ready;
    let asking = async {
        let told = Ready::ask(pool.connector(), runtime).await;
        known.keep(unit, told.map_err(|error| cannot_take_part(unit, error))?, breaks)
    };
    known.ask(unit, runtime, asking).await
}

/// Asks a unit again whose pool has counted these breaks. One that cannot say so now is not in the way: it is asked
/// again when it is needed.
///
/// # Errors
/// `Refused`, with what is to be done on its server.
async fn reassured(
    live: &LiveDatabase,
    unit: &UnitName,
    ready: &Ready,
    breaks: u64,
    runtime: &SharedRuntime,
) -> Result<()> {
    let asked = ready.afresh(live.pool(unit)?.connector(), runtime);
    match within(&**runtime, PATIENCE, asked).await {
        // Who begins next does not wait for it as well.
        None => Ok(()),
        Some(Ok(ready)) => live.together.ready.keep(unit, ready, breaks).map(drop),
        Some(Err(error)) if matches!(error.kind(), ErrorKind::Refused { .. }) => {
            Err(no_longer(live, unit, error))
        }
        Some(Err(error)) => {
            tracing::debug!(%unit, %error, "a storage unit was not asked again");
            live.together.ready.pass_on(unit);
            Ok(())
        }
    }
}

/// What a client is told by a unit that has been asked again. When it cannot take part any more, what is known of all
/// units is forgotten: two of them may be one place, and what is kept of both must be of one time.
fn no_longer(live: &LiveDatabase, unit: &str, error: Error) -> Error {
    if matches!(error.kind(), ErrorKind::Refused { .. }) {
        live.together.forget();
    }
    cannot_take_part(unit, error)
}

/// Refuses a part of a transaction that its storage unit has rolled back, which a reply told that nobody read to its
/// end: what ran on it would be committed at once.
pub(in crate::session) fn still_open(part: &Connection) -> Result<()> {
    let now = part.condition();
    match now.usable && now.outstanding == 0 && now.transaction == TransactionState::Idle {
        true => Err(aborted(&format!("storage unit `{}` has rolled its part back", part.unit()))),
        false => Ok(()),
    }
}
