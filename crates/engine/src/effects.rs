//! Whether names have come to have effects behind Pando, or by functions that clients have called: plans rest on what was read of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pando_kernel::Effectful;
use pando_kernel::error::Result;
use pando_kernel::route::UnitName;
use pando_kernel::runtime::within;

use crate::house::Engine;
use crate::session::read_effects;
use crate::snapshot::LiveDatabase;

/// How often it is looked whether somebody may have defined something by a function of his own; what he has is read then.
const ROUND: Duration = Duration::from_secs(2);
/// How often all of it is read again, for what was defined on the storage units themselves.
const LONGEST: Duration = Duration::from_secs(30);
/// Time for one unit to answer, a connection included. One that does not is asked in the next round.
const LIMIT: Duration = Duration::from_secs(5);

/// What was seen of a unit when its effects were read last.
#[derive(Debug, Clone, Copy)]
struct Seen {
    taints: u64,
    at: Instant,
}

/// By the number of its database, and its name.
type Looks = HashMap<(u64, UnitName), Seen>;

impl Engine {
    /// Looks, for as long as the engine lives, whether what is known of effects on connections still holds; where it does not, everything that was planned by it is
    /// forgotten.
    pub(crate) fn watch_effects(&self) {
        let inner = Arc::downgrade(&self.inner);
        let runtime = Arc::clone(&self.inner.runtime);
        runtime.clone().spawn(Box::pin(async move {
            let mut looks = Looks::new();
            while let Some(inner) = inner.upgrade() {
                let (snapshot, engine) = (inner.snapshot.load_full(), Self { inner });
                let mut seen = Looks::new();
                for live in &snapshot.databases {
                    engine.look_at_effects(live, (&looks, &mut seen)).await;
                }
                looks = seen;
                drop((snapshot, engine));
                runtime.sleep(ROUND).await;
            }
        }));
    }

    async fn look_at_effects(&self, live: &LiveDatabase, (old, new): (&Looks, &mut Looks)) {
        let (epoch, known) = live.catalog.effects();
        for (unit, known) in known {
            let Ok(pool) = live.pool(&unit) else { continue };
            // Before it is asked: what comes meanwhile is seen in the next round.
            let (now, taints) = (self.inner.runtime.now(), pool.taints());
            let key = (live.number, Arc::clone(&unit));
            let last = old.get(&key).copied();
            let is_due = |last: &Seen| {
                last.taints != taints || now.saturating_duration_since(last.at) >= LONGEST
            };
            if let Some(last) = last.filter(|last| !is_due(last)) {
                new.insert(key, last);
                continue;
            }
            let asked = within(&*self.inner.runtime, LIMIT, effects_of(live, &unit)).await;
            match asked {
                Some(Ok(found)) => {
                    new.insert(key, Seen { taints, at: now });
                    if found != known && live.catalog.epoch() == epoch {
                        live.catalog.forget();
                        return;
                    }
                }
                Some(Err(error)) => tracing::debug!(%unit, %error, "its effects could not be read"),
                None => tracing::debug!(%unit, "it has not told its effects in time"),
            }
        }
    }
}

async fn effects_of(live: &LiveDatabase, unit: &UnitName) -> Result<Effectful> {
    let Some(effects) = live.database.dialect.effects() else { return Ok(Effectful::default()) };
    let mut connection = live.pool(unit)?.take().await?;
    read_effects(&mut connection, effects).await
}
