//! Global snapshots: at REPEATABLE READ and SERIALIZABLE a transaction of type XA sees all or nothing of every other
//! one, on all units.
//!
//! Whoever's default the level is: what a client is told of its level holds. It costs a transaction on all units, and
//! holds up the commits of others for a moment; READ
//! COMMITTED is how to go without.

use pando_kernel::error::{Error, Result};
use pando_kernel::route::UnitName;
use pando_kernel::two_phase::Isolation;
use pando_kernel::{TransactionType, TwoPhase};
use pando_transaction::Sight;

use crate::plan::{Plan, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Aim;
use crate::session::transaction::modes::SNAPSHOT;
use crate::session::transaction::units;

/// Whether the open transaction is to look at all units now, before it does something on one of them: it is at a
/// level at which it sees one state of the data, and
/// has not looked. Where changes see what is there by then, it looks with its first query; not behind a
/// savepoint, to which it might return, and look anew.
pub(in crate::session) fn looks_now(session: &mut Session, aim: Aim) -> bool {
    let transaction = &session.work.transaction;
    let may_look = transaction.kind() == TransactionType::Xa
        && !transaction.is_locking()
        && (transaction.is_fresh() || transaction.sight() == Sight::Later);
    let several = session.place.current().is_some_and(|live| live.database.units.len() > 1);
    if !may_look || !several || asked_isolation(session, transaction.modes()).is_none() {
        return false;
    }
    let may_wait = aim != Aim::Reads && session.work.only_changes && !transaction.has_savepoints();
    let family = session.place.current().and_then(|live| live.database.dialect.two_phase());
    if may_wait && family.is_some_and(TwoPhase::sees_when_it_reads) {
        session.work.transaction.sees(Sight::Later);
        return false;
    }
    true
}

/// Whether a query outside a transaction has to see one state of several units.
pub(in crate::session) fn reads_as_one(session: &Session, plan: &Plan) -> bool {
    !plan.writes
        && units::transaction_type(session) == TransactionType::Xa
        && reads_several(plan)
        && asks_for_one_state(session)
}

/// Whether a query outside a transaction that has to see one state of several units was planned for copies, which
/// have no part in that.
pub(in crate::session) async fn strays(
    session: &mut Session,
    live: &LiveDatabase,
    plan: &Plan,
) -> bool {
    let may_stray = !plan.writes
        && units::transaction_type(session) == TransactionType::Xa
        && session.work.is_idle()
        && reads_several(plan);
    if !may_stray {
        return false;
    }
    know_level(session).await;
    let leads = |unit: &Unit| live.leads(&unit.target.unit);
    asks_for_one_state(session) && !plan.units.iter().all(leads)
}

/// Whether units have not told yet at which level their transactions are.
pub(in crate::session) fn lacks_level(session: &Session) -> bool {
    units::transaction_type(session) == TransactionType::Xa
        && session.place.current().is_some_and(|live| !live.together.ready.knows_level())
}

/// Finds out at which level transactions are for which nobody names one. A unit that cannot take part in
/// distributed transactions says so when it is to.
pub(in crate::session) async fn know_level(session: &mut Session) {
    if lacks_level(session)
        && let Err(error) = Box::pin(units::ready_all(session)).await
    {
        tracing::debug!(%error, "a storage unit has not told its level");
    }
}

/// Whether a statement outside a transaction that reads more than once has to see one state of the data.
pub(in crate::session) fn asks_for_one_state(session: &Session) -> bool {
    if units::transaction_type(session) != TransactionType::Xa {
        return false;
    }
    let modes: Vec<String> =
        session.work.modes.next.iter().chain(&session.work.modes.session).cloned().collect();
    asked_isolation(session, &modes).is_some()
}

/// The first level that these modes, or else the session's variables, name, or else the units begin with.
pub(in crate::session) fn asked_isolation(
    session: &Session,
    modes: &[String],
) -> Option<Isolation> {
    match named_level(session, modes) {
        Some(level) => Isolation::read(level),
        None if has_snapshot(modes) => Some(Isolation::RepeatableRead),
        None => session.place.current().and_then(|live| live.together.ready.level()),
    }
}

/// The first level that these modes, or else the session's variables, name, as it is spelled there.
pub(in crate::session) fn named_level<'a>(
    session: &'a Session,
    modes: &'a [String],
) -> Option<&'a str> {
    if let Some(level) = modes.iter().find_map(|mode| mode.strip_prefix("ISOLATION LEVEL ")) {
        return Some(level);
    }
    // A transaction keeps the level it was begun at, whatever is set in it for those to come.
    let idle = session.work.is_idle();
    let before = session.settings.before_transaction().filter(|_| !idle);
    // Every family's names for it end so.
    let variable = before
        .unwrap_or(session.settings.variables())
        .list()
        .iter()
        .rev()
        .find(|(name, _)| name.ends_with("isolation"));
    variable.map(|(_, value)| &**value).filter(|value| !value.eq_ignore_ascii_case("default"))
}

/// Whether the open transaction has its units look at their data when it begins: WITH CONSISTENT SNAPSHOT, which
/// servers heed at REPEATABLE READ only. A unit that could not is not asked to: SQLite's transactions queue up where
/// they begin.
/// <https://dev.mysql.com/doc/refman/8.0/en/commit.html>
pub(in crate::session) fn looks_at_once(session: &Session) -> bool {
    let modes = session.work.transaction.modes();
    has_snapshot(modes)
        && asked_isolation(session, modes) == Some(Isolation::RepeatableRead)
        && session.place.dialect().is_some_and(|dialect| dialect.two_phase().is_some())
}

/// Refuses a snapshot to a transaction whose statements each read for themselves.
pub(in crate::session) fn refuse_snapshot_in_base(
    session: &Session,
    modes: &[String],
) -> Result<()> {
    let is_base = units::transaction_type(session) == TransactionType::Base;
    if !is_base || !has_snapshot(modes) {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "a transaction of type BASE has no snapshot: each of its statements reads what is committed",
        "use a LOCAL or XA transaction",
    ))
}

/// A unit that was not there when the transaction began to look, such as a replica, would show it another state.
pub(in crate::session) fn refuse_outside_snapshot(
    session: &Session,
    unit: &UnitName,
) -> Result<()> {
    let looks = match session.work.transaction.kind() {
        TransactionType::Xa => asked_isolation(session, session.work.transaction.modes()).is_some(),
        TransactionType::Local => looks_at_once(session),
        TransactionType::Base => false,
    };
    let has_looked = !session.work.is_idle()
        && !session.work.transaction.is_fresh()
        && session.work.transaction.sight() != Sight::Later
        && !session.work.transaction.is_locking();
    if !looks || !has_looked {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        format!("storage unit `{unit}` is not part of the transaction's snapshot"),
        "let transactions read from the primary (transactionalReadQueryStrategy: PRIMARY), or use READ COMMITTED",
    ))
}

fn reads_several(plan: &Plan) -> bool {
    let Some(first) = plan.units.first() else { return false };
    plan.units.iter().any(|unit| unit.target.unit != first.target.unit)
}

fn has_snapshot(modes: &[String]) -> bool {
    modes.iter().any(|mode| mode == SNAPSHOT)
}
