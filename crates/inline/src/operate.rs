//! The operators.

use std::cmp::Ordering;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, RoundingMode, Zero};

use crate::Arithmetic;
use crate::datum::{Datum, Width};
use crate::number;
use crate::tree::{Binary, Type};

/// Why an operation has no result.
pub(crate) type Failure = String;

/// Applies an operator.
pub(crate) fn binary<'a>(
    operator: Binary,
    left: Datum<'a>,
    right: Datum<'a>,
    arithmetic: Arithmetic,
) -> Result<Datum<'a>, Failure> {
    match operator {
        Binary::Equal => Ok(Datum::Bool(is_equal(&left, &right))),
        Binary::Unequal => Ok(Datum::Bool(!is_equal(&left, &right))),
        Binary::Less => order(&left, &right).map(|order| Datum::Bool(order.is_lt())),
        Binary::LessEqual => order(&left, &right).map(|order| Datum::Bool(order.is_le())),
        Binary::Greater => order(&left, &right).map(|order| Datum::Bool(order.is_gt())),
        Binary::GreaterEqual => order(&left, &right).map(|order| Datum::Bool(order.is_ge())),
        Binary::Compare => order(&left, &right).map(|order| Datum::int(order as i128)),
        Binary::In => {
            let Datum::List(items) = right else {
                return Err(format!("`in` needs a list, found {}", right.describe()));
            };
            Ok(Datum::Bool(items.iter().any(|item| is_equal(&left, item))))
        }
        Binary::Add if is_text(&left) || is_text(&right) => concatenate(&left, &right),
        Binary::Add => whole(left, right, arithmetic, i128::checked_add, |a, b| Ok(a + b)),
        Binary::Subtract => whole(left, right, arithmetic, i128::checked_sub, |a, b| Ok(a - b)),
        Binary::Multiply if is_text(&left) => {
            Err("a text cannot be multiplied; use `toLong()` for a number".into())
        }
        Binary::Multiply => whole(left, right, arithmetic, i128::checked_mul, |a, b| Ok(a * b)),
        Binary::Divide => divide(&left, &right),
        Binary::Remainder => remainder(left, right, arithmetic),
        Binary::Power => power(left, right, arithmetic),
        Binary::ShiftLeft | Binary::ShiftRight => shift(operator, left, right, arithmetic),
        Binary::BitAnd => bits(left, right, |a, b| a & b),
        Binary::BitOr => bits(left, right, |a, b| a | b),
        Binary::BitXor => bits(left, right, |a, b| a ^ b),
    }
}

/// Negates a number.
pub(crate) fn negate(value: &Datum<'_>, arithmetic: Arithmetic) -> Result<Datum<'static>, Failure> {
    match value.to_number() {
        Some(Datum::Int(number, width)) => number
            .checked_neg()
            .map(|number| fit(number, width, arithmetic))
            .ok_or_else(|| "the number is too large".into()),
        Some(Datum::Decimal(number)) => Ok(Datum::Decimal(-number)),
        _ => Err(format!("expected a number, found {}", value.describe())),
    }
}

/// Casts a value.
pub(crate) fn cast<'a>(to: Type, value: &Datum<'a>) -> Result<Datum<'a>, Failure> {
    let width = match to {
        Type::Integer => Width::Integer,
        Type::Long => Width::Long,
        Type::BigInteger => Width::Big,
        Type::Decimal => {
            let number = value.to_decimal().map(Datum::Decimal);
            return number.ok_or_else(|| format!("expected a number, found {}", value.describe()));
        }
        Type::Text => {
            let text = value.to_text().map(|text| Datum::text(text.into_owned()));
            return text.ok_or_else(|| format!("{} is no text", value.describe()));
        }
        Type::Bool => return Ok(Datum::Bool(value.is_true())),
    };
    let number =
        value.to_whole().ok_or_else(|| format!("expected a number, found {}", value.describe()))?;
    // Java wraps numbers and refuses texts that do not fit.
    if is_text(value) && width.wrap(number) != number {
        return Err(format!("{} does not fit the type it is cast to", value.describe()));
    }
    Ok(Datum::Int(width.wrap(number), width))
}

