//! CREATE TABLE … AS SELECT whose rows stand elsewhere than the table will: it is asked what a server would make of the
//! query, the table is made like any other, and the rows are written into it.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::query_tables::QueryTables;
use pando_kernel::route::Need;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, Query, QueryBody, Statement};
use pando_sql::{Edits, Span, Token, tokenize, visit};

use super::Apart;
use crate::plan::about::writing_unit;
use crate::plan::assemble::walk;
use crate::plan::numbering;
use crate::plan::parse::parsed;
use crate::plan::{Planned, apart};

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub struct TableOfQuery {
    /// The statement up to the table's name, and with it.
    pub(crate) head: String,
    /// The table as the statement names it.
    pub(crate) table: String,
    /// Columns and keys of the statement's own, or names for the query's columns, in parentheses; empty where it has
    /// none.
    pub(crate) elements: String,
    /// What stands between these and the query.
    pub(crate) options: String,
    /// The query.
    pub(crate) query: Arc<str>,
    /// The query as it gives no rows.
    pub(crate) empty: Arc<str>,
    /// The words in front of the table's name that write its rows.
    pub(crate) verb: &'static str,
    /// What becomes of the query's rows.
    pub(crate) rows: Rows,
    /// Its session alone has it.
    pub(crate) is_temporary: bool,
    /// What is made is a materialized view.
    pub(crate) is_materialized: bool,
}

/// What becomes of a query's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// They are the table's.
    Written,
    /// Nobody wants them: WITH NO DATA.
    Unwanted,
    /// IF NOT EXISTS has found a table.
    ForNobody,
}

