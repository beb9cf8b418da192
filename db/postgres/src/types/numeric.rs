//! numeric in binary: base-10,000 digits, exactly.
//! <https://github.com/postgres/postgres/blob/master/src/backend/utils/adt/numeric.c> (`numeric_send`)

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use bytes::{BufMut, BytesMut};
use pando_kernel::Value;

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const NEGATIVE_INFINITY: u16 = 0xf000;
/// The most digits PostgreSQL keeps after the decimal point.
const MAX_SCALE: i64 = 16_383;
/// Decimal digits in one digit of the wire.
const GROUP: i64 = 4;

/// Reads the wire form; `None` when it is none. NaN and the infinities come back as floats,
/// because exact decimals have no such values.
pub(super) fn decode(bytes: &[u8]) -> Option<Value> {
    let (head, digits) = bytes.split_first_chunk::<8>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (count, sign, scale) = (usize::from(word(0)), word(4), i64::from(word(6)));
    let weight = i64::from(i16::from_be_bytes([head[2], head[3]]));
    match sign {
        NAN => return Some(Value::Float(f64::NAN)),
        INFINITY => return Some(Value::Float(f64::INFINITY)),
        NEGATIVE_INFINITY => return Some(Value::Float(f64::NEG_INFINITY)),
        POSITIVE | NEGATIVE => {}
        _ => return None,
    }
    let (groups, []) = digits.as_chunks::<2>() else { return None };
    if groups.len() != count || scale > MAX_SCALE {
        return None;
    }
    let mut text = Vec::with_capacity(count * 4 + 1);
    text.push(if sign == NEGATIVE { b'-' } else { b'+' });
    for group in groups {
        let digit = u16::from_be_bytes(*group);
        if digit > 9999 {
            return None;
        }
        text.extend_from_slice(
            &[digit / 1000, digit / 100 % 10, digit / 10 % 10, digit % 10]
                .map(|decimal| b'0' + decimal as u8),
        );
    }
    if count == 0 {
        text.push(b'0');
    }
    let number = BigInt::parse_bytes(&text, 10)?;
    let exponent = i64::try_from(count).ok()? - 1 - weight;
    Some(Value::Decimal(BigDecimal::new(number, exponent * GROUP).with_scale(scale)))
}

/// Appends the wire form; `None` when the number has more digits than the type can hold.
pub(super) fn encode(number: &BigDecimal, out: &mut BytesMut) -> Option<()> {
    let (digits, scale) = number.as_bigint_and_exponent();
    // `scale` below zero stands for zeros before the decimal point: the wire has none after it.
    let shown = scale.max(0);
    if shown > MAX_SCALE {
        return None;
    }
    let (sign, digits) = digits.into_parts();
    let mut text = digits.to_str_radix(10).into_bytes();
    if scale < 0 {
        let zeros = usize::try_from(scale.unsigned_abs()).ok().filter(|count| *count < 131_072)?;
        text.resize(text.len() + zeros, b'0');
    }
    // Whole groups on both sides of the decimal point.
    let behind = shown.rem_euclid(GROUP);
    text.resize(text.len() + usize::try_from((GROUP - behind) % GROUP).ok()?, b'0');
    let missing = text.len().wrapping_neg() % 4;
    text.splice(0..0, std::iter::repeat_n(b'0', missing));
    let groups: Vec<u16> = text
        .chunks(4)
        .map(|group| group.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
        .collect();
    let behind_groups = (shown + GROUP - 1) / GROUP;
    let leading = groups.iter().take_while(|group| **group == 0).count();
    let trailing = groups[leading..].iter().rev().take_while(|group| **group == 0).count();
    let kept = &groups[leading..groups.len() - trailing];
    let weight = if kept.is_empty() {
        0
    } else {
        i64::try_from(groups.len() - leading).ok()? - 1 - behind_groups
    };
    out.put_u16(u16::try_from(kept.len()).ok()?);
    out.put_i16(i16::try_from(weight).ok()?);
    out.put_u16(if sign == Sign::Minus { NEGATIVE } else { POSITIVE });
    out.put_u16(u16::try_from(shown).ok()?);
    kept.iter().for_each(|group| out.put_u16(*group));
    Some(())
}

/// Appends the wire form of a float that no exact decimal can be; `None` for the others.
pub(super) fn encode_special(number: f64, out: &mut BytesMut) -> Option<()> {
    let sign = if number.is_nan() {
        NAN
    } else if number == f64::INFINITY {
        INFINITY
    } else if number == f64::NEG_INFINITY {
        NEGATIVE_INFINITY
    } else {
        return None;
    };
    out.put_u32(0);
    out.put_u16(sign);
    out.put_u16(0);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wire: &[u8]) {
        let number: BigDecimal = text.parse().unwrap();
        let mut out = BytesMut::new();
        encode(&number, &mut out).unwrap();
        assert_eq!(&out[..], wire, "{text}");
        let Some(Value::Decimal(back)) = decode(wire) else { panic!("{text}") };
        assert_eq!(back.to_plain_string(), text);
    }

    #[test]
    fn numbers_have_the_bytes_postgresql_sends() {
        check("0", &[0, 0, 0, 0, 0, 0, 0, 0]);
        check("0.00", &[0, 0, 0, 0, 0, 0, 0, 2]);
        check("1", &[0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        check("-1.5", &[0, 2, 0, 0, 0x40, 0, 0, 1, 0, 1, 0x13, 0x88]);
        check("10000", &[0, 1, 0, 1, 0, 0, 0, 0, 0, 1]);
        check("12345.678", &[0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 0x09, 0x29, 0x1a, 0x7c]);
        check("0.0001", &[0, 1, 0xff, 0xff, 0, 0, 0, 4, 0, 1]);
        check("0.00001", &[0, 1, 0xff, 0xfe, 0, 0, 0, 5, 0x03, 0xe8]);
        check("100000000.0000", &[0, 1, 0, 2, 0, 0, 0, 4, 0, 1]);
    }

    #[test]
    fn a_negative_scale_is_written_out() {
        let mut out = BytesMut::new();
        encode(&BigDecimal::new(BigInt::from(12), -3), &mut out).unwrap();
        assert_eq!(&out[..], [0, 2, 0, 1, 0, 0, 0, 0, 0, 1, 0x07, 0xd0]);
    }

    #[test]
    fn what_is_no_number_becomes_a_float() {
        let special = |sign: u16| {
            let [high, low] = sign.to_be_bytes();
            decode(&[0, 0, 0, 0, high, low, 0, 0])
        };
        assert!(matches!(special(NAN), Some(Value::Float(number)) if number.is_nan()));
        assert_eq!(special(INFINITY), Some(Value::Float(f64::INFINITY)));
        assert_eq!(special(NEGATIVE_INFINITY), Some(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(special(0x1234), None);
    }

    #[test]
    fn broken_bytes_are_refused() {
        assert!(decode(&[]).is_none());
        assert!(decode(&[0, 1, 0, 0, 0, 0, 0, 0]).is_none());
        assert!(decode(&[0, 1, 0, 0, 0, 0, 0, 0, 0]).is_none());
        assert!(decode(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]).is_none());
        // A digit of 10,000.
        assert!(decode(&[0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10]).is_none());
        // A scale no numeric has.
        assert!(decode(&[0, 0, 0, 0, 0, 0, 0xff, 0xff]).is_none());
    }
}
