//! Long lists of literals behind IN: they are a few tokens, each of which stands for some thousand.

use super::Lexer;
use super::fold::FoldedRow;
use crate::executable::may_have_one;
use crate::keyword::Keyword;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// Tokens of a list that become one, and those a list must have for it.
const PIECE: usize = 2048;

/// A list behind IN of which nothing but literals and commas has come so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// Its first token that is not folded.
    from: usize,
    /// Something of it is folded: what follows must be literals, too.
    is_folded: bool,
}

impl Lexer<'_> {
    /// The list that is open behind the tokens that were not looked at one by one.
    pub(super) fn open_behind(&self) -> Option<Open> {
        let is_inside = |token: &&Token| {
            self.is_byte(token, b',') || self.is_value(token) || self.is_sign(token)
        };
        let inside = self.list.iter().rev().take_while(is_inside).count();
        let from = self.list.len() - inside;
        let start = self.list.get(from).map_or(self.at, |first| first.span.start as usize);
        let is_plain = !may_have_one(self.text.get(start..self.at)?, self.syntax);
        (is_plain && self.executable.is_none() && self.opens_list(from))
            .then_some(Open { from, is_folded: false })
    }

    /// Behind each token: whether a list is open, and whether enough of it has come.
    pub(super) fn follow_list(&mut self, last: Token) {
        // What stands in such a comment is not read alike by itself.
        let is_plain = self.executable.is_none();
        let Some(open) = self.fold.open else {
            if is_plain && self.is_byte(&last, b'(') && self.opens_list(self.list.len()) {
                self.fold.open = Some(Open { from: self.list.len(), is_folded: false });
            }
            return;
        };
        let (is_comma, is_end) = (self.is_byte(&last, b','), self.is_byte(&last, b')'));
        let is_short = is_comma && self.list.len() - open.from < PIECE;
        if is_plain && (is_short || self.is_value(&last) || self.is_sign(&last)) {
            return;
        }
        self.fold.open = None;
        let folds = is_plain && (is_comma || is_end && open.is_folded);
        let width = if folds { self.width_from(open.from) } else { None };
        match width {
            Some(width) => self.fold_list(open, last, width),
            None => self.fold.is_broken |= open.is_folded,
        }
        if is_comma && width.is_some() {
            self.fold.open = Some(Open { from: self.list.len(), is_folded: true });
        }
    }

    /// Whether the token before this place opens a list behind IN.
    fn opens_list(&self, at: usize) -> bool {
        let Some([word, bracket]) = at.checked_sub(2).and_then(|from| self.list.get(from..at))
        else {
            return false;
        };
        self.is_byte(bracket, b'(')
            && word.kind == TokenKind::Word
            && word.span.of(self.text).eq_ignore_ascii_case("in")
    }

    fn is_sign(&self, token: &Token) -> bool {
        token.kind == TokenKind::Operator && matches!(token.span.of(self.text), "-" | "+")
    }

    /// How many literals there are from a token up to the last one, which ends them; `None` when they are anything else.
    fn width_from(&self, from: usize) -> Option<u32> {
        let mut tokens = self.list.get(from..)?.iter();
        let mut width = 0;
        loop {
            let mut value = tokens.next()?;
            if self.is_sign(value) {
                value = tokens.next().filter(|value| value.kind == TokenKind::Number)?;
            }
            if !self.is_value(value) {
                return None;
            }
            width += 1;
            let behind = tokens.next()?;
            if tokens.as_slice().is_empty() {
                return Some(width);
            }
            if !self.is_byte(behind, b',') {
                return None;
            }
        }
    }

    /// Makes these literals one token, and keeps what ends them.
    fn fold_list(&mut self, open: Open, last: Token, width: u32) {
        let ends = self.list.len().checked_sub(2).and_then(|at| self.list.get(at));
        let (Some(first), Some(ends)) = (self.list.get(open.from), ends) else { return };
        let span = Span::new(first.span.start, ends.span.end);
        let kind = TokenKind::Punctuation;
        let folded = Token { span, kind, slot: true, keyword: Keyword::NO_KEYWORD };
        self.list.truncate(open.from);
        self.list.extend([folded, last]);
        self.fold.folded.lists.push(FoldedRow { span, width });
    }
}
