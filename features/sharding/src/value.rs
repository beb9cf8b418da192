//! Sharding values as numbers and as hashes, whatever SQL type they came in.

use std::borrow::Cow;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use pando_kernel::Value;

/// A number in its one form: `1`, `1.0`, `1e0` and `'1'` are all `Small(1)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    /// A whole number.
    Small(i128),
    /// A whole number beyond 127 bits.
    Big(BigInt),
    /// A number with a fraction, without zeros at its end.
    Fraction(BigDecimal),
}

/// Digits and decimal places a number may have: enough for every SQL type, and too few to fill the memory.
const MOST_DIGITS: usize = 1_000;

/// The number a value is, if it is one. A text is one if a server would read it as one.
pub(crate) fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Int(number) => Some(Number::Small(i128::from(*number))),
        Value::UInt(number) => Some(Number::Small(i128::from(*number))),
        Value::Bool(flag) => Some(Number::Small(i128::from(*flag))),
        Value::Text(text) => number_of_text(text),
        Value::Bytes(bytes) => number_of_text(std::str::from_utf8(bytes).ok()?),
        // Shortest form: the double nearest to 0.1 is 0.1, as a server prints it.
        Value::Float(number) if number.is_finite() => number_of_text(&number.to_string()),
        Value::Float(_) | Value::Null => None,
        Value::Decimal(number) => reduce(number),
    }
}

/// The number a text spells, with white space around it allowed.
pub(crate) fn number_of_text(text: &str) -> Option<Number> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let first = text.bytes().next()?;
    if text.len() > MOST_DIGITS || !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.'))
    {
        return None;
    }
    if let Ok(number) = text.parse::<i128>() {
        return Some(Number::Small(number));
    }
    let (digits, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, "0"),
    };
    let exponent = exponent.parse::<i64>().ok()?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let is_plain = unsigned.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && unsigned.bytes().any(|b| b.is_ascii_digit())
        && unsigned.bytes().filter(|b| *b == b'.').count() <= 1;
    if !is_plain || exponent.unsigned_abs() > MOST_DIGITS as u64 {
        return None;
    }
    reduce(&BigDecimal::from_str(text).ok()?)
}

fn reduce(number: &BigDecimal) -> Option<Number> {
    let (digits, scale) = number.as_bigint_and_exponent();
    if scale.unsigned_abs() > 2 * MOST_DIGITS as u64 || digits.bits() > 8 * MOST_DIGITS as u64 {
        return None;
    }
    let number = number.normalized();
    let (digits, scale) = number.as_bigint_and_exponent();
    if scale > 0 {
        return Some(Number::Fraction(number));
    }
    let zeros = u32::try_from(-scale).ok()?;
    let whole = digits * BigInt::from(10).pow(zeros);
    Some(i128::try_from(&whole).map_or(Number::Big(whole), Number::Small))
}

/// The value as a whole number; a fraction or a text that is no number is none.
pub(crate) fn whole(value: &Value) -> Option<Number> {
    number(value).filter(|number| !matches!(number, Number::Fraction(_)))
}

/// The value's floor as 128 bits, the nearest bound for what is beyond.
pub(crate) fn floor(value: &Value) -> Option<i128> {
    match number(value)? {
        Number::Small(number) => Some(number),
        Number::Big(number) => Some(saturated(&number)),
        Number::Fraction(number) => {
            let floor = number.with_scale_round(0, bigdecimal::RoundingMode::Floor);
            let (digits, _) = floor.as_bigint_and_exponent();
            Some(i128::try_from(&digits).unwrap_or_else(|_| saturated(&digits)))
        }
    }
}

fn saturated(number: &BigInt) -> i128 {
    if number.sign() == Sign::Minus { i128::MIN } else { i128::MAX }
}

/// A hash that is the same for equal values of different types, and that of Java's `hashCode()` for the form
/// ShardingSphere sees most: `Integer` where it fits, then `Long`, then `BigInteger`; `String` for other texts.
pub(crate) fn hash(value: &Value) -> i32 {
    match number(value) {
        Some(Number::Small(number)) => java_hash_of_whole(number),
        Some(Number::Big(number)) => java_hash_of_big(&number),
        Some(Number::Fraction(number)) => java_hash_of_text(&number.to_plain_string()),
        None => match value {
            Value::Text(text) => java_hash_of_text(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => java_hash_of_text(text),
                Err(_) => java_hash_of_bytes(bytes),
            },
            Value::Float(number) => java_hash_of_double(*number),
            Value::Decimal(number) => java_hash_of_decimal(number),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) => 0,
        },
    }
}

/// Java's `hashCode()` of the type the value arrives as in ShardingSphere.
pub(crate) fn java_hash(value: &Value) -> i32 {
    match value {
        Value::Null => 0,
        Value::Bool(flag) => {
            if *flag {
                1231
            } else {
                1237
            }
        }
        Value::Int(number) => java_hash_of_whole(i128::from(*number)),
        Value::UInt(number) => java_hash_of_whole(i128::from(*number)),
        Value::Float(number) => java_hash_of_double(*number),
        Value::Decimal(number) => java_hash_of_decimal(number),
        Value::Text(text) => java_hash_of_text(text),
        Value::Bytes(bytes) => java_hash_of_bytes(bytes),
    }
}

