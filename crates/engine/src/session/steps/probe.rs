//! What table a server would make of a query: one makes it over tables without rows, on a connection that forgets it
//! afterwards.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, SessionView};
use pando_kernel::query_tables::{Probed, QueryTables, Wanted};
use pando_kernel::relation::{Carried, Inline, Stands};
use pando_kernel::route::UnitName;
use pando_kernel::row::Rows;

use crate::handle::Manner;
use crate::plan;
use crate::plan::{Assembly, Planned, Purpose, TableOfQuery, Typed};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{ask, dress, release};
use crate::session::given::Given;
use crate::session::run::{context, find_out};
use crate::session::steps::{frame, insert_select};

/// What is found out about a table that is to be made.
#[derive(Debug)]
pub(in crate::session) struct Found {
    /// What stands behind its name in CREATE TABLE.
    pub(in crate::session) body: String,
    /// The columns that the query's rows go into, quoted.
    pub(in crate::session) columns: Vec<String>,
    /// Their types as a cast names them, where the family has materialized views.
    pub(in crate::session) types: Vec<String>,
}

/// What a unit is to make of a query without rows.
struct Probe {
    unit: UnitName,
    /// What it makes before.
    before: Vec<String>,
    query: Arc<str>,
}

/// Finds out what table the query would make.
///
/// # Errors
/// What the server says of the statement, and what cannot be answered of its query.
pub(in crate::session) async fn find_table(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &TableOfQuery,
) -> Result<Found> {
    let dialect = Arc::clone(&live.database.dialect);
    let own = query_tables(dialect.as_ref())?;
    let probe = prepare(session, live, own, parts).await?;
    let wanted = Wanted { elements: &parts.elements, options: &parts.options, query: &probe.query };
    // Names in brackets are the query's columns; columns with types stand beside these.
    let alone = Wanted { elements: "", options: "", ..wanted };
    let are_more = !parts.elements.is_empty() && own.without_rows().is_some();
    let mut ways = vec![wanted];
    ways.extend(are_more.then_some(alone));
    let mut made = probed(session, live, &probe, &ways).await?.into_iter();
    let whole = made.next().ok_or_else(|| Error::internal("a table that was not made"))?;
    let types = whole.types;
    let columns = match made.next() {
        None => whole.columns,
        // Those that only the statement names come first.
        Some(alone) => {
            let more = whole.columns.len().saturating_sub(alone.columns.len());
            whole.columns.into_iter().skip(more).collect()
        }
    };
    Ok(Found { body: whole.body, columns, types })
}

/// How the family's servers tell what they would make.
///
/// # Errors
/// `Internal` where they do not.
pub(in crate::session) fn query_tables(dialect: &dyn Dialect) -> Result<&dyn QueryTables> {
    let own = dialect.relations().and_then(|own| own.query_tables());
    own.ok_or_else(|| Error::internal("tables of no query"))
}

/// The query over tables without rows.
async fn prepare(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    own: &dyn QueryTables,
    parts: &TableOfQuery,
) -> Result<Probe> {
    let dialect = Arc::clone(&live.database.dialect);
    let query = pando_sql::parse(&parts.empty, dialect.syntax()).map_err(plan::unread)?;
    let refused = || {
        Error::unsupported(
            30001,
            "what table this query makes cannot be found out over several shards",
            "write CREATE TABLE with the columns, then INSERT … SELECT",
        )
    };
    let planned = find_out::find_out_until(session, live, None, |ctx| {
        let Some(planned) = plan::over_nothing(ctx, &query, refused())? else {
            return plan::probing_unit(ctx).map(|unit| Ok(Err(unit)));
        };
        Ok(planned.known().map(Ok))
    });
    let assembly = match planned.await? {
        Err(unit) => {
            return Ok(Probe { unit, before: Vec::new(), query: Arc::clone(&parts.empty) });
        }
        Ok(Planned::Assembly(assembly)) => assembly,
        Ok(Planned::Run(_) | Planned::Steps(_) | Planned::Needs(_)) => return Err(refused()),
    };
    let tables = twins(session, live, own, &assembly).await?;
    let finished = context::in_context(session, live, None, |ctx| {
        let session = SessionView { probes: true, ..ctx.session.clone() };
        assembly.finish(&Context { session: &session, ..*ctx }, &tables, Purpose::Run)
    });
    let Planned::Run(plan) = finished? else { return Err(refused()) };
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    Ok(Probe {
        unit: Arc::clone(&unit.target.unit),
        before: plan.before.iter().map(|text| text.to_string()).collect(),
        query: Arc::clone(&unit.sql),
    })
}

