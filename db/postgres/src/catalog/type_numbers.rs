//! Numbers of types in statements about the catalogue.

use pando_sql::Edits;
use pando_sql::ast::{Expr, Node};

use super::calls::{Stands, label, named, wrap};
use super::names::{Names, Number};
use super::number::number;
use super::relations::is_type_column;

/// A type that is looked up by its name is told by the number that is shown; one that is given by that, and whose name is looked at, is found by the unit's own.
pub(super) fn regtype(
    expr: &Expr,
    operand: &Expr,
    stands: Stands,
    names: &Names<'_>,
    edits: &mut Edits,
) {
    match (named(operand), stands) {
        (Some(_), Stands::Within) => type_number(expr, Number::Shown, names, edits),
        (None, Stands::Shown) if gives_type(operand) => {
            type_number(operand, Number::Own, names, edits);
        }
        (Some(_), Stands::Shown) | (None, Stands::Shown | Stands::Within) => {}
    }
}

/// Whether an expression is the number of a type; one that gives a name is looked up as it is.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn gives_type(expr: &Expr) -> bool {
    match &expr.node {
        Node::Nested(inner) => gives_type(inner),
        Node::Column(name) => name.parts.last().is_some_and(|last| is_type_column(&last.value)),
        _ => number(expr).is_some(),
    }
}

/// Makes the number of a type the other one.
pub(super) fn type_number(expr: &Expr, wanted: Number, names: &Names<'_>, edits: &mut Edits) {
    if let Some(around) = names.types(wanted, label(expr, "regtype")) {
        wrap(expr.span, around, edits);
    }
}