/// Takes such a statement apart; `None` where it is none.
///
/// # Errors
/// `Refused` where a part of it cannot be kept.
pub(in crate::plan) fn take_apart(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<Apart<TableOfQuery>> {
    let Some((define, query)) = made_of_query(stmt) else { return Ok(Ok(None)) };
    let Some(own) = ctx
        .dialect
        .relations()
        .and_then(|own| own.query_tables())
        .filter(|_| ctx.dialect.transfer().is_some())
    else {
        return Ok(Ok(None));
    };
    let [name] = &define.names[..] else { return Ok(Ok(None)) };
    refuse_references(define)?;
    refuse_labels(define)?;
    let exists = match define.conditional {
        true => match found(ctx, stmt, define)? {
            Err(need) => return Ok(Err(need)),
            Ok(found) => found,
        },
        false => false,
    };
    let Ok(tokens) = tokenize(&stmt.text, ctx.dialect.syntax()) else { return Ok(Ok(None)) };
    let Some(cut) = Cut::of(&stmt.text, &tokens.list, name.span, query.span) else {
        return Ok(Ok(None));
    };
    let hint = stmt.hint_span.map_or("", |span| span.of(&stmt.text));
    let mut own_query = parsed(ctx, &format!("{hint}{}", cut.query.of(&stmt.text)))?;
    if let Some(text) = with_values(ctx, &own_query)? {
        own_query = parsed(ctx, &text)?;
    }
    let Kind::Select(read) = &own_query.kind else { return Ok(Ok(None)) };
    refuse_hidden(define, &own_query)?;
    if let Err(need) = are_told_as_stored(ctx, &own_query)? {
        return Ok(Err(need));
    }
    let options = cut.options.of(&stmt.text);
    let rows = match (exists, cut.has_data) {
        (true, _) => Rows::ForNobody,
        (false, true) => Rows::Written,
        (false, false) => Rows::Unwanted,
    };
    Ok(Ok(Some(TableOfQuery {
        head: head(stmt, &tokens.list, name.span, rows),
        table: name.span.of(&stmt.text).to_owned(),
        elements: cut.elements.map_or("", |span| span.of(&stmt.text)).to_owned(),
        options: options.to_owned(),
        empty: without_rows(own, &own_query, read),
        query: Arc::clone(&own_query.text),
        verb: match options.split_whitespace().next_back() {
            Some(word) if word.eq_ignore_ascii_case("REPLACE") => "REPLACE INTO",
            Some(word) if word.eq_ignore_ascii_case("IGNORE") => "INSERT IGNORE INTO",
            Some(_) | None => "INSERT INTO",
        },
        rows,
        is_temporary: pando_kernel::temporary::is_temporary(define),
        is_materialized: define.materialized,
    })))
}

/// The query with its parameters written as literals; `None` where it has none, or their values are not there yet.
///
/// # Errors
/// `Refused` where the type that a parameter was declared with would be a column's.
fn with_values(ctx: &Context<'_>, query: &Statement) -> Result<Option<String>> {
    let parameters = numbering::parameters(query);
    let mut items: Vec<Span> = Vec::new();
    let Kind::Select(read) = &query.kind else { return Ok(None) };
    selected(read, &mut items);
    let mut edits = Edits::default();
    for (span, index) in parameters {
        let is_item = items.iter().any(|item| item.start <= span.start && span.end <= item.end);
        let value = ctx.parameter(index);
        if is_item || matches!(value, Some(Value::Bytes(_))) {
            return Err(Error::unsupported(
                30001,
                "a parameter in the select list of CREATE TABLE … AS SELECT over several shards is not supported",
                "write the value into the query",
            ));
        }
        let Some(value) = value else { return Ok(None) };
        edits.replace(span, ctx.dialect.literal(value));
    }
    Ok((!edits.is_empty()).then(|| edits.apply(&query.text)))
}

/// The select lists of a query, and of those in its WITH and FROM.
fn selected(query: &Query, items: &mut Vec<Span>) {
    match &query.body {
        QueryBody::Values(_) => items.push(query.span),
        QueryBody::Set { left, right, .. } => {
            selected(left, items);
            selected(right, items);
        }
        QueryBody::Select(_) => {}
    }
    let mut selects = Vec::new();
    walk::selects(query, &mut selects);
    items.extend(selects.iter().map(|select| select.items_span));
}

/// A table, or materialized view, that is to be made of a query, and the query.
pub(in crate::plan) fn made_of_query(stmt: &Statement) -> Option<(&Define, &Query)> {
    let Kind::Define(define) = &stmt.kind else { return None };
    let is_one = define.action == DefineAction::Create
        && (define.object == ObjectKind::Table || define.materialized);
    define.query.as_deref().filter(|_| is_one).map(|query| (&**define, query))
}

/// Whether there is such a table already.
fn found(
    ctx: &Context<'_>,
    stmt: &Statement,
    define: &Define,
) -> Result<std::result::Result<bool, Need>> {
    let Some(name) = define.names.first() else { return Ok(Ok(false)) };
    if pando_kernel::temporary::is_temporary(define) {
        let own = super::temporary::concerned(ctx, stmt);
        return Ok(Ok(own.is_some_and(|own| own.is_one(name) && !own.is_lost(name))));
    }
    let key = name.key();
    Ok(ctx.catalog.columns(&key).map(|own| !own.is_empty()).ok_or(Need::Columns(key)))
}

/// A table with keys to others is no temporary one, by which its definition is found out.
fn refuse_references(define: &Define) -> Result<()> {
    if define.referenced.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "CREATE TABLE … AS SELECT with a key to another table is not supported over several shards",
        "add the key with ALTER TABLE",
    ))
}

/// The query that a materialized view is told to have has to name its columns.
fn refuse_labels(define: &Define) -> Result<()> {
    if !define.materialized || define.view_columns.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "a list of names for the columns of a materialized view over sharded tables is not supported",
        "name the columns in its query: SELECT a AS b",
    ))
}

/// Once a temporary table is there it hides the one of its name that its rows are to come from.
fn refuse_hidden(define: &Define, query: &Statement) -> Result<()> {
    let Some(name) = define.names.first() else { return Ok(()) };
    let key = name.key();
    let tables = visit::tables(&query.kind);
    if !pando_kernel::temporary::is_temporary(define)
        || tables.iter().all(|table| table.name.key() != key)
    {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        format!("temporary table `{key}` would hide the table that its rows come from"),
        "give it another name, and rename it then",
    ))
}

/// The types that the query's columns have must be those that their values have when they are written.
fn are_told_as_stored(
    ctx: &Context<'_>,
    query: &Statement,
) -> Result<std::result::Result<(), Need>> {
    if !ctx.database.turns_columns() {
        return Ok(Ok(()));
    }
    for table in visit::tables(&query.kind) {
        let key = table.name.key();
        if ctx.catalog.columns(&key).is_none() {
            return Ok(Err(Need::Columns(key)));
        }
        if ctx.catalog.logic(&key).is_some() {
            return Err(Error::unsupported(
                30001,
                format!(
                    "columns of `{key}` are told otherwise than they are stored, and so are not known to the server that makes a table of them"
                ),
                "write CREATE TABLE with the columns, then INSERT … SELECT",
            ));
        }
    }
    Ok(Ok(()))
}

