//! Where the parser stands, what it may look at, and how deep it may go.

use super::Result;
use crate::error::{SyntaxError, excerpt};
use crate::keyword::Keyword;
use crate::lexer::{Folded, FoldedRow};
use crate::span::Span;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind};

/// Nested constructs a statement may have: deeper trees would endanger the stack of whoever walks them.
const DEEPEST: u32 = 180;
/// Height a tree may reach, chains of left operands included.
const TALLEST: u32 = 600;
/// Operands a statement may have; rows of literals that an INSERT gives are kept as text and do not count. Servers take more, but a tree of so many is a hundred
/// megabytes here.
const MOST_OPERANDS: u32 = 1 << 19;

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: &'a [Token],
    /// What the folded tokens stand for.
    folded: &'a Folded,
    at: usize,
    pub(super) syntax: &'a Syntax,
    depth: u32,
    /// Height of what was built at this depth so far.
    height: u32,
    /// Operands read so far, also those that were read twice.
    operands: u32,
    /// Parameters taken so far.
    pub(super) parameters: u32,
    /// The words TABLE that begin a query.
    pub(super) tables: Vec<Span>,
}

/// A place to come back to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    at: usize,
    parameters: u32,
    tables: usize,
}

impl<'a> Parser<'a> {
    /// `tokens` ends with an end mark.
    pub(super) fn new(
        text: &'a str,
        syntax: &'a Syntax,
        tokens: &'a [Token],
        folded: &'a Folded,
    ) -> Self {
        Self {
            text,
            tokens,
            folded,
            at: 0,
            syntax,
            depth: 0,
            height: 0,
            operands: 0,
            parameters: 0,
            tables: Vec::new(),
        }
    }

    /// The language with `::` casts, user operators and `TO` in SET.
    pub(super) fn colons(&self) -> bool {
        self.syntax.casts_with_colons
    }

    /// The language with `@variables`, `LIMIT a, b` and comma separated SET.
    pub(super) fn commas(&self) -> bool {
        self.syntax.limit_with_comma
    }

    #[inline]
    pub(super) fn token(&self) -> Token {
        self.peek(0)
    }

    #[inline]
    pub(super) fn peek(&self, ahead: usize) -> Token {
        const NOTHING: Token = Token {
            span: Span::at(0),
            kind: TokenKind::End,
            slot: false,
            keyword: Keyword::NO_KEYWORD,
        };
        let last = self.tokens.last().copied().unwrap_or(NOTHING);
        self.tokens.get(self.at + ahead).copied().unwrap_or(last)
    }

    #[inline]
    pub(super) fn keyword(&self) -> Keyword {
        self.token().keyword
    }

    #[inline]
    pub(super) fn keyword_at(&self, ahead: usize) -> Keyword {
        self.peek(ahead).keyword
    }

