//! Constants beside values that are told: what a client compares them with may be a value, too, and no unit hears of it.
//! Where a unit is asked for the type of an expression, others of the same type stand in their place.

#![expect(clippy::wildcard_enum_match_arm, reason = "filters over syntax nodes")]

use pando_sql::ast::{Expr, Literal, Node};

use crate::plan::merge_plan::aggregate;

/// The functions whose arguments behind the first are counts of characters.
const PARTS: [&str; 2] = ["substring", "substr"];

/// The parts of an expression that are looked through for constants: what only counts characters is no value.
pub(super) fn parts<'e>(expr: &'e Expr, left: &mut Vec<&'e Expr>) {
    match &expr.node {
        Node::Function(call) if PARTS.contains(&call.plain_name().as_str()) => {
            left.extend(call.arguments.first());
        }
        _ => aggregate::push_children(expr, left),
    }
}

/// Whether an expression has a constant that may be a value.
pub(super) fn says_a_value(expr: &Expr) -> bool {
    let mut left = vec![expr];
    while let Some(one) = left.pop() {
        if matches!(&one.node, Node::Literal(literal) if is_value(literal)) {
            return true;
        }
        parts(one, &mut left);
    }
    false
}

/// Whether a literal may be a value.
pub(super) fn is_value(literal: &Literal) -> bool {
    !matches!(literal, Literal::Null | Literal::Boolean(_))
}

/// Another constant of the same type and as many characters; `None` where none is known.
pub(super) fn in_place_of(literal: &Literal) -> Option<String> {
    match literal {
        Literal::Integer(number) => Some(like(*number).to_string()),
        Literal::Text(text) => Some(format!("'{}'", "x".repeat(text.chars().count()))),
        _ => None,
    }
}

/// A number of the same sign and as many digits, of the shortest type that has the other.
fn like(number: i64) -> i64 {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or_default();
    let least = 10_i64.saturating_pow(digits);
    let same = match i32::try_from(number).is_ok() == i32::try_from(least).is_ok() {
        true => least,
        false => i64::from(u32::MAX),
    };
    if number < 0 { -same } else { same }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_in_place_of_another_is_of_its_type_and_length() {
        for (number, expected) in [
            (0, 1),
            (7, 1),
            (12_345, 10_000),
            (-42, -10),
            (2_147_483_647, 1_000_000_000),
            (2_147_483_648, 4_294_967_295),
            (i64::MAX, 1_000_000_000_000_000_000),
        ] {
            assert_eq!(like(number), expected, "{number}");
        }
        assert_eq!(in_place_of(&Literal::Text("größe".into())).as_deref(), Some("'xxxxx'"));
        assert_eq!(in_place_of(&Literal::Null), None);
    }
}