/// Where the parts of the statement stand in its text.
struct Cut {
    elements: Option<Span>,
    options: Span,
    query: Span,
    has_data: bool,
}

impl Cut {
    /// `None` where they cannot be told apart.
    fn of(text: &str, tokens: &[Token], name: Span, query: Span) -> Option<Self> {
        let is = |token: &Token, word: &str| token.span.of(text).eq_ignore_ascii_case(word);
        let behind: Vec<&Token> =
            tokens.iter().filter(|token| token.span.start >= name.end).collect();
        // Brackets that the query itself stands in.
        let first = behind.iter().position(|token| token.span.start >= query.start)?;
        let mut begin = first;
        while begin > 0 && is(behind[begin - 1], "(") {
            begin -= 1;
        }
        let query_start = behind.get(begin)?.span.start;
        let has_as = begin > 0 && is(behind[begin - 1], "AS");
        let options_end = match has_as {
            true => behind.get(begin - 1)?.span.start,
            false => query_start,
        };
        let opens = begin > 0 && behind.first().is_some_and(|token| is(token, "("));
        let elements = match opens {
            true => Some(Span::new(behind.first()?.span.start, closing(text, &behind)?)),
            false => None,
        };
        let (end, has_data) = match &behind[..] {
            [.., with, no, data] if is(with, "WITH") && is(no, "NO") && is(data, "DATA") => {
                (with.span.start, false)
            }
            [.., with, data] if is(with, "WITH") && is(data, "DATA") => (with.span.start, true),
            [.., last] => (last.span.end, true),
            [] => return None,
        };
        let options_start = elements.map_or(name.end, |span| span.end);
        let options = Span::new(options_start, options_end.max(options_start));
        Some(Self { elements, options, query: Span::new(query_start, end), has_data })
    }
}

/// The end of the bracket that closes the first one.
fn closing(text: &str, tokens: &[&Token]) -> Option<u32> {
    let mut depth = 0u32;
    for token in tokens {
        match token.span.of(text) {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(token.span.end);
        }
    }
    None
}

/// The statement up to the table's name. Where no such table was found one that somebody makes meanwhile is in the way.
fn head(stmt: &Statement, tokens: &[Token], name: Span, rows: Rows) -> String {
    let front: Vec<&Token> = tokens.iter().filter(|token| token.span.end <= name.start).collect();
    let mut edits = Edits::default();
    if let [.., first, _, last] = &front[..]
        && rows != Rows::ForNobody
        && first.span.of(&stmt.text).eq_ignore_ascii_case("IF")
    {
        edits.replace(Span::new(first.span.start, last.span.end), "");
    }
    edits.apply(stmt.text.get(..name.end as usize).unwrap_or_default())
}

fn without_rows(own: &dyn QueryTables, stmt: &Statement, query: &Query) -> Arc<str> {
    let Some(limit) = own.without_rows() else { return Arc::clone(&stmt.text) };
    let mut edits = Edits::default();
    match &query.limit {
        Some(own) => edits.replace(own.span, limit),
        None => edits.replace(Span::at(query.span.end), format!(" {limit}")),
    }
    edits.apply(&stmt.text).into()
}

/// Plans a query over tables of which nothing but their columns matters; `None` where it names no table, and runs as it
/// is.
///
/// # Errors
/// `refusal` where that cannot be.
pub(crate) fn over_nothing(
    ctx: &Context<'_>,
    query: &Statement,
    refusal: Error,
) -> Result<Option<Planned>> {
    if visit::tables(&query.kind).is_empty() {
        return Ok(None);
    }
    apart(ctx, query, refusal).map(Some)
}

/// The unit that is asked what it would make of a query without tables.
pub(crate) fn probing_unit(ctx: &Context<'_>) -> Result<pando_kernel::UnitName> {
    writing_unit(ctx).ok_or_else(|| Error::internal("a database without storage units"))
}
