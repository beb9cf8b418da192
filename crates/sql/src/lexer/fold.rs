//! Rows of literals behind one another, as an INSERT of megabytes has them: all but the first are one token, or the tokens of a text would take more memory than the
//! text, and the trees of them ten times as much.

use super::Lexer;
use crate::error::SyntaxError;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// Tokens before which nothing is looked at: texts are rarely longer.
const FROM: usize = 4096;
/// Tokens of one statement: what its rows of literals hold does not count.
const MOST_TOKENS: usize = 1 << 21;

/// A row of literals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoldedRow {
    /// With its parentheses.
    pub(crate) span: Span,
    /// How many values it has.
    pub(crate) width: u32,
}

/// What a lexer does to texts of many tokens.
#[derive(Debug)]
pub(super) struct Fold {
    /// So many tokens are there before it looks.
    pub(super) from: usize,
    /// Rows that are part of a folded token, in text order; `None` where tokens stay as they are.
    pub(super) rows: Option<Vec<FoldedRow>>,
    /// Where the statement under way begins in the list.
    begun: usize,
    too_many: bool,
}

impl Fold {
    pub(super) fn new(folds: bool) -> Self {
        Self { from: FROM, rows: folds.then(Vec::new), begun: 0, too_many: false }
    }
}

impl Lexer<'_> {
    /// Behind each token of a long list.
    #[cold]
    pub(super) fn look(&mut self) {
        let Some(last) = self.list.last() else { return };
        if last.kind == TokenKind::Punctuation {
            match self.bytes.get(last.span.start as usize) {
                Some(b')') => self.fold(),
                Some(b';') => self.fold.begun = self.list.len(),
                _ => {}
            }
        }
        if self.fold.rows.is_some()
            && self.list.len() - self.fold.begun.min(self.list.len()) > MOST_TOKENS
        {
            self.fold.too_many = true;
            // Nothing further is read.
            self.at = self.bytes.len();
        }
    }

    /// The error for more than is read.
    pub(super) fn refuse_too_many(&self) -> Result<(), SyntaxError> {
        if !self.fold.too_many {
            return Ok(());
        }
        let at = self.list.last().map_or(0, |token| token.span.start as usize);
        let message = format!("unexpected length, expected at most {MOST_TOKENS} tokens");
        Err(SyntaxError::too_complex(message, at))
    }

    /// Makes the row that has just ended a part of the rows before it.
    fn fold(&mut self) {
        if self.fold.rows.is_none() {
            return;
        }
        let Some((open, width)) = self.row_behind() else { return };
        let Some([before, comma, first]) = open
            .checked_sub(2)
            .and_then(|from| self.list.get(from..=open))
            .and_then(|list| <[Token; 3]>::try_from(list).ok())
        else {
            return;
        };
        let is_row = before.is_rows() || self.is_byte(&before, b')');
        if !is_row || !self.is_byte(&comma, b',') {
            return;
        }
        let span = Span::new(first.span.start, self.at as u32);
        let mut rows = first;
        if before.is_rows() {
            rows = before;
            self.list.truncate(open - 2);
        } else {
            self.list.truncate(open);
        }
        rows.span.end = span.end;
        rows.slot = true;
        self.list.push(rows);
        if let Some(rows) = &mut self.fold.rows {
            rows.push(FoldedRow { span, width });
        }
    }

    /// Where the row of literals that ends with the last token begins in the list, and how many there are; `None` when it is anything else.
    fn row_behind(&self) -> Option<(usize, u32)> {
        let mut at = self.list.len().checked_sub(1)?;
        let mut width = 0;
        loop {
            at = at.checked_sub(1)?;
            let value = self.list.get(at)?;
            if !self.is_value(value) {
                return None;
            }
            width += 1;
            at = at.checked_sub(1)?;
            let mut before = self.list.get(at)?;
            let is_signed = value.kind == TokenKind::Number && before.kind == TokenKind::Operator;
            if is_signed && matches!(before.span.of(self.text), "-" | "+") {
                at = at.checked_sub(1)?;
                before = self.list.get(at)?;
            }
            if self.is_byte(before, b'(') {
                return Some((at, width));
            }
            if !self.is_byte(before, b',') {
                return None;
            }
        }
    }

    fn is_value(&self, token: &Token) -> bool {
        match token.kind {
            TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString => true,
            TokenKind::Word => {
                let word = token.span.of(self.text);
                ["null", "true", "false"].iter().any(|one| word.eq_ignore_ascii_case(one))
            }
            TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
            | TokenKind::UnicodeString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::Operator
            | TokenKind::Punctuation
            | TokenKind::End => false,
        }
    }

    fn is_byte(&self, token: &Token, byte: u8) -> bool {
        token.kind == TokenKind::Punctuation
            && token.span.end - token.span.start == 1
            && self.bytes.get(token.span.start as usize) == Some(&byte)
    }
}
