//! Whether names have come to have effects behind Pando, or by functions that clients have called: plans rest on what
//! was read of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pando_kernel::Effectful;
use pando_kernel::error::Result;
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{Runtime, within};
use pando_pool::Pool;

use crate::house::Engine;
use crate::session::read_effects;
use crate::snapshot::LiveDatabase;

/// How often it is looked whether somebody may have defined something by a function of his own, or a unit was not asked
/// for long.
const ROUND: Duration = Duration::from_millis(250);
/// What a unit has is not read more often: until it is, plans over it count as leaving anything.
const SHORTEST: Duration = Duration::from_secs(1);
/// How often all of it is read again, for what was defined on the storage units themselves.
const LONGEST: Duration = Duration::from_secs(30);
/// Time for one unit to answer, a connection included. One that does not is asked in the next round.
const LIMIT: Duration = Duration::from_secs(5);

/// When a unit was asked last, by the number of its database, and its name.
type Looks = HashMap<(u64, UnitName), Instant>;

impl Engine {
    /// Looks, for as long as the engine lives, whether what is known of effects on connections still holds; where it
    /// does not, everything that was planned by it is forgotten.
    pub(crate) fn watch_effects(&self) {
        let inner = Arc::downgrade(&self.inner);
        let runtime = Arc::clone(&self.inner.runtime);
        runtime.clone().spawn(Box::pin(async move {
            let mut looks = Looks::new();
            while let Some(inner) = inner.upgrade() {
                let (snapshot, engine) = (inner.snapshot.load_full(), Self { inner });
                let mut seen = Looks::new();
                for live in &snapshot.databases {
                    engine.look_at_effects(live, &looks, &mut seen).await;
                }
                looks = seen;
                drop((snapshot, engine));
                runtime.sleep(ROUND).await;
            }
        }));
    }

    async fn look_at_effects(&self, live: &LiveDatabase, old: &Looks, new: &mut Looks) {
        for pool in live.pools() {
            let now = self.inner.runtime.now();
            let key = (live.number, Arc::clone(pool.unit()));
            let last = *old.get(&key).unwrap_or(&now);
            let passed = now.saturating_duration_since(last);
            // When it is met first what is known of it has just been read.
            let is_due = passed >= LONGEST || passed >= SHORTEST && !pool.is_settled();
            new.insert(key, if is_due { now } else { last });
            if is_due {
                self.read_again(live, pool).await;
            }
        }
    }

    /// Reads what has effects on a unit, if that is known of it, and forgets it where it is not as it was.
    async fn read_again(&self, live: &LiveDatabase, pool: &Pool) {
        let (unit, runtime) = (pool.unit(), &*self.inner.runtime);
        let (epoch, known) = live.catalog.effects();
        let Some(known) = known.get(unit) else { return };
        // Before it is asked: whoever defines something meanwhile is seen in the next round.
        let number = pool.definitions();
        match within(runtime, LIMIT, effects_of(live, unit, runtime)).await {
            Some(Ok(found)) if live.catalog.epoch() != epoch => drop(found),
            Some(Ok(found)) if found != *known => live.catalog.forget(),
            Some(Ok(_)) => {
                if let Some(number) = number {
                    pool.settle(number);
                }
            }
            Some(Err(error)) => tracing::debug!(%unit, %error, "its effects could not be read"),
            None => tracing::debug!(%unit, "it has not told its effects in time"),
        }
    }
}

async fn effects_of(
    live: &LiveDatabase,
    unit: &UnitName,
    runtime: &dyn Runtime,
) -> Result<Effectful> {
    let Some(effects) = live.database.dialect.effects() else { return Ok(Effectful::default()) };
    let mut connection = live.pool(unit)?.take().await?;
    read_effects(&mut connection, effects, runtime).await
}
