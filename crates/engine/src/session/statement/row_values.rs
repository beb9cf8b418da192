//! Values of a row of several shards, as user variables keep them: texts with the collation that they compare by.

use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{Column, Kind as ValueKind, Value};
use pando_sql::ast::{Expr, Kind, Node, Query, QueryBody, Select, SelectItem, Statement};

use crate::session::Session;
use crate::session::statement::expression;

/// What servers give the texts of times.
/// <https://dev.mysql.com/doc/refman/8.0/en/user-variables.html>
const OF_TIMES: &str = "latin1_swedish_ci";

/// The values of a query's row as variables keep them.
///
/// # Errors
/// `Refused` where nobody can tell by what a text compares; what the storage units say when they are asked.
pub(in crate::session) async fn kept(
    session: &mut Session,
    query: &Statement,
    columns: &[Column],
    row: &[Value],
) -> Result<Vec<String>> {
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    let dialect = dialect.as_ref();
    let texts: Vec<usize> = columns
        .iter()
        .zip(row)
        .enumerate()
        .filter(|(_, (column, value))| {
            column.kind == ValueKind::Text && matches!(value, Value::Text(_))
        })
        .map(|(at, _)| at)
        .collect();
    let mut told = Vec::new();
    if !texts.is_empty() {
        let text = asks(dialect, query, columns, &texts).ok_or_else(not_known)?;
        told = expression::collations(session, dialect, &text).await?;
        if told.len() != texts.len() {
            return Err(not_known());
        }
    }
    let kept = row.iter().enumerate().map(|(at, value)| {
        let own = texts.iter().position(|text| *text == at).and_then(|place| told.get(place));
        let collation = own.map_or(OF_TIMES, String::as_str);
        dialect.kept_value(value, dialect.literal(value), collation)
    });
    Ok(kept.collect())
}

fn not_known() -> Error {
    Error::unmerged(
        30001,
        "by what a text compares that a user variable is to have from several shards is not known",
        "narrow the query to one shard by an equality on the sharding key, or read the value in the application",
    )
}

/// The query for the collations of these columns: over any one row of the tables.
fn asks(
    dialect: &dyn Dialect,
    query: &Statement,
    columns: &[Column],
    texts: &[usize],
) -> Option<String> {
    let Kind::Select(query_of) = &query.kind else { return None };
    let Query { body: QueryBody::Select(select), with, .. } = &**query_of else { return None };
    if !with.is_empty() {
        return None;
    }
    let text = &*query.text;
    let item = |at: &usize| {
        let named = named(dialect, columns.get(*at)?);
        dialect.collation_of(&named.or_else(|| written(select, text, *at))?)
    };
    let items: Vec<String> = texts.iter().map(item).collect::<Option<_>>()?;
    let tables = text.get(select.items_span.end as usize..end_of_tables(select) as usize)?.trim();
    let asks = format!("SELECT {} {} LIMIT 1", items.join(", "), without_word(tables));
    let read = pando_sql::parse(&asks, dialect.syntax());
    read.is_ok_and(|stmt| stmt.parameters == 0).then_some(asks)
}

/// Where what follows on the tables begins, behind its first word.
fn end_of_tables(select: &Select) -> u32 {
    let of = |expr: &Option<Expr>| expr.as_ref().map(|expr| expr.span.start);
    let group = select.group_span.map(|span| span.start);
    let window = select.window.map(|span| span.start);
    let ends = [of(&select.filter), group, of(&select.having), window];
    ends.into_iter().flatten().min().unwrap_or(select.end)
}

fn without_word(tables: &str) -> &str {
    let before = |word: &&str| {
        let at = tables.len().checked_sub(word.len())?;
        let is_word = tables.get(at..)?.eq_ignore_ascii_case(word);
        is_word.then(|| tables.get(..at)).flatten()
    };
    ["where", "having", "window"].iter().find_map(before).unwrap_or(tables)
}

/// A column of a table that stands in the answer as it is.
fn named(dialect: &dyn Dialect, column: &Column) -> Option<String> {
    let is_known = !column.origin_name.is_empty() && !column.table.is_empty();
    let quoted = |name: &str| dialect.quote(name);
    is_known.then(|| format!("{}.{}", quoted(&column.table), quoted(&column.origin_name)))
}

/// An item of the select list; of the least or greatest of several values any one.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn written(select: &Select, text: &str, at: usize) -> Option<String> {
    if !select.items.iter().all(|item| matches!(item, SelectItem::Expr { .. })) {
        return None;
    }
    let SelectItem::Expr { expr, .. } = select.items.get(at)? else { return None };
    let own = match &expr.node {
        Node::Function(call) => match &call.arguments[..] {
            [of] if call.name.parts.last().is_some_and(|name| {
                ["min", "max"].iter().any(|own| name.value.eq_ignore_ascii_case(own))
            }) =>
            {
                of
            }
            _ => expr,
        },
        _ => expr,
    };
    Some(own.span.of(text).to_owned())
}
