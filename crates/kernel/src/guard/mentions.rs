//! A first look at a text.

/// Whether a word of the text begins with one of these (lower case, ASCII), whatever the word stands in. One pass that keeps nothing: most statements end the
/// guard's look here.
pub fn mentions(text: &str, beginnings: &[&str]) -> bool {
    let mut first = [false; 256];
    for beginning in beginnings.iter().filter_map(|beginning| beginning.as_bytes().first()) {
        first[usize::from(*beginning)] = true;
    }
    let bytes = text.as_bytes();
    let mut inside = false;
    for (at, &byte) in bytes.iter().enumerate() {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80;
        if is_word && !inside && first[usize::from(byte.to_ascii_lowercase())] {
            let rest = bytes.get(at..).unwrap_or(&[]);
            let begins = |beginning: &&str| {
                let head = rest.get(..beginning.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(beginning.as_bytes()))
            };
            if beginnings.iter().any(begins) {
                return true;
            }
        }
        inside = is_word;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn words_are_found_by_their_beginning_wherever_they_stand() {
        for text in ["pando.x", "SELECT \"Pando\".x", "(PANDO_unit)", "'pando'", "/**/pando"] {
            assert!(mentions(text, &["pando"]), "{text}");
        }
        for text in ["", "expando", "pand", "x_pando", "p ando"] {
            assert!(!mentions(text, &["pando"]), "{text}");
        }
    }
}
