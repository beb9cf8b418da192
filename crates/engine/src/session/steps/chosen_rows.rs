//! UPDATE and DELETE whose rows are chosen by a query with a LIMIT or a lock: the query's rows are read first, then the
//! change runs with their values.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Description;
use pando_kernel::request::Prepared;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Native};
use pando_sql::ast::Statement;

use crate::execute::too_much;
use crate::plan::{Answer, Choice, ChosenRows, Planned, Purpose, taken, unread as syntax_error};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::{describe, planning};
use crate::session::steps::frame;
use crate::session::steps::frame::Stepped;
use crate::session::steps::insert_select::{each_row, note, prepared};

/// Runs the statement.
pub(in crate::session) async fn start_chosen_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    parts: &ChosenRows,
) -> Result<()> {
    if parts.returns && session.outbox.is_limited() {
        return Err(Error::unsupported(
            20034,
            "the rows of RETURNING come at once where a query over several shards chooses what is changed",
            "execute it without a row limit",
        ));
    }
    let changing = changing(live, given, parts);
    change_is_fit(session, live, parts, &changing).await?;
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = chosen_rows_steps(session, live, given, &changing, parts).await;
    frame::end_steps(session, live, kept, stepped).await
}

/// Refuses what no row could change, before the first is read.
async fn change_is_fit(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &ChosenRows,
    changing: &Given,
) -> Result<()> {
    let unknown: Vec<String> = parts.choices.iter().map(Choice::unknown).collect();
    let text = parts.change(&unknown);
    let stmt = pando_sql::parse(&text, live.database.dialect.syntax()).map_err(syntax_error)?;
    match Box::pin(planning::planned(session, live, &stmt, changing, Purpose::Run)).await? {
        Planned::Run(_) | Planned::Assembly(_) => Ok(()),
        Planned::Steps(found) => Err(found.refusal),
        Planned::Needs(_) => Err(Error::internal("planning asks for what is known")),
    }
}

async fn chosen_rows_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    changing: &Given,
    parts: &ChosenRows,
) -> Result<Stepped> {
    let mut left = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let placeholder = dialect.syntax().placeholder;
    let (mut answers, mut told) = (Vec::new(), Vec::new());
    for choice in &parts.choices {
        let most = session.place.properties().memory_bytes;
        let mut answer = Answer::new(choice, dialect.as_ref());
        let mut take = |columns: &Columns, rows: Option<&Rows>| {
            if rows.is_none() {
                return answer.columns(columns);
            }
            each_row(columns, rows, |fields| {
                answer.row(fields)?;
                if answer.size() > left { Err(too_much(most)) } else { Ok(()) }
            })
        };
        let reading = given.part(placeholder, &choice.read_parameters, Vec::new());
        told.extend(frame::read_choice(session, live, &choice.read, reading, &mut take).await?);
        left = left.saturating_sub(answer.size());
        answers.push(answer.finish());
    }
    let change = std::iter::once(parts.change(&answers));
    let changed = frame::write_steps(session, live, change, changing, left).await?;
    Ok(changed.after(told))
}

/// What such a prepared statement takes and returns: its queries and its change are described one by one.
pub(in crate::session) async fn describe_chosen_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    asked: &Arc<Prepared>,
    parts: &ChosenRows,
) -> Result<Description> {
    let dialect = Arc::clone(&live.database.dialect);
    let syntax = dialect.syntax();
    let declared = |own: &[u32]| taken(syntax.placeholder, &asked.declared, own);
    let mut parameters = vec![Native::default(); asked.statement.parameters as usize];
    let mut answers = Vec::new();
    for choice in &parts.choices {
        let own = &choice.read_parameters;
        let read = prepared(Arc::clone(&choice.read), syntax, declared(own))?;
        let read = Box::pin(describe::describe_as_one(session, &read)).await?;
        note(&mut parameters, syntax.placeholder, own, &read.parameters);
        let columns = read.columns.map(|columns| columns.list);
        answers.push(choice.described(dialect.as_ref(), columns.as_deref().unwrap_or(&[]))?);
    }
    let own = &parts.change_parameters;
    let change = prepared(parts.change(&answers), syntax, declared(own))?;
    let change = Box::pin(describe::describe_as_one(session, &change)).await?;
    note(&mut parameters, syntax.placeholder, own, &change.parameters);
    Ok(Description { parameters, columns: change.columns })
}

/// What the change takes.
fn changing(live: &LiveDatabase, given: &Given, parts: &ChosenRows) -> Given {
    let prepared = !parts.change_parameters.is_empty() || parts.returns && given.prepared;
    if !prepared {
        return Given::default();
    }
    let placeholder = live.database.dialect.syntax().placeholder;
    given.part(placeholder, &parts.change_parameters, given.formats.clone())
}
