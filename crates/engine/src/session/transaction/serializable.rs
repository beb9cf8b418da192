//! SERIALIZABLE over several storage units whose servers find anomalies instead of locking (PostgreSQL).
//!
//! Each server sees its own half of a write skew that spans two of them, which alone is none. So transactions of type
//! XA that may write lock the tables they read and write until they end, and read what is committed once they have the
//! lock: strict two-phase locking, whose order of commits is the same on all units. On the units they run at READ
//! COMMITTED for that: a snapshot that is older than the lock would miss who had it before.

use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;
use pando_kernel::two_phase::{Against, Isolation, Patience};
use pando_kernel::{TransactionType, TwoPhase};
use pando_pool::Connection;
use pando_sql::ast::{Insert, InsertSource, Kind, Show, Statement};
use pando_sql::visit;
use pando_transaction::TableLock;
use pando_transaction::broken::{Need, lacks};

use crate::plan;
use crate::plan::{Plan, Unit, unread as syntax_error};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::reply::made;
use crate::session::transaction::{Work, snapshot, units};

impl Work {
    /// A query that calls what nobody here knows may have written where the servers of a distributed transaction
    /// cannot tell: its parts are prepared like those
    /// that have.
    pub(in crate::session) fn note_unseen_writes(
        &mut self,
        live: &LiveDatabase,
        stmt: &Statement,
        plan: &Plan,
    ) {
        let is_asked = !plan.writes
            && self.transaction.state() != TransactionState::Idle
            && self.transaction.kind() == TransactionType::Xa;
        let tells = |family: &dyn TwoPhase| family.wrote_query().is_some();
        if !is_asked || live.database.dialect.two_phase().is_none_or(tells) {
            return;
        }
        if matches!(stmt.kind, Kind::Select(_)) && plan::may_write(&stmt.kind) {
            plan.units.iter().for_each(|unit| self.transaction.writes_on(&unit.target.unit));
        }
    }

    /// Queues the locks that statements on one unit need, in front of them. Returns how many replies belong to that.
    ///
    /// # Errors
    /// `Syntax` when what is sent cannot be read.
    pub(in crate::session) fn lock_what_is_read(
        &mut self,
        live: &LiveDatabase,
        connection: &mut Connection,
        units: &[&Unit],
    ) -> Result<usize> {
        if !self.transaction.is_locking() {
            return Ok(0);
        }
        let Some(family) = live.database.dialect.two_phase() else { return Ok(0) };
        let mut locks = Vec::new();
        let (mut changes, mut renames) = (false, false);
        for unit in units {
            let statement = pando_sql::parse(&unit.sql, live.database.dialect.syntax());
            let statement = statement.map_err(syntax_error)?;
            if reads_unseen(&statement.kind) {
                return Err(Error::unsupported(
                    30001,
                    "what this statement reads cannot be told, so a SERIALIZABLE transaction over several storage units cannot lock it",
                    "use REPEATABLE READ, or statements that name their tables",
                ));
            }
            changes |= plan::may_write(&statement.kind);
            renames |= matches!(statement.kind, Kind::Define(_));
            let Some(against) = against(&statement.kind) else { continue };
            let mut names: Vec<&str> = visit::tables(&statement.kind)
                .iter()
                .map(|table| table.name.span.of(&statement.text))
                .filter(|name| !is_of_the_vendor(name))
                .collect();
            names.sort_unstable();
            names.dedup();
            if names.is_empty() {
                continue;
            }
            let texts = [Patience::Waits, Patience::Fails]
                .map(|patience| family.lock_tables(&names, against, patience));
            if let [Some(text), Some(at_once)] = texts {
                locks.push(TableLock { tables: names.join(", "), against, text, at_once });
            }
        }
        let queued = self.transaction.lock(connection, locks)?;
        if changes {
            self.transaction.changes_on(connection.unit());
        }
        if renames {
            self.transaction.renames();
        }
        Ok(queued)
    }
}

/// Lets a transaction that begins now lock what it reads, where it must be serializable and its servers alone would not
/// make it so.
pub(in crate::session) fn lock_if_serial(session: &mut Session, live: &LiveDatabase) {
    let fresh = session.work.transaction.kind() == TransactionType::Xa
        && session.work.transaction.is_fresh();
    let modes = session.work.transaction.modes();
    if !fresh || session.work.transaction.is_locking() || !must_lock(session, live, modes) {
        return;
    }
    let others = modes.iter().filter(|mode| !mode.starts_with("ISOLATION")).cloned();
    let level = "ISOLATION LEVEL READ COMMITTED".to_owned();
    session.work.transaction.locks_reads(others.chain([level]).collect());
}