/// `Integer.hashCode()`, `Long.hashCode()` or `BigInteger.hashCode()`, by size.
pub(crate) fn java_hash_of_whole(number: i128) -> i32 {
    if let Ok(number) = i32::try_from(number) {
        return number;
    }
    match i64::try_from(number) {
        Ok(number) => java_hash_of_long(number),
        Err(_) => java_hash_of_big(&BigInt::from(number)),
    }
}

/// `Long.hashCode()`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Java folds it")]
pub(crate) fn java_hash_of_long(number: i64) -> i32 {
    let bits = number as u64;
    (bits ^ (bits >> 32)) as i32
}

/// `String.hashCode()`.
pub(crate) fn java_hash_of_text(text: &str) -> i32 {
    text.encode_utf16()
        .fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn java_hash_of_big(number: &BigInt) -> i32 {
    let (sign, digits) = number.to_u32_digits();
    let step = |hash: i32, digit: &u32| hash.wrapping_mul(31).wrapping_add(digit.cast_signed());
    let hash = digits.iter().rev().fold(0, step);
    if sign == Sign::Minus { hash.wrapping_neg() } else { hash }
}

#[expect(clippy::cast_possible_truncation, reason = "as Java folds it")]
fn java_hash_of_decimal(number: &BigDecimal) -> i32 {
    let (digits, scale) = number.as_bigint_and_exponent();
    java_hash_of_big(&digits).wrapping_mul(31).wrapping_add(scale as i32)
}

fn java_hash_of_double(number: f64) -> i32 {
    java_hash_of_long(number.to_bits().cast_signed())
}

fn java_hash_of_bytes(bytes: &[u8]) -> i32 {
    let step =
        |hash: i32, byte: &u8| hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed()));
    bytes.iter().fold(1, step)
}

/// The value as a server would print it; a number in its one form.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes),
        Value::Null => Cow::Borrowed("NULL"),
        Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Decimal(_) => {
            match (number(value), value) {
                (Some(Number::Small(number)), _) => Cow::Owned(number.to_string()),
                (Some(Number::Big(number)), _) => Cow::Owned(number.to_string()),
                (Some(Number::Fraction(number)), _) => Cow::Owned(number.to_plain_string()),
                // Not a finite number, or one too long to write out.
                (None, Value::Float(number)) => Cow::Owned(number.to_string()),
                (None, _) => Cow::Borrowed("a number out of range"),
            }
        }
    }
}

/// The value for messages, shortened.
pub(crate) fn shown(value: &Value) -> String {
    text(value).chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Value {
        Value::Decimal(text.parse().expect(text))
    }

    #[test]
    fn equal_values_of_different_types_are_one_number() {
        let ones = [
            Value::Int(1),
            Value::UInt(1),
            Value::Float(1.0),
            Value::Bool(true),
            decimal("1"),
            decimal("1.000"),
            Value::Text("1".into()),
            Value::Text(" +1.0 ".into()),
            Value::Text("10e-1".into()),
            Value::Bytes(b"01".as_slice().into()),
        ];
        for one in &ones {
            assert_eq!(number(one), Some(Number::Small(1)), "{one:?}");
            assert_eq!(hash(one), 1, "{one:?}");
        }
        assert_eq!(hash(&Value::Float(0.1)), hash(&Value::Text("0.10".into())));
        assert_eq!(hash(&decimal("123456789012345678901234567890123456789012")), {
            hash(&Value::Text("123456789012345678901234567890123456789012".into()))
        });
    }

    #[test]
    fn texts_that_are_no_numbers_stay_texts() {
        for text in
            ["", "-", ".", "e5", "1e", "1x", "0x10", "1_0", "NaN", "inf", "1e999999999", "١"]
        {
            assert_eq!(number_of_text(text), None, "{text}");
        }
    }

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(java_hash_of_whole(-1), -1);
        assert_eq!(java_hash_of_long(-1), 0);
        assert_eq!(java_hash_of_whole(4_294_967_296), 1);
        assert_eq!(java_hash_of_text("abc"), 96_354);
        assert_eq!(java_hash_of_text("polygenelubricants"), i32::MIN);
        // new BigInteger("18446744073709551616").hashCode() is 961: magnitude 1, 0, 0.
        assert_eq!(java_hash_of_whole(18_446_744_073_709_551_616), 961);
        // new BigDecimal("1.50").hashCode() is 31 * 150 + 2.
        assert_eq!(java_hash(&decimal("1.50")), 4652);
        assert_eq!(java_hash(&Value::Float(1.0)), 1_072_693_248);
        assert_eq!(java_hash(&Value::Text("1".into())), 49);
    }

    #[test]
    fn floors_go_down() {
        assert_eq!(floor(&decimal("-1.5")), Some(-2));
        assert_eq!(floor(&Value::Float(1.9)), Some(1));
        assert_eq!(floor(&decimal("1e50")), Some(i128::MAX));
        assert_eq!(floor(&Value::Text("x".into())), None);
    }
}
