//! One pass over the text: tokens with byte spans, the digest, the literal slots and the hint comment.

mod class;
mod fold;
mod listed;
mod quoted;
mod skip;
mod spell;

use crate::digest::Digest;
use crate::edits::Edits;
use crate::error::{SyntaxError, excerpt};
use crate::executable::Release;
use crate::keyword::Keyword;
use crate::modes::{Modes, Reading};
use crate::span::Span;
use crate::syntax::{Placeholder, Syntax};
use crate::token::{Hint, Token, TokenKind, Tokens};
use class::is_operator_byte;
pub(crate) use class::{Class, class_of, is_word_byte};
use fold::{Fold, Folds};
pub(crate) use fold::{Folded, FoldedRow};
pub(crate) use quoted::{Backslash, pieces, spliced};
pub(crate) use spell::spelled;

/// Cuts `text` into tokens.
///
/// The digest is equal for texts that differ only in literals, white space and plain comments. Hints, optimiser hints and the
/// marks of executable comments go into it, and so do the ordinals of ORDER BY and GROUP BY: they decide what the statement means.
///
/// # Errors
/// An unterminated string, identifier or comment; a character no token starts with; a text of 4 GiB and more.
pub fn tokenize(text: &str, syntax: &Syntax) -> Result<Tokens, SyntaxError> {
    cut(text, syntax.into(), Folds::Nothing).map(|(tokens, _)| tokens)
}

/// As [`tokenize`], in a session with these modes.
///
/// # Errors
/// As [`tokenize`].
pub fn tokenize_under(text: &str, syntax: &Syntax, modes: Modes) -> Result<Tokens, SyntaxError> {
    let reading = Reading { syntax, modes };
    cut(text, reading, Folds::Nothing).map(|(tokens, _)| tokens)
}

/// The same, and rows of literals behind a row and literals of a long list behind IN are few tokens ([`Token::is_folded`]). Result: what these stand for, too.
pub(crate) fn tokenize_folding(text: &str, reading: Reading<'_>) -> Result<(Tokens, Folded)> {
    cut(text, reading, Folds::RowsAndLists)
}

/// As [`tokenize`], but for the literals of long lists.
pub(crate) fn tokenize_listing(text: &str, syntax: &Syntax) -> Result<Tokens> {
    cut(text, syntax.into(), Folds::Lists).map(|(tokens, _)| tokens)
}

fn cut(text: &str, reading: Reading<'_>, folds: Folds) -> Result<(Tokens, Folded)> {
    if u32::try_from(text.len()).is_err() {
        return Err(SyntaxError::new("statement too long, expected less than 4 GiB", 0));
    }
    let mut lexer = Lexer::with(text, reading, Fold::new(folds));
    let ran = lexer.run();
    if lexer.fold.is_broken {
        drop(lexer);
        return cut(text, reading, folds.unlisted());
    }
    ran?;
    let tokens = Tokens {
        list: lexer.list,
        digest: lexer.digest.value(),
        parameters: lexer.parameters,
        hint: lexer.hint,
    };
    Ok((tokens, lexer.fold.folded))
}

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// Tags that keep kinds apart in the digest.
mod tag {
    pub(super) const WORD: u8 = 1;
    pub(super) const IDENTIFIER: u8 = 2;
    pub(super) const SLOT: u8 = 3;
    pub(super) const ORDINAL: u8 = 4;
    pub(super) const PARAMETER: u8 = 5;
    pub(super) const VARIABLE: u8 = 6;
    pub(super) const SYMBOL: u8 = 7;
    pub(super) const MARK: u8 = 8;
    pub(super) const HINT: u8 = 9;
}

pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    syntax: &'a Syntax,
    modes: Modes,
    list: Vec<Token>,
    digest: Digest,
    hint: Option<Hint>,
    parameters: u32,
    /// Inside `/*! … */`; one inside another takes its place, and its end is that of both.
    executable: Option<usize>,
    /// The releases that such comments are settled for; `None` reads the content of each.
    pub(crate) settles: Option<&'a [Release]>,
    /// What is to go from the text when they are settled, in order.
    pub(crate) marks: Vec<Span>,
    /// One of them could not be settled.
    pub(crate) is_unsure: bool,
    /// How the tokens are written by default, where somebody asks for it.
    spelled: Option<Edits>,
    /// Semicolons not yet in the digest.
    semicolons: u32,
    /// Depth of parentheses.
    depth: u32,
    /// Depth plus one at which a `BY` list is open, 0 outside: there a lone number is an ordinal, not a value.
    by: u32,
    fold: Fold,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, reading: Reading<'a>) -> Self {
        Self::with(text, reading, Fold::new(Folds::Nothing))
    }

    fn with(text: &'a str, Reading { syntax, modes }: Reading<'a>, fold: Fold) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            syntax,
            modes,
            list: Vec::with_capacity(text.len().min(1 << 20) / 4 + 4),
            digest: Digest::new(),
            hint: None,
            parameters: 0,
            executable: None,
            settles: None,
            marks: Vec::new(),
            is_unsure: false,
            spelled: None,
            semicolons: 0,
            depth: 0,
            by: 0,
            fold,
        }
    }

    pub(crate) fn run(&mut self) -> Result<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match class_of(byte) {
                Class::Space => self.at += 1,
                Class::Letter => self.word_or_prefixed_string(byte)?,
                Class::Digit => self.number()?,
                Class::Single => self.string(self.at, TokenKind::String)?,
                Class::Double if self.syntax.double_quoted_strings && !self.modes.ansi_quotes => {
                    self.string(self.at, TokenKind::String)?;
                }
                Class::Double => self.identifier(self.at, TokenKind::QuotedIdentifier)?,
                Class::Backtick if self.syntax.backtick_identifiers => {
                    self.identifier(self.at, TokenKind::QuotedIdentifier)?;
                }
                Class::Backtick => self.operator()?,
                Class::Punctuation => self.punctuation(byte),
                Class::Dot => self.dot()?,
                Class::Colon => self.colon(),
                Class::Dollar => self.dollar()?,
                Class::At if self.syntax.limit_with_comma => self.variable()?,
                Class::Question if self.syntax.placeholder == Placeholder::Question => {
                    self.parameters = self.parameters.saturating_add(1);
                    self.push(TokenKind::Parameter, self.at, self.at + 1);
                }
                Class::Hash if self.syntax.hash_comments => self.line_comment()?,
                Class::Minus if self.starts_dash_comment() => self.line_comment()?,
                Class::Slash if self.byte(self.at + 1) == b'*' => self.block_comment()?,
                Class::At | Class::Question | Class::Hash => self.operator()?,
                Class::Minus | Class::Slash | Class::Operator => self.operator()?,
                Class::Backslash => self.backslash()?,
                Class::Bad => return Err(self.unexpected_character()),
            }
        }
        self.refuse_too_many()?;
        match self.executable {
            Some(start) => Err(self.unterminated("comment", start, "*/")),
            None => Ok(()),
        }
    }

    /// Whether a backslash escapes what follows it between such quotes.
    fn escapes_in(&self, quote: u8) -> bool {
        self.syntax.backslash_escapes
            && !self.modes.plain_backslashes
            && !(quote == b'"' && self.modes.ansi_quotes)
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Appends the token `start..end` and moves behind it.
    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        let bytes = self.bytes.get(start..end).unwrap_or(&[]);
        let mut slot = false;
        // Semicolons count only when something follows: a final one changes nothing.
        if bytes == b";" {
            self.semicolons += 1;
        } else {
            for _ in 0..std::mem::take(&mut self.semicolons) {
                self.digest.piece(tag::SYMBOL, b";");
            }
        }
        match kind {
            TokenKind::Punctuation if bytes == b";" => {}
            TokenKind::Word => self.digest.piece(tag::WORD, bytes),
            TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier => {
                self.digest.piece(tag::IDENTIFIER, bytes);
            }
            TokenKind::Number if self.is_ordinal() => self.digest.piece(tag::ORDINAL, bytes),
            TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString => {
                slot = true;
                self.digest.number(u64::from(tag::SLOT));
            }
            TokenKind::Parameter => self.digest.piece(tag::PARAMETER, bytes),
            TokenKind::Variable => self.digest.piece(tag::VARIABLE, bytes),
            TokenKind::Operator | TokenKind::Punctuation | TokenKind::End => {
                self.digest.piece(tag::SYMBOL, bytes);
            }
        }
        if self.spelled.is_some() {
            self.spell(kind, start, end);
        }
        // Lengths fit: `tokenize` refuses longer texts.
        let span = Span::new(start as u32, end as u32);
        self.list.push(Token { span, kind, slot, keyword: Keyword::NO_KEYWORD });
        self.at = end;
        if self.list.len() >= self.fold.from {
            self.look();
        }
    }

    /// A number right behind `BY`, or behind a comma of its list.
    fn is_ordinal(&self) -> bool {
        if self.by == 0 {
            return false;
        }
        self.list.last().is_some_and(|last| {
            let text = last.span.of(self.text);
            text == "," || text.eq_ignore_ascii_case("by")
        })
    }

    fn word_or_prefixed_string(&mut self, first: u8) -> Result<()> {
        let start = self.at;
        let postgres_forms = !self.syntax.backslash_escapes;
        if !postgres_forms && self.follows_dot(start) {
            // `t.x'41'`: behind a dot stands a name, and the string is one of its own.
            let end = self.word_end(start);
            self.word(start, end);
            return Ok(());
        }
        match (first | 0x20, self.byte(start + 1)) {
            (b'e', b'\'') if postgres_forms => {
                return self.prefixed_string(start, 1, TokenKind::EscapeString);
            }
            (b'n', b'\'') => return self.prefixed_string(start, 1, TokenKind::NationalString),
            (b'b', b'\'') => return self.prefixed_string(start, 1, TokenKind::BitString),
            (b'x', b'\'') => return self.prefixed_string(start, 1, TokenKind::HexString),
            (b'u', b'&') if postgres_forms && self.byte(start + 2) == b'\'' => {
                return self.prefixed_string(start, 2, TokenKind::UnicodeString);
            }
            (b'u', b'&') if postgres_forms && self.byte(start + 2) == b'"' => {
                self.at = start + 2;
                return self.identifier(start, TokenKind::UnicodeIdentifier);
            }
            _ => {}
        }
        let end = self.word_end(start);
        self.word(start, end);
        Ok(())
    }

    fn word_end(&self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        start + rest.iter().position(|&byte| !is_word_byte(byte)).unwrap_or(rest.len())
    }

    fn word(&mut self, start: usize, end: usize) {
        match self.bytes.get(start..end).unwrap_or(&[]) {
            [b'b' | b'B', b'y' | b'Y'] => self.by = self.depth + 1,
            word if self.by != 0 && closes_by_list(word) => self.by = 0,
            _ => {}
        }
        self.push(TokenKind::Word, start, end);
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        if self.syntax.limit_with_comma && self.follows_dot(start) {
            let end = self.word_end(start);
            self.word(start, end);
            return Ok(());
        }
        if self.byte(start) == b'0' {
            // `0X41` is a name where `0x41` is a string.
            let both_cases = !self.syntax.backslash_escapes;
            match self.byte(start + 1) {
                x @ (b'x' | b'X')
                    if self.byte(start + 2).is_ascii_hexdigit() && (x == b'x' || both_cases) =>
                {
                    return self.radix(start, TokenKind::HexString, |b| b.is_ascii_hexdigit());
                }
                b @ (b'b' | b'B')
                    if matches!(self.byte(start + 2), b'0' | b'1') && (b == b'b' || both_cases) =>
                {
                    return self.radix(start, TokenKind::BitString, |b| matches!(b, b'0' | b'1'));
                }
                b'o' | b'O' if self.syntax.casts_with_colons => {
                    return self.radix(start, TokenKind::Number, |b| (b'0'..=b'7').contains(&b));
                }
                _ => {}
            }
        }
        let mut end = self.digits(start);
        if self.byte(end) == b'.' && (self.byte(end + 1) != b'.' || self.syntax.backslash_escapes) {
            end = self.digits(end + 1);
        } else if self.syntax.limit_with_comma && self.is_name_with_digits(end) {
            let end = self.word_end(start);
            self.word(start, end);
            return Ok(());
        }
        end = self.exponent(end);
        self.push(TokenKind::Number, start, end);
        Ok(())
    }

    /// `0x…`, `0b…`, `0o…`: a string of bytes in one language, a number in the other, a name when letters follow.
    fn radix(&mut self, start: usize, kind: TokenKind, fits: fn(u8) -> bool) -> Result<()> {
        let colons = self.syntax.casts_with_colons;
        let mut end = start + 2;
        while fits(self.byte(end)) || (colons && self.byte(end) == b'_') {
            end += 1;
        }
        if self.syntax.limit_with_comma && is_word_byte(self.byte(end)) {
            let end = self.word_end(start);
            self.word(start, end);
            return Ok(());
        }
        self.push(if colons { TokenKind::Number } else { kind }, start, end);
        Ok(())
    }

    fn digits(&self, start: usize) -> usize {
        let mut end = start;
        let separators = self.syntax.casts_with_colons;
        while self.byte(end).is_ascii_digit()
            || (separators && self.byte(end) == b'_' && self.byte(end + 1).is_ascii_digit())
        {
            end += 1;
        }
        end
    }

    fn exponent(&self, end: usize) -> usize {
        if self.byte(end) | 0x20 != b'e' {
            return end;
        }
        let signed = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
        if self.byte(end + 1 + signed).is_ascii_digit() {
            self.digits(end + 1 + signed)
        } else {
            end
        }
    }

    /// `1abc` is a name there; `1e5` is none, nor is the beginning of `1e5abc`.
    fn is_name_with_digits(&self, end: usize) -> bool {
        is_word_byte(self.byte(end)) && self.exponent(end) == end
    }

    /// Whether a dot that is a token of its own stands right before: a name follows it, `t.1` and `t.1e5` too.
    fn follows_dot(&self, start: usize) -> bool {
        start.checked_sub(1).is_some_and(|before| self.byte(before) == b'.')
            && self.list.last().is_some_and(|last| {
                last.kind == TokenKind::Punctuation && last.span.end as usize == start
            })
    }

    fn punctuation(&mut self, byte: u8) {
        match byte {
            b'(' => self.depth = self.depth.saturating_add(1),
            b')' => {
                if self.by == self.depth + 1 {
                    self.by = 0;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
        self.push(TokenKind::Punctuation, self.at, self.at + 1);
    }

    fn dot(&mut self) -> Result<()> {
        let start = self.at;
        let behind_name = self.list.last().is_some_and(|last| {
            let is_quoted =
                matches!(last.kind, TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier);
            last.span.end as usize == start
                && (last.kind == TokenKind::Word || is_quoted && !self.syntax.backslash_escapes)
        });
        if self.byte(start + 1).is_ascii_digit() && !behind_name {
            let end = self.exponent(self.digits(start + 1));
            self.push(TokenKind::Number, start, end);
        } else {
            self.push(TokenKind::Punctuation, start, start + 1);
        }
        Ok(())
    }

    fn colon(&mut self) {
        let start = self.at;
        let length = match self.byte(start + 1) {
            b':' if self.syntax.casts_with_colons => 2,
            b'=' => 2,
            _ => {
                self.push(TokenKind::Punctuation, start, start + 1);
                return;
            }
        };
        self.push(TokenKind::Operator, start, start + length);
    }

    fn dollar(&mut self) -> Result<()> {
        let start = self.at;
        let next = self.byte(start + 1);
        if self.syntax.placeholder == Placeholder::Dollar && next.is_ascii_digit() {
            let end = start
                + 1
                + self.bytes[start + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = self.text.get(start + 1..end).and_then(|n| n.parse::<u16>().ok());
            let Some(number) = number.filter(|&n| n > 0) else {
                let token = excerpt(self.text.get(start..end).unwrap_or(""));
                let message =
                    format!("unexpected `{token}`, expected a parameter from $1 to $65535");
                return Err(SyntaxError::new(message, start));
            };
            self.parameters = self.parameters.max(u32::from(number));
            self.push(TokenKind::Parameter, start, end);
            return Ok(());
        }
        if self.syntax.dollar_strings {
            return self.dollar_string();
        }
        let end = self.word_end(start);
        if self.bytes.get(start + 1..end).is_some_and(|name| name.contains(&b'$')) {
            // Newer servers read `$tag$ … $tag$` as a string, older ones as names.
            return Err(self.unexpected_character());
        }
        self.word(start, end);
        Ok(())
    }

    /// `@name`, `@'name'`, `@@name`, `@@scope.name`; a lone `@` is an operator.
    fn variable(&mut self) -> Result<()> {
        let start = self.at;
        let system = self.byte(start + 1) == b'@';
        let mut end = start + 1 + usize::from(system);
        match self.byte(end) {
            // A system variable has no name of that kind.
            b'\'' | b'"' if system && self.syntax.backslash_escapes => {
                return Err(self.unexpected_character());
            }
            quote @ (b'\'' | b'"') if self.escapes_in(quote) => {
                end = self
                    .escaped_end(end, quote)
                    .ok_or_else(|| self.unterminated("variable", end, char::from(quote)))?;
            }
            quote @ (b'\'' | b'"' | b'`') => end = self.quoted_end(end, quote, "variable")?,
            _ if !system => {
                while is_word_byte(self.byte(end)) || self.byte(end) == b'.' {
                    end += 1;
                }
            }
            _ => {
                while is_word_byte(self.byte(end))
                    || (self.byte(end) == b'.'
                        && (is_word_byte(self.byte(end + 1)) || self.byte(end + 1) == b'`'))
                {
                    end += 1;
                }
                if self.byte(end) == b'`' && self.byte(end.saturating_sub(1)) == b'.' {
                    end = self.quoted_end(end, b'`', "variable")?;
                }
            }
        }
        if end == start + 1 {
            return self.operator();
        }
        self.push(TokenKind::Variable, start, end);
        Ok(())
    }

    fn operator(&mut self) -> Result<()> {
        let start = self.at;
        let length = if self.syntax.casts_with_colons {
            self.longest_operator()
        } else {
            self.listed_operator()
        };
        if self.executable.is_some() && self.byte(start) == b'*' && self.byte(start + 1) == b'/' {
            self.executable = None;
            self.digest.piece(tag::MARK, b"*/");
            self.mark(start, start + 2);
            self.at = start + 2;
            return Ok(());
        }
        self.push(TokenKind::Operator, start, start + length);
        Ok(())
    }

    /// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-OPERATORS>: a run of operator characters that
    /// stops before a comment and does not end in `+` or `-` unless it holds one of a few others.
    fn longest_operator(&self) -> usize {
        let mut length = 0;
        while is_operator_byte(self.byte(self.at + length)) {
            let pair = (self.byte(self.at + length), self.byte(self.at + length + 1));
            if matches!(pair, (b'-', b'-') | (b'/', b'*')) && length > 0 {
                break;
            }
            length += 1;
        }
        let run = self.bytes.get(self.at..self.at + length).unwrap_or(&[]);
        let may_end_in_sign = run.iter().any(|b| b"~!@#%^&|`?".contains(b));
        while length > 1
            && !may_end_in_sign
            && matches!(self.byte(self.at + length - 1), b'+' | b'-')
        {
            length -= 1;
        }
        length.max(1)
    }

    /// <https://dev.mysql.com/doc/refman/8.4/en/non-typed-operators.html>
    fn listed_operator(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        if rest.starts_with(b"<=>") || rest.starts_with(b"->>") {
            return 3;
        }
        const PAIRS: [&[u8; 2]; 9] =
            [b"<<", b">>", b"<=", b">=", b"<>", b"!=", b"||", b"&&", b"->"];
        if PAIRS.iter().any(|pair| rest.starts_with(*pair)) { 2 } else { 1 }
    }

    fn backslash(&mut self) -> Result<()> {
        if self.syntax.backslash_escapes && self.byte(self.at + 1) == b'N' {
            self.push(TokenKind::Word, self.at, self.at + 2);
            return Ok(());
        }
        Err(self.unexpected_character())
    }

    fn unexpected_character(&self) -> SyntaxError {
        let character = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let shown = character.map(|c| c.escape_debug().to_string()).unwrap_or_default();
        SyntaxError::new(format!("unexpected `{shown}`, expected a token"), self.at)
    }

    fn unterminated(
        &self,
        what: &str,
        start: usize,
        closing: impl std::fmt::Display,
    ) -> SyntaxError {
        let shown = excerpt(self.text.get(start..).unwrap_or(""));
        SyntaxError::new(format!("unterminated {what} `{shown}`, expected `{closing}`"), start)
    }
}

/// Words behind which numbers are values again.
fn closes_by_list(word: &[u8]) -> bool {
    ["limit", "where", "values", "select", "having", "offset", "fetch", "set", "rows", "range"]
        .iter()
        .any(|closing| word.eq_ignore_ascii_case(closing.as_bytes()))
}