/// Whether a transaction of type XA under these modes locks what it reads.
fn must_lock(session: &Session, live: &LiveDatabase, modes: &[String]) -> bool {
    let is_asked = live.database.units.len() > 1
        && snapshot::asked_isolation(session, modes) == Some(Isolation::Serializable);
    // One that only reads stands in the order of commits where its snapshot was taken.
    if !is_asked || lacks(Need::Serial) || modes.iter().any(|mode| mode == "READ ONLY") {
        return false;
    }
    let family = live.database.dialect.two_phase();
    family.is_some_and(|family| {
        family.lock_tables(&["t"], Against::Writers, Patience::Waits).is_some()
    })
}

/// Whether a change outside a transaction must lock what it reads like one inside: others rely on its order.
pub(in crate::session) fn locks_alone(session: &Session, live: &LiveDatabase) -> bool {
    units::transaction_type(session) == TransactionType::Xa
        && must_lock(session, live, &session.work.modes.session)
}

/// The level that is told to the client of the open transaction, or of one that begins now, where its units run at
/// another one.
pub(in crate::session) fn told_isolation(session: &Session) -> Option<Isolation> {
    let idle = session.work.is_idle();
    let kind =
        if idle { units::transaction_type(session) } else { session.work.transaction.kind() };
    if kind != TransactionType::Xa {
        return None;
    }
    let locks = session.work.transaction.is_locking()
        || session.place.current().is_some_and(|live| match idle {
            true => must_lock(session, live, &session.work.modes.session),
            false => {
                session.work.transaction.is_fresh()
                    && must_lock(session, live, session.work.transaction.modes())
            }
        });
    locks.then_some(Isolation::Serializable)
}

/// Answers SHOW of a setting whose value the units would tell otherwise; false when they are to be asked.
///
/// # Errors
/// `TransactionFailed`, and what writing the row says.
pub(in crate::session) fn show_setting(session: &mut Session, show: &Show) -> Result<bool> {
    let is_set = |name: &str| {
        let variables = session.settings.variables().list().iter();
        variables.clone().any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    let by = if is_set(&show.what) { "show" } else { "show unset" };
    let told = session
        .place
        .dialect()
        .and_then(|dialect| dialect.session_setting(by, &show.what, session.place.facts()));
    let Some(value) = told else { return Ok(false) };
    session.work.refuse_if_failed()?;
    made::rows(session, "SHOW", &[&show.what], &[vec![value]])?;
    Ok(true)
}

/// What a statement's tables are locked against. Two that both read and then write would wait for each other: who
/// writes keeps both out from the start.
fn against(kind: &Kind) -> Option<Against> {
    match kind {
        Kind::Select(query) if query.lock.is_none() => Some(Against::Writers),
        Kind::Insert(insert) if only_adds(insert) && visit::tables(kind).len() == 1 => None,
        Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_) => {
            Some(Against::Everybody)
        }
        Kind::Copy(_) => Some(Against::Writers),
        Kind::Empty
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Use(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Define(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Load(_)
        | Kind::Utility { .. }
        | Kind::Show(_)
        | Kind::Explain { .. }
        | Kind::Opaque => None,
    }
}

/// Whether it may read tables that nobody sees in it.
fn reads_unseen(kind: &Kind) -> bool {
    matches!(kind, Kind::Utility { verb, .. } if verb == "MERGE") || plan::is_unread(kind)
}

/// An INSERT that looks at no row.
fn only_adds(insert: &Insert) -> bool {
    insert.on_conflict.is_none() && !matches!(insert.source, InsertSource::Query(_))
}

/// Nobody's transactions write there.
fn is_of_the_vendor(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("pg_") || name.starts_with("information_schema.")
}

/// Notes what planning and Pando's own answers tell of the session's settings.
pub(in crate::session) fn tell_settings(session: &mut Session) {
    let (settings, isolation) = (session.settings.with_local_roles(), told_isolation(session));
    let shown = session.settings.shown().now();
    let facts = session.place.facts_mut();
    facts.shown = shown;
    (facts.settings, facts.isolation) = (settings, isolation);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_keeps_everybody_out() {
        let of = |text: &str| against(&pando_sql::parse(text, &pando_fake::STANDARD).unwrap().kind);
        assert_eq!(of("SELECT a FROM t"), Some(Against::Writers));
        assert_eq!(of("UPDATE t SET a = 1"), Some(Against::Everybody));
        assert_eq!(of("INSERT INTO t VALUES (1)"), None);
        assert_eq!(of("INSERT INTO t VALUES ((SELECT a FROM u))"), Some(Against::Everybody));
        assert_eq!(of("BEGIN"), None);
    }
}
