//! Values computed from the row that they stand in, as a server would compute them.

#![expect(clippy::wildcard_enum_match_arm, reason = "what planning lets through has these types")]

use bigdecimal::BigDecimal;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::merge::{Computed, Scalar};
use pando_kernel::value::Value;

use super::filter::Filter;
use super::key::{Key, Resolver};
use super::row::Layout;

/// Octets of a text that is computed.
const LONGEST: usize = 16 << 20;

/// A value with its places resolved.
#[derive(Debug)]
pub(super) enum Compute {
    Constant(Value),
    Column(usize),
    Of(Scalar, Vec<Self>),
    Case(Vec<(Filter, Self)>, Box<Self>),
}

impl Compute {
    /// Resolves a value.
    ///
    /// # Errors
    /// What the resolver says of its columns.
    pub(super) fn new(computed: &Computed, resolver: Resolver<'_>) -> Result<Self> {
        Ok(match computed {
            Computed::Constant(value) => Self::Constant(value.clone()),
            Computed::Column(position) => Self::Column(resolver.column(position)?),
            Computed::Of(scalar, operands) => {
                let operands = operands.iter().map(|one| Self::new(one, resolver));
                Self::Of(*scalar, operands.collect::<Result<_>>()?)
            }
            Computed::Case(branches, otherwise) => {
                let branches = branches.iter().map(|(when, then)| {
                    Ok((Filter::new(when, resolver)?, Self::new(then, resolver)?))
                });
                let otherwise = Box::new(Self::new(otherwise, resolver)?);
                Self::Case(branches.collect::<Result<_>>()?, otherwise)
            }
        })
    }

    /// The value in a row that has been opened.
    ///
    /// # Errors
    /// What reading the row says; `OutOfRange` and `TooLarge` for a value that no server would give either; `Refused`
    /// for one that only servers know.
    pub(super) fn value(&self, body: &[u8], layout: &Layout) -> Result<Value> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Column(at) => layout.value(body, *at),
            Self::Of(scalar, operands) => {
                let values = operands.iter().map(|one| one.value(body, layout));
                scalar_of(*scalar, values.collect::<Result<_>>()?)
            }
            Self::Case(branches, otherwise) => {
                for (when, then) in branches {
                    if when.truth(body, layout)? == Some(true) {
                        return then.value(body, layout);
                    }
                }
                otherwise.value(body, layout)
            }
        }
    }
}

fn scalar_of(scalar: Scalar, values: Vec<Value>) -> Result<Value> {
    match scalar {
        Scalar::Coalesce => {
            Ok(values.into_iter().find(|value| !value.is_null()).unwrap_or(Value::Null))
        }
        Scalar::NullIf(compare) => {
            let [value, other] = two(values)?;
            let (own, given) = (Key::of(value.clone(), compare)?, Key::of(other.clone(), compare)?);
            let is_same = !value.is_null() && !other.is_null() && own.compare(&given).is_eq();
            Ok(if is_same { Value::Null } else { value })
        }
        Scalar::Joined => joined(values.into_iter().filter(|value| !value.is_null())),
        _ if values.iter().any(Value::is_null) => Ok(Value::Null),
        Scalar::JoinedAll => joined(values.into_iter()),
        Scalar::Upper => cased(text(one(values)?)?, str::make_ascii_uppercase),
        Scalar::Lower => cased(text(one(values)?)?, str::make_ascii_lowercase),
        Scalar::Characters => {
            let count = text(one(values)?)?.chars().count();
            Ok(i64::try_from(count).map_or(Value::Null, Value::Int))
        }
        Scalar::Part { from, most } => {
            let text = text(one(values)?)?;
            Ok(Value::Text(text.chars().skip(from).take(most).collect()))
        }
        Scalar::Replaced => {
            let [whole, old, new] = <[Value; 3]>::try_from(values).map_err(|_| broken())?;
            replaced(&text(whole)?, &text(old)?, &text(new)?)
        }
        Scalar::Plus(octets) => number(two(values)?, octets, i64::checked_add, |a, b| a + b),
        Scalar::Minus(octets) => number(two(values)?, octets, i64::checked_sub, |a, b| a - b),
        Scalar::Times(octets) => number(two(values)?, octets, i64::checked_mul, |a, b| a * b),
        Scalar::Modulo(octets) => match two(values)? {
            [Value::Int(a), Value::Int(b)] => within(a.checked_rem(b), octets),
            _ => Err(broken()),
        },
        Scalar::Negative(octets) => {
            number([Value::Int(0), one(values)?], octets, i64::checked_sub, |_, b| -b)
        }
        Scalar::Absolute(octets) => match one(values)? {
            Value::Int(own) => within(own.checked_abs(), octets),
            Value::Decimal(own) => Ok(Value::Decimal(own.abs())),
            _ => Err(broken()),
        },
    }
}

fn broken() -> Error {
    Error::internal("a value is computed of what it cannot be computed of")
}

fn one(values: Vec<Value>) -> Result<Value> {
    values.into_iter().next().ok_or_else(broken)
}

fn two(values: Vec<Value>) -> Result<[Value; 2]> {
    values.try_into().map_err(|_| broken())
}

fn text(value: Value) -> Result<String> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Int(number) => Ok(number.to_string()),
        _ => Err(broken()),
    }
}

fn joined(values: impl Iterator<Item = Value>) -> Result<Value> {
    let mut all = String::new();
    for value in values {
        all.push_str(&text(value)?);
        is_short(all.len())?;
    }
    Ok(Value::Text(all))
}

fn is_short(octets: usize) -> Result<()> {
    match octets <= LONGEST {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::TooLarge("a computed text is too long".into()))),
    }
}

/// Letters beyond ASCII have other cases by the server's locale and version.
fn cased(mut text: String, case: fn(&mut str)) -> Result<Value> {
    if !text.is_ascii() {
        return Err(Error::unsupported(
            30001,
            "the case of letters beyond ASCII, of a column that is stored otherwise than it is seen, is known to servers only",
            "turn its case in the application",
        ));
    }
    case(&mut text);
    Ok(Value::Text(text))
}

fn replaced(whole: &str, old: &str, new: &str) -> Result<Value> {
    if old.is_empty() {
        return Ok(Value::Text(whole.to_owned()));
    }
    is_short(whole.len().saturating_add(whole.matches(old).count().saturating_mul(new.len())))?;
    Ok(Value::Text(whole.replace(old, new)))
}

fn number(
    values: [Value; 2],
    octets: u8,
    whole: fn(i64, i64) -> Option<i64>,
    exact: fn(BigDecimal, BigDecimal) -> BigDecimal,
) -> Result<Value> {
    let decimal = |value: Value| match value {
        Value::Int(number) => Some(BigDecimal::from(number)),
        Value::Decimal(number) => Some(number),
        _ => None,
    };
    match values {
        [Value::Int(a), Value::Int(b)] => within(whole(a, b), octets),
        [a, b] => match (decimal(a), decimal(b)) {
            (Some(a), Some(b)) => Ok(Value::Decimal(exact(a, b))),
            _ => Err(broken()),
        },
    }
}

/// A whole number of a type with so many octets.
fn within(number: Option<i64>, octets: u8) -> Result<Value> {
    let most = i64::MAX >> (64 - 8 * u32::from(octets.clamp(1, 8)));
    match number.filter(|number| (-most - 1..=most).contains(number)) {
        Some(number) => Ok(Value::Int(number)),
        None => {
            let name = match octets {
                2 => "smallint",
                4 => "integer",
                _ => "bigint",
            };
            Err(Error::new(ErrorKind::OutOfRange(format!("{name} out of range"))))
        }
    }
}
