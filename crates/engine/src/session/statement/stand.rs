//! The database a session stands in: chosen, left, looked for again in a newer configuration.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};

use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::statement::set;
use crate::session::transaction::{begin, end};

/// Changes the current database.
pub(in crate::session) async fn use_database(session: &mut Session, name: &str) -> Result<()> {
    let (live, name) = session.place.look_for(name)?;
    // A dump begins its transaction before it says of what.
    let is_other = session.place.current().is_some_and(|old| !Arc::ptr_eq(old, &live));
    let is_at_work = is_other && !session.work.stands_free() && !session.work.has_begun_only();
    let again = match is_at_work && has_read_no_table(session) {
        true => Some(session.work.transaction().modes().to_vec()),
        false => None,
    };
    if again.is_some() {
        end::roll_back_with_cursors(session).await?;
    } else if is_at_work {
        return Err(Error::unsupported(
            30001,
            "the database cannot be changed inside a transaction that has read or changed another one",
            "commit or roll back first",
        ));
    }
    let first = session.place.current().is_none();
    session.place.is_in(Some(name));
    stand_in(session, Some(live));
    if first {
        start_variables(session)?;
        session.settings.shown_mut().is_known();
    }
    match again {
        Some(modes) => begin::open_for_client(session, modes).await,
        None => Ok(()),
    }
}

/// Whether the open transaction has changed nothing and was asked of no table, as no database was chosen: only the
/// servers themselves, and their catalogues. It may as well have begun where one is chosen now, and later.
pub(in crate::session) fn has_read_no_table(session: &Session) -> bool {
    session.place.facts().database.is_none() && session.work.has_read_no_table()
}

/// Stands in the newest snapshot where it stood in the one before.
///
/// # Errors
/// `UnknownDatabase` and `Refused` when that is no longer possible; the session is then in no database.
pub(in crate::session) fn look_again(session: &mut Session) -> Result<()> {
    session.place.take_newest();
    let Some(name) = session.place.facts().database.clone() else {
        let home = session.place.home();
        stand_in(session, home);
        return Ok(());
    };
    match session.place.look_for_own(&name) {
        Ok(live) => {
            stand_in(session, Some(live));
            Ok(())
        }
        Err(gone) => {
            let home = session.place.home();
            leave_database(session, home);
            Err(gone)
        }
    }
}

/// From now on the session is in no database.
pub(in crate::session) fn leave_database(session: &mut Session, home: Option<Arc<LiveDatabase>>) {
    session.place.is_in(None);
    stand_in(session, home);
}

/// Goes to a database, or where there is none. Its units are told of the door's language when they take several.
pub(in crate::session) fn stand_in(session: &mut Session, live: Option<Arc<LiveDatabase>>) {
    if let Some(language) = session.place.stand_in(live) {
        session.settings.speaks(language);
    }
}

pub(in crate::session) fn start_variables(session: &mut Session) -> Result<()> {
    let Some(live) = session.place.current().cloned() else { return Ok(()) };
    if live.client_language.is_some() {
        session.settings.speaks(live.client_language);
    }
    for (name, value) in session.place.login().variables.clone() {
        set::startup_variable(session, live.database.dialect.as_ref(), &name, &value)?;
    }
    Ok(())
}

/// Takes the newest snapshot; inside a transaction the one it began with stays.
pub(in crate::session) fn refresh(session: &mut Session) -> Result<()> {
    if session.place.handle().is_killed() {
        return Err(ErrorKind::Shutdown.into());
    }
    if !session.work.stands_free() || session.cursors.waits_in_cursor() {
        return Ok(());
    }
    match session.place.is_outdated() {
        true => look_again(session),
        false => Ok(()),
    }
}
