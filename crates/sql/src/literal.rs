//! From a literal's text to its value.

use std::borrow::Cow;

use crate::ast::Literal;
use crate::lexer::{Backslash, pieces, spliced};
use crate::quotes::{body_of, undouble, unquoted};
use crate::span::Span;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};

/// The value of a literal token: what a slot of [`crate::Tokens`] holds. `None` for a token that is no literal.
pub fn literal(text: &str, token: &Token, syntax: &Syntax) -> Option<Literal> {
    let raw = token.span.of(text);
    Some(match token.kind {
        TokenKind::Number => number(raw),
        TokenKind::HexString => Literal::Bytes(hex_bytes(digits_of(&joined(raw, syntax)))),
        TokenKind::BitString => Literal::Bytes(bit_bytes(digits_of(&joined(raw, syntax)))),
        TokenKind::String
        | TokenKind::EscapeString
        | TokenKind::UnicodeString
        | TokenKind::NationalString
        | TokenKind::DollarString => match string_value(raw, token.kind, syntax) {
            Ok(text) => Literal::Text(text),
            Err(bytes) => Literal::Bytes(bytes),
        },
        TokenKind::Word
        | TokenKind::QuotedIdentifier
        | TokenKind::UnicodeIdentifier
        | TokenKind::Parameter
        | TokenKind::Variable
        | TokenKind::Operator
        | TokenKind::Punctuation
        | TokenKind::End => return None,
    })
}

/// Decodes a string token; bytes when its escapes spell no valid text.
pub(crate) fn string_value(raw: &str, kind: TokenKind, syntax: &Syntax) -> Result<String, Vec<u8>> {
    match kind {
        TokenKind::EscapeString => {
            // An escape ends with its piece.
            let pieces = pieces(raw, Backslash::Escapes);
            into_text(pieces.iter().flat_map(|piece| c_escapes(body_of(piece, 0))).collect())
        }
        TokenKind::UnicodeString => Ok(unicode_string(raw, '\\')),
        TokenKind::NationalString => Ok(plain(body_of(&joined(raw, syntax), 1), '\'', syntax)),
        TokenKind::DollarString => {
            let tag = raw.get(1..).and_then(|rest| rest.find('$')).map_or(0, |at| at + 2);
            Ok(raw.get(tag..raw.len().saturating_sub(tag)).unwrap_or("").to_owned())
        }
        TokenKind::String
        | TokenKind::Word
        | TokenKind::QuotedIdentifier
        | TokenKind::UnicodeIdentifier
        | TokenKind::Number
        | TokenKind::BitString
        | TokenKind::HexString
        | TokenKind::Parameter
        | TokenKind::Variable
        | TokenKind::Operator
        | TokenKind::Punctuation
        | TokenKind::End => {
            let quote = if raw.starts_with('"') { '"' } else { '\'' };
            Ok(plain(body_of(&joined(raw, syntax), 0), quote, syntax))
        }
    }
}

/// Decodes `U&'…'` with the escape character UESCAPE named.
pub(crate) fn unicode_string(raw: &str, escape: char) -> String {
    unicode_escapes(&undouble(body_of(&spliced(raw), 2), '\''), escape)
}

/// Takes the quotes off an identifier.
pub(crate) fn identifier_value(raw: &str, kind: TokenKind) -> String {
    if kind == TokenKind::UnicodeIdentifier {
        return unicode_escapes(&undouble(body_of(raw, 2), '"'), '\\');
    }
    unquoted(raw)
}

/// A string in one piece, in the language in which it may have several.
fn joined<'t>(raw: &'t str, syntax: &Syntax) -> Cow<'t, str> {
    if syntax.dollar_strings { spliced(raw) } else { Cow::Borrowed(raw) }
}

fn into_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
}

pub(crate) fn plain(body: &str, quote: char, syntax: &Syntax) -> String {
    if !syntax.backslash_escapes || !body.contains('\\') {
        return undouble(body, quote);
    }
    // https://dev.mysql.com/doc/refman/8.4/en/string-literals.html#character-escape-sequences
    let mut out = String::with_capacity(body.len());
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            chars.next();
            out.push(c);
            continue;
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('0') => out.push('\0'),
            Some('b') => out.push('\u{8}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('Z') => out.push('\u{1a}'),
            // These two keep their backslash: they are read again by LIKE.
            Some(kept @ ('%' | '_')) => out.extend(['\\', kept]),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE>
fn c_escapes(body: &str) -> Vec<u8> {
    let bytes = body.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == b'\'' {
            out.push(byte);
            at += 1;
            continue;
        }
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(&escaped) = bytes.get(at) else { break };
        at += 1;
        match escaped {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'0'..=b'7' => at = coded(&mut out, bytes, at - 1, 8, 3),
            b'x' if bytes.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                at = coded(&mut out, bytes, at, 16, 2);
            }
            b'u' => at = unicode(&mut out, body, at, 4),
            b'U' => at = unicode(&mut out, body, at, 8),
            other => out.push(other),
        }
    }
    out
}

