//! Other modes for a transaction that is open already: PostgreSQL's SET TRANSACTION, and a further BEGIN.
//! <https://www.postgresql.org/docs/current/sql-set-transaction.html>

use pando_kernel::TransactionType;
use pando_kernel::error::{Error, Result};
use pando_sql::ast::Assignment;

use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::cursors::settle;
use crate::session::errors::server_error;
use crate::session::settings::savepoints::BECOMES_READ_ONLY;
use crate::session::transaction::modes::completed;
use crate::session::transaction::touched::Touched;
use crate::session::transaction::{attend, base, end, snapshot, units};

/// What servers begin with that nobody has told otherwise.
const DEFAULT_LEVEL: &str = "READ COMMITTED";
const READ_ONLY: &str = "READ ONLY";
const READ_WRITE: &str = "READ WRITE";

/// Gives the open transaction other modes, where its language lets it have them.
///
/// # Errors
/// As PostgreSQL says it: 25001, 25P02. `Refused` for what a distributed transaction has settled with its first
/// statement.
pub(in crate::session) async fn alter(session: &mut Session, own: Vec<String>) -> Result<()> {
    session.work.refuse_if_failed()?;
    own.iter().try_for_each(|mode| refuse_late(session, mode))?;
    let own: Vec<String> = own.into_iter().filter(|mode| !has_mode(session, mode)).collect();
    if own.is_empty() {
        return Ok(());
    }
    let modes = completed(own.clone(), session.work.transaction().modes());
    match !session.settings.has_savepoints() && session.work.touched() == Touched::Nothing {
        true => start_over(session, modes).await,
        false => tell_modes(session, &own, modes).await,
    }
}

/// `RESET transaction_isolation` and its like take the open transaction to what servers begin with, whatever BEGIN or
/// the session's defaults have said. Where servers would let a transaction change its level that has looked at data
/// already, ours keeps it and says so.
///
/// # Errors
/// As [`alter`].
pub(in crate::session) async fn reset_modes(
    session: &mut Session,
    assignments: &[Assignment],
) -> Result<()> {
    let is_about_open = session.place.dialect().is_some_and(|own| own.error_fails_transaction());
    if !is_about_open || session.work.is_idle() {
        return Ok(());
    }
    let is_deferred = session.work.transaction().modes().iter().any(|mode| mode == "DEFERRABLE");
    let reset = assignments.iter().filter(|one| one.value.is_none());
    let modes = reset.filter_map(|one| match one.name.to_ascii_lowercase().as_str() {
        "transaction_isolation" => Some(format!("ISOLATION LEVEL {DEFAULT_LEVEL}")),
        "transaction_read_only" => Some(READ_WRITE.to_owned()),
        "transaction_deferrable" if is_deferred => Some("NOT DEFERRABLE".to_owned()),
        _ => None,
    });
    match modes.collect::<Vec<String>>() {
        modes if modes.is_empty() => Ok(()),
        modes => alter(session, modes).await,
    }
}

/// Nothing has been done on the units that would be missed, so they begin anew when they are needed: a transaction that
/// is to see one state of them, or to lock what it reads, does so from its beginning.
async fn start_over(session: &mut Session, modes: Vec<String>) -> Result<()> {
    if session.work.transaction().is_fresh() {
        session.work.transaction_mut().set_modes(modes);
        return Ok(());
    }
    session.work.transaction_mut().connections().for_each(|one| one.set_session_state(UNKNOWN));
    end::roll_back(session).await;
    let course = units::course(session);
    session.work.transaction_mut().begin(modes, course);
    Ok(())
}

/// Tells the units that take part, and those that will.
async fn tell_modes(session: &mut Session, own: &[String], modes: Vec<String>) -> Result<()> {
    refuse_settled(session, own, &modes)?;
    settle::settle_cursors(session).await?;
    attend::attend_transaction(session)?;
    let text = format!("SET TRANSACTION {}", own.join(", "));
    let told = session.work.transaction_mut().run_everywhere(&text).await;
    attend::let_go(session).await;
    told?;
    if !session.settings.has_savepoints() {
        session.work.transaction_mut().set_modes(modes);
    } else if own.iter().any(|mode| mode == READ_ONLY) {
        // It is over with the savepoint, which a unit that joins later is told of first.
        session.settings.is_set_locally(BECOMES_READ_ONLY);
    }
    Ok(())
}

