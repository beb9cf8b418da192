//! Numbers as merging sees them: exact, comparable across kinds, and with a bound on their size.

use std::cmp::Ordering;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, ToPrimitive};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::value::{Kind, Value};

/// Largest distance of a decimal's last digit from its point. PostgreSQL's `numeric` has at most 131072 digits before
/// and 16383 after it; anything beyond would let one short field ask for gigabytes when it is added to another.
const SCALE_BOUND: i64 = 150_000;

/// A number.
#[derive(Debug, Clone)]
pub(super) enum Number {
    /// Whole, and every `i64` or `u64` or sum of many of them.
    Int(i128),
    /// A double, also NaN and the infinities.
    Float(f64),
    /// Exact.
    Decimal(BigDecimal),
}

impl Number {
    /// Reads a value that must be a number.
    ///
    /// # Errors
    /// `Value` when it is none.
    pub(super) fn of(value: &Value) -> Result<Self> {
        Ok(match value {
            Value::Bool(v) => Self::Int(i128::from(*v)),
            Value::Int(v) => Self::Int(i128::from(*v)),
            Value::UInt(v) => Self::Int(i128::from(*v)),
            Value::Float(v) => Self::Float(*v),
            Value::Decimal(v) => Self::decimal(v.clone())?,
            Value::Text(text) => Self::parse(text)?,
            Value::Null | Value::Bytes(_) => return Err(not_a_number("a value")),
        })
    }

    fn decimal(value: BigDecimal) -> Result<Self> {
        if value.fractional_digit_count().abs() > SCALE_BOUND {
            let message = format!("a decimal has more than {SCALE_BOUND} digits");
            return Err(Error::new(ErrorKind::Value(message)));
        }
        Ok(Self::Decimal(value))
    }

    fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Ok(int) = text.parse::<i128>() {
            return Ok(Self::Int(int));
        }
        if let Ok(decimal) = text.parse::<BigDecimal>() {
            return Self::decimal(decimal);
        }
        match text.parse::<f64>() {
            Ok(float) if !float.is_finite() => Ok(Self::Float(float)),
            _ => Err(not_a_number(text)),
        }
    }

    /// The number as an exact decimal; `None` for NaN and the infinities.
    pub(super) fn exact(&self) -> Option<BigDecimal> {
        match self {
            Self::Int(v) => Some(BigDecimal::from(*v)),
            Self::Decimal(v) => Some(v.clone()),
            Self::Float(v) => BigDecimal::try_from(*v).ok(),
        }
    }

    /// The nearest double.
    pub(super) fn float(&self) -> f64 {
        match self {
            Self::Int(v) => v.to_f64().unwrap_or(f64::NAN),
            Self::Float(v) => *v,
            Self::Decimal(v) => {
                let (digits, scale) = v.as_bigint_and_scale();
                // The standard library's parser rounds correctly; arithmetic on powers of ten does not.
                format!("{digits}e{}", -scale).parse().unwrap_or(f64::NAN)
            }
        }
    }

    /// Compares exactly, whatever the kinds. NaN is equal to itself and greater than everything else, as PostgreSQL has it.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => compare_floats(*a, *b),
            (Self::Float(a), _) if !a.is_finite() => compare_floats(*a, 0.0),
            (_, Self::Float(b)) if !b.is_finite() => compare_floats(0.0, *b),
            _ => match (self.exact(), other.exact()) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => Ordering::Equal,
            },
        }
    }

    /// Appends bytes that are the same for equal numbers and differ for others.
    pub(super) fn canonical(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int(v) => canonical_int(*v, out),
            Self::Float(v) if v.is_nan() => out.push(b'n'),
            Self::Float(v) if v.is_infinite() => out.push(if *v > 0.0 { b'>' } else { b'<' }),
            Self::Float(_) | Self::Decimal(_) => {
                let exact = self.exact().unwrap_or_default().normalized();
                let whole = exact.fractional_digit_count() <= 0;
                match whole.then(|| small(&exact)).flatten() {
                    Some(int) => canonical_int(int, out),
                    None => canonical_decimal(&exact, out),
                }
            }
        }
    }

    /// The value to be written into a column of this kind.
    ///
    /// # Errors
    /// `Value` when a whole number does not fit the column.
    pub(super) fn into_value(self, kind: Kind) -> Result<Value> {
        match kind {
            Kind::Int => {
                self.whole().and_then(|v| i64::try_from(v).ok()).map(Value::Int).ok_or_else(range)
            }
            Kind::UInt => {
                self.whole().and_then(|v| u64::try_from(v).ok()).map(Value::UInt).ok_or_else(range)
            }
            Kind::Float => Ok(Value::Float(self.float())),
            // A column of exact numbers may still hold NaN or an infinity; those are only floats here.
            Kind::Decimal => Ok(match (&self, self.exact()) {
                (_, Some(exact)) => Value::Decimal(exact),
                (_, None) => Value::Float(self.float()),
            }),
            Kind::Bool
            | Kind::Text
            | Kind::Bytes
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::TimestampTz
            | Kind::Other => Ok(self.natural()),
        }
    }

    /// The number as a whole one, when it is.
    pub(super) fn whole(&self) -> Option<i128> {
        if let Self::Int(v) = self {
            return Some(*v);
        }
        let exact = self.exact()?.normalized();
        if exact.fractional_digit_count() > 0 { None } else { small(&exact) }
    }

    fn natural(self) -> Value {
        match self {
            Self::Int(v) => i64::try_from(v)
                .map(Value::Int)
                .or_else(|_| u64::try_from(v).map(Value::UInt))
                .unwrap_or_else(|_| Value::Decimal(BigDecimal::from(v))),
            Self::Float(v) => Value::Float(v),
            Self::Decimal(v) => Value::Decimal(v),
        }
    }
}

