//! Whether names may be taken for others.

use pando_sql::ast::{Ident, Statement};
use pando_sql::visit;
use pando_sql::{Fold, Span};

/// Whether something of the statement is called like this, apart from what stands in these ranges.
pub(super) fn is_called(stmt: &Statement, name: &Ident, apart_from: &[Span]) -> bool {
    let is_apart =
        |span: Span| apart_from.iter().any(|own| own.start <= span.start && span.end <= own.end);
    visit::labels(&stmt.kind).iter().any(|label| label.is_alike(name) && !is_apart(label.span))
}

/// Whether two names of columns are one.
pub(super) fn are_same(fold: Fold, one: &str, other: &str) -> bool {
    match fold {
        Fold::Keep => one.to_lowercase() == other.to_lowercase(),
        Fold::Lower => one == other,
    }
}
