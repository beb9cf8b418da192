//! AVG from a sum and a count, with the number of digits the storage unit itself would give.

use bigdecimal::num_bigint::{BigInt, Sign};
use bigdecimal::num_traits::Signed;
use bigdecimal::{BigDecimal, ToPrimitive};
use pando_kernel::column::Column;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::value::{Kind, Value};

use super::number::Number;

/// From here on `decimals` of a column definition means "no fixed number of digits".
const NOT_FIXED: u8 = 31;

/// How an average is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Division {
    /// As doubles.
    Float,
    /// Exactly, rounded to so many digits after the point.
    Fixed(i64),
    /// Exactly, with the digits of numeric division ([`division_scale`]).
    Numeric,
    /// Numeric for decimals, as doubles otherwise: the column does not tell.
    ByValue,
}

impl Division {
    /// The division whose result the column holds: see "Averages" in the module's documentation.
    pub(super) fn of(column: &Column) -> Self {
        let native = &column.native;
        let described = native.decimals != 0 || native.charset != 0;
        match column.kind {
            Kind::Float => Self::Float,
            Kind::Decimal | Kind::Int | Kind::UInt => {
                if described && native.decimals < NOT_FIXED {
                    Self::Fixed(i64::from(native.decimals))
                } else {
                    Self::Numeric
                }
            }
            Kind::Bool
            | Kind::Text
            | Kind::Bytes
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::TimestampTz
            | Kind::Other => Self::ByValue,
        }
    }

    /// `sum` divided by `count`.
    ///
    /// # Errors
    /// `Value` when the count is not positive.
    pub(super) fn divide(self, sum: &Number, count: i128) -> Result<Value> {
        if count <= 0 {
            let message = format!("an average over {count} values does not exist");
            return Err(Error::new(ErrorKind::Value(message)));
        }
        let float = || Value::Float(sum.float() / count.to_f64().unwrap_or(f64::NAN));
        let exact = match (self, sum) {
            (Self::Float, _) | (Self::ByValue, Number::Int(_) | Number::Float(_)) => None,
            (Self::Fixed(_) | Self::Numeric | Self::ByValue, _) => sum.exact(),
        };
        let Some(exact) = exact else {
            return Ok(float());
        };
        let count = BigInt::from(count);
        let scale = match self {
            Self::Fixed(scale) => scale,
            Self::Float | Self::Numeric | Self::ByValue => division_scale(&exact, &count),
        };
        Ok(Value::Decimal(divide_to(&exact, &count, scale)))
    }
}

/// Digits after the point of `dividend / divisor` in PostgreSQL: `select_div_scale` of its `numeric.c`, that is at least
/// 16 significant digits counted in groups of four, never fewer digits than either side has, at most 1000.
fn division_scale(dividend: &BigDecimal, divisor: &BigInt) -> i64 {
    const SIGNIFICANT: i64 = 16;
    const GROUP: i64 = 4;
    const MOST: i64 = 1000;
    let (weight, first) = leading_group(dividend);
    let (divisor_weight, divisor_first) = leading_group(&BigDecimal::from(divisor.clone()));
    let mut weight = weight - divisor_weight;
    if first <= divisor_first {
        weight -= 1;
    }
    let scale = SIGNIFICANT - weight * GROUP;
    scale.max(dividend.fractional_digit_count()).clamp(0, MOST)
}

/// The weight (in powers of 10000) and the value of a number's first non-zero group of four digits; (0, 0) for zero.
fn leading_group(number: &BigDecimal) -> (i64, u32) {
    let (digits, scale) = number.as_bigint_and_scale();
    if digits.sign() == Sign::NoSign {
        return (0, 0);
    }
    let digits = digits.magnitude().to_str_radix(10).into_bytes();
    let exponent = digits.len() as i64 - 1 - scale;
    let length = exponent.rem_euclid(4) as usize + 1;
    let group = (0..length).fold(0u32, |group, at| {
        group * 10 + u32::from(digits.get(at).map_or(0, |digit| digit - b'0'))
    });
    (exponent.div_euclid(4), group)
}

