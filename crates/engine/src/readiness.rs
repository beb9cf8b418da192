//! Which units of a database can take part in XA transactions, and who asks them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::two_phase::Isolation;
use pando_transaction::Ready;

/// Whoever asks a unit again has so long for it, before somebody else does.
const TURN: Duration = Duration::from_secs(2);
/// A unit that could not be asked is left alone so long by whoever does not need it yet.
const AWAY: Duration = Duration::from_secs(2);

/// A unit that took no writes is asked anew after so long: it may have become a primary.
const RARELY: Duration = Duration::from_secs(5);
/// What all units are known to be is good for so long without another look at their connections: each is looked at once more before its first statement.
const GLANCE: Duration = Duration::from_millis(10);

/// Which units of a database can take part in XA transactions, as far as they have been asked.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    known: Mutex<HashMap<UnitName, Kept>>,
    turns: Mutex<HashMap<UnitName, Arc<Turn>>>,
    /// When all units were looked at last, and known.
    seen: Mutex<Option<Instant>>,
    /// All were known once: so is the level.
    asked: AtomicBool,
    /// The highest level that a unit's transactions have where nobody names one: 0 for none at which they see one
    /// state. It never falls, as connections stay for
    /// long that were opened while it held.
    level: AtomicU8,
}

/// One at a time asks a unit of which nothing is known. The others wait for what it tells, and go by it also when that is an error.
#[derive(Debug, Default)]
struct Turn {
    last: tokio::sync::Mutex<Option<(Instant, ErrorKind)>>,
    /// How often it has failed.
    failures: AtomicU64,
}

/// What a unit has told.
#[derive(Debug)]
struct Kept {
    ready: Arc<Ready>,
    /// [`pando_pool::Pool::breaks`] when it was asked.
    breaks: u64,
    /// Since when somebody asks it again.
    asking: Option<Instant>,
}

/// Whether it is known of a unit that it can take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing is known.
    Unknown,
    /// It could, but its server may have been started anew since: the caller is to ask again.
    Doubted(Arc<Ready>),
    /// It can, or somebody is asking it again already.
    Known,
}

impl Readiness {
    /// What is known of a unit. That it takes no writes is known for a while only.
    pub(crate) fn of(&self, unit: &str, now: Instant) -> Option<Arc<Ready>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = &known.get(unit)?.ready;
        (!is_stale(ready, now)).then(|| Arc::clone(ready))
    }

    /// Whether all units were known a moment ago.
    pub(crate) fn was_just_seen(&self, now: Instant) -> bool {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_some_and(|seen| now.saturating_duration_since(seen) < GLANCE)
    }

    /// Whether all units have told their levels.
    pub(crate) fn knows_level(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// The level of transactions for which nobody has named one, as far as units have told, if they see one state of
    /// the data there.
    pub(crate) fn level(&self) -> Option<Isolation> {
        match self.level.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Isolation::RepeatableRead),
            _ => Some(Isolation::Serializable),
        }
    }

    /// All units are known now.
    pub(crate) fn all_are_known(&self, now: Instant) {
        self.asked.store(true, Ordering::Release);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// Nothing is known any more.
    pub(crate) fn forget(&self) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether to rely on what is known of a unit whose pool counts so many breaks. Only one caller at a time is to ask again: the others of a thousand that
    /// begin after a restart go by what was known, since the server would let no thousand in; it is asked again over each one's connection before its first statement.
    pub(crate) fn trust(&self, unit: &str, breaks: u64, now: Instant) -> Trust {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = known.get_mut(unit) else { return Trust::Unknown };
        if is_stale(&kept.ready, now) {
            known.remove(unit);
            return Trust::Unknown;
        }
        let is_taken = |since: Instant| now.saturating_duration_since(since) < TURN;
        if kept.breaks == breaks || kept.asking.is_some_and(is_taken) {
            return Trust::Known;
        }
        kept.asking = Some(now);
        Trust::Doubted(Arc::clone(&kept.ready))
    }

    /// A unit that was to be asked again could not be: the next caller may try.
    pub(crate) fn pass_on(&self, unit: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = known.get_mut(unit) {
            kept.asking = None;
        }
    }

    /// Asks a unit of which nothing is known, unless somebody does so already.
    ///
    /// # Errors
    /// What the unit says to it.
    ///
    /// # Cancel safety
    /// May be dropped at any await: the next asks.
    pub(crate) async fn ask(
        &self,
        unit: &UnitName,
        clock: &SharedRuntime,
        asking: impl Future<Output = Result<Arc<Ready>>>,
    ) -> Result<Arc<Ready>> {
        let turn = self.turn(unit);
        let before = turn.failures.load(Ordering::Acquire);
        let mut last = turn.last.lock().await;
        if let Some(ready) = self.of(unit, clock.now()) {
            return Ok(ready);
        }
        if let Some((_, kind)) = last.as_ref()
            && turn.failures.load(Ordering::Acquire) != before
        {
            return Err(kind.clone().into());
        }
        let told = asking.await;
        *last = told.as_ref().err().map(|error| (clock.now(), error.kind().clone()));
        if told.is_err() {
            turn.failures.fetch_add(1, Ordering::Release);
        }
        told
    }

    /// Whether a unit of which nothing is known could not be asked a moment ago, for a reason that passes.
    pub(crate) fn is_away(&self, unit: &UnitName, now: Instant) -> bool {
        let turn = self.turn(unit);
        let Ok(last) = turn.last.try_lock() else { return false };
        last.as_ref().is_some_and(|(since, kind)| {
            is_of_the_moment(kind) && now.saturating_duration_since(*since) < AWAY
        })
    }

    fn turn(&self, unit: &UnitName) -> Arc<Turn> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(Arc::clone(unit)).or_default())
    }

    /// Keeps what a unit has told, and how many breaks its pool had counted before.
    ///
    /// # Errors
    /// `Configuration` when it is a copy of another one: decisions on transactions could not be told apart.
    pub(crate) fn keep(&self, unit: &UnitName, ready: Ready, breaks: u64) -> Result<Arc<Ready>> {
        let level = match ready.level {
            None => 0,
            Some(Isolation::RepeatableRead) => 1,
            Some(Isolation::Serializable) => 2,
        };
        self.level.fetch_max(level, Ordering::AcqRel);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_copy = |other: &Ready| {
            ready.identity.is_some()
                && other.identity == ready.identity
                && other.place != ready.place
        };
        let found = known.iter().find(|(_, other)| is_copy(&other.ready));
        if let Some(other) = found.map(|(other, _)| Arc::clone(other)) {
            // It may be a standby by now, of what was its own: it is asked anew.
            known.remove(&other);
            return Err(ErrorKind::Configuration(format!(
                "storage units `{other}` and `{unit}` have the same identity: one is a copy of the other; give one a new identity in its table `unit` of schema `pando` (MySQL: `pando_unit`)"
            ))
            .into());
        }
        let ready = Arc::new(ready);
        let kept = Kept { ready: Arc::clone(&ready), breaks, asking: None };
        known.insert(Arc::clone(unit), kept);
        Ok(ready)
    }
}

