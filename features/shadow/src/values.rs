//! Values that a statement gives: where they stand in it, and what they are now.

use bigdecimal::num_bigint::Sign;
use pando_kernel::Value;
use pando_kernel::feature::Context;
use pando_kernel::shortcut::{Given, Values};
use pando_sql::ast::{Expr, Literal, Node};

/// Something that gives a value.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A literal or a parameter.
    Constant(Constant),
    /// An expression that a server computes.
    Computed,
}

/// A literal or a parameter, perhaps with a minus.
#[derive(Debug, Clone)]
pub(crate) struct Constant {
    given: Given,
    /// What stood there when the statement was read; none of a parameter.
    literal: Option<Literal>,
    sign: Sign,
}

/// Reads what constants are now; `None` while that is not known.
pub(crate) type Read<'r> = &'r dyn Fn(&Constant) -> Option<Value>;

impl Source {
    /// What an expression gives.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else it is, a server computes it")]
    pub(crate) fn of(expr: &Expr) -> Self {
        match &expr.node {
            Node::Nested(inner) => Self::of(inner),
            Node::Cast { operand, .. } | Node::Collate { operand, .. } => Self::of(operand),
            Node::Unary { op, operand } if op == "-" => match Self::of(operand) {
                Self::Constant(constant) => {
                    Self::Constant(Constant { sign: -constant.sign, ..constant })
                }
                Self::Computed => Self::Computed,
            },
            Node::Unary { op, operand } if op == "+" => Self::of(operand),
            Node::Literal(literal) => {
                let (given, literal) = (Given::Literal(expr.span), Some(literal.clone()));
                Self::Constant(Constant { given, literal, sign: Sign::Plus })
            }
            Node::Parameter(index) => {
                let given = Given::Parameter(*index);
                Self::Constant(Constant { given, literal: None, sign: Sign::Plus })
            }
            _ => Self::Computed,
        }
    }

    /// The constant, if it is one.
    pub(crate) fn constant(self) -> Option<Constant> {
        match self {
            Self::Constant(constant) => Some(constant),
            Self::Computed => None,
        }
    }
}

impl Constant {
    /// Its value in the statement that it was read from.
    pub(crate) fn here(&self, ctx: &Context<'_>) -> Option<Value> {
        let value = match (&self.literal, self.given) {
            (Some(literal), _) => Value::of_literal(literal)?,
            (None, Given::Parameter(index)) => ctx.parameter(index)?.clone(),
            (None, Given::Literal(_)) => return None,
        };
        self.signed(value)
    }

    /// Its value in a statement of the same shape.
    pub(crate) fn among(&self, values: &dyn Values) -> Option<Value> {
        let value = match self.given {
            Given::Literal(at) => Value::of_literal(&values.literal(at)?)?,
            Given::Parameter(index) => values.parameter(index)?.clone(),
        };
        self.signed(value)
    }

    fn signed(&self, value: Value) -> Option<Value> {
        if self.sign != Sign::Minus {
            return Some(value);
        }
        match value {
            Value::Int(n) => n.checked_neg().map(Value::Int),
            Value::UInt(n) => i64::try_from(-i128::from(n)).ok().map(Value::Int),
            Value::Float(n) => Some(Value::Float(-n)),
            Value::Decimal(n) => Some(Value::Decimal(-n)),
            Value::Null => Some(Value::Null),
            Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => None,
        }
    }
}
