//! The sessions as whoever looks for deadlocks sees them.

use std::sync::Arc;

use pando_deadlock::{Held, Sessions, Stand};
use pando_kernel::Connector;
use pando_pool::Pool;

use crate::house::Inner;

impl Sessions for Inner {
    fn spread(&self) -> Vec<Stand> {
        let mut stands: Vec<(Stand, Option<Pool>)> =
            self.registry.everyone().iter().filter_map(|handle| handle.stand()).collect();
        for at in 0..stands.len() {
            if let Some((_, Some(pool))) = stands.get(at) {
                let queue = holders(pool, &stands);
                if let Some((stand, _)) = stands.get_mut(at) {
                    stand.queue = queue;
                }
            }
        }
        let is_spread = |(stand, pool): &(Stand, Option<Pool>)| {
            stand.held.len() > 1 || pool.is_some() || stand.claims.is_some()
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
        handle.is_some_and(|handle| handle.give_way(&self.runtime, (wait, told)))
    }
}

/// The connections of a full pool; `None` when somebody has one of whom nothing is known, and who may give it back.
fn holders(pool: &Pool, stands: &[(Stand, Option<Pool>)]) -> Option<Vec<Held>> {
    let all = stands.iter().flat_map(|(stand, _)| &stand.held);
    let own: Vec<Held> =
        all.filter(|held| Arc::ptr_eq(&held.connector, pool.connector())).cloned().collect();
    let now = pool.statistics();
    (own.len() >= now.open.saturating_sub(now.idle)).then_some(own)
}
