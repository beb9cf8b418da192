//! CREATE TABLE … AS EXECUTE: the same as of the query that was prepared.
//! <https://www.postgresql.org/docs/current/sql-createtableas.html>

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, Statement};
use pando_sql::{Span, tokenize};

use crate::plan;

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::statement::instead::Instead;
use crate::session::statement::named;

/// What is run in the place of such a definition; `None` for all others.
///
/// # Errors
/// `UnknownStatement`, and what is wrong with the arguments; where it was no query that was prepared, as one server's.
pub(in crate::session) async fn instead(
    session: &mut Session,
    stmt: &Statement,
    define: &Define,
) -> Result<Option<Instead>> {
    let Some(execute) = cut(session, stmt, define) else { return Ok(None) };
    session.work.refuse_if_failed()?;
    let syntax = session.place.syntax()?;
    let text = execute.of(&stmt.text);
    let called = pando_sql::parse(text, syntax).map_err(plan::unread)?;
    let Kind::Execute { name, arguments } = &called.kind else { return Ok(None) };
    let own = named::execute_named(session, &name.value, arguments, text).await?;
    let Kind::Select(query) = &own.stmt.kind else { return Err(no_query()) };
    let before = stmt.text.get(..execute.start as usize).unwrap_or("");
    let behind = stmt.text.get(execute.end as usize..).unwrap_or("");
    let text = format!("{before}{}{behind}", query.span.of(&own.stmt.text));
    let other = pando_sql::parse(&text, syntax).map_err(plan::unread)?;
    Ok(Some(Instead { stmt: Arc::new(other), ..own }))
}

/// `EXECUTE name [(…)]` behind AS, without what says whether the rows are wanted.
fn cut(session: &Session, stmt: &Statement, define: &Define) -> Option<Span> {
    let makes = define.action == DefineAction::Create && define.object == ObjectKind::Table;
    let name = define.names.first().filter(|_| makes && define.query.is_none())?;
    let syntax = session.place.syntax().ok().filter(|syntax| syntax.dollar_strings)?;
    let tokens = tokenize(&stmt.text, syntax).ok()?.list;
    let is = |at: usize, word: &str| {
        let span = tokens.get(at).map(|token| token.span);
        span.is_some_and(|span| span.of(&stmt.text).eq_ignore_ascii_case(word))
    };
    let first = tokens.iter().position(|token| token.span.start >= name.span.end)?;
    let at = (first..tokens.len()).find(|at| is(*at, "as") && is(at + 1, "execute"))? + 1;
    let count = tokens.iter().take_while(|token| !token.span.of(&stmt.text).is_empty()).count();
    let ends = |words: &[&str]| {
        let start = count.checked_sub(words.len())?;
        words.iter().enumerate().all(|(next, word)| is(start + next, word)).then_some(start)
    };
    let end = ends(&["with", "no", "data"]).or_else(|| ends(&["with", "data"])).unwrap_or(count);
    let last = tokens.get(end.checked_sub(1)?)?;
    (end > at + 1).then(|| Span::new(tokens[at].span.start, last.span.end))
}

fn no_query() -> Error {
    server_error(0, "42809", "prepared statement is not a SELECT")
}
