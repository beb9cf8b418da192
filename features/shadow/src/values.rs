//! Values that a statement gives: where they stand in it, and what they are now.

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::Sign;
use pando_kernel::Value;
use pando_kernel::feature::Context;
use pando_kernel::shortcut::{Given, Values};
use pando_sql::Syntax;
use pando_sql::ast::{Expr, Literal, Node};

use crate::cast::Keeps;

/// Something that gives a value.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A literal or a parameter.
    Constant(Constant),
    /// An expression that a server computes.
    Computed,
}

/// A literal or a parameter, perhaps a number with a minus, perhaps cast.
#[derive(Debug, Clone)]
pub(crate) struct Constant {
    given: Given,
    /// What stood there when the statement was read; none of a parameter.
    literal: Option<Literal>,
    /// None where nothing is written in front of it.
    sign: Sign,
    /// From the inside out.
    casts: Vec<Keeps>,
}

/// What a constant is now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reading {
    Value(Value),
    /// A parameter that is not bound yet.
    Unbound,
    /// Something else than what is written there: a server computes it.
    Computed,
}

/// Reads what constants are now.
pub(crate) type Read<'r> = &'r dyn Fn(&Constant) -> Reading;

impl Source {
    /// What an expression of this text gives.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else it is, a server computes it")]
    pub(crate) fn of(expr: &Expr, text: &str, syntax: &Syntax) -> Self {
        match &expr.node {
            Node::Nested(inner) => Self::of(inner, text, syntax),
            Node::Collate { operand, .. } => Self::of(operand, text, syntax),
            Node::Cast { operand, to } => {
                Self::of(operand, text, syntax).cast(Keeps::of(to.of(text), syntax))
            }
            Node::Unary { op, operand } if op == "-" || op == "+" => {
                match Self::of(operand, text, syntax) {
                    Self::Constant(constant) if constant.may_be_signed() => {
                        Self::Constant(constant.signed_by(op))
                    }
                    Self::Constant(_) | Self::Computed => Self::Computed,
                }
            }
            Node::Literal(literal) => {
                let given = Given::Literal(expr.span);
                let own = Self::Constant(Constant::new(given, Some(literal.clone())));
                match literal {
                    Literal::Typed(to, _) => own.cast(Keeps::of(to, syntax)),
                    _ => own,
                }
            }
            Node::Parameter(index) => Self::Constant(Constant::new(Given::Parameter(*index), None)),
            _ => Self::Computed,
        }
    }

    fn cast(self, to: Option<Keeps>) -> Self {
        match (self, to) {
            (Self::Constant(mut constant), Some(to)) => {
                constant.casts.push(to);
                Self::Constant(constant)
            }
            (Self::Constant(_) | Self::Computed, _) => Self::Computed,
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
    fn new(given: Given, literal: Option<Literal>) -> Self {
        Self { given, literal, sign: Sign::NoSign, casts: Vec::new() }
    }

    fn signed_by(self, op: &str) -> Self {
        let was = if self.sign == Sign::NoSign { Sign::Plus } else { self.sign };
        Self { sign: if op == "-" { -was } else { was }, ..self }
    }

    /// Of anything but a number a server makes one first.
    fn may_be_signed(&self) -> bool {
        let is_number =
            matches!(self.literal, None | Some(Literal::Integer(_) | Literal::Number(_)));
        is_number && self.casts.is_empty()
    }

    /// Its value in the statement that it was read from.
    pub(crate) fn here(&self, ctx: &Context<'_>) -> Reading {
        match (&self.literal, self.given) {
            (Some(literal), _) => self.literally(literal),
            (None, Given::Parameter(index)) => self.bound(ctx.parameter(index)),
            (None, Given::Literal(_)) => Reading::Computed,
        }
    }

    /// Its value in a statement of the same shape.
    pub(crate) fn among(&self, values: &dyn Values) -> Reading {
        match self.given {
            Given::Literal(at) => {
                values.literal(at).map_or(Reading::Unbound, |literal| self.literally(&literal))
            }
            Given::Parameter(index) => self.bound(values.parameter(index)),
        }
    }

    fn literally(&self, literal: &Literal) -> Reading {
        Value::of_literal(literal).map_or(Reading::Computed, |value| self.made_of(value))
    }

    fn bound(&self, value: Option<&Value>) -> Reading {
        value.map_or(Reading::Unbound, |value| self.made_of(value.clone()))
    }

    fn made_of(&self, value: Value) -> Reading {
        let cast = |value, to: &Keeps| to.kept(value);
        match self.signed(value).and_then(|value| self.casts.iter().try_fold(value, cast)) {
            Some(value) => Reading::Value(value),
            None => Reading::Computed,
        }
    }

    fn signed(&self, value: Value) -> Option<Value> {
        match (self.sign, value) {
            (Sign::NoSign, value) => Some(value),
            (Sign::Plus, value) => is_number(&value).then_some(value),
            (Sign::Minus, Value::Int(n)) => Some(
                n.checked_neg().map_or_else(|| Value::Decimal(-BigDecimal::from(n)), Value::Int),
            ),
            (Sign::Minus, Value::UInt(n)) => Some(match i64::try_from(-i128::from(n)) {
                Ok(n) => Value::Int(n),
                Err(_) => Value::Decimal(-BigDecimal::from(n)),
            }),
            (Sign::Minus, Value::Float(n)) => Some(Value::Float(-n)),
            (Sign::Minus, Value::Decimal(n)) => Some(Value::Decimal(-n)),
            (Sign::Minus, Value::Null) => Some(Value::Null),
            (Sign::Minus, Value::Bool(_) | Value::Text(_) | Value::Bytes(_)) => None,
        }
    }
}

fn is_number(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Decimal(_) | Value::Null => true,
        Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => false,
    }
}
