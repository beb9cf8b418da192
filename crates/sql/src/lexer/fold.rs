//! Rows of literals behind one another, as an INSERT of megabytes has them: all but the first are one token, or the tokens of a text would take more memory than the
//! text, and the trees of them ten times as much.

use super::Lexer;
use super::listed::Open;
use crate::error::SyntaxError;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// Tokens before which nothing is looked at: texts are rarely longer.
const FROM: usize = 4096;
/// Tokens of one statement: what its rows of literals hold does not count.
const MOST_TOKENS: usize = 1 << 21;

/// A row of literals, or a piece of a list of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoldedRow {
    /// With the parentheses of a row; a piece of a list has none.
    pub(crate) span: Span,
    /// How many values it has.
    pub(crate) width: u32,
}

/// What the folded tokens of a text stand for.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// Rows of literals, in text order. A token stands for one or more.
    pub(crate) rows: Vec<FoldedRow>,
    /// Pieces of lists of literals, in text order. A token stands for one.
    pub(crate) lists: Vec<FoldedRow>,
}

impl Folded {
    /// Whether no token is folded.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.lists.is_empty()
    }
}

/// What may become one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folds {
    Nothing,
    Rows,
    Lists,
    RowsAndLists,
}

impl Folds {
    fn rows(self) -> bool {
        matches!(self, Self::Rows | Self::RowsAndLists)
    }

    fn lists(self) -> bool {
        matches!(self, Self::Lists | Self::RowsAndLists)
    }

    /// The same without lists.
    pub(super) fn unlisted(self) -> Self {
        if self.rows() { Self::Rows } else { Self::Nothing }
    }
}

/// What a lexer does to texts of many tokens.
#[derive(Debug)]
pub(super) struct Fold {
    /// So many tokens are there before it looks.
    pub(super) from: usize,
    folds: Folds,
    pub(super) folded: Folded,
    /// Where the statement under way begins in the list.
    begun: usize,
    too_many: bool,
    /// The list behind IN under way.
    pub(super) open: Option<Open>,
    /// Some of a list was folded, and then came something else than a literal.
    pub(super) is_broken: bool,
}

impl Fold {
    pub(super) fn new(folds: Folds) -> Self {
        Self {
            from: FROM,
            folds,
            folded: Folded::default(),
            begun: 0,
            too_many: false,
            open: None,
            is_broken: false,
        }
    }
}

impl Lexer<'_> {
    /// Behind each token of a long list.
    #[cold]
    pub(super) fn look(&mut self) {
        let Some(last) = self.list.last().copied() else { return };
        if self.fold.folds.lists() {
            // From now on behind every token: those that are folded leave few.
            match std::mem::take(&mut self.fold.from) {
                0 => self.follow_list(last),
                _ => self.fold.open = self.open_behind(),
            }
            if self.fold.is_broken {
                self.at = self.bytes.len();
                return;
            }
        }
        if last.kind == TokenKind::Punctuation {
            match self.bytes.get(last.span.start as usize) {
                Some(b')') => self.fold(),
                Some(b';') => self.fold.begun = self.list.len(),
                _ => {}
            }
        }
        if self.fold.folds.rows()
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
        if !self.fold.folds.rows() {
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
        let is_row = before.is_folded() || self.is_byte(&before, b')');
        if !is_row || !self.is_byte(&comma, b',') {
            return;
        }
        let span = Span::new(first.span.start, self.at as u32);
        let mut rows = first;
        if before.is_folded() {
            rows = before;
            self.list.truncate(open - 2);
        } else {
            self.list.truncate(open);
        }
        rows.span.end = span.end;
        rows.slot = true;
        self.list.push(rows);
        self.fold.folded.rows.push(FoldedRow { span, width });
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

    pub(super) fn is_value(&self, token: &Token) -> bool {
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

    pub(super) fn is_byte(&self, token: &Token, byte: u8) -> bool {
        token.kind == TokenKind::Punctuation
            && token.span.end - token.span.start == 1
            && self.bytes.get(token.span.start as usize) == Some(&byte)
    }
}
