//! UPDATE and DELETE whose rows are chosen by a query with a LIMIT or a lock: the query's rows are read first, then the change runs with their values.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::{Description, Event};
use pando_kernel::request::Prepared;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Native};
use pando_sql::ast::Statement;

use crate::execute::too_much;
use crate::plan;
use crate::plan::{Answer, Choice, Chosen, Planned, Purpose, taken, unread as syntax_error};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{Given, MAX_NEEDS};
use crate::session::statement::prepare;
use crate::session::steps::frame;
use crate::session::steps::frame::Stepped;
use crate::session::steps::insert_select::{each_row, note, prepared};

/// Runs the statement; the refusal stands where its queries cannot be asked by themselves.
pub(in crate::session) async fn start_chosen(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<()> {
    let Some(parts) = chosen_of(session, live, stmt).await? else { return Err(refusal) };
    if parts.returns && session.outbox.is_limited() {
        return Err(Error::unsupported(
            20034,
            "the rows of RETURNING come at once where a query over several shards chooses what is changed",
            "execute it without a row limit",
        ));
    }
    if let Some(relations) = live.database.dialect.relations() {
        relations.check(session.settings.variables().list())?;
    }
    let changing = changing(live, given, &parts);
    change_is_fit(session, live, &parts, &changing).await?;
    let syntax = live.database.dialect.syntax();
    let reads = parts.choices.iter().map(|choice| pando_sql::parse(&choice.read, syntax));
    let reads = reads.collect::<std::result::Result<Vec<_>, _>>().map_err(syntax_error)?;
    let kept = frame::begin_steps(session, live).await?;
    let stepped = chosen_steps(
        session,
        live,
        Choosing { given, changing: &changing, parts: &parts, reads: &reads },
    )
    .await;
    frame::end_steps(
        session,
        live,
        kept,
        stepped,
        crate::session::reply::command_tag::tag(&stmt.kind),
    )
    .await
}

pub(in crate::session) async fn chosen_of(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<Option<Chosen>> {
    for _ in 0..MAX_NEEDS {
        match session.in_context(live, None, |ctx| plan::chosen(ctx, stmt))? {
            Ok(parts) => return Ok(parts),
            Err(need) => session.find_out(live, need).await?,
        }
    }
    Err(Error::internal("planning asks for ever more"))
}

/// Refuses what no row could change, before the first is read.
async fn change_is_fit(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &Chosen,
    changing: &Given,
) -> Result<()> {
    let unknown: Vec<String> = parts.choices.iter().map(Choice::unknown).collect();
    let text = parts.change(&unknown);
    let stmt = pando_sql::parse(&text, live.database.dialect.syntax()).map_err(syntax_error)?;
    match Box::pin(session.planned(live, &stmt, changing, Purpose::Run)).await? {
        Planned::Plan(_) | Planned::Assembly(_) => Ok(()),
        Planned::Needs(_) => Err(Error::internal("planning asks for what is known")),
    }
}

/// A change, and the queries that choose its rows.
struct Choosing<'a> {
    given: &'a Given,
    /// What of it the change is given.
    changing: &'a Given,
    parts: &'a Chosen,
    /// One for each of its choices, in their order.
    reads: &'a [Statement],
}

async fn chosen_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    choosing: Choosing<'_>,
) -> Result<Stepped> {
    let Choosing { given, changing, parts, reads } = choosing;
    let mut left = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let placeholder = dialect.syntax().placeholder;
    let (mut answers, mut stepped) = (Vec::new(), Stepped::default());
    for (choice, read) in parts.choices.iter().zip(reads) {
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
        stepped.told.extend(frame::read_step(session, read, reading, &mut take).await?);
        left = left.saturating_sub(answer.size());
        answers.push(answer.finish());
    }
    let changed = frame::write_step(session, live, &parts.change(&answers), changing, left).await?;
    stepped.told.extend(changed.notices);
    stepped.told.extend(changed.columns.map(Event::Columns));
    stepped.told.extend(changed.rows.into_iter().map(Event::Rows));
    stepped.completion = changed.completion;
    stepped.completion.more = false;
    stepped.completion.affected.get_or_insert(0);
    Ok(stepped)
}

/// What such a prepared statement takes and returns: its queries and its change are described one by one.
pub(in crate::session) async fn describe_chosen(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    asked: &Arc<Prepared>,
    refusal: Error,
) -> Result<Description> {
    let stmt = Arc::clone(&asked.statement);
    let Some(parts) = chosen_of(session, live, &stmt).await? else { return Err(refusal) };
    let dialect = Arc::clone(&live.database.dialect);
    let syntax = dialect.syntax();
    let declared = |own: &[u32]| taken(syntax.placeholder, &asked.declared, own);
    let mut parameters = vec![Native::default(); stmt.parameters as usize];
    let mut answers = Vec::new();
    for choice in &parts.choices {
        let own = &choice.read_parameters;
        let read = prepared(Arc::clone(&choice.read), syntax, declared(own))?;
        let read = Box::pin(prepare::describe_on_unit(session, &read)).await?;
        note(&mut parameters, syntax.placeholder, own, &read.parameters);
        let columns = read.columns.map(|columns| columns.list);
        answers.push(choice.described(dialect.as_ref(), columns.as_deref().unwrap_or(&[]))?);
    }
    let own = &parts.change_parameters;
    let change = prepared(parts.change(&answers), syntax, declared(own))?;
    let change = Box::pin(prepare::describe_on_unit(session, &change)).await?;
    note(&mut parameters, syntax.placeholder, own, &change.parameters);
    Ok(Description { parameters, columns: change.columns })
}

/// What the change takes.
fn changing(live: &LiveDatabase, given: &Given, parts: &Chosen) -> Given {
    let prepared = !parts.change_parameters.is_empty() || parts.returns && given.prepared;
    if !prepared {
        return Given::default();
    }
    let placeholder = live.database.dialect.syntax().placeholder;
    given.part(placeholder, &parts.change_parameters, given.formats.clone())
}
