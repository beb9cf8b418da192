//! A text written anew from its tokens.

use pando_sql::ast::Literal;
use pando_sql::{Syntax, Token, TokenKind, literal, tokenize};

/// No text has two of them in a row, so whatever reaches over the end of a token has another value now.
const BETWEEN: &str = "\t\t";

/// `None` where it has something that cannot be written so: parameters, several statements.
///
/// # Errors
/// Why Pando does not read it.
pub(super) fn written(text: &str, syntax: &Syntax) -> Result<Option<String>, String> {
    let tokens = tokenize(text, syntax).map_err(|error| error.message)?;
    let mut out = String::new();
    let mut before: Option<&Token> = None;
    for token in &tokens.list {
        let raw = token.span.of(text);
        if raw == ";" || token.kind == TokenKind::Parameter {
            return Ok(None);
        }
        // White space decides what these mean, so they stay together: names with their dots, and calls.
        let end = before.map_or(0, |before| before.span.end);
        let is_apart = end != token.span.start;
        let glues = before.is_some_and(|before| glues(text, before, token)) && !is_apart;
        if before.is_some() && !glues {
            out.push_str(BETWEEN);
        }
        match value(text, token, syntax) {
            Some(written) => out.push_str(&written),
            None => return Ok(None),
        }
        before = Some(token);
    }
    Ok(Some(out))
}

fn glues(text: &str, before: &Token, token: &Token) -> bool {
    let (before, token) = (before.span.of(text), token.span.of(text));
    before == "." || token == "." || token == "("
}

fn value(text: &str, token: &Token, syntax: &Syntax) -> Option<String> {
    let raw = token.span.of(text);
    match token.kind {
        TokenKind::String
        | TokenKind::EscapeString
        | TokenKind::UnicodeString
        | TokenKind::NationalString
        | TokenKind::DollarString => {
            let Some(Literal::Text(value)) = literal(text, token, syntax) else { return None };
            let prefix = if token.kind == TokenKind::NationalString { "N" } else { "" };
            Some(format!("{prefix}{}", quoted(&value, syntax)))
        }
        TokenKind::BitString | TokenKind::HexString if raw.contains('\'') => {
            Some(format!("{}'{}'", &raw[..1], digits(raw)))
        }
        TokenKind::Variable if raw.starts_with(['@']) && raw.ends_with(['\'', '"']) => {
            // Its name is a string.
            let mut string = *token;
            string.span.start += 1;
            string.kind = TokenKind::String;
            let Some(Literal::Text(name)) = literal(text, &string, syntax) else { return None };
            Some(format!("@{}", quoted(&name, syntax)))
        }
        TokenKind::QuotedIdentifier
        | TokenKind::UnicodeIdentifier
        | TokenKind::Word
        | TokenKind::Number
        | TokenKind::BitString
        | TokenKind::HexString
        | TokenKind::Parameter
        | TokenKind::Variable
        | TokenKind::Operator
        | TokenKind::Punctuation
        | TokenKind::End => Some(raw.to_owned()),
    }
}

/// A string without anything in it that one of several readers could take for its end.
fn quoted(value: &str, syntax: &Syntax) -> String {
    let mut out = "'".to_owned();
    for c in value.chars() {
        match c {
            '\'' => out.push_str("''"),
            '\\' if syntax.backslash_escapes => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// What stands between the quotes of a string in pieces; comments between these may hold quotes of their own.
fn digits(raw: &str) -> String {
    let (mut out, mut is_open, mut rest) = (String::new(), false, raw);
    while let Some(c) = rest.chars().next() {
        if !is_open && rest.starts_with("--") {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            rest = rest.get(end..).unwrap_or("");
            continue;
        }
        match c {
            '\'' => is_open = !is_open,
            _ if is_open => out.push(c),
            _ => {}
        }
        rest = rest.get(c.len_utf8()..).unwrap_or("");
    }
    out
}
