//! Tokens of a session's modes, as they are written by default.

use memchr::memchr;

use super::{Lexer, Result};
use crate::edits::Edits;
use crate::lexer::fold::{Fold, Folds};
use crate::modes::Reading;
use crate::quotes::unquoted;
use crate::span::Span;
use crate::token::TokenKind;

/// Functions whose names count as such only right in front of a parenthesis, on servers of any version.
/// <https://dev.mysql.com/doc/refman/8.0/en/function-resolution.html>
const GLUED: [&str; 53] = [
    "add_months",
    "adddate",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "convert",
    "count",
    "curdate",
    "curtime",
    "date_add",
    "date_format",
    "date_sub",
    "decode",
    "extract",
    "first_value",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "json_table",
    "lag",
    "lead",
    "max",
    "median",
    "mid",
    "min",
    "now",
    "nth_value",
    "ntile",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "position",
    "rank",
    "row_number",
    "session_user",
    "st_collect",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "trim",
    "trim_oracle",
    "var_pop",
    "var_samp",
    "variance",
];

/// What has to change in a text so that it is cut by default as these modes cut it: every token stays one, with the
/// value that it has.
///
/// # Errors
/// What `tokenize` refuses.
pub(crate) fn spelled(text: &str, reading: Reading<'_>) -> Result<Edits> {
    let mut folds = Folds::RowsAndLists;
    loop {
        let mut lexer = Lexer::with(text, reading, Fold::new(folds));
        lexer.spelled = Some(Edits::default());
        let ran = lexer.run();
        if lexer.fold.is_broken {
            folds = folds.unlisted();
            continue;
        }
        ran?;
        return Ok(lexer.spelled.unwrap_or_default());
    }
}

impl Lexer<'_> {
    /// Notes how the token that begins and ends here is written by default.
    pub(super) fn spell(&mut self, kind: TokenKind, start: usize, end: usize) {
        let Some(raw) = self.text.get(start..end) else { return };
        let (spelled, span) = match kind {
            TokenKind::QuotedIdentifier if raw.starts_with('"') => {
                (Some(self.apart(start, end, backticked(raw))), Span::new(start as u32, end as u32))
            }
            TokenKind::String | TokenKind::NationalString => {
                (self.escaped(raw), Span::new(start as u32, end as u32))
            }
            TokenKind::Variable => {
                (self.variable_spelled(raw, end), Span::new(start as u32, end as u32))
            }
            TokenKind::Punctuation if raw == "(" && self.modes.ignore_space => {
                match self.blank_behind_function(start) {
                    Some(blank) => (Some(String::new()), blank),
                    None => return,
                }
            }
            TokenKind::Word
            | TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
            | TokenKind::Number
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Operator
            | TokenKind::Punctuation
            | TokenKind::End => return,
        };
        if let (Some(spelled), Some(edits)) = (spelled, &mut self.spelled) {
            edits.replace(span, spelled);
        }
    }

    /// Two names side by side must not become one: `` `a`"b" ``.
    fn apart(&self, start: usize, end: usize, name: String) -> String {
        let is_backtick = |at: Option<usize>| at.is_some_and(|at| self.byte(at) == b'`');
        let before = if is_backtick(start.checked_sub(1)) { " " } else { "" };
        let is_name = is_backtick(Some(end)) || self.byte(end) == b'"';
        format!("{before}{name}{}", if is_name { " " } else { "" })
    }

    /// A string in which backslashes are characters like others.
    fn escaped(&self, raw: &str) -> Option<String> {
        let is_plain = self.modes.plain_backslashes && memchr(b'\\', raw.as_bytes()).is_some();
        is_plain.then(|| raw.replace('\\', "\\\\"))
    }

    /// `@"name"` and `@'na\me'`.
    fn variable_spelled(&self, raw: &str, end: usize) -> Option<String> {
        let name = raw.strip_prefix('@')?;
        match name.as_bytes().first() {
            Some(b'"') if self.modes.ansi_quotes => {
                Some(format!("@{}", self.apart(0, end, backticked(name))))
            }
            Some(b'\'' | b'"') => self.escaped(raw),
            _ => None,
        }
    }

    /// The white space between a function's name and the parenthesis that stands here.
    fn blank_behind_function(&self, start: usize) -> Option<Span> {
        let name = self.list.last()?;
        let blank = Span::new(name.span.end, start as u32);
        let between = blank.of(self.text);
        let is_blank = !between.is_empty()
            && between.bytes().all(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
        let word = name.span.of(self.text);
        let is_function =
            name.kind == TokenKind::Word && GLUED.iter().any(|one| word.eq_ignore_ascii_case(one));
        let is_member = self.list.iter().rev().nth(1).is_some_and(|dot| self.is_byte(dot, b'.'));
        (is_blank && is_function && !is_member).then_some(blank)
    }
}

/// A quoted name between backticks.
fn backticked(raw: &str) -> String {
    format!("`{}`", unquoted(raw).replace('`', "``"))
}
