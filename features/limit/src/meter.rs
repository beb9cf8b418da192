//! What is counted under a rule: of all statements together, or of each user, storage unit or statement.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pando_kernel::feature::{Gauge, Lends};

use crate::bucket::Bucket;
use crate::gate::{Gate, HasGate};

/// Meters of one rule at most; whoever is beyond them shares one.
const MOST: usize = 4096;
/// So many tables of them, by what they are of, so that those who look meet each other seldom.
const SHARDS: usize = 16;

/// The meter of all to whom no other belongs.
const SHARED: &str = "others";

/// One meter.
#[derive(Debug)]
pub(crate) struct Meter {
    begun: Instant,
    pub(crate) bucket: Bucket,
    gate: Gate,
    /// Statements that wait for their token.
    pub(crate) delayed: AtomicU64,
    pub(crate) admitted: AtomicU64,
    pub(crate) waited: AtomicU64,
    pub(crate) refused: AtomicU64,
    overran: AtomicU64,
}

impl Meter {
    fn new(most: usize, now: Instant) -> Self {
        let gate = Gate::default();
        gate.allow(most);
        Self {
            begun: now,
            bucket: Bucket::default(),
            gate,
            delayed: AtomicU64::new(0),
            admitted: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            overran: AtomicU64::new(0),
        }
    }

    /// The time since it was made.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.begun)
    }

    fn gauge(&self, rule: &str, of: Option<&str>) -> Gauge {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Gauge {
            rule: rule.to_owned(),
            of: of.map(str::to_owned),
            running: self.gate.inside() as u64,
            waiting: self.gate.waiting() as u64 + read(&self.delayed),
            admitted: read(&self.admitted),
            waited: read(&self.waited),
            refused: read(&self.refused),
            overran: read(&self.overran),
        }
    }
}

impl HasGate for Meter {
    fn gate(&self) -> &Gate {
        &self.gate
    }
}

impl Lends for Meter {
    fn comes_back(&self) {
        self.gate.leave();
    }

    fn overran(&self) {
        self.overran.fetch_add(1, Ordering::Relaxed);
    }
}

type Shard = RwLock<HashMap<Arc<str>, Arc<Meter>>>;

/// All meters of a rule.
#[derive(Debug)]
pub(crate) struct Meters {
    all: Arc<Meter>,
    each: [Shard; SHARDS],
    most: AtomicU64,
}

impl Meters {
    pub(crate) fn new(now: Instant) -> Self {
        let all = Arc::new(Meter::new(usize::MAX, now));
        Self { all, each: Default::default(), most: AtomicU64::new(u64::MAX) }
    }

    /// From now on so many statements may run at once, by each meter.
    pub(crate) fn allow(&self, most: usize) {
        self.most.store(most as u64, Ordering::Relaxed);
        self.all.gate.allow(most);
        for shard in &self.each {
            let known = shard.read().unwrap_or_else(PoisonError::into_inner);
            known.values().for_each(|meter| meter.gate.allow(most));
        }
    }

    /// The meter of all statements together.
    pub(crate) fn all(&self) -> Arc<Meter> {
        Arc::clone(&self.all)
    }

    /// The meter of one user, storage unit or statement.
    pub(crate) fn of(&self, key: &str, now: Instant) -> Arc<Meter> {
        let at = key.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
        let Some(shard) = self.each.get(at % SHARDS) else { return self.all() };
        {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            let is_full = shard.len() >= MOST / SHARDS;
            let shared = || shard.get(SHARED).filter(|_| is_full);
            if let Some(known) = shard.get(key).or_else(shared) {
                return Arc::clone(known);
            }
        }
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        let key = if shard.len() < MOST / SHARDS { key } else { SHARED };
        let most = usize::try_from(self.most.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        let made = || Arc::new(Meter::new(most, now));
        Arc::clone(shard.entry(key.into()).or_insert_with(made))
    }

    /// What was counted of all together.
    pub(crate) fn gauge(&self, rule: &str) -> Gauge {
        self.all.gauge(rule, None)
    }

    /// What was counted of each by itself, in the order of their names.
    pub(crate) fn gauges(&self, rule: &str) -> Vec<Gauge> {
        let mut gauges = Vec::new();
        for shard in &self.each {
            let known = shard.read().unwrap_or_else(PoisonError::into_inner);
            gauges.extend(known.iter().map(|(of, meter)| meter.gauge(rule, Some(of))));
        }
        gauges.sort_by(|a, b| a.of.cmp(&b.of));
        gauges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_up_to_a_bound() {
        let now = Instant::now();
        let meters = Meters::new(now);
        meters.allow(1);
        let bob = meters.of("bob", now);
        assert!(bob.gate.try_enter() && !bob.gate.try_enter());
        assert!(Arc::ptr_eq(&bob, &meters.of("bob", now)));
        assert!(meters.of("ann", now).gate.try_enter());
        for user in 0..3 * MOST {
            meters.of(&format!("user {user}"), now).admitted.fetch_add(1, Ordering::Relaxed);
        }
        let gauges = meters.gauges("r");
        assert!(gauges.len() <= MOST + SHARDS, "{}", gauges.len());
        let admitted: u64 = gauges.iter().map(|gauge| gauge.admitted).sum();
        assert_eq!(admitted, 3 * MOST as u64);
    }
}
