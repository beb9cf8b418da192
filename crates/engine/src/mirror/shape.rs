//! A statement as it is shown beside a difference: without its literals and comments.

use std::borrow::Cow;

use pando_sql::{Syntax, TokenKind, redacted, tokenize};

/// Bytes of a statement that are shown.
const LONGEST: usize = 500;

/// The text with `?` for each of its literals. What cannot be read is not shown.
pub(super) fn shape(text: &str, syntax: &Syntax) -> String {
    let Ok(tokens) = tokenize(text, syntax) else { return "(not readable)".to_owned() };
    let (mut shape, mut end) = (String::new(), 0);
    for token in &tokens.list {
        if token.span.start > end && !shape.is_empty() {
            shape.push(' ');
        }
        end = token.span.end;
        // A slot that is no literal stands for a list of them.
        match (token.slot, token.kind == TokenKind::Punctuation) {
            (true, true) => shape.push('…'),
            (true, false) => shape.push('?'),
            (false, _) if token.kind.is_literal() => shape.push('?'),
            (false, _) => shape.push_str(token.span.of(text)),
        }
        if shape.len() > LONGEST {
            shape.truncate(shape.floor_char_boundary(LONGEST));
            shape.push('…');
            break;
        }
    }
    match redacted(&shape) {
        Cow::Borrowed(_) => shape,
        Cow::Owned(told) => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_literal_and_no_comment_is_shown() {
        let told = |text| shape(text, &pando_fake::STANDARD);
        assert_eq!(
            told("SELECT a  FROM t /* 'x' */ WHERE b = 'secret' AND c IN (12, 13)"),
            "SELECT a FROM t WHERE b = ? AND c IN (?, ?)"
        );
        assert_eq!(told("INSERT INTO t VALUES (1, 'a''b')"), "INSERT INTO t VALUES (?, ?)");
        assert_eq!(told("SELECT 'open"), "(not readable)");
        let long = told(&format!("SELECT {}", "a, ".repeat(400)));
        assert!(long.len() < 510 && long.ends_with('…'), "{long}");
    }
}
