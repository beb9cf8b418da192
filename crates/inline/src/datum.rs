//! What an expression computes with.

use std::borrow::Cow;
use std::str::FromStr;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, Zero};

use crate::number::{self, Number};

/// Items a list or range may have.
pub(crate) const MOST_ITEMS: usize = 100_000;

/// A value while an expression is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number and the Java type it would have.
    Int(i128, Width),
    /// A number with a fraction, or one beyond 127 bits.
    Decimal(BigDecimal),
    /// A text.
    Text(Cow<'a, str>),
    /// A list or range.
    List(Vec<Datum<'a>>),
}

/// The Java type of a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// `int`.
    Integer,
    /// `long`.
    Long,
    /// `BigInteger`.
    Big,
}

impl Width {
    /// The type a literal or parameter of this size has.
    pub fn of(number: i128) -> Self {
        if i32::try_from(number).is_ok() {
            Self::Integer
        } else if i64::try_from(number).is_ok() {
            Self::Long
        } else {
            Self::Big
        }
    }

    /// The number as this type would hold it.
    #[expect(clippy::cast_possible_truncation, reason = "wrapping is what these types do")]
    pub(crate) fn wrap(self, number: i128) -> i128 {
        match self {
            Self::Integer => i128::from(number as i32),
            Self::Long => i128::from(number as i64),
            Self::Big => number,
        }
    }
}

impl<'a> Datum<'a> {
    /// A whole number, of the type that a literal of its size has.
    pub fn int(number: i128) -> Self {
        Self::Int(number, Width::of(number))
    }

    /// A text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// A number in its one form.
    pub fn number(number: Number) -> Self {
        match number {
            Number::Small(number) => Self::int(number),
            Number::Big(number) => Self::Decimal(BigDecimal::from(number)),
            Number::Fraction(number) => Self::Decimal(number),
        }
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(flag) => format!("the boolean `{flag}`"),
            Self::Int(number, _) => format!("the number `{number}`"),
            Self::Decimal(number) => format!("the number `{number}`"),
            Self::Text(text) => format!("the text `{}`", text.chars().take(40).collect::<String>()),
            Self::List(_) => "a list".into(),
        }
    }

    /// As a number, if it is one: booleans count as 1 and 0, texts by what they say.
    pub(crate) fn to_number(&self) -> Option<Datum<'static>> {
        match self {
            Self::Int(number, width) => Some(Datum::Int(*number, *width)),
            Self::Decimal(number) => Some(Datum::Decimal(number.clone())),
            Self::Bool(flag) => Some(Datum::int(i128::from(*flag))),
            Self::Text(text) => number::of_text(text).map(Datum::number),
            Self::Null | Self::List(_) => None,
        }
    }

    /// As a decimal, if it is a number.
    pub(crate) fn to_decimal(&self) -> Option<BigDecimal> {
        match self.to_number()? {
            Self::Int(number, _) => Some(BigDecimal::from(BigInt::from(number))),
            Self::Decimal(number) => Some(number),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// As a whole number, dropping a fraction as Java's `intValue()` does.
    pub(crate) fn to_whole(&self) -> Option<i128> {
        match self.to_number()? {
            Self::Int(number, _) => Some(number),
            Self::Decimal(number) => {
                let whole = number.with_scale_round(0, bigdecimal::RoundingMode::Down);
                i128::from_str(&whole.to_plain_string()).ok()
            }
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// Groovy's truth: not null, not zero, not empty.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(flag) => *flag,
            Self::Int(number, _) => *number != 0,
            Self::Decimal(number) => !number.is_zero(),
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    /// As it stands in a name; nothing for null and lists.
    pub(crate) fn to_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Null | Self::List(_) => None,
            Self::Bool(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
            Self::Int(number, _) => Some(Cow::Owned(number.to_string())),
            Self::Decimal(number) => Some(Cow::Owned(number.to_plain_string())),
            Self::Text(text) => Some(Cow::Borrowed(text)),
        }
    }

    /// A whole number, of the type that a literal of its size has.
    pub fn into_static(self) -> Datum<'static> {
        match self {
            Self::Null => Datum::Null,
            Self::Bool(flag) => Datum::Bool(flag),
            Self::Int(number, width) => Datum::Int(number, width),
            Self::Decimal(number) => Datum::Decimal(number),
            Self::Text(text) => Datum::Text(Cow::Owned(text.into_owned())),
            Self::List(items) => Datum::List(items.into_iter().map(Datum::into_static).collect()),
        }
    }
}
