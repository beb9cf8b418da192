//! Connections to several storage units at once, from their pools.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::error::Result;
use pando_kernel::runtime::within;
use pando_pool::{Connection, Pool};

use crate::execute::{Channel, spread_over};
use crate::handle::Manner;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{dress, release};
use crate::session::given::Order;
use crate::session::run::jobs::{Dressed, Started, grouped};
use crate::session::run::{jobs, leave};

/// Who has connections to some units waits so long for one to another with them in hand; then it gives them back and
/// waits with none. One slow or silent unit would else have, through those who wait for it, the connections of all.
const HOLD: Duration = Duration::from_millis(200);
/// How often a statement gives back what it has, before it waits with it: it may need several units that are all in
/// demand.
const RETURNS: usize = 3;

/// Takes connections from the pools of a plan's units and gives each what it is to run.
///
/// # Errors
/// What the pools and connections say, or `Cancelled`. What was taken is among `started`.
pub(in crate::session) async fn start_from_pools(
    session: &mut Session,
    live: &LiveDatabase,
    order: Order<'_>,
    started: &mut Started,
) -> Result<()> {
    let plan = order.plan;
    let mut groups = grouped(live, plan);
    let (mut returns, mut at) = (0, 0);
    while let Some((unit, jobs)) = groups.get_mut(at) {
        let shares = spread_over(jobs.len(), session.place.properties().max_connections_per_query);
        let (pool, jobs) = (live.pool(unit)?, std::mem::take(jobs));
        let idle = match shares.len() {
            1 => session.place.take_idle(pool)?.map(|one| vec![one]),
            _ => None,
        };
        let hold = (at > 0 && returns != RETURNS).then_some(HOLD);
        let taken = match idle {
            Some(idle) => Some(idle),
            None => {
                started.channels.iter_mut().for_each(|own| own.connection.is_put_off());
                Box::pin(several(session, pool, shares.len(), hold)).await?
            }
        };
        let Some(connections) = taken else {
            let scarce = Arc::clone(unit);
            Box::pin(release::release_channels(session, std::mem::take(&mut started.channels)))
                .await;
            started.jobs.clear();
            returns += 1;
            groups = grouped(live, plan);
            // Those who wait with something in hand do so in one order, so that none waits for another's.
            if returns < RETURNS {
                groups.sort_by_key(|(unit, _)| *unit != scarce);
            }
            at = 0;
            continue;
        };
        let mut jobs = jobs.into_iter();
        for (mut connection, share) in connections.into_iter().zip(shares) {
            session.place.handle().runs_on(&connection, Manner::Ask)?;
            let mut swallow = dress::dress(session, live, &mut connection)?;
            if plan.writes && swallow > 0 {
                let dressed = Box::pin(dress::await_dress(session, &mut connection, swallow)).await;
                if let Err(error) = dressed {
                    // It may be being cancelled: it goes home with the others.
                    started.channels.push(Channel::new(connection, 0, 0));
                    return Err(error);
                }
                swallow = 0;
            }
            swallow += leave::lay(session, live, &mut connection, plan)?;
            let part = jobs.by_ref().take(share).collect();
            jobs::give_jobs(session, Dressed { connection, swallow }, part, order, started)?;
        }
        at += 1;
    }
    if returns > 0 {
        in_order(live, started);
    }
    Ok(())
}

/// So many connections of a pool; `None` when they are not to be had within the time.
async fn several(
    session: &mut Session,
    pool: &Pool,
    count: usize,
    hold: Option<Duration>,
) -> Result<Option<Vec<Connection>>> {
    let runtime = Arc::clone(session.place.runtime());
    let taking = async {
        match count {
            1 => session.place.take(pool).await.map(|one| vec![one]),
            count => session.place.take_many(pool, count).await,
        }
    };
    match hold {
        None => taking.await.map(Some),
        Some(hold) => within(&*runtime, hold, taking).await.transpose(),
    }
}

/// Puts channels into the order in which the database lists its units.
fn in_order(live: &LiveDatabase, started: &mut Started) {
    let place = |channel: &Channel| {
        let name = channel.connection.unit();
        live.database.units.iter().position(|unit| unit == name)
    };
    let channels = std::mem::take(&mut started.channels);
    let mut pairs: Vec<_> = channels.into_iter().zip(std::mem::take(&mut started.jobs)).collect();
    pairs.sort_by_key(|(channel, _)| place(channel));
    (started.channels, started.jobs) = pairs.into_iter().unzip();
}
