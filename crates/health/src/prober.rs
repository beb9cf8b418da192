//! Asks units again and again, in the background.

use std::fmt::{self, Debug};
use std::future::{Future, poll_fn};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use pando_kernel::route::UnitName;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::{Connector, Error, ErrorKind};
use tokio::sync::{Semaphore, watch};

use crate::probe::Line;
use crate::{Moment, Observation, Seen, Settings};

/// Probes under way at once, over all units of a prober. More units than these whose servers hang make detection slower.
const AT_ONCE: usize = 64;

/// Between two probes of a unit, however short the interval.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// A storage unit to be probed.
#[derive(Debug, Clone)]
pub struct Probed {
    /// Its name.
    pub unit: UnitName,
    /// What opens its connections; the prober keeps one.
    pub connector: Arc<dyn Connector>,
}

/// Called with every observation, from the runtime's background tasks; of one unit in order, of several at once. It must not block.
pub type Tell = Arc<dyn Fn(Observation) + Send + Sync>;

/// Asks each unit at once and then at every interval. Ends when dropped: nothing is told after that but what was being told.
pub struct Prober {
    units: usize,
    clock: Clock,
    _stop: watch::Sender<()>,
}

impl Prober {
    /// Starts probing.
    pub fn start(
        runtime: &SharedRuntime,
        settings: Settings,
        units: Vec<Probed>,
        tell: &Tell,
    ) -> Self {
        let (stop, stopped) = watch::channel(());
        let clock = Clock::new(runtime);
        let gate = Arc::new(Semaphore::new(AT_ONCE));
        let count = units.len();
        for probed in units {
            let rounds = Rounds {
                line: Line::new(probed.connector, Arc::clone(runtime)),
                unit: probed.unit,
                settings,
                gate: Arc::clone(&gate),
                clock: clock.clone(),
                tell: Arc::clone(tell),
            };
            let mut stopped = stopped.clone();
            runtime.spawn(Box::pin(async move {
                let end = async { while stopped.changed().await.is_ok() {} };
                until(end, rounds.run()).await;
            }));
        }
        Self { units: count, clock, _stop: stop }
    }

    /// The time that its observations are told in.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }
}

impl Debug for Prober {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prober").field("units", &self.units).finish_non_exhaustive()
    }
}

/// Wall time at the start, counted on by the monotonic clock.
#[derive(Debug, Clone)]
struct Clock {
    runtime: SharedRuntime,
    began: Instant,
    wall: Moment,
}

impl Clock {
    fn new(runtime: &SharedRuntime) -> Self {
        let wall = Moment::of(runtime.wall());
        Self { runtime: Arc::clone(runtime), began: runtime.now(), wall }
    }

    fn now(&self) -> Moment {
        self.wall.after(self.runtime.now().saturating_duration_since(self.began))
    }
}

struct Rounds {
    line: Line,
    unit: UnitName,
    settings: Settings,
    gate: Arc<Semaphore>,
    clock: Clock,
    tell: Tell,
}

impl Rounds {
    async fn run(mut self) {
        for round in 0u64.. {
            let Ok(permit) = self.gate.acquire().await else { return };
            let runtime = Arc::clone(&self.clock.runtime);
            let began = runtime.now();
            let limit = self.settings.timeout;
            let seen = match within(&*runtime, limit, self.line.probe()).await {
                Some(Ok(vitals)) => Seen::Answers(Box::new(vitals)),
                Some(Err(error)) => Seen::Silent(reason(&error)),
                None => Seen::Silent(format!("no answer within {limit:?}")),
            };
            drop(permit);
            let observation = Observation { unit: self.unit.clone(), at: self.clock.now(), seen };
            (self.tell)(observation);
            let spent = runtime.now().saturating_duration_since(began);
            runtime.sleep(pause(&self.unit, round, self.settings.interval, spent)).await;
        }
    }
}

/// Without the unit's name, which is told anyway.
fn reason(error: &Error) -> String {
    if let ErrorKind::Unavailable { message, .. } = error.kind() {
        return message.clone();
    }
    error.to_string()
}

/// What is left of an interval that is up to a tenth longer or shorter, differently for each unit and round, so that the probes of many proxies don't
/// fall together. At least a tenth of the interval, even when a probe took longer than that.
fn pause(unit: &str, round: u64, interval: Duration, spent: Duration) -> Duration {
    let mut hasher = DefaultHasher::new();
    (unit, round).hash(&mut hasher);
    let thousandths = u32::try_from(hasher.finish() % 201).unwrap_or_default();
    let length = interval / 1000 * (900 + thousandths);
    length.saturating_sub(spent).max(interval / 10).max(SHORTEST_PAUSE)
}

/// Runs `work` until it or `end` is done.
async fn until(end: impl Future<Output = ()>, work: impl Future<Output = ()>) {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|cx| match end.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => work.as_mut().poll(cx),
    })
    .await;
}
