//! The joint for rooms that say whether, and when, a client's statement may run.

use std::any::Any;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as Task, Poll};
use std::time::Instant;

use pando_sql::ast::Statement;

use crate::circuit;
use crate::error::Result;
use crate::feature::Context;
use crate::route::UnitName;

/// Says whether a client's statement may run now.
pub trait Admission: Send + Sync {
    /// Asked exactly once for each execution that reaches storage units, by a template as well, before anything is sent
    /// and before a transaction is opened for it. Never for what is only described or shown, nor for the statements
    /// that one of several steps is made of. What it counts it keeps itself; what the statement is to hold until it
    /// ends, it puts into `permits`.
    ///
    /// # Errors
    /// `Refused`, because somebody forbids it; `Limited`, as there is too much of it.
    fn admit(
        &self,
        ctx: &Context<'_>,
        footprint: &Footprint<'_>,
        permits: &mut Permits,
    ) -> Result<Entry>;

    /// What the client is warned of as the statement runs; asked behind every room's `admit`, as often. It is logged, too.
    fn warnings(&self, _ctx: &Context<'_>, _footprint: &Footprint<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Takes over what was counted under earlier rules of the database of this name. Called before the first statement is
    /// admitted, and again whenever the configuration changes, if only that of other databases: what it has taken over
    /// already it keeps.
    fn takes_over(&self, _database: &str, _meters: &Meters, _now: Instant) {}

    /// When statements for a storage unit are to fail without being sent; `None`: never.
    fn circuit(&self, _unit: &UnitName) -> Option<circuit::Settings> {
        None
    }

    /// What it has counted.
    fn gauges(&self) -> Vec<Gauge> {
        Vec::new()
    }
}

/// What a statement is about to touch.
#[derive(Debug, Clone, Copy)]
pub struct Footprint<'a> {
    /// The statement; where it runs by a template, one of its shape, whose values are another's.
    pub stmt: &'a Statement,
    /// It changes data or definitions.
    pub writes: bool,
    /// The storage units that it goes to, each once, sorted; empty where that shows in its steps only.
    pub units: &'a [UnitName],
    /// How many targets it has on them: actual tables, and groups of tables that stand together. 0 where that shows in its
    /// steps only.
    pub shards: usize,
    /// The moment.
    pub now: Instant,
}

/// Whether a statement runs at once.
#[must_use]
pub enum Entry {
    /// It does.
    Now,
    /// Not before its turn has come.
    Later(Box<dyn Waiting>),
}

/// A statement that waits for its turn. Dropped, it wants none any more.
pub trait Waiting: Send {
    /// Whether its turn has come; what it holds from then on is in `permits`. Wakes `task` when it is to be asked
    /// again, but for [`Waiting::ask_again`].
    ///
    /// # Errors
    /// `Limited` when it has waited too long.
    fn poll_turn(
        &mut self,
        now: Instant,
        permits: &mut Permits,
        task: &Task<'_>,
    ) -> Poll<Result<()>>;

    /// When it is to be asked again if nobody wakes it before.
    fn ask_again(&self) -> Instant;
}

/// What lends something to statements.
pub trait Lends: Send + Sync + Debug {
    /// A statement has ended.
    fn comes_back(&self);

    /// A statement has been ended, as it has run for too long or has told too many rows.
    fn overran(&self) {}
}

/// Something that a statement holds until it ends: given back when dropped.
#[derive(Debug)]
pub struct Permit(Arc<dyn Lends>);

impl Permit {
    /// What was lent just now.
    pub fn of(lender: Arc<dyn Lends>) -> Self {
        Self(lender)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.comes_back();
    }
}

/// When a statement is to be ended, and who has said so.
#[derive(Debug, Clone)]
pub struct Deadline {
    /// It runs no longer than that.
    pub at: Instant,
    /// What its client is told.
    pub told: Arc<str>,
    /// Who counts it.
    pub by: Arc<dyn Lends>,
}

/// How many rows a statement may tell, and who has said so.
#[derive(Debug, Clone)]
pub struct RowLimit {
    /// So many.
    pub most: u64,
    /// What its client is told who would get more.
    pub told: Arc<str>,
    /// Who counts it.
    pub by: Arc<dyn Lends>,
}

/// What one statement holds until it ends. The first permit costs no memory.
#[derive(Debug, Default)]
pub struct Permits {
    first: Option<Permit>,
    more: Vec<Permit>,
    deadline: Option<Deadline>,
    rows: Option<RowLimit>,
}

