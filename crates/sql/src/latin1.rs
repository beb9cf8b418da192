//! MySQL's latin1, in which clients and literals (`_latin1'…'`) may be written.

/// Bytes from 0x80 on that are no code points of the same number.
///
/// Source: <https://dev.mysql.com/doc/refman/8.0/en/charset-we-sets.html> (cp1252, with the five that it leaves out as control characters).
const CP1252: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// The text that these bytes are; every byte is a letter.
pub fn read_latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| letter(*byte)).collect()
}

/// A text in latin1, with `?` for what it does not have.
pub fn write_latin1(text: &str) -> Vec<u8> {
    text.chars().map(byte).collect()
}

fn letter(byte: u8) -> char {
    let high = byte.checked_sub(0x80).and_then(|at| CP1252.get(usize::from(at)));
    high.copied().unwrap_or(char::from(byte))
}

fn byte(letter: char) -> u8 {
    match u8::try_from(letter) {
        Ok(byte) if !(0x80..0xA0).contains(&byte) => byte,
        _ => CP1252
            .iter()
            .zip(0x80..)
            .find(|(own, _)| **own == letter)
            .map_or(b'?', |(_, byte)| byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_goes_there_and_back() {
        let all: Vec<u8> = (0..=255).collect();
        let text = read_latin1(&all);
        assert_eq!(text.chars().count(), 256);
        assert_eq!(text.chars().nth(0x80), Some('€'));
        assert_eq!(text.chars().nth(0xE9), Some('é'));
        assert_eq!(write_latin1(&text), all);
    }
}
