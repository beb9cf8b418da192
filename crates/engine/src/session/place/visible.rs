//! Which databases a session sees, and where it stands before it has chosen one.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::Login;

use crate::snapshot::{LiveDatabase, Snapshot};

/// The databases that can be used through the session's door by its user, in configuration order.
pub(in crate::session) fn visible(snapshot: &Snapshot, login: &Login) -> Arc<[String]> {
    let names = snapshot.databases.iter().map(|live| live.database.name.as_str());
    names
        .filter(|name| permitted(login, name) && find(snapshot, name, login).is_ok())
        .map(str::to_owned)
        .collect()
}

/// Whether the user may see a database of this name.
pub(in crate::session) fn permitted(login: &Login, name: &str) -> bool {
    let only = login.databases.as_ref();
    only.is_none_or(|only| only.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

/// The database whose storage units answer what is asked before one is chosen: statements without tables, and those
/// about the catalogue. Without any storage unit it is nowhere, where the door's language is spoken all the same.
pub(in crate::session) fn home(
    snapshot: &Snapshot,
    login: &Login,
    visible: &[String],
) -> Option<Arc<LiveDatabase>> {
    let known = || visible.iter().filter_map(|name| find(snapshot, name, login).ok());
    known().find(|live| live.has_units()).or_else(|| match login.language.clone() {
        Some(language) => Some(Arc::new(LiveDatabase::nowhere(language))),
        None => known().next(),
    })
}

/// As [`stand`] for a user; what he may not see does not exist.
pub(in crate::session) fn move_to(
    snapshot: &Snapshot,
    login: &Login,
    name: &str,
    home: Option<Arc<LiveDatabase>>,
) -> Result<(Arc<LiveDatabase>, String)> {
    if permitted(login, name) {
        return stand(snapshot, login, name, home);
    }
    own(name, home).ok_or_else(|| ErrorKind::UnknownDatabase(name.to_owned()).into())
}

/// Where a session stands whose current database has this name, and the name as it is told: a logical database, or one
/// of the vendor's own, about which the storage units of `home` answer.
pub(in crate::session) fn stand(
    snapshot: &Snapshot,
    login: &Login,
    name: &str,
    home: Option<Arc<LiveDatabase>>,
) -> Result<(Arc<LiveDatabase>, String)> {
    match find(snapshot, name, login) {
        Ok(live) => {
            let name = live.database.name.clone();
            Ok((live, name))
        }
        Err(error) if matches!(error.kind(), ErrorKind::UnknownDatabase(_)) => {
            own(name, home).ok_or(error)
        }
        Err(error) => Err(error),
    }
}

/// One of the vendor's own databases.
fn own(name: &str, home: Option<Arc<LiveDatabase>>) -> Option<(Arc<LiveDatabase>, String)> {
    let home = home?;
    let own = home.database.dialect.presentation()?.own_database(name)?.to_owned();
    Some((home, own))
}

/// A database by name that speaks the door's language.
pub(in crate::session) fn find(
    snapshot: &Snapshot,
    name: &str,
    login: &Login,
) -> Result<Arc<LiveDatabase>> {
    let family = login.family;
    let live = snapshot
        .database(name)
        .cloned()
        .ok_or_else(|| Error::new(ErrorKind::UnknownDatabase(name.to_owned())))?
        .at_door(login);
    let units = live.database.dialect.family();
    if family.is_empty() || units == family || live.database.dialect.serves_every_door() {
        return Ok(live);
    }
    Err(Error::unsupported(
        30001,
        format!("database `{name}` is made of {units} storage units"),
        format!("connect to Pando's {units} port"),
    ))
}