/// One byte from up to `most` digits; answers where the digits end.
fn coded(out: &mut Vec<u8>, bytes: &[u8], from: usize, radix: u32, most: usize) -> usize {
    let mut at = from;
    let mut value = 0u32;
    while let Some(digit) = bytes.get(at).and_then(|&b| char::from(b).to_digit(radix)) {
        if at - from == most {
            break;
        }
        value = value * radix + digit;
        at += 1;
    }
    out.push(value as u8);
    at
}

fn unicode(out: &mut Vec<u8>, body: &str, from: usize, length: usize) -> usize {
    let Some((code, end)) = code_point(body, from, length) else { return from };
    let mut buffer = [0u8; 4];
    // A surrogate pair is written as two escapes.
    if (0xd800..0xdc00).contains(&code)
        && let Some(next) = body.get(end..).and_then(|rest| rest.strip_prefix("\\u"))
        && let Some((low, _)) = code_point(next, 0, 4)
        && (0xdc00..0xe000).contains(&low)
    {
        let joined = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        if let Some(c) = char::from_u32(joined) {
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        }
        return end + 6;
    }
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
    end
}

fn code_point(body: &str, from: usize, length: usize) -> Option<(u32, usize)> {
    let digits = body.get(from..from + length)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some((u32::from_str_radix(digits, 16).ok()?, from + length))
}

/// `\XXXX` and `\+XXXXXX` with any escape character.
fn unicode_escapes(body: &str, escape: char) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(body.len());
    let mut buffer = [0u8; 4];
    let mut at = 0;
    while let Some(c) = body.get(at..).and_then(|rest| rest.chars().next()) {
        at += c.len_utf8();
        if c != escape {
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let rest = body.get(at..).unwrap_or("");
        if rest.starts_with(escape) {
            out.extend_from_slice(escape.encode_utf8(&mut buffer).as_bytes());
            at += escape.len_utf8();
        } else if rest.starts_with('+') {
            at = unicode(&mut out, body, at + 1, 6);
        } else {
            at = unicode(&mut out, body, at, 4);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn number(raw: &str) -> Literal {
    // Nearly all are plain digits, and 18 of them fit.
    if raw.len() <= 18 && raw.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = raw.bytes().fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
        return Literal::Integer(value);
    }
    let clean = raw.replace('_', "");
    let lower = clean.to_ascii_lowercase();
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
    let value = if let Some(digits) = lower.strip_prefix("0x") {
        radix(digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0o") {
        radix(digits, 8)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        radix(digits, 2)
    } else {
        clean.parse().ok()
    };
    value.map_or(Literal::Number(clean), Literal::Integer)
}

/// The digits of `X'1F'` or `0x1F`.
fn digits_of(raw: &str) -> &str {
    let rest = raw.get(2..).unwrap_or("");
    rest.strip_suffix('\'').unwrap_or(rest)
}

fn hex_bytes(digits: &str) -> Vec<u8> {
    packed(digits, 16, 2)
}

fn bit_bytes(digits: &str) -> Vec<u8> {
    packed(digits, 2, 8)
}

/// `per_byte` digits make a byte; the first byte may have fewer.
fn packed(digits: &str, radix: u32, per_byte: usize) -> Vec<u8> {
    let digits: Vec<u32> = digits.chars().filter_map(|c| c.to_digit(radix)).collect();
    digits
        .rchunks(per_byte)
        .rev()
        .map(|chunk| chunk.iter().fold(0, |value, digit| value * radix + digit) as u8)
        .collect()
}

/// Where the two pieces stand on different lines: only then do neighbouring strings join in the stricter language.
pub(crate) fn on_different_lines(text: &str, first: Span, second: Span) -> bool {
    Span::new(first.end, second.start).of(text).contains(['\n', '\r'])
}
