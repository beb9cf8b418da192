//! Java's `hashCode()` of values.

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};

/// `Integer.hashCode()`, `Long.hashCode()` or `BigInteger.hashCode()`, by size.
pub fn hash_of_whole(number: i128) -> i32 {
    if let Ok(number) = i32::try_from(number) {
        return number;
    }
    match i64::try_from(number) {
        Ok(number) => hash_of_long(number),
        Err(_) => hash_of_big(&BigInt::from(number)),
    }
}

/// `Long.hashCode()`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Java folds it")]
pub fn hash_of_long(number: i64) -> i32 {
    let bits = number as u64;
    (bits ^ (bits >> 32)) as i32
}

/// `String.hashCode()`.
pub fn hash_of_text(text: &str) -> i32 {
    text.encode_utf16()
        .fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `BigInteger.hashCode()`.
pub fn hash_of_big(number: &BigInt) -> i32 {
    let (sign, digits) = number.to_u32_digits();
    let step = |hash: i32, digit: &u32| hash.wrapping_mul(31).wrapping_add(digit.cast_signed());
    let hash = digits.iter().rev().fold(0, step);
    if sign == Sign::Minus { hash.wrapping_neg() } else { hash }
}

/// `BigDecimal.hashCode()`.
#[expect(clippy::cast_possible_truncation, reason = "as Java folds it")]
pub fn hash_of_decimal(number: &BigDecimal) -> i32 {
    let (digits, scale) = number.as_bigint_and_exponent();
    hash_of_big(&digits).wrapping_mul(31).wrapping_add(scale as i32)
}

/// That of a double as its bits in a `long`, which is `Double.hashCode()`.
pub fn hash_of_double(number: f64) -> i32 {
    hash_of_long(number.to_bits().cast_signed())
}

/// `Arrays.hashCode(byte[])`.
pub fn hash_of_bytes(bytes: &[u8]) -> i32 {
    let step =
        |hash: i32, byte: &u8| hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed()));
    bytes.iter().fold(1, step)
}
