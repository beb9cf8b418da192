//! Literals: SQLite knows `'…'` with doubled quotes, `X'…'` and plain numbers.

use pando_sql::ast::Literal;
use pando_sql::{Edits, Syntax, Token, TokenKind, literal, read_latin1};

use super::words::Words;
use crate::literal::{hex, text_literal};

pub(super) fn edit(words: Words<'_>, syntax: &Syntax, edits: &mut Edits) {
    for at in 0..words.len() {
        let Some(token) = words.token(at) else { return };
        // `_utf8mb4'text'`: the introducer has no meaning, all text is UTF-8.
        let before = if at > 0 { words.text(at - 1).to_ascii_lowercase() } else { String::new() };
        let (is_latin1, is_utf8) = (before == "_latin1", before.starts_with("_utf8"));
        let introduced = is_latin1 || is_utf8;
        if !introduced && !foreign(words.text(at), token, syntax) {
            continue;
        }
        let new = match literal(words.sql(), token, syntax) {
            Some(Literal::Text(text)) if is_latin1 => text_literal(&read_latin1(text.as_bytes())),
            Some(Literal::Bytes(bytes)) if is_latin1 => text_literal(&read_latin1(&bytes)),
            Some(Literal::Text(text)) => text_literal(&text),
            Some(Literal::Bytes(bytes)) => format!("X'{}'", hex(&bytes)),
            _ => continue,
        };
        edits.replace(words.span(at - usize::from(introduced), at + 1), new);
    }
}

/// Whether SQLite would not read the token, or read it otherwise.
fn foreign(text: &str, token: &Token, syntax: &Syntax) -> bool {
    match token.kind {
        TokenKind::String => {
            text.starts_with('"') || (syntax.backslash_escapes && text.contains('\\'))
        }
        TokenKind::EscapeString
        | TokenKind::UnicodeString
        | TokenKind::NationalString
        | TokenKind::DollarString
        | TokenKind::BitString => true,
        TokenKind::HexString => !text.starts_with(['x', 'X']),
        TokenKind::Word
        | TokenKind::QuotedIdentifier
        | TokenKind::UnicodeIdentifier
        | TokenKind::Number
        | TokenKind::Parameter
        | TokenKind::Variable
        | TokenKind::Operator
        | TokenKind::Punctuation
        | TokenKind::End => false,
    }
}