/// Whether two values are the same, whatever their types.
pub(crate) fn is_equal(left: &Datum<'_>, right: &Datum<'_>) -> bool {
    match (left, right) {
        (Datum::Null, Datum::Null) => true,
        (Datum::Null, _) | (_, Datum::Null) => false,
        (Datum::Text(a), Datum::Text(b)) => a == b,
        (Datum::List(a), Datum::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (left, right) => order(left, right).is_ok_and(Ordering::is_eq),
    }
}

/// The order of two values: texts by their characters, everything else as numbers.
pub(crate) fn order(left: &Datum<'_>, right: &Datum<'_>) -> Result<Ordering, Failure> {
    match (left, right) {
        (Datum::Text(a), Datum::Text(b)) => return Ok(a.cmp(b)),
        (Datum::Int(a, _), Datum::Int(b, _)) => return Ok(a.cmp(b)),
        _ => {}
    }
    match (left.to_decimal(), right.to_decimal()) {
        (Some(a), Some(b)) => Ok(a.cmp(&b)),
        _ => Err(format!("{} cannot be compared with {}", left.describe(), right.describe())),
    }
}

/// The number as the arithmetic in force keeps it.
pub(crate) fn fit(number: i128, width: Width, arithmetic: Arithmetic) -> Datum<'static> {
    match arithmetic {
        Arithmetic::Exact => Datum::int(number),
        Arithmetic::Groovy => Datum::Int(width.wrap(number), width),
    }
}

fn is_text(value: &Datum<'_>) -> bool {
    matches!(value, Datum::Text(_))
}

fn concatenate(left: &Datum<'_>, right: &Datum<'_>) -> Result<Datum<'static>, Failure> {
    let part = |value: &Datum<'_>| {
        value.to_text().map(String::from).ok_or_else(|| format!("{} is no text", value.describe()))
    };
    Ok(Datum::text(part(left)? + &part(right)?))
}

/// Both as whole numbers of one width, or both as decimals.
enum Pair {
    Whole(i128, i128, Width),
    Decimal(BigDecimal, BigDecimal),
}

fn pair(left: &Datum<'_>, right: &Datum<'_>) -> Result<Pair, Failure> {
    let number = |value: &Datum<'_>| {
        value.to_number().ok_or_else(|| format!("expected a number, found {}", value.describe()))
    };
    let (left, right) = match (left, right) {
        (Datum::Int(a, x), Datum::Int(b, y)) => return Ok(Pair::Whole(*a, *b, *x.max(y))),
        _ => (number(left)?, number(right)?),
    };
    if let (Datum::Int(a, x), Datum::Int(b, y)) = (&left, &right) {
        return Ok(Pair::Whole(*a, *b, *x.max(y)));
    }
    match (left.to_decimal(), right.to_decimal()) {
        (Some(a), Some(b)) => Ok(Pair::Decimal(a, b)),
        _ => Err("expected two numbers".into()),
    }
}

fn whole(
    left: Datum<'_>,
    right: Datum<'_>,
    arithmetic: Arithmetic,
    on_whole: fn(i128, i128) -> Option<i128>,
    on_decimal: fn(BigDecimal, BigDecimal) -> Result<BigDecimal, Failure>,
) -> Result<Datum<'static>, Failure> {
    match pair(&left, &right)? {
        Pair::Whole(a, b, width) => on_whole(a, b)
            .map(|number| fit(number, width, arithmetic))
            .ok_or_else(|| "the result does not fit 128 bits".into()),
        Pair::Decimal(a, b) => on_decimal(a, b).map(reduced),
    }
}

/// A decimal without a fraction is a whole number again.
pub(crate) fn reduced(number: BigDecimal) -> Datum<'static> {
    match number::reduce(&number) {
        Some(number) => Datum::number(number),
        None => Datum::text(format!("{number:?}")),
    }
}