/// A unit that joined behind a savepoint was told there what was said in front of it, and forgets it with the
/// savepoint.
pub(in crate::session) async fn tell_read_only_again(session: &mut Session) -> Result<()> {
    match session.settings.is_told_read_only() {
        true => session.work.transaction_mut().run_everywhere(BECOMES_READ_ONLY).await,
        false => Ok(()),
    }
}

fn is_read_only(session: &Session) -> bool {
    session.settings.is_told_read_only()
        || session.work.transaction().modes().iter().any(|mode| mode == READ_ONLY)
}

/// Whether the transaction has a mode already, as far as that is known here.
fn has_mode(session: &Session, mode: &str) -> bool {
    match (mode, mode.strip_prefix("ISOLATION LEVEL ")) {
        (READ_ONLY, _) => is_read_only(session),
        (READ_WRITE, _) if session.settings.is_told_read_only() => false,
        (_, Some(level)) => snapshot::named_level(session, session.work.transaction().modes())
            .is_some_and(|now| is_same_level(now, level)),
        _ => session.work.transaction().modes().iter().any(|known| known == mode),
    }
}

/// Refuses a mode that can no longer be had, in PostgreSQL's words.
fn refuse_late(session: &Session, mode: &str) -> Result<()> {
    let (late, inner) =
        (session.work.touched() == Touched::Data, session.settings.has_savepoints());
    let message = match (mode, mode.strip_prefix("ISOLATION LEVEL ")) {
        (_, Some(level)) if keeps_level(session, level) => None,
        (_, Some(_)) if late => {
            Some("SET TRANSACTION ISOLATION LEVEL must be called before any query")
        }
        (_, Some(_)) if inner => {
            Some("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
        }
        (READ_WRITE, _) if is_read_only(session) && inner => {
            Some("cannot set transaction read-write mode inside a read-only transaction")
        }
        (READ_WRITE, _) if is_read_only(session) && late => {
            Some("transaction read-write mode must be set before any query")
        }
        ("DEFERRABLE" | "NOT DEFERRABLE", _) if inner => {
            Some("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction")
        }
        ("DEFERRABLE" | "NOT DEFERRABLE", _) if late => {
            Some("SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
        }
        _ => None,
    };
    message.map_or(Ok(()), |message| Err(server_error(0, "25001", message)))
}

/// Whether a level is the transaction's own. What is not known here is judged by the units that take part, but in a
/// distributed transaction, which could not have them take another level by then.
fn keeps_level(session: &Session, level: &str) -> bool {
    let judged = !session.work.transaction().is_fresh()
        && session.work.transaction().kind() != TransactionType::Xa;
    match snapshot::named_level(session, session.work.transaction().modes()) {
        Some(now) => is_same_level(now, level),
        None => judged || is_same_level(DEFAULT_LEVEL, level),
    }
}

/// Refuses what a distributed transaction has settled with its first statement: what it sees, what it locks, and where
/// its decision is written.
fn refuse_settled(session: &Session, own: &[String], modes: &[String]) -> Result<()> {
    if session.settings.has_savepoints() {
        base::refuse_in_base(session, "a transaction mode behind a savepoint")?;
    }
    let is_global = session.work.transaction().kind() == TransactionType::Xa;
    let is_late =
        session.work.touched() == Touched::Data || session.work.transaction().is_locking();
    let turns = is_late && own.iter().any(|mode| mode == READ_ONLY);
    let rises = own.iter().any(|mode| mode.starts_with("ISOLATION"))
        && snapshot::asked_isolation(session, modes).is_some();
    if !is_global || !turns && !rises {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "a transaction of type XA keeps the modes that it has at its first statement",
        "set them before, or use type LOCAL",
    ))
}

/// Whether two spellings name one level.
fn is_same_level(one: &str, other: &str) -> bool {
    let letters = |name: &str| -> String {
        let letters = name.chars().filter(char::is_ascii_alphabetic);
        letters.map(|letter| letter.to_ascii_uppercase()).collect()
    };
    letters(one) == letters(other)
}
