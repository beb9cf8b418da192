//! Sharding values as numbers and as hashes, whatever SQL type they came in.

use std::borrow::Cow;

use bigdecimal::num_bigint::{BigInt, Sign};
use pando_inline::number::{self, Number};
use pando_inline::{Datum, java};
use pando_kernel::Value;

/// The number a value is, if it is one. A text is one if a server would read it as one.
pub(crate) fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Int(number) => Some(Number::Small(i128::from(*number))),
        Value::UInt(number) => Some(Number::Small(i128::from(*number))),
        Value::Bool(flag) => Some(Number::Small(i128::from(*flag))),
        Value::Text(text) => number::of_text(text),
        Value::Bytes(bytes) => number::of_text(std::str::from_utf8(bytes).ok()?),
        // Shortest form: the double nearest to 0.1 is 0.1, as a server prints it.
        Value::Float(number) if number.is_finite() => number::of_text(&number.to_string()),
        Value::Float(_) | Value::Null => None,
        Value::Decimal(number) => number::reduce(number),
    }
}

/// What an inline expression computes with. Numbers lose their SQL type, so that `1`, `1.0` and a double route alike.
pub(crate) fn datum(value: &Value) -> Datum<'_> {
    match value {
        Value::Null => Datum::Null,
        Value::Bool(flag) => Datum::Bool(*flag),
        Value::Int(number) => Datum::int(i128::from(*number)),
        Value::UInt(number) => Datum::int(i128::from(*number)),
        Value::Text(text) => Datum::Text(Cow::Borrowed(text)),
        Value::Bytes(bytes) => Datum::Text(String::from_utf8_lossy(bytes)),
        Value::Float(_) | Value::Decimal(_) => match number(value) {
            Some(number) => Datum::number(number),
            None => Datum::text(format!("{value:?}")),
        },
    }
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
        Some(Number::Small(number)) => java::hash_of_whole(number),
        Some(Number::Big(number)) => java::hash_of_big(&number),
        Some(Number::Fraction(number)) => java::hash_of_text(&number.to_plain_string()),
        None => match value {
            Value::Text(text) => java::hash_of_text(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => java::hash_of_text(text),
                Err(_) => java::hash_of_bytes(bytes),
            },
            Value::Float(number) => java::hash_of_double(*number),
            Value::Decimal(number) => java::hash_of_decimal(number),
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
        Value::Int(number) => java::hash_of_whole(i128::from(*number)),
        Value::UInt(number) => java::hash_of_whole(i128::from(*number)),
        Value::Float(number) => java::hash_of_double(*number),
        Value::Decimal(number) => java::hash_of_decimal(number),
        Value::Text(text) => java::hash_of_text(text),
        Value::Bytes(bytes) => java::hash_of_bytes(bytes),
    }
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
    use pando_inline::{Arithmetic, Template};
    use proptest::prelude::*;

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
            assert_eq!(number::of_text(text), None, "{text}");
        }
    }

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(java::hash_of_whole(-1), -1);
        assert_eq!(java::hash_of_long(-1), 0);
        assert_eq!(java::hash_of_whole(4_294_967_296), 1);
        assert_eq!(java::hash_of_text("abc"), 96_354);
        assert_eq!(java::hash_of_text("polygenelubricants"), i32::MIN);
        // new BigInteger("18446744073709551616").hashCode() is 961: magnitude 1, 0, 0.
        assert_eq!(java::hash_of_whole(18_446_744_073_709_551_616), 961);
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

    proptest! {
        #[test]
        fn equal_values_of_different_types_give_equal_names(id in -1_000_000_i64..1_000_000) {
            let texts = ["t_${id % 7}", "t_${id + 3}", "t_${id.hashCode() % 5}", "t_${id > 10}", "t_${-id}"];
            for text in texts {
                let template = Template::compile(text, &["id".to_owned()], Arithmetic::Exact)
                    .expect("a valid expression");
                let of = |value: Value| template.name(&[datum(&value)]);
                let first = of(Value::Int(id));
                prop_assert_eq!(&of(Value::Text(id.to_string())), &first);
                prop_assert_eq!(&of(Value::Decimal(id.into())), &first);
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let float = id as f64;
                prop_assert_eq!(&of(Value::Float(float)), &first);
            }
        }
    }
}
