//! Values that are kept as text, read when somebody asks for them.

use std::borrow::Cow;

use super::{Expr, InsertRow, List, Literal, Node};
use crate::lexer::tokenize;
use crate::literal::literal;
use crate::span::Span;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};

impl List {
    /// All its values, in order. `text` and `syntax` are the statement's.
    pub fn values<'a>(
        &'a self,
        text: &'a str,
        syntax: &'a Syntax,
    ) -> impl Iterator<Item = Cow<'a, Expr>> + 'a {
        let pieces = self.pieces().iter();
        let literals =
            pieces.flat_map(move |(span, width)| literals_of(*span, *width, text, syntax));
        self.trees().iter().map(Cow::Borrowed).chain(literals.map(Cow::Owned))
    }
}

impl InsertRow {
    /// One value, counted from 0. `text` and `syntax` are the statement's.
    pub fn value(&self, at: usize, text: &str, syntax: &Syntax) -> Option<Cow<'_, Expr>> {
        match self.trees() {
            Some(values) => values.get(at).map(Cow::Borrowed),
            None => literal_of_row(self.span, at, text, syntax).map(Cow::Owned),
        }
    }
}

/// A value of a row that is kept as text: a literal, perhaps with a sign.
fn literal_of_row(row: Span, at: usize, text: &str, syntax: &Syntax) -> Option<Expr> {
    let tokens = tokenize(row.of(text), syntax).ok()?.list;
    let values = tokens.get(1..tokens.len().checked_sub(1)?)?;
    let value = values.split(|token| is_comma(token, row.of(text))).nth(at)?;
    signed_literal(value, row.start, text, syntax)
}

/// All values of a piece of a list that is kept as text. Something that nobody takes for a literal, should they be others than the lexer has seen there.
fn literals_of(piece: Span, width: u32, text: &str, syntax: &Syntax) -> Vec<Expr> {
    let read = || {
        let tokens = tokenize(piece.of(text), syntax).ok()?.list;
        let values = tokens.split(|token| is_comma(token, piece.of(text)));
        values.map(|value| signed_literal(value, piece.start, text, syntax)).collect()
    };
    let read: Option<Vec<Expr>> = read();
    let all = read.filter(|values| values.len() == width as usize);
    all.unwrap_or_else(|| vec![Expr { span: piece, node: Node::Other(Vec::new()) }])
}

fn is_comma(token: &Token, text: &str) -> bool {
    token.kind == TokenKind::Punctuation && token.span.of(text) == ","
}

/// A literal with its sign, if it has one, in a text that begins at a byte of the statement.
fn signed_literal(value: &[Token], from: u32, text: &str, syntax: &Syntax) -> Option<Expr> {
    let placed = |token: &Token| {
        let span = Span::new(from + token.span.start, from + token.span.end);
        Token { span, ..*token }
    };
    match value {
        [value] => literal_expr(placed(value), text, syntax),
        [sign, value] => {
            let (sign, operand) = (placed(sign), literal_expr(placed(value), text, syntax)?);
            let span = sign.span.to(operand.span);
            let op = sign.span.of(text).to_owned();
            Some(Expr { span, node: Node::Unary { op, operand: Box::new(operand) } })
        }
        _ => None,
    }
}

fn literal_expr(token: Token, text: &str, syntax: &Syntax) -> Option<Expr> {
    let word = (token.kind == TokenKind::Word).then(|| token.span.of(text));
    let value = match word {
        Some(word) if word.eq_ignore_ascii_case("null") => Literal::Null,
        Some(word) => Literal::Boolean(word.eq_ignore_ascii_case("true")),
        None => literal(text, &token, syntax)?,
    };
    Some(Expr { span: token.span, node: Node::Literal(value) })
}
