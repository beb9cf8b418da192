//! Whether names may be taken for others.

use pando_sql::Span;
use pando_sql::ast::{Ident, Statement};
use pando_sql::visit;

/// Whether something of the statement is called like this, apart from what stands in these ranges.
pub(super) fn is_called(stmt: &Statement, name: &Ident, apart_from: &[Span]) -> bool {
    let is_apart =
        |span: Span| apart_from.iter().any(|own| own.start <= span.start && span.end <= own.end);
    visit::labels(&stmt.kind).iter().any(|label| label.is_alike(name) && !is_apart(label.span))
}