/// Groovy's `/` gives a decimal: exact where it ends, else with ten digits more than the operands have.
fn divide(left: &Datum<'_>, right: &Datum<'_>) -> Result<Datum<'static>, Failure> {
    let (a, b) = match pair(left, right)? {
        Pair::Whole(_, 0, _) => return Err("division by zero".into()),
        Pair::Whole(a, b, _) => match a.checked_rem(b) {
            Some(0) => return Ok(Datum::int(a / b)),
            _ => (BigDecimal::from(BigInt::from(a)), BigDecimal::from(BigInt::from(b))),
        },
        Pair::Decimal(_, b) if b.is_zero() => return Err("division by zero".into()),
        Pair::Decimal(a, b) => (a, b),
    };
    let quotient = &a / &b;
    if &quotient * &b == a {
        return Ok(reduced(quotient));
    }
    let scale = a.fractional_digit_count().max(b.fractional_digit_count()).max(10);
    Ok(Datum::Decimal(quotient.with_scale_round(scale, RoundingMode::HalfUp)))
}

fn remainder(
    left: Datum<'_>,
    right: Datum<'_>,
    arithmetic: Arithmetic,
) -> Result<Datum<'static>, Failure> {
    match pair(&left, &right)? {
        Pair::Whole(_, 0, _) => Err("remainder of a division by zero".into()),
        Pair::Whole(a, b, width) => {
            let rest = match arithmetic {
                Arithmetic::Exact => a.checked_rem_euclid(b),
                Arithmetic::Groovy => a.checked_rem(b),
            };
            Ok(fit(rest.unwrap_or(0), width, arithmetic))
        }
        Pair::Decimal(_, b) if b.is_zero() => Err("remainder of a division by zero".into()),
        Pair::Decimal(a, b) => {
            let rest = &a % &b;
            let is_negative = rest < BigDecimal::zero();
            let exact = arithmetic == Arithmetic::Exact;
            Ok(reduced(if is_negative && exact { rest + b.abs() } else { rest }))
        }
    }
}

fn power(
    left: Datum<'_>,
    right: Datum<'_>,
    arithmetic: Arithmetic,
) -> Result<Datum<'static>, Failure> {
    let Pair::Whole(base, exponent, _) = pair(&left, &right)? else {
        return Err("`**` needs whole numbers".into());
    };
    let exponent = u32::try_from(exponent).map_err(|_| "`**` needs an exponent of 0 or more")?;
    let result = base.checked_pow(exponent).ok_or("the result does not fit 128 bits")?;
    // Groovy's power widens instead of wrapping.
    let width = Width::of(result);
    Ok(fit(result, width, arithmetic))
}

fn shift(
    operator: Binary,
    left: Datum<'_>,
    right: Datum<'_>,
    arithmetic: Arithmetic,
) -> Result<Datum<'static>, Failure> {
    let Pair::Whole(number, by, _) = pair(&left, &right)? else {
        return Err("a shift needs whole numbers".into());
    };
    let width = if let Datum::Int(_, width) = left { width } else { Width::of(number) };
    let by = u32::try_from(by).ok().filter(|by| *by < 64);
    let by = by.ok_or("a shift must be by 0 to 63 bits")?;
    if operator == Binary::ShiftRight {
        return Ok(fit(number >> by, width, arithmetic));
    }
    let shifted = number.checked_mul(1_i128 << by).ok_or("the result does not fit 128 bits")?;
    Ok(fit(shifted, width, arithmetic))
}

fn bits(
    left: Datum<'_>,
    right: Datum<'_>,
    operate: fn(i128, i128) -> i128,
) -> Result<Datum<'static>, Failure> {
    match pair(&left, &right)? {
        Pair::Whole(a, b, width) => Ok(Datum::Int(operate(a, b), width)),
        Pair::Decimal(..) => Err("bits need whole numbers".into()),
    }
}
