//! A decoded SQL value: what routing and merging look at. Rows themselves stay in wire form.

use bigdecimal::BigDecimal;
use bytes::Bytes;
use pando_sql::ast::{Expr, Literal, Node};

/// One value. Dates and times are `Text` in the standard form (`2026-01-31 13:45:00.5`), of which the [`Kind`] tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A double.
    Float(f64),
    /// An exact number of any size.
    Decimal(BigDecimal),
    /// Characters.
    Text(String),
    /// Octets.
    Bytes(Bytes),
}

/// What kind of values a column holds, whatever the vendor calls its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Booleans.
    Bool,
    /// Signed integers of any width.
    Int,
    /// Unsigned integers.
    UInt,
    /// Exact decimals.
    Decimal,
    /// Single and double precision floats.
    Float,
    /// Characters, ordered by a collation.
    Text,
    /// Octets, ordered bytewise.
    Bytes,
    /// Dates.
    Date,
    /// Times of day or durations.
    Time,
    /// Date and time without zone.
    Timestamp,
    /// Date and time with zone.
    TimestampTz,
    /// Anything whose order and arithmetic we do not know (json, arrays, geometry, enum, …).
    Other,
}

/// The most decimal digits before or after the point: what PostgreSQL's `numeric` keeps, rounded up. MySQL keeps 65.
const MOST_DIGITS: usize = 150_000;

impl Value {
    /// Whether it is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A literal's value; `None` for a number that is none.
    pub fn of_literal(literal: &Literal) -> Option<Self> {
        Some(match literal {
            Literal::Integer(n) => Self::Int(*n),
            Literal::Number(text) => match text.parse::<u64>() {
                Ok(n) => Self::UInt(n),
                Err(_) => Self::decimal(text)?,
            },
            Literal::Text(text) | Literal::Typed(_, text) => Self::Text(text.clone()),
            Literal::Bytes(bytes) => Self::Bytes(bytes.clone().into()),
            Literal::Boolean(b) => Self::Bool(*b),
            Literal::Null => Self::Null,
        })
    }

    /// The value of a literal, or of a number with a sign in front; `None` for anything else.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    pub fn of_constant(expr: &Expr) -> Option<Self> {
        match &expr.node {
            Node::Literal(literal) => Self::of_literal(literal),
            Node::Unary { op, operand } => {
                let Node::Literal(Literal::Integer(_) | Literal::Number(_)) = &operand.node else {
                    return None;
                };
                let number = Self::of_constant(operand)?;
                match op.as_str() {
                    "+" => Some(number),
                    "-" => number.negated(),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn negated(self) -> Option<Self> {
        match self {
            Self::Int(number) => number.checked_neg().map(Self::Int),
            Self::UInt(number) if number == i64::MIN.unsigned_abs() => Some(Self::Int(i64::MIN)),
            Self::UInt(number) => Some(Self::Decimal(-BigDecimal::from(number))),
            Self::Decimal(number) => Some(Self::Decimal(-number)),
            Self::Null | Self::Bool(_) | Self::Float(_) | Self::Text(_) | Self::Bytes(_) => None,
        }
    }

    /// An exact number, with or without an exponent; `None` when the text is none or longer than any server's numbers. Without that
    /// bound `1e999999999` would take a gigabyte to write out, and a text of millions of digits minutes to read.
    pub fn decimal(text: &str) -> Option<Self> {
        if text.len() > MOST_DIGITS {
            return None;
        }
        let number: BigDecimal = text.parse().ok()?;
        let digits = number.fractional_digit_count().unsigned_abs();
        (digits <= MOST_DIGITS as u64).then_some(Self::Decimal(number))
    }
}

#[cfg(test)]
mod tests {
    use pando_sql::Span;

    use super::*;

    #[test]
    fn a_sign_belongs_to_its_number() {
        let span = Span::new(0, 1);
        let signed = |op: &str, literal: Literal| {
            let operand = Box::new(Expr { span, node: Node::Literal(literal) });
            Value::of_constant(&Expr { span, node: Node::Unary { op: op.into(), operand } })
        };
        let number = |text: &str| Literal::Number(text.into());
        assert_eq!(signed("-", Literal::Integer(5)), Some(Value::Int(-5)));
        assert_eq!(signed("+", Literal::Integer(5)), Some(Value::Int(5)));
        assert_eq!(signed("-", number("9223372036854775808")), Some(Value::Int(i64::MIN)));
        let below = Value::decimal("-9223372036854775809");
        assert_eq!(signed("-", number("9223372036854775809")), below);
        assert_eq!(signed("-", number("0.50")), Value::decimal("-0.50"));
        assert_eq!(signed("~", Literal::Integer(5)), None);
        assert_eq!(signed("-", Literal::Text("5".into())), None);
    }

    #[test]
    fn decimals_are_read_exactly_up_to_a_bound() {
        let read = |text: &str| match Value::decimal(text) {
            Some(Value::Decimal(number)) => Some(number.to_plain_string()),
            _ => None,
        };
        assert_eq!(read("-12.50").as_deref(), Some("-12.50"));
        assert_eq!(read("1e3").as_deref(), Some("1000"));
        assert_eq!(read(&"9".repeat(1000)).map(|text| text.len()), Some(1000));
        for text in ["", "x", "1e999999999", "1e-999999999", &"9".repeat(MOST_DIGITS + 1)] {
            assert_eq!(read(text), None, "{} bytes", text.len());
        }
    }
}