    pub(super) fn text_of(&self, token: Token) -> &'a str {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        self.text.get(start..end).unwrap_or("")
    }

    pub(super) fn is_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    #[inline]
    pub(super) fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        if token.kind == TokenKind::Parameter {
            self.parameters += 1;
        }
        token
    }

    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.advance();
        }
    }

    /// Where the next token starts.
    pub(super) fn start(&self) -> u32 {
        self.token().span.start
    }

    /// Where the last token taken ends.
    pub(super) fn end(&self) -> u32 {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(0, |token| token.span.end)
    }

    /// Where the last token of all ends.
    pub(super) fn last_end(&self) -> u32 {
        let last = self.tokens.len().checked_sub(2).and_then(|at| self.tokens.get(at));
        last.map_or(0, |token| token.span.end)
    }

    /// From `start` to the end of the last token taken.
    pub(super) fn since(&self, start: u32) -> Span {
        Span::new(start, self.end().max(start))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { at: self.at, parameters: self.parameters, tables: self.tables.len() }
    }

    /// Goes back; what was parsed since must have been thrown away.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.at = mark.at;
        self.parameters = mark.parameters;
        self.tables.truncate(mark.tables);
    }

    #[inline]
    pub(super) fn is(&self, keyword: Keyword) -> bool {
        self.keyword() == keyword
    }

    /// The next words are these.
    pub(super) fn are(&self, keywords: &[Keyword]) -> bool {
        keywords.iter().enumerate().all(|(ahead, &keyword)| self.keyword_at(ahead) == keyword)
    }

    pub(super) fn is_any(&self, keywords: &[Keyword]) -> bool {
        keywords.contains(&self.keyword())
    }

    #[inline]
    pub(super) fn eat(&mut self, keyword: Keyword) -> bool {
        let found = self.is(keyword);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes all of these words or none.
    pub(super) fn eat_all(&mut self, keywords: &[Keyword]) -> bool {
        let found = self.are(keywords);
        if found {
            self.at += keywords.len();
        }
        found
    }

    pub(super) fn eat_any(&mut self, keywords: &[Keyword]) -> bool {
        let found = self.is_any(keywords);
        if found {
            self.at += 1;
        }
        found
    }

    pub(super) fn expect(&mut self, keyword: Keyword) -> Result<()> {
        if self.eat(keyword) { Ok(()) } else { self.unexpected(&format!("`{keyword:?}`")) }
    }

    /// The next token is this word, for words that are no keywords of the grammar.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    pub(super) fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        let token = self.peek(ahead);
        token.kind == TokenKind::Word && self.text_of(token).eq_ignore_ascii_case(word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Whether this word was taken last.
    pub(super) fn is_behind_word(&self, word: &str) -> bool {
        let before = self.text.get(..self.end() as usize).unwrap_or_default();
        let at = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        before.get(at..).is_some_and(|last| last.eq_ignore_ascii_case(word))
    }

    /// The next token is this operator or punctuation.
    #[inline]
    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        self.is_symbol_at(0, symbol)
    }

    #[inline]
    pub(super) fn is_symbol_at(&self, ahead: usize, symbol: &str) -> bool {
        let token = self.peek(ahead);
        matches!(token.kind, TokenKind::Punctuation | TokenKind::Operator)
            && self.text_of(token) == symbol
    }

    #[inline]
    pub(super) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.at += 1;
        }
        found
    }

    pub(super) fn expect_symbol(&mut self, symbol: &str) -> Result<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { self.unexpected(&format!("`{symbol}`")) }
    }

    /// Takes a token that stands for rows of literals, if it is next, and gives these.
    pub(super) fn eat_rows(&mut self) -> &'a [FoldedRow] {
        let token = self.token();
        if !token.is_folded() {
            return &[];
        }
        self.at += 1;
        let rows = &self.folded.rows;
        let from = rows.partition_point(|row| row.span.start < token.span.start);
        let to = rows.partition_point(|row| row.span.end <= token.span.end);
        rows.get(from..to).unwrap_or(&[])
    }

    /// Takes a token that stands for literals of a list, if it is next. Result: where they stand, and how many they are.
    pub(super) fn eat_literals(&mut self) -> Option<(Span, u32)> {
        let span = Some(self.token()).filter(Token::is_folded)?.span;
        let pieces = &self.folded.lists;
        let at = pieces.binary_search_by_key(&span.start, |piece| piece.span.start).ok()?;
        self.at += 1;
        pieces.get(at).map(|piece| (span, piece.width))
    }

    /// Takes a bracketed group whose opening bracket is next, whatever stands inside.
    pub(super) fn skip_group(&mut self) -> Result<Span> {
        let start = self.start();
        let mut depth = 0u32;
        loop {
            let token = self.token();
            if token.kind == TokenKind::End {
                return self.unexpected("a closing bracket");
            }
            if token.kind == TokenKind::Punctuation {
                match self.text_of(token) {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            self.advance();
            if depth == 0 {
                return Ok(self.since(start));
            }
        }
    }

    /// Takes tokens up to a comma or closing bracket of this level, or the end.
    pub(super) fn skip_item(&mut self) -> Result<()> {
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::End => return Ok(()),
                TokenKind::Punctuation => match self.text_of(token) {
                    "," | ")" | "]" | "}" => return Ok(()),
                    "(" | "[" | "{" => {
                        self.skip_group()?;
                    }
                    _ => {
                        self.advance();
                    }
                },
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Takes everything up to the end.
    pub(super) fn skip_rest(&mut self) {
        self.at = self.tokens.len().saturating_sub(1);
    }

    /// The error at the next token.
    pub(super) fn unexpected<T>(&self, expected: &str) -> Result<T> {
        let token = self.token();
        let message = if token.kind == TokenKind::End {
            format!("unexpected end of statement, expected {expected}")
        } else {
            let shown = excerpt(self.text_of(token));
            format!("unexpected `{shown}`, expected {expected}")
        };
        let mut error = SyntaxError::new(message, token.span.start as usize);
        // A word or operator that does not fit may belong to a construct of some newer server.
        error.malformed = match token.kind {
            TokenKind::Word => token.keyword.is_reserved(),
            TokenKind::Operator
            | TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
            | TokenKind::Variable => false,
            TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Punctuation
            | TokenKind::End => true,
        };
        Err(error)
    }

    /// The error at the next token, where nothing else can ever stand.
    pub(super) fn malformed<T>(&self, expected: &str) -> Result<T> {
        self.unexpected(expected).map_err(|mut error| {
            error.malformed = true;
            error
        })
    }

    /// The error that makes the whole statement opaque: well-formed as far as read, but more than the tree can hold.
    pub(super) fn unknown<T>(&self) -> Result<T> {
        self.unexpected("a statement this parser knows").map_err(|mut error| {
            error.malformed = false;
            error
        })
    }

    /// Runs `parse` one level deeper. The height it builds counts for this level too.
    pub(super) fn deeper<T>(
        &mut self,
        levels: u32,
        parse: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.depth += levels;
        if self.depth > DEEPEST {
            return Err(self.too_deep(&format!("{DEEPEST} nested levels")));
        }
        let outer = std::mem::take(&mut self.height);
        let parsed = parse(self);
        self.depth -= levels;
        self.height = outer.max(self.height + 1);
        parsed
    }

    /// Another node goes on top of what this level built: a chain of left operands grows.
    pub(super) fn taller(&mut self) -> Result<()> {
        self.height += 1;
        if self.height > TALLEST {
            return Err(self.too_deep(&format!("{TALLEST} operators in a chain")));
        }
        Ok(())
    }

    /// Another operand is read.
    #[inline]
    pub(super) fn counts_operand(&mut self) -> Result<()> {
        self.operands += 1;
        if self.operands > MOST_OPERANDS {
            return Err(self.too_deep(&format!("{MOST_OPERANDS} operands")));
        }
        Ok(())
    }

    pub(super) fn too_deep(&self, limit: &str) -> SyntaxError {
        let shown = excerpt(self.text_of(self.token()));
        let message = format!("unexpected `{shown}`, expected at most {limit}");
        SyntaxError::too_complex(message, self.start() as usize)
    }
}