/// `dividend / divisor` rounded half away from zero to `scale` digits after the point.
fn divide_to(dividend: &BigDecimal, divisor: &BigInt, scale: i64) -> BigDecimal {
    let (digits, from) = dividend.as_bigint_and_scale();
    let shift = BigInt::from(10).pow(u32::try_from((scale - from).abs()).unwrap_or(u32::MAX));
    let (numerator, denominator) = if scale >= from {
        (digits.as_ref() * shift, divisor.clone())
    } else {
        (digits.into_owned(), divisor * shift)
    };
    let mut quotient = &numerator / &denominator;
    let rest = &numerator - &quotient * &denominator;
    if rest.abs() * 2 >= denominator.abs() {
        quotient += if numerator.is_negative() { -1 } else { 1 };
    }
    BigDecimal::new(quotient, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(division: Division, sum: &str, count: i128, expected: &str) {
        let sum = Number::Decimal(sum.parse().unwrap());
        let Value::Decimal(quotient) = division.divide(&sum, count).unwrap() else {
            panic!("not a decimal");
        };
        assert_eq!(quotient.to_plain_string(), expected, "{sum:?} / {count}");
    }

    #[test]
    fn numeric_division_has_the_digits_of_postgresql() {
        // Each expected value is what `SELECT sum::numeric / count` of PostgreSQL prints.
        for (sum, count, expected) in [
            ("0", 3, "0.00000000000000000000"),
            ("1", 3, "0.33333333333333333333"),
            ("2", 3, "0.66666666666666666667"),
            ("10", 4, "2.5000000000000000"),
            ("3", 2, "1.5000000000000000"),
            ("6", 3, "2.0000000000000000"),
            ("-7", 2, "-3.5000000000000000"),
            ("100000", 3, "33333.333333333333"),
            ("12345678", 1, "12345678.000000000000"),
            ("10000", 10000, "1.00000000000000000000"),
            ("10001", 10000, "1.00010000000000000000"),
            ("0.0001", 3, "0.000033333333333333333333"),
            ("1.123456789012345678901234567890", 2, "0.561728394506172839450617283945"),
            ("123456789012345678901234567890", 7, "17636684144620811271604938270"),
        ] {
            check(Division::Numeric, sum, count, expected);
        }
    }

    #[test]
    fn fixed_division_rounds_half_away_from_zero() {
        for (sum, count, scale, expected) in [
            ("4", 3, 4, "1.3333"),
            ("2", 3, 4, "0.6667"),
            ("-2", 3, 4, "-0.6667"),
            ("1", 8, 2, "0.13"),
            ("-1", 8, 2, "-0.13"),
            ("10.123456", 1, 2, "10.12"),
            ("7", 2, 0, "4"),
        ] {
            check(Division::Fixed(scale), sum, count, expected);
        }
    }

    #[test]
    fn the_column_chooses_the_division() {
        let column = |kind, decimals, charset| {
            let mut column = Column::computed("a", kind);
            column.native.decimals = decimals;
            column.native.charset = charset;
            column
        };
        for (kind, decimals, charset, expected) in [
            (Kind::Float, 31, 63, Division::Float),
            (Kind::Float, 6, 63, Division::Float),
            (Kind::Decimal, 4, 63, Division::Fixed(4)),
            (Kind::Decimal, 4, 0, Division::Fixed(4)),
            (Kind::Decimal, 0, 63, Division::Fixed(0)),
            (Kind::Decimal, 31, 63, Division::Numeric),
            (Kind::Decimal, 0, 0, Division::Numeric),
            (Kind::Other, 0, 0, Division::ByValue),
        ] {
            assert_eq!(Division::of(&column(kind, decimals, charset)), expected);
        }
    }

    #[test]
    fn an_average_over_nothing_or_of_no_number_is_told() {
        assert!(Division::Numeric.divide(&Number::Int(1), 0).is_err());
        let nan = Division::Numeric.divide(&Number::Float(f64::NAN), 2).unwrap();
        assert!(matches!(nan, Value::Float(number) if number.is_nan()));
        let float = Division::ByValue.divide(&Number::Int(3), 2).unwrap();
        assert_eq!(float, Value::Float(1.5));
    }
}
