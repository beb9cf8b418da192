//! What a statement that names views over sharded tables is over these tables.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use super::known::{Known, may_name_one, runs_there};
use super::{change, expand};
use crate::plan::route;

/// What becomes of a statement that may name views.
#[derive(Debug)]
pub(crate) enum Expanded {
    /// It names none over several actual tables.
    Stays,
    /// Its text with their queries in their places.
    Written(String),
    /// Their server refuses it: it is sent as it is.
    ForServer,
}

/// The statement over tables that it is, where it names views over several actual tables.
///
/// # Errors
/// `Refused` for what cannot be done with such a view.
pub(crate) fn expanded(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<std::result::Result<Expanded, Need>> {
    let views = match ctx.catalog.views() {
        Some(views) if views.is_empty() => return Ok(Ok(Expanded::Stays)),
        Some(views) => views,
        None if may_name_one(ctx, stmt) => return Ok(Err(Need::Tables)),
        None => return Ok(Ok(Expanded::Stays)),
    };
    // What names its unit goes there as it is.
    if route::names_unit(stmt) {
        return Ok(Ok(Expanded::Stays));
    }
    let known = Known { ctx, views: &views };
    refuse_defined(&known, stmt)?;
    change::refuse_inner(&known, stmt)?;
    if let Some(view) = change::target(&known, stmt) {
        return change::changed(&known, stmt, view).map(Ok);
    }
    let written = expand::expanded(&known, stmt, expand::Query::Whole)?;
    if written.is_some() && locks_rows(stmt) && ctx.dialect.definitions_commit() {
        return Err(Error::unsupported(
            20032,
            "rows of a view over sharded tables cannot be locked by reading them",
            "lock the rows of its tables",
        ));
    }
    Ok(Ok(written.map_or(Expanded::Stays, Expanded::Written)))
}

/// The error of a statement whose views are written out: what its client did not name is the view's.
pub(crate) fn of_view(ctx: &Context<'_>, stmt: &Statement, error: Error) -> Error {
    let (Some(texts), Some(views)) = (ctx.dialect.views(), ctx.catalog.views()) else {
        return error;
    };
    let named = if let ErrorKind::UnknownTable(missing) = error.kind() {
        Some(missing.as_str())
    } else {
        None
    };
    let is_missing = |key: &str| match named {
        Some(missing) => missing == key,
        None => ctx.catalog.columns(key).is_some_and(|columns| columns.is_empty()),
    };
    let tables = visit::tables(&stmt.kind);
    if tables.iter().any(|table| is_missing(&table.name.key())) {
        return error;
    }
    let is_invalid = |key: &String| {
        let query = views.get(key).and_then(|view| view.query.as_deref().ok());
        let read = query.and_then(|query| pando_sql::parse(query, ctx.dialect.syntax()).ok());
        read.is_some_and(|read| {
            visit::tables(&read.kind).iter().any(|table| is_missing(&table.name.key()))
        })
    };
    let invalid = tables.iter().map(|table| table.name.key()).find(is_invalid);
    let told = invalid.and_then(|key| texts.invalid(&ctx.database.name, &key));
    told.map_or(error, |told| ErrorKind::Server(Box::new(told)).into())
}

/// Refuses definitions and the like that would be about one actual table, and say that they are about the view.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn refuse_defined(known: &Known<'_>, stmt: &Statement) -> Result<()> {
    let no = |name: &ObjectName, what: &str, instead: &'static str| {
        let view = name.key();
        Err(Error::unsupported(20032, format!("view `{view}` {what}"), instead))
    };
    match &stmt.kind {
        Kind::Lock(names) => match names.iter().find(|name| known.view(name).is_some()) {
            Some(name) => no(
                name,
                "is over sharded tables, and cannot be locked as a whole",
                "lock its tables",
            ),
            None => Ok(()),
        },
        Kind::Define(define) => {
            let on = define.on.as_ref().filter(|name| known.view(name).is_some());
            let is_work = matches!(define.object, ObjectKind::Trigger | ObjectKind::Other);
            if let Some(name) = on.filter(|_| is_work && define.action == DefineAction::Create) {
                return no(
                    name,
                    "is over sharded tables, and nothing can be done in the place of changing it",
                    "let the client change its tables",
                );
            }
            if runs_there(define) {
                refuse_bodies(known, stmt)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Refuses what runs on a storage unit by itself and may read a view there, of whose rows the unit has a part.
fn refuse_bodies(known: &Known<'_>, stmt: &Statement) -> Result<()> {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let words = stmt.text.split(|c| !is_in_word(c)).filter(|word| !word.is_empty());
    let is_view = |word: &String| known.views.get(word).is_some_and(|view| !view.is_materialized);
    match words.map(str::to_lowercase).find(|word| is_view(word)) {
        None => Ok(()),
        Some(view) => Err(Error::unsupported(
            20032,
            format!("what it does may read view `{view}`, of which each storage unit has a part"),
            "let the client read the view, or give what is called so here another name",
        )),
    }
}

/// Whether it is a query that locks what it reads.
fn locks_rows(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Select(query) if query.lock.is_some())
}
