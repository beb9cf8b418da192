//! Cutting a text of several statements at its top-level semicolons.

use crate::error::SyntaxError;
use crate::lexer::tokenize_folding;
use crate::modes::{Modes, Reading};
use crate::span::Span;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};

/// The statements of `text`: from the end of one to its semicolon, without it. Pieces of white space and comments are dropped. Bodies of
/// routines, triggers and events (`BEGIN … END`) stay in one piece.
///
/// # Errors
/// What [`tokenize`](crate::tokenize) refuses; a statement of more than two million tokens, rows of literals left out.
pub fn split(text: &str, syntax: &Syntax) -> Result<Vec<Span>, SyntaxError> {
    split_under(text, syntax, Modes::default())
}

/// As [`split`], in a session with these modes.
///
/// # Errors
/// As [`split`].
pub fn split_under(text: &str, syntax: &Syntax, modes: Modes) -> Result<Vec<Span>, SyntaxError> {
    let (tokens, _) = tokenize_folding(text, Reading { syntax, modes })?;
    let mut pieces = Vec::new();
    let mut list = tokens.list.as_slice();
    let mut start = 0u32;
    loop {
        let cut = first_separator(text, list, syntax);
        let (piece, end) = match cut {
            Some(index) => (list.get(..index), list.get(index).map(|token| token.span)),
            None => (Some(list), None),
        };
        let end_of_piece = end.map_or(text.len() as u32, |span| span.start);
        if piece.is_some_and(|piece| !piece.is_empty()) {
            pieces.push(Span::new(start, end_of_piece));
        }
        let (Some(index), Some(span)) = (cut, end) else { return Ok(pieces) };
        list = list.get(index + 1..).unwrap_or(&[]);
        start = span.end;
    }
}

/// Index of the first semicolon that ends a statement.
pub(crate) fn first_separator(text: &str, tokens: &[Token], syntax: &Syntax) -> Option<usize> {
    let is_semicolon =
        |token: &Token| token.kind == TokenKind::Punctuation && token.span.of(text) == ";";
    let first = tokens.iter().position(is_semicolon)?;
    let mut body = Body::new(text, syntax);
    if !body.may_have_one(tokens.get(..first).unwrap_or(&[])) {
        return Some(first);
    }
    tokens.iter().enumerate().position(|(index, token)| {
        body.take(tokens, index);
        is_semicolon(token) && body.depth == 0
    })
}

/// Follows the blocks of a routine's body.
struct Body<'a> {
    text: &'a str,
    syntax: &'a Syntax,
    depth: u32,
    /// The last word was END: what follows says which block it closes.
    after_end: bool,
}

impl<'a> Body<'a> {
    fn new(text: &'a str, syntax: &'a Syntax) -> Self {
        Self { text, syntax, depth: 0, after_end: false }
    }

    fn is(&self, token: &Token, word: &str) -> bool {
        token.kind == TokenKind::Word && token.span.of(self.text).eq_ignore_ascii_case(word)
    }

    /// `CREATE … PROCEDURE | FUNCTION | TRIGGER | EVENT …` with a BEGIN before the first semicolon, or an anonymous block.
    fn may_have_one(&self, head: &[Token]) -> bool {
        let has = |word| head.iter().any(|token| self.is(token, word));
        match head {
            [first, ..] if self.is(first, "create") || self.is(first, "alter") => {
                let routine = ["procedure", "function", "trigger", "event", "package"];
                routine.into_iter().any(has) && self.opens_somewhere(head)
            }
            [first, second, third, ..] => {
                self.is(first, "begin") && self.is(second, "not") && self.is(third, "atomic")
            }
            _ => false,
        }
    }

    fn opens_somewhere(&self, head: &[Token]) -> bool {
        if self.syntax.dollar_strings {
            return head.windows(2).any(|w| self.is(&w[0], "begin") && self.is(&w[1], "atomic"));
        }
        const OPENERS: [&str; 6] = ["begin", "if", "case", "loop", "while", "repeat"];
        head.iter().any(|token| OPENERS.iter().any(|opener| self.is(token, opener)))
    }

    fn take(&mut self, tokens: &[Token], index: usize) {
        let Some(token) = tokens.get(index) else { return };
        let was_after_end = std::mem::take(&mut self.after_end);
        if token.kind != TokenKind::Word {
            return;
        }
        if self.is(token, "end") {
            self.depth = self.depth.saturating_sub(1);
            self.after_end = true;
        } else if !was_after_end && self.opens(tokens, index) {
            self.depth += 1;
        }
    }

    fn opens(&self, tokens: &[Token], index: usize) -> bool {
        let Some(token) = tokens.get(index) else { return false };
        if self.is(token, "begin") {
            return true;
        }
        // CASE has an END as an expression too; the loops only count where a statement starts, or `IF(a, b, c)` would open a block.
        if self.is(token, "case") {
            return true;
        }
        if self.syntax.dollar_strings {
            return false;
        }
        const BLOCKS: [&str; 4] = ["if", "loop", "while", "repeat"];
        BLOCKS.iter().any(|block| self.is(token, block)) && self.starts_statement(tokens, index)
    }

    fn starts_statement(&self, tokens: &[Token], index: usize) -> bool {
        let Some(before) = index.checked_sub(1).and_then(|at| tokens.get(at)) else { return true };
        let is_any = |words: &[&str]| words.iter().any(|word| self.is(before, word));
        if self.depth == 0 {
            // Where the body starts: behind the parameters, a characteristic, `FOR EACH ROW` or `DO`.
            return before.span.of(self.text) == ")"
                || is_any(&["row", "do", "deterministic", "sql", "data", "definer", "invoker"]);
        }
        matches!(before.span.of(self.text), ";" | ":")
            || is_any(&["begin", "then", "else", "do", "loop", "repeat"])
    }
}
