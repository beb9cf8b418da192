//! What waits for a mirror, within bounds, and what has come of it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::SystemTime;

use pando_kernel::mirror::{Counts, Difference, Report, Sampled, Settings};
use pando_kernel::runtime::SharedRuntime;
use pando_pool::Pool;

use super::answer::{Answer, Unlike};
use super::item::{Copied, Item};
use super::{shape, worker};

/// Differences that are kept, the newest.
const KEPT: usize = 50;

/// By what rules copies run, and where.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) settings: Arc<Settings>,
    pub(super) pool: Pool,
}

/// The copies of one rule. It outlives the configurations that have the rule.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// Counts those who ask whether they are copied.
    asked: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` while there is no such rule.
    course: Option<Course>,
    queue: VecDeque<Item>,
    /// Of the queue and of what is under way.
    bytes: usize,
    counts: Counts,
    differences: VecDeque<Difference>,
    /// For each worker whether it is there.
    working: Vec<bool>,
    idle: Vec<Waker>,
}

impl Lane {
    /// Whether a transaction, or a session of this number, is among those that are copied.
    pub(crate) fn samples(&self, settings: &Settings, session: u32) -> bool {
        if settings.per_million >= 1_000_000 {
            return true;
        }
        let number = match settings.sampled {
            Sampled::Transaction => self.asked.fetch_add(1, Ordering::Relaxed),
            Sampled::Session => u64::from(session),
        };
        scattered(number) % 1_000_000 < u64::from(settings.per_million)
    }

    /// Takes what is to be copied if there is room, else drops it. Waits for nobody.
    pub(super) fn takes(&self, item: Item) {
        let (statements, bytes) = (item.statements.len(), item.bytes());
        let count = u64::try_from(statements).unwrap_or(u64::MAX);
        let mut state = self.lock();
        let has_room = state.course.as_ref().is_some_and(|Course { settings, .. }| {
            let waiting = usize::try_from(state.counts.waiting).unwrap_or(usize::MAX);
            waiting.saturating_add(statements) <= settings.queue
                && state.bytes.saturating_add(bytes) <= settings.queue_bytes
        });
        if !has_room {
            state.counts.dropped += count;
            return;
        }
        state.bytes += bytes;
        state.counts.copied += count;
        state.counts.waiting += count;
        state.queue.push_back(item);
        if let Some(idle) = state.idle.pop() {
            drop(state);
            idle.wake();
        }
    }

    /// So many statements are of a kind that is not copied.
    pub(crate) fn passes_over(&self, statements: u64) {
        self.lock().counts.passed_over += statements;
    }

    /// From now on copies run by these rules.
    pub(super) fn goes_by(self: &Arc<Self>, course: &Course, runtime: &SharedRuntime) {
        let mut state = self.lock();
        let connections = course.settings.connections;
        state.course = Some(course.clone());
        if state.working.len() < connections {
            state.working.resize(connections, false);
        }
        let idle: Vec<usize> = (0..connections).filter(|at| !state.working[*at]).collect();
        idle.iter().for_each(|at| state.working[*at] = true);
        let wakers = std::mem::take(&mut state.idle);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        for at in idle {
            runtime.spawn(Box::pin(worker::run(Arc::clone(self), at, Arc::clone(runtime))));
        }
    }

    /// Nobody copies by these rules any more: what waits is dropped, unless others have taken their place.
    pub(super) fn stops(&self, settings: &Arc<Settings>) {
        let mut state = self.lock();
        if state.course.as_ref().is_none_or(|own| !Arc::ptr_eq(&own.settings, settings)) {
            return;
        }
        state.course = None;
        for item in std::mem::take(&mut state.queue) {
            let count = u64::try_from(item.statements.len()).unwrap_or(u64::MAX);
            state.bytes = state.bytes.saturating_sub(item.bytes());
            state.counts.waiting = state.counts.waiting.saturating_sub(count);
            state.counts.copied = state.counts.copied.saturating_sub(count);
            state.counts.dropped += count;
        }
        let wakers = std::mem::take(&mut state.idle);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// What a worker is to run next; `None` when it is not needed any more.
    pub(super) async fn next(&self, at: usize) -> Option<(Item, Course)> {
        poll_fn(|cx| {
            let mut state = self.lock();
            let course = state.course.clone();
            let Some(course) = course.filter(|own| at < own.settings.connections) else {
                if let Some(working) = state.working.get_mut(at) {
                    *working = false;
                }
                return Poll::Ready(None);
            };
            if let Some(item) = state.queue.pop_front() {
                return Poll::Ready(Some((item, course)));
            }
            state.idle.push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// What has come of an item at this moment: an answer for each of its first statements, as many as there were.
    pub(super) fn settles(
        &self,
        item: &Item,
        answers: &[Answer],
        settings: &Settings,
        at: SystemTime,
    ) {
        let unlike = item.statements.iter().zip(answers).map(|(copied, answer)| {
            let unlike = copied.answer.unlike(answer, settings.compares, copied.order);
            unlike.map(|unlike| difference(copied, unlike, item, at))
        });
        let unlike: Vec<Option<Difference>> = unlike.collect();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let (all, answered) = (count(item.statements.len()), count(unlike.len()));
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(item.bytes());
        state.counts.waiting = state.counts.waiting.saturating_sub(all);
        state.counts.failed += all - answered;
        let differences: Vec<Difference> = unlike.into_iter().flatten().collect();
        state.counts.different += count(differences.len());
        state.counts.equal += answered - count(differences.len());
        state.differences.extend(differences);
        let surplus = state.differences.len().saturating_sub(KEPT);
        state.differences.drain(..surplus);
    }

    /// What has come of it so far.
    pub(super) fn report(&self, settings: &Settings) -> Report {
        let state = self.lock();
        Report {
            rule: settings.rule.clone(),
            source: Arc::clone(&settings.source),
            mirror: Arc::clone(&settings.mirror),
            counts: state.counts,
            differences: state.differences.iter().cloned().collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn difference(copied: &Copied, unlike: Unlike, item: &Item, at: SystemTime) -> Difference {
    let Unlike { what, source, mirror } = unlike;
    let statement = shape::shape(copied.text(), item.manner.dialect.syntax());
    Difference { at, statement, what, source, mirror }
}

/// A number that looks like chance: who comes in turns of a fixed length is not copied in turns (SplitMix64).
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
