//! Materialized views over sharded tables: made, and filled with rows that were read over all shards.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::error::{Error, Result};
use pando_kernel::event::Completion;
use pando_kernel::row::Rows;
use pando_kernel::views::{LogicView, Refill};
use pando_sql::ast::{ObjectName, Statement};

use crate::plan;
use crate::plan::{Refilled, TableOfQuery};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::given::Given;
use crate::session::run::find_out;
use crate::session::steps::frame::{Step, Stepped};
use crate::session::steps::{frame, insert_select, probe};

/// REFRESH MATERIALIZED VIEW.
///
/// # Errors
/// What the units say, and `Memory` where the rows are too many; the view is as it was then.
pub(in crate::session) async fn start_refill(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    parts: &Refilled,
) -> Result<()> {
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = filled(session, live, &parts.name, &parts.text).await.map(|(stepped, _)| stepped);
    frame::end_steps(session, live, kept, stepped).await
}

/// The query whose rows REFRESH reads.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn query(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &Refilled,
) -> Result<Arc<str>> {
    let view = view_of(session, live, &parts.name).await?;
    Ok(Arc::clone(view.query.as_ref().map_err(Error::from)?))
}

/// Makes a materialized view of the query, on a unit that has a part of all that it is over, and fills it.
///
/// # Errors
/// What the units say, and what cannot be answered of the query.
pub(in crate::session) async fn made(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &TableOfQuery,
    name: &ObjectName,
    fills: Fills,
) -> Result<Stepped> {
    let found = probe::find_table(session, live, parts).await?;
    let query = refill(live)?.query(&parts.query, &found.columns, &found.types);
    let text = format!("{} {} AS {query} WITH NO DATA", parts.head, parts.options.trim());
    let limit = session.place.properties().memory_bytes;
    let answer = frame::write_step(session, live, &text.into(), &Given::default(), limit).await?;
    if fills == Fills::Nothing {
        let completion =
            Completion { tag: "CREATE MATERIALIZED VIEW".into(), ..Completion::default() };
        return Ok(Stepped { told: answer.notices, completion, key: 0 });
    }
    let text: Arc<str> = format!("REFRESH MATERIALIZED VIEW {}", parts.table).into();
    let (stepped, rows) = Box::pin(filled(session, live, name, &text)).await?;
    let completion =
        Completion { tag: "SELECT".into(), affected: Some(rows), ..Completion::default() };
    Ok(Stepped { completion, ..stepped }.after(answer.notices))
}

/// Whether a view that was made gets its rows at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Fills {
    All,
    Nothing,
}

fn refill(live: &LiveDatabase) -> Result<&dyn Refill> {
    let own = live.database.dialect.views().and_then(|texts| texts.refill());
    own.ok_or_else(|| Error::internal("no materialized views"))
}

/// Reads the rows of the view's query, and lets its server take them. How many rows there were, too.
async fn filled(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    name: &ObjectName,
    text: &Arc<str>,
) -> Result<(Stepped, u64)> {
    let view = view_of(session, live, name).await?;
    let query = view.query.as_ref().map_err(Error::from)?;
    let limit = session.place.properties().memory_bytes;
    let (mut rows, mut count) = (String::new(), 0);
    let own = refill(live)?;
    let mut take = |columns: &Columns, read: Option<&Rows>| {
        insert_select::each_row(columns, read, |fields| {
            let cells: Result<Vec<Option<&str>>> = fields
                .iter()
                .map(|field| field.as_ref().map(|field| text_of(field.bytes)).transpose())
                .collect();
            own.push(&mut rows, &cells?);
            count += 1;
            if rows.len() > limit { Err(crate::execute::too_much(limit)) } else { Ok(()) }
        })
    };
    let told = frame::read_step(session, live, query, Given::default(), &mut take).await?;
    // The connection that will fill the view belongs to the transaction from here on.
    let step = Step { live, text: "SELECT 1", unit: &view.unit };
    frame::read_step_at(session, step, Given::default(), &mut |_, _| Ok(())).await?;
    ask::ask(session, live, &view.unit, &own.given(&rows)).await?;
    drop(rows);
    let answer = frame::write_step(session, live, text, &Given::default(), limit).await?;
    ask::ask(session, live, &view.unit, &own.given("")).await?;
    let completion = answer.completion;
    Ok((Stepped { told: answer.notices, completion, key: 0 }.after(told), count))
}

/// The view as its server tells it.
async fn view_of(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    name: &ObjectName,
) -> Result<LogicView> {
    let found = find_out::find_out_until(session, live, None, |ctx| {
        Ok(match ctx.catalog.views() {
            Some(views) => Ok(plan::materialized(ctx, &views, name).cloned()),
            None => Err(pando_kernel::route::Need::Tables),
        })
    });
    let view = Box::pin(found).await?;
    view.ok_or_else(|| Error::internal("a materialized view whose query is not told"))
}

fn text_of(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::protocol("a text that is no UTF-8"))
}
