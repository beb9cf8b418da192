//! SELECT … INTO a table: the same as CREATE TABLE … AS.
//! <https://www.postgresql.org/docs/current/sql-selectinto.html>

use std::sync::Arc;

use pando_kernel::Dialect;
use pando_kernel::error::Result;
use pando_sql::ast::{Kind, Query, QueryBody, Statement};
use pando_sql::{Edits, Span, tokenize};

use crate::plan;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::statement::instead::{Becomes, Instead};

/// Words in front of the table's name that say what kind of table it is.
const KINDS: [&str; 3] = ["TEMP", "TEMPORARY", "UNLOGGED"];

/// Whether a query says INTO.
pub(in crate::session) fn is_meant(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Select(query) if into(query).is_some())
}

/// What is run in the place of such a query; `None` for all others.
///
/// # Errors
/// What reading it anew says.
pub(in crate::session) fn instead(
    session: &Session,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Instead>> {
    if !is_meant(stmt) {
        return Ok(None);
    }
    let Some(dialect) = session.place.dialect() else { return Ok(None) };
    let other = definition(dialect.as_ref(), stmt)?;
    Ok(other.map(|stmt| Instead {
        stmt,
        given: given.clone(),
        settings: Vec::new(),
        reply: Becomes::Reply,
    }))
}

/// The statement that such a query stands for; `None` for all others.
///
/// # Errors
/// What reading it anew says.
pub(in crate::session) fn definition(
    dialect: &dyn Dialect,
    stmt: &Statement,
) -> Result<Option<Arc<Statement>>> {
    let Kind::Select(query) = &stmt.kind else { return Ok(None) };
    let Some(into) = into(query) else { return Ok(None) };
    if !dialect.relations().and_then(|own| own.query_tables()).is_some_and(|own| own.selects_into())
    {
        return Ok(None);
    }
    let text = into.of(&stmt.text);
    let Ok(tokens) = tokenize(text, dialect.syntax()) else { return Ok(None) };
    let mut words = tokens.list.iter().skip(1).map(|token| token.span).peekable();
    let is = |span: &Span, word: &str| span.of(text).eq_ignore_ascii_case(word);
    let kind = words.next_if(|span| KINDS.iter().any(|kind| is(span, kind)));
    words.next_if(|span| is(span, "TABLE"));
    let Some(name) = words.next().and_then(|span| text.get(span.start as usize..)) else {
        return Ok(None);
    };
    let kind = kind.map_or("", |span| span.of(text));
    let hint = stmt.hint_span.map_or("", |span| span.of(&stmt.text));
    let mut edits = Edits::default();
    edits.replace(into, "");
    if let Some(hint) = stmt.hint_span {
        edits.replace(hint, "");
    }
    let query = edits.apply(&stmt.text);
    let text = format!("{hint}CREATE {kind} TABLE {name} AS {query}");
    pando_sql::parse(&text, dialect.syntax()).map_err(plan::unread).map(Arc::new).map(Some)
}

/// The clause stands in the first SELECT of a query.
fn into(query: &Query) -> Option<Span> {
    match &query.body {
        QueryBody::Select(select) => select.into,
        QueryBody::Set { left, .. } => into(left),
        QueryBody::Values(_) => None,
    }
}