/// Total order of doubles: -0 equals 0, NaN is the greatest.
fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// A normalized whole decimal as `i128`, when it fits. Never expands a large exponent.
fn small(whole: &BigDecimal) -> Option<i128> {
    let (digits, scale) = whole.as_bigint_and_scale();
    let power = u32::try_from(-scale).ok()?;
    digits.to_i128()?.checked_mul(10i128.checked_pow(power)?)
}

fn canonical_int(value: i128, out: &mut Vec<u8>) {
    out.push(b'i');
    out.extend_from_slice(&value.to_le_bytes());
}

fn canonical_decimal(normalized: &BigDecimal, out: &mut Vec<u8>) {
    let (digits, scale) = normalized.as_bigint_and_scale();
    let bytes = BigInt::to_signed_bytes_le(&digits);
    out.push(b'd');
    out.extend_from_slice(&scale.to_le_bytes());
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(&bytes);
}

fn not_a_number(what: &str) -> Error {
    let shown: String = what.chars().take(64).collect();
    Error::new(ErrorKind::Value(format!("`{shown}` cannot be compared or added as a number")))
}

fn range() -> Error {
    Error::new(ErrorKind::Value("an aggregate's result is out of range of its column".into()))
}

/// The running sum of one aggregate.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    int: i128,
    wide: Option<BigDecimal>,
    float: Option<f64>,
    any: bool,
}

impl Sum {
    /// Adds a number. Whole numbers and decimals stay exact, with the largest scale among them; floats are added as doubles.
    pub(super) fn add(&mut self, number: Number) {
        self.any = true;
        match number {
            Number::Int(v) => match self.int.checked_add(v) {
                Some(sum) => self.int = sum,
                None => {
                    let carried = std::mem::replace(&mut self.int, v);
                    self.widen(BigDecimal::from(carried));
                }
            },
            Number::Decimal(v) => self.widen(v),
            Number::Float(v) => *self.float.get_or_insert(0.0) += v,
        }
    }

    fn widen(&mut self, number: BigDecimal) {
        self.wide = Some(match self.wide.take() {
            Some(sum) => sum + number,
            None => number,
        });
    }

