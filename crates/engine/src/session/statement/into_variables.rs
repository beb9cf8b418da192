//! SELECT … INTO user variables. Where one storage unit has the row, it sets them itself, and they are read off its
//! connection; else the query runs as any other, and its one row is the session's.

use pando_kernel::error::Result;
use pando_kernel::event::Completion;
use pando_sql::ast::{Kind, Statement};
use pando_sql::{Edits, Span};

use crate::plan;
use crate::plan::{Planned, Purpose};

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::reply::warnings;
use crate::session::run::planning;
use crate::session::statement::answer::{Answer, answer};
use crate::session::statement::row_values;

/// A query that gives its row to variables.
#[derive(Debug)]
struct Into {
    /// Where it says so.
    span: Span,
    /// The variables, in order.
    names: Vec<String>,
}

/// Answers SELECT … INTO user variables from several places; false for any other query.
///
/// # Errors
/// As servers say: other numbers of columns and variables, and several rows, of which the first is kept all the same.
/// What the query says.
pub(in crate::session) async fn select_into(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<bool> {
    let Some(into) = into_of(session, stmt)? else { return Ok(false) };
    session.work.refuse_if_failed()?;
    let query = without(session, stmt, &into)?;
    if is_of_one(session, &query, given).await {
        return Ok(false);
    }
    let Answer { columns, rows } = answer(session, &query, given.clone(), 1).await?;
    if columns.len() != into.names.len() {
        let message = "The used SELECT statements have a different number of columns";
        return Err(server_error(1222, "21000", message));
    }
    if let Some(row) = rows.first() {
        let kept = row_values::kept(session, &query, &columns, row).await?;
        session.settings.are_set(into.names.into_iter().zip(kept).collect())?;
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

/// Whether one storage unit answers a query, without anything being read before.
async fn is_of_one(session: &mut Session, query: &Statement, given: &Given) -> bool {
    let Ok(live) = session.place.live() else { return false };
    let planned = planning::planned(session, &live, query, given, Purpose::Run);
    match Box::pin(planned).await {
        Ok(Planned::Run(plan)) => plan.units.len() == 1 && plan.before.is_empty(),
        // What is refused is so when the query runs.
        Ok(Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_)) | Err(_) => false,
    }
}

/// The query that such a statement asks for, where it is one.
///
/// # Errors
/// None that a client could cause.
pub(in crate::session) fn query_of(
    session: &Session,
    stmt: &Statement,
) -> Result<Option<Statement>> {
    into_of(session, stmt)?.map(|into| without(session, stmt, &into)).transpose()
}

fn without(session: &Session, stmt: &Statement, into: &Into) -> Result<Statement> {
    let mut edits = Edits::default();
    edits.replace(into.span, " ");
    let text = edits.apply(&stmt.text);
    let mut query =
        pando_sql::parse(text.trim_end(), session.place.syntax()?).map_err(plan::unread)?;
    query.hints.clone_from(&stmt.hints);
    Ok(query)
}

fn into_of(session: &Session, stmt: &Statement) -> Result<Option<Into>> {
    let Kind::Select(query) = &stmt.kind else { return Ok(None) };
    let Some(span) = plan::into_of(query) else { return Ok(None) };
    let names = plan::given_to(query, &stmt.text, session.place.syntax()?);
    Ok((!names.is_empty()).then_some(Into { span, names }))
}
