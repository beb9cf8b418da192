//! The sessions as whoever looks for deadlocks sees them.

use std::sync::Arc;

use pando_deadlock::{Held, Queue, Sessions, Stand};
use pando_kernel::Connector;
use pando_pool::Pool;

use crate::handle::Queued;
use crate::house::Inner;

/// A session, and the connections for which it waits.
type Waiter = (Stand, Option<Queued>);

impl Sessions for Inner {
    fn spread(&self) -> Vec<Stand> {
        let mut stands: Vec<Waiter> =
            self.registry.everyone().iter().filter_map(|handle| handle.stand()).collect();
        let mut pools: Vec<Pool> = Vec::new();
        for (_, queued) in &stands {
            if let Some(Queued { pool, .. }) = queued
                && !pools.iter().any(|known| is_same(known, pool))
            {
                pools.push(pool.clone());
            }
        }
        for pool in &pools {
            line_up(pool, &mut stands);
        }
        let is_spread = |(stand, queued): &Waiter| {
            stand.held.len() > 1 || queued.is_some() || stand.claims.is_some()
        };
        stands.into_iter().filter(is_spread).map(|(stand, _)| stand).collect()
    }

    fn connectors(&self) -> Vec<Arc<dyn Connector>> {
        let snapshot = self.snapshot.load();
        let pools = snapshot.databases.iter().flat_map(|live| live.pools());
        pools.map(|pool| Arc::clone(pool.connector())).collect()
    }

    fn give_way(&self, session: u32, wait: u64, told: &str) -> bool {
        let handle = self.registry.find(session);
        handle.is_some_and(|handle| handle.give_way(&self.runtime, wait, told))
    }
}

fn is_same(one: &Pool, other: &Pool) -> bool {
    Arc::ptr_eq(one.connector(), other.connector())
}

/// Notes with those who wait for this pool whom they wait for.
fn line_up(pool: &Pool, stands: &mut [Waiter]) {
    let holders = holders(pool, stands);
    let now = pool.statistics();
    let free = now.most.saturating_sub(now.open.saturating_sub(now.idle));
    let mut waiters: Vec<(&Queued, &mut Stand)> = stands
        .iter_mut()
        .filter_map(|(stand, queued)| Some((queued.as_ref()?, stand)))
        .filter(|(queued, _)| is_same(&queued.pool, pool))
        .collect();
    waiters.sort_by_key(|(queued, _)| queued.place);
    let mut behind = None;
    for (queued, stand) in waiters {
        let wanted = queued.count.saturating_sub(free);
        stand.queue = holders.clone().map(|holders| Queue { holders, wanted, behind });
        behind = Some(stand.session);
    }
}

/// The connections of a pool that are in use; `None` when somebody has one of whom nothing is known, and who may give it back.
fn holders(pool: &Pool, stands: &[Waiter]) -> Option<Vec<Held>> {
    let all = stands.iter().flat_map(|(stand, _)| &stand.held);
    let own: Vec<Held> =
        all.filter(|held| Arc::ptr_eq(&held.connector, pool.connector())).cloned().collect();
    let now = pool.statistics();
    (own.len() >= now.open.saturating_sub(now.idle)).then_some(own)
}
