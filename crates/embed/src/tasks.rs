//! Tasks that run on one thread, and are woken from any.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use pando_kernel::runtime::BoxFuture;

use crate::reactor::Reactor;

/// Tasks in one turn, so that sockets are looked at between turns.
const TURN: usize = 64;

/// The tasks of one reactor.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    ready: Mutex<VecDeque<Arc<Task>>>,
    /// All that have not ended, so that they end with their thread.
    alive: Mutex<HashMap<usize, Arc<Task>>>,
}

struct Task {
    /// `None` once it has ended, and while it is polled.
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    is_queued: AtomicBool,
    reactor: Weak<Reactor>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("is_queued", &self.is_queued).finish_non_exhaustive()
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let Some(reactor) = self.reactor.upgrade() else { return };
        if !self.is_queued.swap(true, Ordering::AcqRel) {
            lock(&reactor.tasks().ready).push_back(self);
            reactor.ring();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tasks {
    /// Runs a future on the reactor's thread. It ends with the thread at the latest.
    pub(crate) fn spawn(&self, reactor: &Arc<Reactor>, future: BoxFuture<'static, ()>) {
        let reactor = Arc::downgrade(reactor);
        let task =
            Task { future: Mutex::new(Some(future)), is_queued: AtomicBool::new(false), reactor };
        let task = Arc::new(task);
        lock(&self.alive).insert(number(&task), Arc::clone(&task));
        task.wake();
    }

    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.ready).is_empty()
    }

    /// Polls those that are ready, one turn.
    pub(crate) fn run(&self) {
        for _ in 0..TURN {
            let Some(task) = lock(&self.ready).pop_front() else { return };
            task.is_queued.store(false, Ordering::Release);
            // Taken out: a task that panics is gone, and its lock is not held while it runs.
            let Some(mut future) = lock(&task.future).take() else { continue };
            let waker = Waker::from(Arc::clone(&task));
            let mut cx = Context::from_waker(&waker);
            let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                future.as_mut().poll(&mut cx)
            }));
            match polled {
                Ok(Poll::Pending) => *lock(&task.future) = Some(future),
                Ok(Poll::Ready(())) => {
                    lock(&self.alive).remove(&number(&task));
                }
                Err(_) => {
                    tracing::error!("background work broke; the rest goes on");
                    lock(&self.alive).remove(&number(&task));
                }
            }
        }
    }

    /// Drops all of them.
    pub(crate) fn end(&self) {
        loop {
            let alive = std::mem::take(&mut *lock(&self.alive));
            lock(&self.ready).clear();
            if alive.is_empty() {
                return;
            }
            alive.into_values().for_each(|task| drop(lock(&task.future).take()));
        }
    }
}

fn number(task: &Arc<Task>) -> usize {
    Arc::as_ptr(task).addr()
}
