//! From tokens to the tree: a tolerant recursive-descent parser.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "keywords are a word list that grows: a match on them always means these words or any other"
)]

mod copy;
mod define;
mod expr;
mod from;
mod function;
mod insert;
mod introducer;
mod load;
mod mutate;
mod name;
mod operator;
mod parser;
mod prepare;
mod primary;
mod query;
mod select;
mod set;
mod show;
mod special;
mod statement;
mod transaction;
mod types;
mod utility;

use std::sync::Arc;

use crate::ast::{InsertSource, Kind, Statement};
use crate::edits::Edits;
use crate::error::SyntaxError;
use crate::keyword::Keyword;
use crate::lexer::{Folded, tokenize, tokenize_folding};
use crate::span::Span;
use crate::split::first_separator;
use crate::syntax::Syntax;
use crate::token::{Token, TokenKind, Tokens};
use parser::Parser;

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// Parses exactly one statement; a semicolon may end it. A beginning the parser does not know gives [`Kind::Opaque`], and so does a
/// known statement with a construct it does not know.
///
/// The query `TABLE t` is read as what it stands for: the statement's text then has `SELECT * FROM t` in its place.
///
/// # Errors
/// What [`tokenize`] refuses; a statement that breaks off or misses a piece; a second statement; nesting that is too deep.
pub fn parse(text: &str, syntax: &Syntax) -> Result<Statement> {
    match tokenize_folding(text, syntax.into())? {
        (tokens, folded) if folded.is_empty() => parse_tokens(text, syntax, tokens, &folded),
        (tokens, folded) => {
            let parsed = parse_tokens(text, syntax, tokens, &folded);
            // What looked like rows of an INSERT, or a list, may be something else.
            let is_all = parsed.as_ref().is_ok_and(|stmt| {
                kept_rows(&stmt.kind) == folded.rows.len() && !matches!(stmt.kind, Kind::Opaque)
            });
            if is_all { parsed } else { parse_whole(text, syntax) }
        }
    }
}

/// The same with trees for all rows of an INSERT and all lists, however many: for whoever needs each of them anyway.
///
/// # Errors
/// As [`parse`].
pub fn parse_whole(text: &str, syntax: &Syntax) -> Result<Statement> {
    parse_tokens(text, syntax, tokenize(text, syntax)?, &Folded::default())
}

fn kept_rows(kind: &Kind) -> usize {
    match kind {
        Kind::Insert(insert) => match &insert.source {
            InsertSource::Values { rows, .. } => {
                rows.iter().filter(|row| row.trees().is_none()).count()
            }
            InsertSource::Set(_) | InsertSource::Query(_) | InsertSource::Default => 0,
        },
        Kind::Explain { inner, .. } => kept_rows(inner),
        _ => 0,
    }
}

fn parse_tokens(
    text: &str,
    syntax: &Syntax,
    mut tokens: Tokens,
    folded: &Folded,
) -> Result<Statement> {
    let end = cut_at_semicolon(text, &mut tokens, syntax)?;
    let counts = fill_keywords(text, &mut tokens, end);
    let statement = text.get(..end).unwrap_or(text);
    let (kind, tables) = parse_kind(statement, syntax, &tokens.list, folded)?;
    if !tables.is_empty() {
        return parse(&spelled_out(statement, &tables), syntax);
    }
    let (hints, hint_span) = match tokens.hint {
        Some(hint) => (hint.pairs, Some(hint.span).filter(|span| span.end as usize <= end)),
        None => (Vec::new(), None),
    };
    Ok(Statement {
        text: Arc::from(statement),
        kind,
        digest: tokens.digest,
        parameters: tokens.parameters,
        hints,
        hint_span,
        counts,
    })
}

/// Drops the final semicolons and answers where the statement's text ends.
fn cut_at_semicolon(text: &str, tokens: &mut Tokens, syntax: &Syntax) -> Result<usize> {
    let is_semicolon =
        |token: &Token| token.kind == TokenKind::Punctuation && token.span.of(text) == ";";
    let mut end = text.len();
    while let Some(last) = tokens.list.last().filter(|last| is_semicolon(last)) {
        end = last.span.start as usize;
        tokens.list.pop();
    }
    match first_separator(text, &tokens.list, syntax) {
        None => Ok(end),
        Some(0) => {
            let message = "unexpected `;`, expected a statement";
            Err(SyntaxError::new(message, tokens.list.first().map_or(0, |t| t.span.start as usize)))
        }
        Some(index) => {
            let next = tokens.list.get(index + 1).map_or(Span::default(), |token| token.span);
            let shown = crate::error::excerpt(next.of(text));
            let message = format!("unexpected `{shown}`, expected the end of the only statement");
            Err(SyntaxError::new(message, next.start as usize))
        }
    }
}

/// Looks the words up and puts an end mark behind the last token. Returns whether one is about numbers of sequences.
fn fill_keywords(text: &str, tokens: &mut Tokens, end: usize) -> bool {
    use Keyword::*;
    let mut counts = false;
    for token in &mut tokens.list {
        if token.kind == TokenKind::Word {
            token.keyword = Keyword::of(token.span.of(text));
            counts |=
                matches!(token.keyword, NEXTVAL | CURRVAL | LASTVAL | SETVAL | NEXT | PREVIOUS);
        }
    }
    tokens.list.push(Token {
        span: Span::at(end as u32),
        kind: TokenKind::End,
        slot: false,
        keyword: Keyword::NO_KEYWORD,
    });
    counts
}

/// The text with these words TABLE as what they stand for.
fn spelled_out(text: &str, tables: &[Span]) -> String {
    let mut edits = Edits::default();
    tables.iter().for_each(|table| edits.replace(*table, "SELECT * FROM"));
    edits.apply(text)
}

/// The statement, and the words TABLE in it that begin a query.
fn parse_kind(
    text: &str,
    syntax: &Syntax,
    tokens: &[Token],
    folded: &Folded,
) -> Result<(Kind, Vec<Span>)> {
    if tokens.len() == 1 {
        return Ok((Kind::Empty, Vec::new()));
    }
    let mut parser = Parser::new(text, syntax, tokens, folded);
    let parsed = parser.statement().and_then(|kind| {
        if parser.is_end() { Ok(kind) } else { parser.unexpected("the end of the statement") }
    });
    match parsed {
        Err(error) if !error.malformed && is_balanced(text, tokens) => {
            Ok((Kind::Opaque, Vec::new()))
        }
        Err(error) => Err(error),
        Ok(kind) => Ok((kind, parser.tables)),
    }
}

/// Whether every parenthesis has its partner: what breaks that is no construct of any server.
fn is_balanced(text: &str, tokens: &[Token]) -> bool {
    let mut depth = 0i64;
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Punctuation) {
        match token.span.of(text) {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
