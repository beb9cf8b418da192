//! Literals with their character set in front: `_latin1'…'`.
//! <https://dev.mysql.com/doc/refman/8.0/en/charset-introducer.html>

use crate::ast::{Expr, Literal, Node};
use crate::latin1::read_latin1;

/// What a literal means behind this introducer. In a character set that is not read here its text is not known, unless it is ASCII.
pub(super) fn introduced(charset: &str, literal: Expr) -> Expr {
    let Expr { span, node } = literal;
    let Node::Literal(value) = node else { return Expr { span, node } };
    let lower = charset.to_ascii_lowercase();
    let known = match (value, lower.as_str()) {
        (value @ (Literal::Text(_) | Literal::Bytes(_)), "_binary") => Ok(value),
        (Literal::Text(text), "_latin1") => Ok(Literal::Text(read_latin1(text.as_bytes()))),
        (Literal::Bytes(bytes), "_latin1") => Ok(Literal::Text(read_latin1(&bytes))),
        (Literal::Bytes(bytes), set) if set.starts_with("_utf8") => {
            Ok(String::from_utf8(bytes)
                .map_or_else(|e| Literal::Bytes(e.into_bytes()), Literal::Text))
        }
        (value @ Literal::Text(_), set) if set.starts_with("_utf8") => Ok(value),
        (Literal::Text(text), _) if text.is_ascii() => Ok(Literal::Text(text)),
        (value, _) => Err(value),
    };
    let node = match known {
        Ok(value) => Node::Literal(value),
        Err(value) => {
            let operand = Box::new(Expr { span, node: Node::Literal(value) });
            Node::Unary { op: charset.to_owned(), operand }
        }
    };
    Expr { span, node }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn check(charset: &str, value: Literal, expected: Option<Literal>) {
        let literal = Expr { span: Span::new(0, 1), node: Node::Literal(value) };
        let known = match introduced(charset, literal).node {
            Node::Literal(value) => Some(value),
            _ => None,
        };
        assert_eq!(known, expected, "{charset}");
    }

    #[test]
    fn the_character_set_decides_what_text_octets_are() {
        let text = |text: &str| Literal::Text(text.to_owned());
        check("_latin1", Literal::Bytes(b"\xE9".to_vec()), Some(text("é")));
        check("_LATIN1", text("é"), Some(text("Ã©")));
        check("_utf8mb4", Literal::Bytes("é".into()), Some(text("é")));
        check("_utf8mb4", Literal::Bytes(b"\xE9".to_vec()), Some(Literal::Bytes(b"\xE9".to_vec())));
        check("_binary", text("é"), Some(text("é")));
        check("_gbk", text("a"), Some(text("a")));
        check("_gbk", text("é"), None);
        check("_ucs2", Literal::Bytes(vec![0, 65]), None);
    }
}
