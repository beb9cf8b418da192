//! A transaction goes on under the configuration that it began with, but not where that would lose rows.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::feature::TableKind;
use pando_sql::ast::Statement;
use pando_sql::visit;

use crate::rule_change::{Change, moved};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Aim;

/// Pando's own number, beside those of changes that came in each other's way.
const MOVED: u32 = 17011;

/// Refuses a statement of an older configuration about a table whose rows have another place by now: rows it wrote
/// would not be found, and of those of others it would see a part. Reading a broadcast table is as good anywhere. Where
/// values are stored otherwise by now, what it wrote would be in the plain, or read as what it is not.
///
/// # Errors
/// 40001: the transaction has to begin anew.
pub(in crate::session) fn refuse_moved(
    session: &Session,
    live: &LiveDatabase,
    stmt: &Statement,
    aim: Aim,
) -> Result<()> {
    let newest = session.place.engine.inner.snapshot.load();
    if Arc::ptr_eq(&newest, &session.place.snapshot) {
        return Ok(());
    }
    let name = live.database.name.as_str();
    let mut databases = newest.databases.iter();
    let now = databases.find(|own| own.database.name.eq_ignore_ascii_case(name));
    let number = now.map_or(0, |now| now.number);
    if number == live.number {
        return Ok(());
    }
    let find = || moved(&live.database, now.map(|now| &now.database));
    let moved = live.moved.of(number, find);
    if moved.is_empty() {
        return Ok(());
    }
    for occurrence in visit::tables(&stmt.kind) {
        let Some(table) = occurrence.name.parts.last() else { continue };
        match moved.get(&table.key()) {
            None => {}
            Some(Change::Place(TableKind::Broadcast) | Change::Storage) if aim == Aim::Reads => {}
            Some(Change::Place(_) | Change::Storage) => {
                let is_alone = session.work.autocommit() && session.work.is_idle();
                let what = match is_alone {
                    true => "while this statement was planned; repeat it",
                    false => "after this transaction began; roll it back and begin again",
                };
                return Err(changed(&table.value, what));
            }
        }
    }
    Ok(())
}

fn changed(table: &str, what: &str) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number: MOVED,
        sqlstate: "40001".into(),
        message: format!("the rule of table `{table}` was changed {what}"),
        severity: "ERROR".into(),
        ..ServerError::default()
    }))
    .into()
}
