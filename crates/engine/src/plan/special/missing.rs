//! DROP of what nobody has: servers have words of their own for it.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use super::temporary;

/// The error of planning, in these words where it is one of that kind.
pub(in crate::plan) fn told(stmt: &Statement, error: Error) -> Error {
    match (&stmt.kind, error.kind()) {
        (Kind::Define(define), ErrorKind::UnknownTable(key)) => {
            missing(define, std::slice::from_ref(key)).map_or(error, Error::from)
        }
        _ => error,
    }
}

/// What a client is told of a statement that is refused because of its shards: where one of its tables is nowhere, that.
pub(in crate::plan) fn first(ctx: &Context<'_>, stmt: &Statement, error: Error) -> Error {
    let of_several =
        matches!(error.kind(), ErrorKind::Refused { because, .. } if because.is_of_several());
    let Some(known) = ctx.catalog.tables().filter(|_| of_several) else { return error };
    if temporary::concerned(ctx, stmt).is_some() {
        return error;
    }
    let presentation = ctx.dialect.presentation();
    let rooms = || ctx.database.features.iter().flat_map(|feature| feature.tables());
    let is_nowhere = |name: &ObjectName| {
        let key = name.key();
        name.parts.len() == 1
            && !known.contains_key(&key)
            && !rooms().any(|table| table.name.eq_ignore_ascii_case(&key))
            && presentation.is_none_or(|shown| shown.holding(name).is_none())
    };
    let tables = visit::tables(&stmt.kind);
    match tables.iter().find(|found| found.table.is_some() && is_nowhere(found.name)) {
        Some(found) => ErrorKind::UnknownTable(found.name.key()).into(),
        None => error,
    }
}

/// Refuses to take away what is called so but for case, where servers may tell such names apart: what is meant may be another table, or none.
pub(in crate::plan) fn is_spelled(ctx: &Context<'_>, stmt: &Statement) -> Result<()> {
    let Kind::Define(define) = &stmt.kind else { return Ok(()) };
    let takes = matches!(define.action, DefineAction::Drop | DefineAction::Truncate)
        && matches!(define.object, ObjectKind::Table | ObjectKind::View);
    if !takes || ctx.dialect.syntax().exact_tables || temporary::concerned(ctx, stmt).is_some() {
        return Ok(());
    }
    let tables = || ctx.database.features.iter().flat_map(|feature| feature.tables());
    for name in define.names.iter().filter_map(|name| name.parts.last()) {
        let own = &name.value;
        if tables().any(|table| table.name == *own) {
            continue;
        }
        if let Some(other) = tables().find(|table| table.name.to_lowercase() == own.to_lowercase())
        {
            return Err(Error::unsupported(
                20032,
                format!("`{own}` is called `{}`, and servers may tell the two apart", other.name),
                "write the name as it is configured",
            ));
        }
    }
    Ok(())
}

/// What is said of these, by their keys; `None` where the statement is no such DROP.
pub(in crate::plan) fn missing(define: &Define, keys: &[String]) -> Option<ErrorKind> {
    let what = match (define.action, define.object) {
        (DefineAction::Drop, ObjectKind::Table) => "table",
        (DefineAction::Drop, ObjectKind::View) => "view",
        _ => return None,
    };
    let is_missing = |name: &&ObjectName| keys.contains(&name.key());
    let names = define.names.iter().filter(is_missing);
    let names: Vec<String> =
        names.filter_map(|name| name.parts.last().map(|part| part.value.clone())).collect();
    (!names.is_empty()).then_some(ErrorKind::NothingToDrop { what, names })
}
