//! Statement texts arrive as bytes: UTF-8, but for octets in string literals.

use std::sync::Arc;

use super::charset::Charset;
use crate::error::ClientError;

/// The text of a client with this character set, in UTF-8. Literals behind a character set of their own (`_binary'…'`) keep their octets.
///
/// # Errors
/// As [`utf8`].
pub(super) fn read(text: &[u8], charset: Charset) -> Result<Arc<str>, ClientError<'static>> {
    match charset == Charset::Utf8 || text.is_ascii() {
        true => utf8(text),
        false => with_hex_literals(text, charset).map(Arc::from),
    }
}

/// The text. Drivers put octets into plain string literals (`_binary'…'`); literals that are not UTF-8 become
/// hexadecimal ones, which mean the same.
///
/// # Errors
/// `ER_INVALID_CHARACTER_STRING` when something else than a literal is not UTF-8.
fn utf8(text: &[u8]) -> Result<Arc<str>, ClientError<'static>> {
    match std::str::from_utf8(text) {
        Ok(text) => Ok(text.into()),
        Err(_) => with_hex_literals(text, Charset::Utf8).map(Arc::from),
    }
}

fn invalid(bytes: &[u8]) -> ClientError<'static> {
    let shown: String = bytes.iter().take(6).map(|byte| format!("\\x{byte:02X}")).collect();
    ClientError::new(1300, b"HY000", format!("Invalid utf8mb4 character string: '{shown}'"))
}

fn with_hex_literals(text: &[u8], charset: Charset) -> Result<String, ClientError<'static>> {
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let len = match first {
            b'\'' | b'"' | b'`' => quoted_len(rest, first),
            b'#' => line_len(rest),
            b'-' if is_dash_comment(rest) => line_len(rest),
            b'/' if rest.starts_with(b"/*") && !rest.starts_with(b"/*!") => comment_len(rest),
            _ => plain_len(rest),
        };
        let (token, behind) = rest.split_at(len.clamp(1, rest.len()));
        rest = behind;
        let is_literal = matches!(first, b'\'' | b'"');
        if is_literal && charset == Charset::Latin1 && !token.is_ascii() && has_introducer(&out) {
            push_hex(token, &mut out);
            continue;
        }
        match charset.read(token) {
            Some(token) => out.push_str(&token),
            None if is_literal => push_hex(token, &mut out),
            None => return Err(invalid(token)),
        }
    }
    Ok(out)
}

/// Whether the text ends with a literal's character set (`_binary`).
fn has_introducer(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '`' | '@' | '.');
    let text = text.trim_end();
    let start = text.trim_end_matches(is_name).len();
    text.get(start..).is_some_and(|word| word.starts_with('_'))
}

/// Bytes up to the next that may begin a literal, an identifier or a comment.
fn plain_len(text: &[u8]) -> usize {
    let starts = |byte: &u8| matches!(byte, b'\'' | b'"' | b'`' | b'#' | b'-' | b'/');
    text.iter().skip(1).position(starts).map_or(text.len(), |at| at + 1)
}

fn is_dash_comment(text: &[u8]) -> bool {
    text.starts_with(b"--") && text.get(2).is_none_or(|byte| *byte <= b' ' || *byte == 0x7f)
}

fn line_len(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1)
}

fn comment_len(text: &[u8]) -> usize {
    let end = text.windows(2).skip(2).position(|pair| pair == b"*/");
    end.map_or(text.len(), |at| at + 4)
}

fn quoted_len(text: &[u8], mark: u8) -> usize {
    let escapes = mark != b'`';
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == b'\\' && escapes {
            at += 1;
        } else if byte == mark {
            if text.get(at) != Some(&mark) {
                return at;
            }
            at += 1;
        }
    }
    text.len()
}

/// Appends a quoted literal as a hexadecimal one, with a space between it and an introducer. One without an end stays without.
fn push_hex(literal: &[u8], out: &mut String) {
    out.push_str(" X'");
    let mark = literal.first().copied();
    let inner = literal.get(1..).unwrap_or_default();
    let is_closed = mark.is_some_and(|mark| has_end(literal, mark));
    let end = if is_closed { mark } else { None };
    let inner = inner.strip_suffix(end.as_slice()).unwrap_or(inner);
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' {
            match bytes.next() {
                Some(b'0') => push_byte(0, out),
                Some(b'b') => push_byte(8, out),
                Some(b'n') => push_byte(b'\n', out),
                Some(b'r') => push_byte(b'\r', out),
                Some(b't') => push_byte(b'\t', out),
                Some(b'Z') => push_byte(26, out),
                Some(other @ (b'%' | b'_')) => {
                    push_byte(b'\\', out);
                    push_byte(other, out);
                }
                Some(other) => push_byte(other, out),
                None => {}
            }
            continue;
        }
        if Some(byte) == mark {
            // The mark inside is doubled.
            bytes.next();
        }
        push_byte(byte, out);
    }
    if is_closed {
        out.push('\'');
    }
}

fn has_end(literal: &[u8], mark: u8) -> bool {
    // With one byte more, a literal that has no end is one byte longer.
    let mut longer = literal.to_vec();
    longer.push(b' ');
    quoted_len(&longer, mark) == literal.len()
}

fn push_byte(byte: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for nibble in [byte >> 4, byte & 15] {
        out.extend(DIGITS.get(usize::from(nibble)).map(|digit| char::from(*digit)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_in_literals_become_hexadecimal() {
        let cases: [(&[u8], &str); 6] = [
            (b"SELECT 'h\xC3\xA9'", "SELECT 'hé'"),
            (
                b"INSERT INTO t VALUES (_binary'\xFF\\0\\'\\\\''x', 'ok')",
                "INSERT INTO t VALUES (_binary X'FF00275C2778', 'ok')",
            ),
            (b"SELECT \"\xFF\" -- it's\n, '\xFE'", "SELECT  X'FF' -- it's\n,  X'FE'"),
            (b"SELECT `a'b`, '\xFF' # '", "SELECT `a'b`,  X'FF' # '"),
            (b"SELECT /* ' */ 1-1, '\xFF", "SELECT /* ' */ 1-1,  X'FF"),
            (b"SELECT '\xFF\\'", "SELECT  X'FF27"),
        ];
        for (text, expected) in cases {
            assert_eq!(&*utf8(text).unwrap(), expected);
        }
    }

    #[test]
    fn texts_of_latin1_are_translated_but_for_octets() {
        let cases: [(&[u8], &str); 4] = [
            (b"SELECT 'caf\xE9' \"\xFC\", N'\xE9'", "SELECT 'café' \"ü\", N'é'"),
            (
                b"SELECT _binary '\xE9', _utf8mb4'\xC3\xA9'",
                "SELECT _binary  X'E9', _utf8mb4 X'C3A9'",
            ),
            (b"SELECT `\xE9` AS \x80 -- \xFC", "SELECT `é` AS € -- ü"),
            (b"INSERT INTO a_b(c) VALUES('\xE9\\'')", "INSERT INTO a_b(c) VALUES('é\\'')"),
        ];
        for (text, expected) in cases {
            assert_eq!(&*read(text, Charset::Latin1).unwrap(), expected);
        }
    }

    #[test]
    fn octets_elsewhere_are_refused() {
        for text in [&b"SELECT \xFF"[..], b"SELECT `\xFF`", b"/* \xFF */ SELECT 1"] {
            assert_eq!(utf8(text).unwrap_err().code, 1300);
        }
    }
}
