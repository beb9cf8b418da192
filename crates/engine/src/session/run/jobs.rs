//! What a connection is to run of a plan.

use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, Result};
use pando_kernel::route::{Spread, UnitName};
use pando_pool::Connection;

use crate::execute::Channel;
use crate::plan::{Lifted, Plan, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{Given, Order};

/// Channels with their statements started.
#[derive(Debug)]
pub(in crate::session) struct Started {
    /// One per connection.
    pub(in crate::session) channels: Vec<Channel>,
    /// For each channel which of the plan's units it runs, in order.
    pub(in crate::session) jobs: Vec<Vec<usize>>,
}

/// A connection that is about to serve a statement.
#[derive(Debug)]
pub(in crate::session) struct Dressed {
    pub(in crate::session) connection: Connection,
    /// How many replies come first: to what it was brought to the session's state by.
    pub(in crate::session) swallow: usize,
}

/// Puts a connection among the channels, with what it is to run. Nothing of that is sent before the channels are
/// read: until then another unit may turn out not to be available, and the statement is then to leave no trace on
/// this one.
pub(in crate::session) fn give_jobs(
    session: &Session,
    dressed: Dressed,
    jobs: Vec<usize>,
    order: Order<'_>,
    started: &mut Started,
) -> Result<()> {
    let Dressed { connection, swallow } = dressed;
    let Order { plan, given } = order;
    let of = |job: &usize| {
        let unit = plan.units.get(*job);
        let unit = unit.ok_or_else(|| Error::internal("a job without its unit"))?;
        let lifted = given.lifted.get(*job).cloned();
        execution(unit, lifted, plan, given)
    };
    let halt = session.place.handle().halt();
    let (mut channel, failed) = match &jobs[..] {
        [job] => match of(job) {
            Ok(only) => (Channel::feeding_one(connection, swallow, only, halt), Ok(())),
            Err(error) => (Channel::new(connection, swallow, 0), Err(error)),
        },
        jobs => match jobs.iter().map(of).collect() {
            Ok(all) => (Channel::feeding(connection, swallow, all, halt), Ok(())),
            Err(error) => (Channel::new(connection, swallow, 0), Err(error)),
        },
    };
    // Those that do the same are warned of the same.
    if jobs.len() > 1
        && plan.spread != Spread::Same
        && let Some(dialect) = session.place.dialect()
        && let Some(question) = dialect.presentation().and_then(|own| own.warnings())
    {
        channel.asks_between(question);
    }
    started.channels.push(channel);
    started.jobs.push(jobs);
    failed
}

/// The plan's units by storage unit, in the order the database lists its units: every session takes connections in the
/// same order.
pub(in crate::session) fn grouped(live: &LiveDatabase, plan: &Plan) -> Vec<(UnitName, Vec<usize>)> {
    let mut groups: Vec<(UnitName, Vec<usize>)> = Vec::new();
    for (i, unit) in plan.units.iter().enumerate() {
        match groups.iter_mut().find(|(name, _)| *name == unit.target.unit) {
            Some((_, jobs)) => jobs.push(i),
            None => groups.push((Arc::clone(&unit.target.unit), vec![i])),
        }
    }
    let place = |name: &UnitName| live.database.units.iter().position(|unit| unit == name);
    groups.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    groups
}

/// What is sent for one unit of a plan, whose values may be lifted out.
pub(in crate::session) fn execution(
    unit: &Unit,
    lifted: Option<Lifted>,
    plan: &Plan,
    given: &Given,
) -> Result<Execution> {
    if let Some(Lifted { sql, parameters }) = lifted {
        let text = given.text_for(unit);
        return Ok(Execution::Lifted { text, sql, parameters, era: given.era });
    }
    if !given.prepared {
        return Ok(Execution::Text(given.text_for(unit)));
    }
    let parameters = given.parameters_of(unit)?;
    let types = given.types_of(unit);
    let mut formats = given.formats.clone();
    if formats.len() > 1 {
        formats.resize(formats.len() + plan.merge.derived, pando_kernel::Format::Text);
    }
    let sql = given.text_for(unit);
    Ok(Execution::Prepared { sql, types, parameters, formats, era: given.era })
}
