//! What each byte may start.

/// What a byte may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Space,
    Letter,
    Digit,
    Single,
    Double,
    Backtick,
    Dollar,
    At,
    Dot,
    Colon,
    Question,
    Hash,
    Minus,
    Slash,
    Operator,
    Punctuation,
    Backslash,
    Bad,
}

static CLASSES: [Class; 256] = build();

const fn build() -> [Class; 256] {
    let mut table = [Class::Bad; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80..=0xff => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'\'' => Class::Single,
            b'"' => Class::Double,
            b'`' => Class::Backtick,
            b'$' => Class::Dollar,
            b'@' => Class::At,
            b'.' => Class::Dot,
            b':' => Class::Colon,
            b'?' => Class::Question,
            b'#' => Class::Hash,
            b'-' => Class::Minus,
            b'/' => Class::Slash,
            b'+' | b'*' | b'<' | b'>' | b'=' | b'~' | b'!' | b'%' | b'^' | b'&' | b'|' => {
                Class::Operator
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' => Class::Punctuation,
            b'\\' => Class::Backslash,
            _ => Class::Bad,
        };
        byte += 1;
    }
    table
}

#[inline]
pub(crate) fn class_of(byte: u8) -> Class {
    CLASSES[byte as usize]
}

/// May stand inside a word.
#[inline]
pub(crate) fn is_word_byte(byte: u8) -> bool {
    matches!(class_of(byte), Class::Letter | Class::Digit | Class::Dollar)
}

/// May stand inside an operator of the language that lets users make their own.
#[inline]
pub(super) fn is_operator_byte(byte: u8) -> bool {
    matches!(
        class_of(byte),
        Class::Operator
            | Class::Minus
            | Class::Slash
            | Class::At
            | Class::Hash
            | Class::Question
            | Class::Backtick
    )
}
