//! A runtime seam without a runtime: time stands still until told, background tasks run in whichever thread drives them.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{Address, BoxFuture, Near, Runtime, SharedRuntime, Stream};

/// The seam. Clones are the same one. It has no sockets: `connect` and `secure` fail.
#[derive(Debug, Clone)]
pub struct FakeRuntime {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    base: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    elapsed: Duration,
    sleepers: Vec<(Duration, Waker)>,
    ready: VecDeque<Arc<Task>>,
    /// Background tasks that have not ended.
    tasks: usize,
    event_loop: usize,
    nears: Vec<Near>,
}

struct Task {
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    queued: AtomicBool,
    runtime: Weak<Shared>,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Task")
    }
}

/// Polls a future once, with a waker that does nothing.
pub fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

impl Default for FakeRuntime {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeRuntime {
    /// A seam at time zero.
    pub fn new() -> Self {
        let (base, state) = (Instant::now(), Mutex::new(State::default()));
        Self { shared: Arc::new(Shared { base, state, changed: Condvar::new() }) }
    }

    /// Who calls from now on does so on this event loop.
    pub fn stand_on(&self, event_loop: usize) {
        self.shared.lock().event_loop = event_loop;
    }

    /// What is to hear of the streams opened so far.
    pub fn nears(&self) -> Vec<Near> {
        self.shared.lock().nears.clone()
    }

    /// The handle the pool and the engine take.
    pub fn handle(&self) -> SharedRuntime {
        Arc::new(self.clone())
    }

    /// Moves time forward and runs what that wakes.
    pub fn advance(&self, by: Duration) {
        let due: Vec<Waker> = {
            let mut state = self.shared.lock();
            state.elapsed += by;
            let now = state.elapsed;
            state.sleepers.extract_if(.., |(at, _)| *at <= now).map(|(_, waker)| waker).collect()
        };
        due.into_iter().for_each(Waker::wake);
        self.run();
    }

    /// Runs background tasks in this thread until none of them can go on.
    pub fn run(&self) {
        while self.step() {}
    }

    /// Background tasks that have not ended.
    pub fn tasks(&self) -> usize {
        self.shared.lock().tasks
    }

    /// Runs `future` to its end in this thread, and background tasks meanwhile. Several threads may do so at once. Blocks while nothing can go on.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        let signal =
            Arc::new(Signal { woken: AtomicBool::new(true), shared: Arc::clone(&self.shared) });
        let waker = Waker::from(Arc::clone(&signal));
        loop {
            if signal.woken.swap(false, Ordering::SeqCst)
                && let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                return done;
            }
            if self.step() {
                continue;
            }
            let state = self.shared.lock();
            let idle =
                |state: &mut State| state.ready.is_empty() && !signal.woken.load(Ordering::SeqCst);
            drop(self.shared.changed.wait_while(state, idle));
        }
    }

    fn step(&self) -> bool {
        let Some(task) = self.shared.lock().ready.pop_front() else {
            return false;
        };
        task.queued.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&task));
        let mut slot = task.future.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = slot.as_mut().is_some_and(|future| {
            future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        });
        if ended {
            *slot = None;
            self.shared.lock().tasks -= 1;
        }
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if self.queued.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Some(shared) = self.runtime.upgrade() {
            shared.lock().ready.push_back(self);
            shared.changed.notify_all();
        }
    }
}

struct Signal {
    woken: AtomicBool,
    shared: Arc<Shared>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        // The lock makes sure that a thread about to wait has either seen the flag or is waiting already.
        drop(self.shared.lock());
        self.shared.changed.notify_all();
    }
}

struct Sleep {
    shared: Arc<Shared>,
    until: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        if state.elapsed >= self.until {
            return Poll::Ready(());
        }
        let waiting =
            |(at, waker): &(Duration, Waker)| *at == self.until && waker.will_wake(cx.waker());
        if !state.sleepers.iter().any(waiting) {
            state.sleepers.push((self.until, cx.waker().clone()));
        }
        Poll::Pending
    }
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a fake runtime has no sockets")
}

impl Runtime for FakeRuntime {
    fn connect<'a>(&'a self, _address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async { Err(unsupported()) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let until = self.shared.lock().elapsed.saturating_add(duration);
        Box::pin(Sleep { shared: Arc::clone(&self.shared), until })
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.shared.lock().tasks += 1;
        let task = Task {
            future: Mutex::new(Some(task)),
            queued: AtomicBool::new(false),
            runtime: Arc::downgrade(&self.shared),
        };
        Arc::new(task).wake();
    }

    fn event_loop(&self) -> usize {
        self.shared.lock().event_loop
    }

    fn telling(&self, near: &Near) -> Option<SharedRuntime> {
        self.shared.lock().nears.push(near.clone());
        Some(self.handle())
    }

    fn now(&self) -> Instant {
        self.shared.base + self.shared.lock().elapsed
    }
}
