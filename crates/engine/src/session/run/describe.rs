//! What a prepared statement takes and returns, as a storage unit tells it.

use std::future::poll_fn;
use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, Result};
use pando_kernel::event::{Description, Event};
use pando_kernel::request::Prepared;
use pando_kernel::route::UnitName;
use pando_kernel::{Columns, Native};

use crate::execute::{Channel, Renumbering};
use crate::plan;
use crate::plan::{InSteps, Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{lend, release};
use crate::session::cursors::settle;
use crate::session::given::{Aim, Given, Run};
use crate::session::place::own_database;
use crate::session::reply::logic_names::{Origin, Teller};
use crate::session::reply::turned_rows::{native as told_as, turned_columns};
use crate::session::run::ready::Ready;
use crate::session::run::template::moment;
use crate::session::run::{oids, ready, without_units};
use crate::session::transaction::temporary::look;

/// What there is to be said of a prepared statement.
#[derive(Debug)]
pub(in crate::session) enum Described {
    Whole(Description),
    /// It would run in these steps, which are described one by one.
    InSteps(Box<InSteps>),
}

/// As [`describe`], of a statement that runs as one.
///
/// # Errors
/// As [`describe`]; `Refused` for one that would run in steps.
pub(in crate::session) async fn describe_as_one(
    session: &mut Session,
    prepared: &Arc<Prepared>,
) -> Result<Description> {
    match describe(session, prepared).await? {
        Described::Whole(description) => Ok(description),
        Described::InSteps(found) => Err(found.refusal),
    }
}

/// Lets a storage unit describe the statement as it would run on the first target.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn describe(
    session: &mut Session,
    prepared: &Arc<Prepared>,
) -> Result<Described> {
    own_database::refuse_without_database(session, &prepared.statement)?;
    let live = session.place.live()?;
    if !live.has_units() {
        let described = without_units::describe_alone(session, &prepared.statement);
        return described.map(Described::Whole);
    }
    settle::settle_cursors(session).await?;
    session.work.leaves_environment();
    let stmt = Arc::clone(&prepared.statement);
    Box::pin(look::look_at_temporaries(session, &live, &stmt)).await?;
    let plan =
        match ready::ready(session, &live, &stmt, &Given::default(), Purpose::Describe).await? {
            Ready::Run(plan) => *plan,
            Ready::Steps(found) => return Ok(Described::InSteps(found)),
        };
    let plan = Arc::new(plan);
    let run = Run { live: &live, stmt: &stmt, plan: &plan };
    let asks = Given { prepared: true, ..Given::default() };
    if oids::are_wanted(session, run, &asks) {
        Box::pin(oids::find_out(session, &live, &plan)).await?;
    }
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    // One for each parameter: who sees a list without an open one takes all types for known.
    let known = prepared.types();
    let open = |at: u32| known.get(at as usize).copied().unwrap_or(0);
    let declared = (0..stmt.parameters).map(open).collect();
    let types = Given { declared, ..Given::default() }.types_of(unit);
    let (sql, era) = (Arc::clone(&unit.sql), moment(&live).era());
    let asked = Execution::Describe { sql, types, era };
    let mut described = described_by(session, &live, &unit.target.unit, asked).await?;
    if let Some(mut columns) = described.columns.take() {
        let numbers = oids::of_unit(session, &live, &unit.target.unit);
        Origin::of(&live, &plan, Teller { at: 0, numbers }).rename(&mut columns);
        described.columns = Some(turned_columns(&plan, columns, live.database.dialect.as_ref())?);
    }
    let mut parameters = vec![Native::default(); stmt.parameters as usize];
    for (at, (native, index)) in described.parameters.iter().zip(&unit.parameters).enumerate() {
        let Some(slot) = parameters.get_mut(*index as usize) else { continue };
        let turn = unit.turns.iter().find(|(turned, _)| *turned == at);
        let declared = turn.and_then(|(_, turn)| turn.0.declared());
        *slot = match declared {
            Some(declared) => told_as(live.database.dialect.as_ref(), declared, native),
            None => *native,
        };
    }
    for (index, declared) in &plan.read_here {
        if let Some(slot) = parameters.get_mut(*index as usize) {
            *slot = told_as(live.database.dialect.as_ref(), *declared, slot);
        }
    }
    Ok(Described::Whole(Description { parameters, columns: described.columns }))
}

/// What a storage unit describes.
async fn described_by(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    asked: Execution,
) -> Result<Description> {
    let inside = !session.work.is_idle();
    let (mut connection, swallow) = if inside {
        lend::enlisted(session, live, unit, Aim::Reads).await?
    } else {
        lend::taken_from_pool(session, live, unit, Aim::Reads).await?
    };
    let mut asked = asked;
    let numbers = oids::of_unit(session, live, unit);
    let renumbering = Renumbering::of(&live.database.dialect, numbers.as_ref());
    renumbering.iter().for_each(|renumbering| renumbering.sent(&mut asked));
    let started = connection.start(asked);
    let mut channel = Channel::new(connection, swallow, usize::from(started.is_ok()));
    channel.renumber(renumbering);
    let described = match started {
        Ok(()) => read_description(&mut channel).await,
        Err(error) => Err(error),
    };
    release::release_channel(session, channel).await;
    described
}

/// The columns of a query's rows as they are stored, and the plan that says how they are told.
///
/// # Errors
/// What the rooms refuse, and what a storage unit says.
pub(in crate::session) async fn stored_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    query: &str,
) -> Result<Stored> {
    let stmt = pando_sql::parse(query, live.database.dialect.syntax()).map_err(plan::unread)?;
    let plan =
        ready::single_plan(session, live, &stmt, &Given::default(), Purpose::Describe).await?;
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    let columns = unit_columns(session, live, &unit.target.unit, &unit.sql).await?;
    Ok(Stored { plan, columns })
}

/// The columns of a query as they are stored.
#[derive(Debug)]
pub(in crate::session) struct Stored {
    /// How they are told.
    pub(in crate::session) plan: Plan,
    pub(in crate::session) columns: Columns,
}

/// The columns of a query of one storage unit.
///
/// # Errors
/// What the unit says.
pub(in crate::session) async fn unit_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    sql: &Arc<str>,
) -> Result<Columns> {
    let (sql, types, era) = (Arc::clone(sql), Vec::new().into(), moment(live).era());
    let asked = Execution::Describe { sql, types, era };
    let described = described_by(session, live, unit, asked).await?;
    described.columns.ok_or_else(|| Error::internal("a query without columns"))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only the description matters")]
async fn read_description(channel: &mut Channel) -> Result<Description> {
    let mut described = None;
    loop {
        match poll_fn(|cx| channel.poll_event(cx)).await? {
            Event::Described(description) => described = Some(description),
            Event::Done => break,
            _ => {}
        }
    }
    described.ok_or_else(|| Error::internal("a storage unit described nothing"))
}
