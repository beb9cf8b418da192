//! DROP of what nobody has: servers have words of their own for it.

use pando_kernel::error::{Error, ErrorKind};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};

/// The error of planning, in these words where it is one of that kind.
pub(super) fn told(stmt: &Statement, error: Error) -> Error {
    match (&stmt.kind, error.kind()) {
        (Kind::Define(define), ErrorKind::UnknownTable(key)) => {
            missing(define, std::slice::from_ref(key)).map_or(error, Error::from)
        }
        _ => error,
    }
}

/// What is said of these, by their keys; `None` where the statement is no such DROP.
pub(super) fn missing(define: &Define, keys: &[String]) -> Option<ErrorKind> {
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