    /// The sum; `None` when nothing was added.
    pub(super) fn total(&self) -> Option<Number> {
        if !self.any {
            return None;
        }
        let exact = match &self.wide {
            Some(wide) if self.int == 0 => Number::Decimal(wide.clone()),
            Some(wide) => Number::Decimal(wide + BigDecimal::from(self.int)),
            None => Number::Int(self.int),
        };
        Some(match (self.float, exact) {
            (None, exact) => exact,
            (Some(float), Number::Int(0)) => Number::Float(float),
            (Some(float), exact) => Number::Float(float + exact.float()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Number {
        Number::Decimal(text.parse().unwrap())
    }

    fn canonical(number: &Number) -> Vec<u8> {
        let mut out = Vec::new();
        number.canonical(&mut out);
        out
    }

    #[test]
    fn numbers_of_all_kinds_compare_exactly() {
        let ascending = [
            Number::Float(f64::NEG_INFINITY),
            decimal("-1e400"),
            Number::Float(-1.5),
            Number::Int(0),
            decimal("0.1"),
            // The double nearest to 0.1 is a little more than 0.1.
            Number::Float(0.1),
            Number::Int(9_007_199_254_740_992),
            Number::Int(9_007_199_254_740_993),
            decimal("9007199254740993.5"),
            Number::Int(i128::from(u64::MAX)),
            decimal("1e400"),
            Number::Float(f64::INFINITY),
            Number::Float(f64::NAN),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.compare(b), i.cmp(&j), "{a:?} and {b:?}");
                assert_eq!(canonical(a) == canonical(b), i == j, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn equal_numbers_have_one_canonical_form() {
        let equal = [
            [Number::Int(100), decimal("100.000")],
            [decimal("1e2"), Number::Float(100.0)],
            [decimal("0.50"), Number::Float(0.5)],
            [Number::Float(-0.0), Number::Int(0)],
            [decimal("0.00"), Number::Int(0)],
            [decimal("1e60"), decimal("1000e57")],
        ];
        for [a, b] in equal {
            assert_eq!(a.compare(&b), Ordering::Equal, "{a:?} and {b:?}");
            assert_eq!(canonical(&a), canonical(&b), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn a_short_field_cannot_ask_for_a_gigabyte() {
        let value = Value::Decimal("1e999999999".parse().unwrap());
        assert!(matches!(Number::of(&value).unwrap_err().kind(), ErrorKind::Value(_)));
        assert!(Number::of(&Value::Text("1e-999999999".into())).is_err());
    }

    #[test]
    fn sums_keep_the_largest_scale_and_survive_overflow() {
        let check = |numbers: Vec<Number>, kind: Kind, expected: Value| {
            let mut sum = Sum::default();
            numbers.into_iter().for_each(|number| sum.add(number));
            assert_eq!(sum.total().unwrap().into_value(kind).unwrap(), expected);
        };
        let shown = |text: &str| Value::Decimal(text.parse().unwrap());
        check(vec![decimal("1.5"), decimal("2.500")], Kind::Decimal, shown("4.000"));
        check(vec![Number::Int(2), decimal("0.10")], Kind::Decimal, shown("2.10"));
        check(
            vec![Number::Int(i128::MAX), Number::Int(i128::MAX)],
            Kind::Decimal,
            shown("340282366920938463463374607431768211454"),
        );
        check(vec![Number::Float(0.5), Number::Int(1)], Kind::Float, Value::Float(1.5));
        check(
            vec![Number::Int(i128::from(i64::MAX)), Number::Int(1)],
            Kind::UInt,
            Value::UInt(9_223_372_036_854_775_808),
        );
        check(vec![decimal("7.00")], Kind::Int, Value::Int(7));
        assert!(Sum::default().total().is_none());
    }

    #[test]
    fn a_sum_that_does_not_fit_its_column_is_an_error() {
        let sum = Number::Int(i128::from(i64::MAX) + 1);
        assert!(matches!(sum.into_value(Kind::Int).unwrap_err().kind(), ErrorKind::Value(_)));
        assert!(decimal("1.5").into_value(Kind::Int).is_err());
        assert!(Number::Int(-1).into_value(Kind::UInt).is_err());
    }
}
