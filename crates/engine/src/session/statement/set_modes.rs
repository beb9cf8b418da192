//! SET TRANSACTION and its like: modes for the open transaction, the next one, or all.

use pando_kernel::error::Result;

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::reply::made;
use crate::session::statement::set::Holds;
use crate::session::statement::{change_modes, constraints, set};
use crate::session::transaction::{base, modes};

/// SET SESSION CHARACTERISTICS and SET SESSION TRANSACTION: for all that follow.
pub(in crate::session) async fn set_modes_for_all(
    session: &mut Session,
    words: &[String],
) -> Result<()> {
    let modes = modes::known(words)?;
    session.work.refuse_if_failed()?;
    set_session_modes(session, modes).await?;
    made::complete(session, "SET");
    Ok(())
}

/// SET TRANSACTION: by the family's custom, for the next transaction (MySQL, and not inside one) or the open one
/// (PostgreSQL).
pub(in crate::session) async fn set_modes(session: &mut Session, words: &[String]) -> Result<()> {
    let is_about_open = session.place.dialect().is_some_and(|own| own.error_fails_transaction());
    if is_about_open && words.first().is_some_and(|word| word == "SNAPSHOT") {
        return take_up_snapshot(session, words).await;
    }
    let modes = modes::known(words)?;
    session.work.refuse_if_failed()?;
    let open = !session.work.is_idle();
    if !open && is_about_open {
        session.outbox.warn("25P01", "SET TRANSACTION can only be used in transaction blocks");
    } else if !open {
        session.work.say_next_modes(modes);
    } else if is_about_open {
        change_modes::alter(session, modes).await?;
    } else {
        return Err(modes::in_progress());
    }
    made::complete(session, "SET");
    Ok(())
}

/// SET TRANSACTION SNAPSHOT: what another session's transaction sees, where one storage unit is all there is to see.
/// <https://www.postgresql.org/docs/current/sql-set-transaction.html>
///
/// # Errors
/// `Refused` for a database of several storage units, and in a BASE transaction; what the unit says.
async fn take_up_snapshot(session: &mut Session, words: &[String]) -> Result<()> {
    session.work.refuse_if_failed()?;
    let live = session.place.live()?;
    let [unit] = &live.database.units[..] else { return Err(modes::snapshot_of_one()) };
    if session.work.is_idle() {
        session.outbox.warn("25P01", "SET TRANSACTION can only be used in transaction blocks");
        return Err(server_error(
            0,
            "0A000",
            "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ",
        ));
    }
    base::refuse_in_base(session, "SET TRANSACTION SNAPSHOT")?;
    let text = format!("SET TRANSACTION {}", words.join(" "));
    constraints::set_on(session, &live, unit, text).await?;
    made::complete(session, "SET");
    Ok(())
}

async fn set_session_modes(session: &mut Session, modes: Vec<String>) -> Result<()> {
    if let Some(dialect) = session.place.dialect() {
        let kept: Option<Vec<(String, String)>> =
            modes.iter().map(|mode| dialect.mode_variable(mode)).collect();
        if let Some(kept) = kept.filter(|kept| !kept.is_empty()) {
            let mut variables = session.settings.variables().clone();
            for (name, value) in &kept {
                variables.set(name, value);
            }
            return set::apply(session, &dialect.set_statement(&kept), Holds::InSession, variables)
                .await;
        }
    }
    for mode in modes {
        let kind = modes::kind(&mode);
        // Where defaults can be asked for, the connections must have them, too.
        if session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction()) {
            let name = format!("{}{}", pando_kernel::dialect::MODE, kind.to_lowercase());
            session.settings.keep(&name, &mode);
        }
        session.work.say_session_mode(mode);
    }
    Ok(())
}
