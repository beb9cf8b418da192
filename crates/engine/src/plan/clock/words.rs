//! Words of a text that ask for the time, and what is written in their places.

use std::collections::HashSet;

use pando_kernel::clock::{Asked, Behind, Clock, Timed};
use pando_kernel::feature::Context;
use pando_sql::ast::{Expr, Kind, Node, Query, QueryBody, SelectItem, Statement, TableFactor};
use pando_sql::{Edits, Span, Token, TokenKind, tokenize, visit};

/// A word that asks for the time, with its parentheses.
pub(super) struct Word {
    pub(super) span: Span,
    pub(super) name: String,
    pub(super) asked: Asked,
}

/// Writes what a statement asks of the time. Result: what its connections are to be told.
pub(super) fn words(
    ctx: &Context<'_>,
    clock: &dyn Clock,
    stmt: &Statement,
    edits: &mut Edits,
) -> Timed {
    let words = found(ctx, clock, &stmt.text);
    if words.is_empty() {
        return Timed::default();
    }
    let labels = labels(&stmt.kind);
    let tables = tables(&stmt.kind);
    // An ORDER BY or GROUP BY must stay the same expression as its item.
    let are_labels = words.iter().any(|word| labels.contains(&word.span));
    let mut timed = Timed::default();
    for word in words {
        timed = timed.and(word.asked.timed);
        let Some(written) = word.asked.written else { continue };
        let name = ctx.dialect.quote(&word.name);
        let table = tables.iter().find(|(span, _)| *span == word.span);
        let written = match table {
            Some((_, Some(alias))) => {
                format!("(SELECT {written} AS {})", ctx.dialect.quote(alias))
            }
            Some((_, None)) => format!("(SELECT {written} AS {name}) AS {name}"),
            None if are_labels => format!("(SELECT {written} AS {name})"),
            None => written,
        };
        edits.replace(word.span, written);
    }
    timed
}

/// The words of a text that ask for the time.
pub(super) fn found(ctx: &Context<'_>, clock: &dyn Clock, text: &str) -> Vec<Word> {
    let Ok(tokens) = tokenize(text, ctx.dialect.syntax()) else { return Vec::new() };
    let tokens = &tokens.list;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word)
    {
        let (behind, last) = behind(text, tokens, at);
        let name = token.span.of(text).to_ascii_lowercase();
        let Some(asked) = clock.asked(&name, behind) else { continue };
        let Some(first) = first(text, tokens, at) else { continue };
        found.push(Word { span: first.to(last), name, asked });
    }
    found
}

/// What stands behind a word, and where it ends with that.
fn behind(text: &str, tokens: &[Token], at: usize) -> (Behind, Span) {
    let is = |token: Option<&Token>, sign: &str| {
        let token = token.filter(|token| token.kind == TokenKind::Punctuation);
        token.map(|token| token.span).filter(|span| span.of(text) == sign)
    };
    let own = tokens.get(at).map_or(Span::at(0), |token| token.span);
    if is(tokens.get(at + 1), "(").is_none() {
        return (Behind::Nothing, own);
    }
    if let Some(end) = is(tokens.get(at + 2), ")") {
        return (Behind::Empty, end);
    }
    let digits = tokens.get(at + 2).filter(|token| token.kind == TokenKind::Number);
    let digits = digits.and_then(|token| token.span.of(text).parse().ok());
    match (digits, is(tokens.get(at + 3), ")")) {
        (Some(digits), Some(end)) => (Behind::Digits(digits), end),
        _ => (Behind::More, own),
    }
}

/// Where a word begins with its schema; `None` where it is another's: a column of a table, or a label.
fn first(text: &str, tokens: &[Token], at: usize) -> Option<Span> {
    let own = tokens.get(at)?.span;
    let Some(before) = at.checked_sub(1).and_then(|at| tokens.get(at)) else { return Some(own) };
    let word = before.span.of(text);
    if before.kind == TokenKind::Word && word.eq_ignore_ascii_case("as") {
        return None;
    }
    if word != "." {
        return Some(own);
    }
    let schema = tokens.get(at.checked_sub(2)?)?;
    schema.span.of(text).eq_ignore_ascii_case("pg_catalog").then_some(schema.span)
}

/// The calls by which servers label items that have no alias.
fn labels(kind: &Kind) -> HashSet<Span> {
    let mut found = HashSet::new();
    visit::items(kind, &mut |item| {
        if let SelectItem::Expr { expr, alias: None, .. } = item {
            found.insert(labelling(expr).span);
        }
    });
    found
}

/// What names an item: casts and parentheses do not.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else has a name of its own")]
fn labelling(expr: &Expr) -> &Expr {
    match &expr.node {
        Node::Nested(inner) => labelling(inner),
        Node::Cast { operand, .. } | Node::Collate { operand, .. } => labelling(operand),
        _ => expr,
    }
}

/// Calls that stand as tables, and their aliases.
fn tables(kind: &Kind) -> Vec<(Span, Option<&str>)> {
    let mut found = Vec::new();
    let Kind::Select(query) = kind else { return found };
    let mut queries: Vec<&Query> = vec![query];
    while let Some(query) = queries.pop() {
        for cte in &query.with {
            if let Kind::Select(inner) = &*cte.body {
                queries.push(inner);
            }
        }
        let select = match &query.body {
            QueryBody::Select(select) => select,
            QueryBody::Set { left, right, .. } => {
                queries.extend([&**left, &**right]);
                continue;
            }
            QueryBody::Values(_) => continue,
        };
        let mut factors: Vec<&TableFactor> = select.from.iter().collect();
        while let Some(factor) = factors.pop() {
            match factor {
                TableFactor::Derived { query, .. } => queries.push(query),
                TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
                TableFactor::Function { expr, alias, .. } => {
                    found.push((expr.span, alias.as_ref().map(|alias| alias.value.as_str())));
                }
                TableFactor::Table(_) => {}
            }
        }
    }
    found
}
