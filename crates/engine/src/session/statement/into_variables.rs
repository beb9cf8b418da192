//! SELECT … INTO user variables: the query runs as any other, and its one row is the session's.

use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_kernel::event::Completion;
use pando_sql::ast::{Kind, Query, QueryBody, Select, Statement};
use pando_sql::{Edits, Span};

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::reply::warnings;
use crate::session::statement::answer::{Answer, answer};

/// A query that gives its row to variables.
#[derive(Debug)]
struct Into {
    /// Where it says so.
    span: Span,
    /// The variables, in order.
    names: Vec<String>,
}

/// Answers SELECT … INTO user variables; false for any other query.
///
/// # Errors
/// As servers say: other numbers of columns and variables, and several rows, of which the first is kept all the same.
/// What the query says.
pub(in crate::session) async fn select_into(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<bool> {
    let Some(into) = into_of(stmt) else { return Ok(false) };
    session.work.refuse_if_failed()?;
    let Some(dialect) = session.place.dialect() else { return Ok(false) };
    let query = without(session, stmt, &into)?;
    let Answer { columns, rows } = answer(session, &query, given.clone(), 1).await?;
    if columns != into.names.len() {
        let message = "The used SELECT statements have a different number of columns";
        return Err(server_error(1222, "21000", message));
    }
    if let Some(row) = rows.first() {
        let literal = |value: &Value| dialect.literal(value);
        let list = into.names.into_iter().zip(row.iter().map(literal)).collect();
        session.settings.are_set(list)?;
    }
    if rows.len() > 1 {
        return Err(server_error(1172, "42000", "Result consisted of more than one row"));
    }
    let told = u16::from(rows.is_empty());
    if rows.is_empty() {
        let message = "No data - zero rows fetched, selected, or processed";
        warnings::note(session, 1329, message);
    }
    session.place.counts_rows(if rows.is_empty() { -1 } else { 1 });
    session.place.facts_mut().found_rows = rows.len() as u64;
    session.outbox.complete(Completion {
        tag: "SELECT".into(),
        affected: Some(rows.len() as u64),
        warnings: told,
        ..Completion::default()
    });
    Ok(true)
}

/// The query that such a statement asks for, where it is one.
///
/// # Errors
/// None that a client could cause.
pub(in crate::session) fn query_of(
    session: &Session,
    stmt: &Statement,
) -> Result<Option<Statement>> {
    into_of(stmt).map(|into| without(session, stmt, &into)).transpose()
}

fn without(session: &Session, stmt: &Statement, into: &Into) -> Result<Statement> {
    let mut edits = Edits::default();
    edits.replace(into.span, " ");
    let text = edits.apply(&stmt.text);
    let mut query =
        pando_sql::parse(text.trim_end(), session.place.syntax()?).map_err(crate::plan::unread)?;
    query.hints.clone_from(&stmt.hints);
    Ok(query)
}

/// The query at the end of which INTO stands.
fn last(query: &Query) -> Option<&Select> {
    match &query.body {
        QueryBody::Select(select) => Some(select),
        QueryBody::Set { right, .. } => last(right),
        QueryBody::Values(_) => None,
    }
}

/// Variables whose names need no quotes.
fn into_of(stmt: &Statement) -> Option<Into> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let span = last(query)?.into?;
    let text = span.of(&stmt.text);
    let list = text.get(4..).filter(|_| text[..4].eq_ignore_ascii_case("into"))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let name = |one: &str| {
        let name = one.trim().strip_prefix('@')?;
        let is_name = !name.is_empty() && name.chars().all(is_plain);
        is_name.then(|| format!("@{}", name.to_ascii_lowercase()))
    };
    let names = list.split(',').map(name).collect::<Option<Vec<_>>>()?;
    Some(Into { span, names })
}
