//! Octets as hexadecimal digits.

use std::fmt::Write as _;

/// In lower case.
pub(super) fn encode(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len() * 2);
    for octet in octets {
        // A String takes every write.
        let _ = write!(text, "{octet:02x}");
    }
    text
}

/// `None` where they are none.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let octet = |[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    if rest.is_empty() { pairs.iter().map(octet).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_both_ways() {
        assert_eq!(encode(&[0, 255, 16]), "00ff10");
        assert_eq!(decode("00Ff10"), Some(vec![0, 255, 16]));
        assert_eq!(
            (decode("0"), decode("0g"), decode("é"), decode("")),
            (None, None, None, Some(vec![]))
        );
    }
}
