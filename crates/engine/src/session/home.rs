//! Which databases a session sees, and where it stands before it has chosen one.

use std::sync::Arc;

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::session::Login;
use pando_sql::ast::Statement;
use pando_sql::visit;

use crate::snapshot::{LiveDatabase, Snapshot};

use super::Session;
use super::door::find;

/// The databases that can be used through the session's door by its user, in configuration order.
pub(super) fn visible(snapshot: &Snapshot, login: &Login) -> Arc<[String]> {
    let permitted = |name: &str| {
        let only = login.databases.as_ref();
        only.is_none_or(|only| only.iter().any(|own| own.eq_ignore_ascii_case(name)))
    };
    let names = snapshot.databases.iter().map(|live| live.database.name.as_str());
    names
        .filter(|name| permitted(name) && find(snapshot, name, login.family).is_ok())
        .map(str::to_owned)
        .collect()
}

/// The database whose storage units answer what is asked before one is chosen: statements without tables, and those about the catalogue.
pub(super) fn home(
    snapshot: &Snapshot,
    login: &Login,
    visible: &[String],
) -> Option<Arc<LiveDatabase>> {
    find(snapshot, visible.first()?, login.family).ok()
}

impl Session {
    /// Refuses a statement about tables before a database is chosen.
    pub(super) fn refuse_without_database(&self, stmt: &Statement) -> Result<()> {
        if self.facts.database.is_some() {
            return Ok(());
        }
        let dialect = self.dialect();
        let presentation = dialect.as_ref().and_then(|dialect| dialect.presentation());
        let needs_one = visit::tables(&stmt.kind).iter().any(|table| {
            presentation.is_none_or(|own| {
                own.holding(table.name).is_none() && own.database_part(&table.name.parts).is_none()
            })
        });
        if needs_one { Err(ErrorKind::NoDatabase.into()) } else { Ok(()) }
    }
}
