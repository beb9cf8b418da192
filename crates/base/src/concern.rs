//! What a statement means for a BASE transaction.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{
    CopyDirection, Cte, Delete, Kind, Query, QueryBody, Statement, Table, TableFactor, Update,
};

use crate::table::TableName;

/// What a statement needs on its storage unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concern {
    /// Nothing: it runs as it would outside a transaction.
    Nothing,
    /// It changes rows of this table, which [`crate::Plan`] must know.
    Changes(TableName),
    /// It locks rows of this table.
    Locks(TableName),
}

/// Utilities that change no rows.
const HARMLESS: &[&str] = &["LISTEN", "UNLISTEN", "NOTIFY", "CHECKPOINT", "EXPLAIN FOR CONNECTION"];

/// Tells what a storage unit's statement concerns.
///
/// # Errors
/// `Refused` for what could not be taken back: definitions, bulk loads, calls, changes of several tables.
pub fn concern(stmt: &Statement) -> Result<Concern> {
    match &stmt.kind {
        Kind::Select(query) => of_query(query),
        Kind::Insert(insert) => {
            reads_only(&insert.with)?;
            Ok(Concern::Changes(TableName::of(&insert.table.name)))
        }
        Kind::Update(update) => {
            reads_only(&update.with)?;
            Ok(Concern::Changes(TableName::of(&updated(update)?.name)))
        }
        Kind::Delete(delete) => {
            reads_only(&delete.with)?;
            Ok(Concern::Changes(TableName::of(&deleted(delete)?.name)))
        }
        Kind::Explain { analyze: true, inner, .. } if !is_plain_query(inner) => {
            Err(refused("EXPLAIN ANALYZE of a change"))
        }
        Kind::Copy(copy) => match copy.direction {
            CopyDirection::ToClient => Ok(Concern::Nothing),
            CopyDirection::FromClient | CopyDirection::ServerFile => Err(refused("COPY")),
        },
        Kind::Define(_) => Err(refused("a definition")),
        Kind::Load(_) => Err(refused("LOAD DATA")),
        Kind::Lock(_) => Err(refused("LOCK TABLES")),
        Kind::Utility { verb, .. } if HARMLESS.contains(&verb.as_str()) => Ok(Concern::Nothing),
        Kind::Utility { verb, .. } => Err(refused(verb)),
        Kind::Opaque => Err(refused("a statement that Pando does not understand")),
        Kind::Explain { .. }
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty => Ok(Concern::Nothing),
    }
}

/// The one table of an UPDATE.
pub(crate) fn updated(update: &Update) -> Result<&Table> {
    match &update.tables[..] {
        [TableFactor::Table(table)] => Ok(table),
        _ => Err(refused("UPDATE of several tables")),
    }
}

/// The one table of a DELETE.
pub(crate) fn deleted(delete: &Delete) -> Result<&Table> {
    match &delete.targets[..] {
        [table] => Ok(table),
        _ => Err(refused("DELETE from several tables")),
    }
}

/// The one table whose rows a query locks.
pub(crate) fn locked(query: &Query) -> Result<&Table> {
    let QueryBody::Select(select) = &query.body else {
        return Err(refused("FOR UPDATE of a set operation"));
    };
    match &select.from[..] {
        [TableFactor::Table(table)] => Ok(table),
        _ => Err(refused("SELECT … FOR UPDATE of anything but one table")),
    }
}

fn of_query(query: &Query) -> Result<Concern> {
    reads_only(&query.with)?;
    if let QueryBody::Select(select) = &query.body
        && select.into.is_some()
    {
        return Err(refused("SELECT … INTO"));
    }
    match &query.lock {
        None => Ok(Concern::Nothing),
        Some(_) => Ok(Concern::Locks(TableName::of(&locked(query)?.name))),
    }
}

fn reads_only(with: &[Cte]) -> Result<()> {
    if with.iter().all(|cte| matches!(*cte.body, Kind::Select(_))) {
        Ok(())
    } else {
        Err(refused("a change inside WITH"))
    }
}

fn is_plain_query(kind: &Kind) -> bool {
    matches!(kind, Kind::Select(query) if query.lock.is_none() && reads_only(&query.with).is_ok())
}

/// A refusal of a kind of statement.
pub(crate) fn refused(what: &str) -> Error {
    Error::unsupported(
        30001,
        format!("{what} cannot be taken back in a BASE transaction"),
        "run it outside, or in a LOCAL or XA transaction",
    )
}