/// A table without rows for each place of one in the query.
async fn twins(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    own: &dyn QueryTables,
    assembly: &Assembly,
) -> Result<Vec<Inline>> {
    let dialect = Arc::clone(&live.database.dialect);
    let mut definitions = Vec::new();
    for read in &assembly.reads {
        definitions.push(match own.definitions().definition_of(&read.table) {
            Some(text) => Some(definition(session, live, &text).await?),
            None => None,
        });
    }
    let mut twins = Vec::new();
    for (place, read) in assembly.tables().enumerate() {
        let definition = definitions.get(read).and_then(Option::as_deref);
        let twin = definition.and_then(|definition| own.definitions().twin(place, definition));
        let columns = assembly.reads.get(read).map_or(&[][..], |read| &read.columns);
        twins.push(match twin {
            Some(twin) => twin,
            None => typed(dialect.as_ref(), place, columns)?,
        });
    }
    Ok(twins)
}

/// A table without rows that has columns of these types.
fn typed(dialect: &dyn Dialect, place: usize, columns: &[Typed]) -> Result<Inline> {
    let relations =
        dialect.relations().ok_or_else(|| Error::internal("rows that cannot travel"))?;
    let known = |typed: &Typed| match typed {
        Typed::Known(carried) => Some(carried.clone()),
        Typed::AsRead { .. } => None,
    };
    let columns: Vec<Carried> = columns.iter().filter_map(known).collect();
    Ok(relations.begin(place, &columns).finish(Stands::Apart))
}

/// The second column of a statement's one row.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn definition(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    text: &str,
) -> Result<String> {
    let mut told = String::new();
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        insert_select::each_row(columns, rows, |fields| {
            if let Some(Some(field)) = fields.get(1) {
                told = String::from_utf8_lossy(field.bytes).into_owned();
            }
            Ok(())
        })
    };
    frame::read_step(session, live, text, Given::default(), &mut take).await?;
    Ok(told)
}

/// Lets the unit make a table in each of these ways, one after the other.
async fn probed(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    probe: &Probe,
    ways: &[Wanted<'_>],
) -> Result<Vec<Probed>> {
    let mut connection = session.place.take(live.pool(&probe.unit)?).await?;
    // It has tables then of which nobody may hear.
    connection.spoil();
    let made = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => probed_on(session, live, &mut connection, probe, ways).await,
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    made
}

async fn probed_on(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    connection: &mut pando_pool::Connection,
    probe: &Probe,
    ways: &[Wanted<'_>],
) -> Result<Vec<Probed>> {
    let dialect = Arc::clone(&live.database.dialect);
    let own = query_tables(dialect.as_ref())?;
    let replies = dress::dress(session, live, connection)?;
    dress::await_dress(session, connection, replies).await?;
    for text in &probe.before {
        ask::answer(connection, text).await?;
    }
    let mut found = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        if number > 0 {
            let drop = format!("DROP TEMPORARY TABLE {}", pando_kernel::query_tables::PROBE);
            ask::answer(connection, &drop).await?;
        }
        ask::answer(connection, &own.probe(way)).await?;
        let rows = ask::answer(connection, &own.probed_query()).await?;
        found.push(own.probed(way, &rows)?);
    }
    Ok(found)
}