impl Permits {
    /// Holds one more.
    pub fn hold(&mut self, permit: Permit) {
        match &self.first {
            None => self.first = Some(permit),
            Some(_) => self.more.push(permit),
        }
    }

    /// It is to be ended then; the earliest of several counts.
    pub fn end_at(&mut self, deadline: Deadline) {
        if self.deadline.as_ref().is_none_or(|known| deadline.at < known.at) {
            self.deadline = Some(deadline);
        }
    }

    /// When it is to be ended.
    pub fn deadline(&self) -> Option<&Deadline> {
        self.deadline.as_ref()
    }

    /// It tells so many rows at most; the least of several counts.
    pub fn tell_at_most(&mut self, rows: RowLimit) {
        if self.rows.as_ref().is_none_or(|known| rows.most < known.most) {
            self.rows = Some(rows);
        }
    }

    /// How many rows it tells at most.
    pub fn rows(&self) -> Option<&RowLimit> {
        self.rows.as_ref()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    /// Whether nothing is held and no end is set.
    pub fn is_empty(&self) -> bool {
        self.first.is_none() && self.deadline.is_none()
    }
}

/// What rooms count, kept while configurations come and go: one limit does not begin anew because another was altered.
#[derive(Debug, Default)]
pub struct Meters(Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>);

impl Meters {
    /// What is kept under this name, made if there is none, or none of its type.
    pub fn kept<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(name)
            && let Ok(known) = Arc::clone(known).downcast::<T>()
        {
            return known;
        }
        let made = Arc::new(make());
        all.insert(name.to_owned(), Arc::clone(&made) as _);
        made
    }

    /// Forgets what nobody else has any more.
    pub fn sweep(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, meter| Arc::strong_count(meter) > 1);
    }
}

/// What was counted under a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gauge {
    /// The rule.
    pub rule: String,
    /// What it was counted of: a user, a storage unit, a statement's digest; `None` where all are counted together.
    pub of: Option<String>,
    /// Statements that hold a permit of it now.
    pub running: u64,
    /// Statements that wait for their turn now.
    pub waiting: u64,
    /// Statements let through.
    pub admitted: u64,
    /// Those among them that had to wait.
    pub waited: u64,
    /// Statements refused.
    pub refused: u64,
    /// Statements ended because they ran for too long, or had too many rows.
    pub overran: u64,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Lender(AtomicUsize);

    impl Lends for Lender {
        fn comes_back(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_is_held_comes_back_once_when_it_is_dropped() {
        let lender = Arc::new(Lender::default());
        let mut permits = Permits::default();
        for _ in 0..3 {
            permits.hold(Permit::of(Arc::clone(&lender) as _));
        }
        assert_eq!((permits.len(), lender.0.load(Ordering::Relaxed)), (3, 0));
        drop(permits);
        assert_eq!(lender.0.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn the_earliest_end_counts() {
        let (now, by) = (Instant::now(), Arc::new(Lender::default()));
        let end = |seconds: u64| Deadline {
            at: now + std::time::Duration::from_secs(seconds),
            told: seconds.to_string().into(),
            by: Arc::clone(&by) as _,
        };
        let mut permits = Permits::default();
        for seconds in [3, 1, 2] {
            permits.end_at(end(seconds));
        }
        assert_eq!(permits.deadline().map(|end| &*end.told), Some("1"));
        assert!(!permits.is_empty());
    }

    #[test]
    fn the_least_number_of_rows_counts() {
        let by = Arc::new(Lender::default());
        let mut permits = Permits::default();
        for most in [3, 1, 2] {
            let (told, by) = (most.to_string().into(), Arc::clone(&by) as _);
            permits.tell_at_most(RowLimit { most, told, by });
        }
        assert_eq!(permits.rows().map(|rows| rows.most), Some(1));
    }

    #[test]
    fn what_somebody_has_is_kept_and_all_else_is_swept_away() {
        let meters = Meters::default();
        let kept = meters.kept("a", || 1u32);
        drop(meters.kept("b", || 2u32));
        meters.sweep();
        assert!(Arc::ptr_eq(&kept, &meters.kept("a", || 3u32)));
        assert_eq!(*meters.kept("b", || 4u32), 4);
        assert_eq!(*meters.kept("a", || 5u64), 5);
    }
}
