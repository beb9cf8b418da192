//! Names of relations in texts that a server looks them up by: clients' become the unit's own.

use pando_kernel::dialect::Language;
use pando_sql::Edits;
use pando_sql::ast::Expr;

use super::{named, split};
use crate::catalog::names::{Names, either, literal};
use crate::dialect::Postgres;
/// The text with its last name anew; `None` where that stays.
pub(super) fn renamed(name: &str, anew: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut parts = split(name)?;
    let last = anew(&parts.pop()?)?;
    parts.push(last);
    Some(parts.iter().map(|part| Postgres.quote(part)).collect::<Vec<_>>().join("."))
}

/// A logic table's name becomes the actual one, and so the name of what a server has named after it.
pub(super) fn own_name(expr: &Expr, names: &Names<'_>, edits: &mut Edits) {
    let Some((name, span)) = named(expr) else { return };
    if let Some(actual) = renamed(name, |table| names.actual(table).map(str::to_owned)) {
        edits.replace(span, literal(&actual));
    } else if let Some(made) = renamed(name, |own| names.made(own)) {
        edits.replace(span, either(name, &made));
    }
}

/// The same of what is cast to `regclass`, which may be an index as well; whether it is computed then.
pub(super) fn own_relation(expr: &Expr, names: &Names<'_>, edits: &mut Edits) -> bool {
    let Some((name, span)) = named(expr) else { return false };
    let last = split(name).and_then(|mut parts| parts.pop().map(|last| (parts, last)));
    match last {
        Some((schema, last)) if names.may_be_index(&last) => {
            let schema: String = schema.iter().map(|part| Postgres.quote(part) + ".").collect();
            edits.replace(span, names.index(&last, &schema));
            true
        }
        _ => {
            own_name(expr, names, edits);
            false
        }
    }
}