/// A unit that took no writes may have become a primary.
fn is_stale(ready: &Ready, now: Instant) -> bool {
    ready.identity.is_none() && now.saturating_duration_since(ready.asked) > RARELY
}

/// A unit that cannot be asked now may be there when it is needed; one that has no room for another connection is there for those who have theirs.
pub(crate) fn is_of_the_moment(kind: &ErrorKind) -> bool {
    if let ErrorKind::Server(own) = kind {
        return own.sqlstate.starts_with("53") || own.is_of_a_full_server();
    }
    matches!(kind, ErrorKind::Unavailable { .. } | ErrorKind::Timeout(_) | ErrorKind::Full { .. })
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use pando_fake::{FakeRuntime, poll_once};

    use super::*;

    #[test]
    fn a_unit_in_doubt_is_asked_again_by_one_at_a_time() {
        let (readiness, unit, now) = (Readiness::default(), UnitName::from("ds_0"), Instant::now());
        let ready = Ready { identity: None, place: String::new(), level: None, asked: now };
        assert_eq!(readiness.trust(&unit, 1, now), Trust::Unknown);
        let kept = readiness.keep(&unit, ready, 1).unwrap();
        let doubted = Trust::Doubted(Arc::clone(&kept));
        let after = |time| readiness.trust(&unit, 2, now + time);
        assert_eq!(readiness.trust(&unit, 1, now), Trust::Known);
        assert_eq!(after(Duration::ZERO), doubted);
        assert_eq!(after(TURN / 2), Trust::Known, "somebody asks");
        assert_eq!(after(TURN), doubted, "who asked has had time");
        readiness.pass_on(&unit);
        assert_eq!(after(TURN), doubted, "who asked could not");
        readiness.keep(&unit, Ready::clone(&kept), 2).unwrap();
        assert_eq!(after(TURN), Trust::Known);
        assert_eq!(readiness.trust(&unit, 3, now + TURN), doubted, "once more");
    }

    #[test]
    fn who_comes_while_a_unit_is_asked_goes_by_its_answer() {
        let (runtime, readiness, unit) =
            (FakeRuntime::new(), Arc::new(Readiness::default()), UnitName::from("ds_0"));
        let (clock, asked) = (runtime.handle(), Arc::new(AtomicU64::new(0)));
        let asking = |answer: Result<Arc<Ready>>| {
            let (readiness, unit) = (Arc::clone(&readiness), Arc::clone(&unit));
            let (clock, asked) = (Arc::clone(&clock), Arc::clone(&asked));
            Box::pin(async move {
                let asking = async {
                    asked.fetch_add(1, Ordering::Relaxed);
                    clock.sleep(Duration::from_secs(1)).await;
                    answer
                };
                readiness.ask(&unit, &clock, asking).await
            })
        };
        let silent = || Err(ErrorKind::Timeout("silent".into()).into());
        let (mut first, mut second) = (asking(silent()), asking(silent()));
        assert!(poll_once(&mut first).is_pending() && poll_once(&mut second).is_pending());
        assert!(!readiness.is_away(&unit, clock.now()), "somebody asks");
        runtime.advance(Duration::from_secs(1));
        for one in [&mut first, &mut second] {
            assert!(matches!(poll_once(one), Poll::Ready(Err(_))));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(readiness.is_away(&unit, clock.now()));
        assert!(!readiness.is_away(&unit, clock.now() + AWAY));
        let mut later = asking(silent());
        assert!(poll_once(&mut later).is_pending());
        assert_eq!(asked.load(Ordering::Relaxed), 2, "who comes after it asks anew");
        drop(later);
        let mut next = asking(silent());
        assert!(poll_once(&mut next).is_pending());
        assert_eq!(asked.load(Ordering::Relaxed), 3, "who asked is gone");
    }
}
