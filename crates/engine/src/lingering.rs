//! Storage units that are served no more, while transactions that began before still may leave something there.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use pando_transaction::xa::Way;

use crate::recovery::Together;
use crate::snapshot::Snapshot;

/// So long after the last session has let go of them they are still looked after: recovery leaves what is left to whoever ends it for some seconds.
const GRACE: Duration = Duration::from_secs(15);

/// The ways that recovery looks at, and those that it goes on looking at.
#[derive(Debug, Default)]
pub(crate) struct Lingering {
    served: Vec<Unit>,
    gone: Vec<(Unit, Instant)>,
}

struct Unit {
    database: String,
    way: Way,
    /// Sessions that may have a transaction open there hold it.
    users: Weak<Together>,
}

impl std::fmt::Debug for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unit").field("database", &self.database).finish_non_exhaustive()
    }
}

impl Unit {
    /// Whether its database still has a storage unit of this name, which may be at another place: one that was led from before must not be asked.
    fn stands(&self, snapshot: &Snapshot) -> bool {
        let live = snapshot.database(&self.database);
        live.is_some_and(|live| live.pools().any(|pool| *pool.unit() == self.way.0))
    }
}

impl Lingering {
    /// The ways to all storage units where something may have to be ended.
    pub(crate) fn ways(&mut self, snapshot: &Snapshot, now: Instant) -> Vec<Way> {
        let left = self.served.drain(..).filter(|unit| !unit.stands(snapshot));
        self.gone.extend(left.map(|unit| (unit, now + GRACE)));
        self.gone.retain_mut(|(unit, until)| {
            if unit.users.strong_count() > 0 {
                *until = now + GRACE;
            }
            now < *until && !unit.stands(snapshot)
        });
        for live in &snapshot.databases {
            let unit = |pool: &pando_pool::Pool| Unit {
                database: live.database.name.to_string(),
                way: (Arc::clone(pool.unit()), Arc::clone(pool.connector())),
                users: Arc::downgrade(&live.together),
            };
            self.served.extend(live.leading().map(unit));
        }
        let mut ways = snapshot.ways();
        ways.extend(self.gone.iter().map(|(unit, _)| unit.way.clone()));
        ways
    }
}
