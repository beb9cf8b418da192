//! Labels of select items without an alias: a server that names them by their text must not show the text of the actual statement.

use pando_kernel::changes::TurnedLiteral;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{
    Expr, InsertSource, Kind, Node, Query, QueryBody, SelectItem, Statement, TableFactor,
};
use pando_sql::{Edits, Fold, Span};

use super::merge_plan::resolve::unwrapped;

/// The longest alias that is allowed, in characters.
const LONGEST: usize = 256;

/// Select items that are labelled by their text.
pub(super) fn labelled<'a>(ctx: &Context<'_>, stmt: &'a Statement) -> Vec<&'a Expr> {
    let mut found = Vec::new();
    if ctx.dialect.syntax().fold == Fold::Keep {
        of_kind(&stmt.kind, &mut found);
    }
    found
}

/// Refuses an item whose label would tell its unit a value that a room has it told in another form only.
///
/// # Errors
/// `Refused`, with what to do.
pub(super) fn refuse_values(items: &[&Expr], turned: &[TurnedLiteral]) -> Result<()> {
    let holds = |item: &&&Expr| {
        turned.iter().any(|own| item.span.start <= own.span.start && own.span.end <= item.span.end)
    };
    match items.iter().find(holds) {
        None => Ok(()),
        Some(_) => Err(named_by_value()),
    }
}

/// An item's label would tell its unit a value.
pub(super) fn named_by_value() -> Error {
    Error::unsupported(
        30001,
        "a column of the result is named by its text, which has a value that is stored otherwise",
        "give it a name with AS, or the value as a parameter",
    )
}

/// Keeps the labels of items that were edited.
pub(super) fn keep(ctx: &Context<'_>, stmt: &Statement, items: &[&Expr], edits: &mut Edits) {
    for item in items {
        if !edits.touches(item.span) {
            continue;
        }
        let label = item.span.of(&stmt.text);
        if label.chars().count() <= LONGEST {
            // Names have the characters of the basic plane only; the server's own label shows `?` for others, too.
            let label: String = label
                .chars()
                .map(|letter| if letter > '\u{FFFF}' { '?' } else { letter })
                .collect();
            let alias = format!(" AS {}", ctx.dialect.quote(&label));
            edits.replace(Span::at(item.span.end), alias);
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: other statements have no items")]
fn of_kind<'a>(kind: &'a Kind, found: &mut Vec<&'a Expr>) {
    match kind {
        Kind::Select(query) => of_query(query, found),
        Kind::Insert(insert) => {
            if let InsertSource::Query(query) = &insert.source {
                of_query(query, found);
            }
        }
        Kind::Define(define) => define.query.iter().for_each(|query| of_query(query, found)),
        _ => {}
    }
}

fn of_query<'a>(query: &'a Query, found: &mut Vec<&'a Expr>) {
    let mut queries = vec![query];
    while let Some(query) = queries.pop() {
        query.with.iter().for_each(|cte| of_kind(&cte.body, found));
        match &query.body {
            QueryBody::Select(select) => {
                found.extend(select.items.iter().filter_map(by_text));
                let mut factors: Vec<&TableFactor> = select.from.iter().collect();
                while let Some(factor) = factors.pop() {
                    match factor {
                        TableFactor::Derived { query, .. } => queries.push(query),
                        TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
                        TableFactor::Table(_) | TableFactor::Function { .. } => {}
                    }
                }
            }
            QueryBody::Set { left, right, .. } => queries.extend([&**right, &**left]),
            QueryBody::Values(_) => {}
        }
    }
}

/// The item's expression, unless it has an alias or is a column, whose name is its label.
fn by_text(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::Expr { expr, alias: None, .. } => (!is_column(expr)).then_some(expr),
        SelectItem::Expr { .. } | SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
    }
}

/// Whether the expression is a column for a server that reads parentheses and a sign that changes nothing away.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn is_column(expr: &Expr) -> bool {
    match &unwrapped(expr).node {
        Node::Column(_) => true,
        Node::Unary { op, operand } if op == "+" => is_column(operand),
        _ => false,
    }
}
