//! Numbers in their one form.

use std::str::FromStr;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;

/// A number in its one form: `1`, `1.0`, `1e0` and `'1'` are all `Small(1)`.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// A whole number.
    Small(i128),
    /// A whole number beyond 127 bits.
    Big(BigInt),
    /// A number with a fraction, without zeros at its end.
    Fraction(BigDecimal),
}

/// Digits and decimal places a number may have: enough for every SQL type, and too few to fill the memory.
const MOST_DIGITS: usize = 1_000;

/// The number a text spells, with white space around it allowed.
pub fn of_text(text: &str) -> Option<Number> {
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

/// A decimal in its one form; `None` for one with more digits than any SQL type has.
pub fn reduce(number: &BigDecimal) -> Option<Number> {
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
