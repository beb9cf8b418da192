//! The circuit of a storage unit: statements are counted, and while too many of them fail or are slow, none is sent.
//!
//! A statement is counted from when its connection is asked for until its answer begins: who waits for a silent server
//! in the pool's queue is one who waits for that server. What is not answered after the time for a slow statement is
//! slow already, so a server that falls silent is noticed though nothing ever comes back.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use pando_kernel::circuit::{Report, Settings, State, is_failure};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{Error, ErrorKind, Result};

use crate::Pool;
use crate::shared::Shared;
use crate::window::{Counts, Window};

const CLOSED: u8 = 0;
const OPEN: u8 = 1;
const HALF_OPEN: u8 = 2;

/// The circuit of one storage unit. Without settings it counts nothing and lets everything through.
#[derive(Debug)]
pub(crate) struct Circuit {
    unit: Arc<str>,
    runtime: SharedRuntime,
    begun: Instant,
    is_on: AtomicBool,
    /// Milliseconds from which on a statement is slow.
    slow: AtomicU64,
    state: AtomicU8,
    /// Grows whenever the state changes: what was begun before tells nothing.
    era: AtomicU64,
    window: Window,
    /// When the window is looked at again for statements that are not answered.
    look_at: AtomicU64,
    change: Mutex<Change>,
    opened: AtomicU64,
    refused: AtomicU64,
    /// Whose callers wait for the storage unit.
    pool: OnceLock<Weak<Shared>>,
}

/// What changes together. Times are milliseconds since the circuit was made.
#[derive(Debug, Default)]
struct Change {
    settings: Option<Settings>,
    /// While it is open: until then.
    until: u64,
    /// When statements on trial that are not answered yet were begun.
    probes: Vec<u64>,
    succeeded: u32,
}

impl Pool {
    /// From now on statements are kept back by these settings while the storage unit fails or is slow; `None`: never. What was counted counts on under the
    /// same settings, others close the circuit.
    pub fn breaks_circuit(&self, settings: Option<Settings>) {
        self.shared.circuit.adopt(settings);
    }

    /// Whether its circuit is open: whoever takes a connection now is told `Unavailable`, but for [`Pool::take_last`].
    pub fn is_shut(&self, now: Instant) -> bool {
        self.shared.circuit.is_shut(now)
    }

    /// What a statement is told that is not sent, as the circuit is open. It is counted.
    pub fn refusal(&self) -> Error {
        self.shared.circuit.refuses()
    }

    /// How its circuit stands; `None` where it has no settings.
    pub fn circuit(&self) -> Option<Report> {
        self.shared.circuit.report()
    }
}

/// A statement that is counted. Dropped without an end, it tells nothing unless it was slow.
#[derive(Debug)]
pub(crate) struct Trial {
    circuit: Arc<Circuit>,
    begun: u64,
    /// The circuit's at its beginning.
    era: u64,
    /// Whether it was let through on trial.
    kind: Kind,
    is_over: bool,
}

/// Why a statement was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The circuit is closed.
    Usual,
    /// It is half open.
    Probe,
}

/// What has become of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Answered,
    Failed,
    Unknown,
}

impl Circuit {
    pub(crate) fn new(unit: Arc<str>, runtime: SharedRuntime) -> Self {
        Self {
            unit,
            begun: runtime.now(),
            runtime,
            is_on: AtomicBool::new(false),
            slow: AtomicU64::new(u64::MAX),
            state: AtomicU8::new(CLOSED),
            era: AtomicU64::new(0),
            window: Window::default(),
            look_at: AtomicU64::new(0),
            change: Mutex::default(),
            opened: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            pool: OnceLock::new(),
        }
    }

    /// The pool whose callers are told when it opens.
    pub(crate) fn serves(&self, pool: &Arc<Shared>) {
        // Said once, by who makes both.
        let _ = self.pool.set(Arc::downgrade(pool));
    }

    /// Goes by these settings from now on; other ones than before close it.
    pub(crate) fn adopt(&self, settings: Option<Settings>) {
        let mut change = self.change();
        if change.settings == settings {
            return;
        }
        change.settings = settings;
        if let Some(settings) = settings {
            self.window.measures(settings.window);
            self.slow.store(millis(settings.slow), Ordering::Relaxed);
        }
        self.becomes(&mut change, CLOSED);
        self.is_on.store(settings.is_some(), Ordering::Relaxed);
    }

    /// A statement wants a connection. `None` where nothing is counted.
    ///
    /// # Errors
    /// `Unavailable` while it is open.
    pub(crate) fn begin(self: &Arc<Self>) -> Result<Option<Trial>> {
        if !self.is_on.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let now = self.now();
        self.look(now);
        if self.state.load(Ordering::Relaxed) == CLOSED {
            return Ok(Some(self.counted(now)));
        }
        let mut change = self.change();
        let Some(settings) = change.settings else { return Ok(None) };
        match self.state.load(Ordering::Relaxed) {
            CLOSED => return Ok(Some(self.counted(now))),
            OPEN if now < change.until => {
                drop(change);
                self.refused.fetch_add(1, Ordering::Relaxed);
                return Err(self.refusal());
            }
            OPEN => self.becomes(&mut change, HALF_OPEN),
            _ => {}
        }
        if change.has_overdue(now, settings) {
            self.opens(&mut change, now, settings);
        } else if change.has_place(settings) {
            change.probes.push(now);
            return Ok(Some(self.trial(Kind::Probe, now)));
        }
        drop(change);
        self.refused.fetch_add(1, Ordering::Relaxed);
        Err(self.refusal())
    }

    /// A statement begins on a connection that its session has already: nothing keeps it from that.
    pub(crate) fn begin_held(self: &Arc<Self>) -> Option<Trial> {
        let is_counted =
            self.is_on.load(Ordering::Relaxed) && self.state.load(Ordering::Relaxed) == CLOSED;
        is_counted.then(|| self.counted(self.now()))
    }

    fn counted(self: &Arc<Self>, now: u64) -> Trial {
        let trial = self.trial(Kind::Usual, now);
        self.window.begins(now);
        trial
    }

    fn trial(self: &Arc<Self>, kind: Kind, begun: u64) -> Trial {
        let era = self.era.load(Ordering::Relaxed);
        Trial { circuit: Arc::clone(self), begun, era, kind, is_over: false }
    }

    /// Whether a statement that wanted a connection now would be refused.
    pub(crate) fn is_shut(&self, now: Instant) -> bool {
        if !self.is_on.load(Ordering::Relaxed) {
            return false;
        }
        let now = millis(now.saturating_duration_since(self.begun));
        self.look(now);
        if self.state.load(Ordering::Relaxed) == CLOSED {
            return false;
        }
        let change = self.change();
        let Some(settings) = change.settings else { return false };
        match self.state.load(Ordering::Relaxed) {
            CLOSED => false,
            OPEN => now < change.until,
            _ => change.has_overdue(now, settings) || !change.has_place(settings),
        }
    }

    /// What a statement is told that is not sent.
    pub(crate) fn refusal(&self) -> Error {
        Error::new(ErrorKind::Unavailable {
            unit: self.unit.to_string(),
            message: "its circuit is open, as too many statements failed there or were slow; \
                      try again later"
                .into(),
        })
    }

    /// Counts a statement that somebody has kept back because it is shut.
    pub(crate) fn refuses(&self) -> Error {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.refusal()
    }

    /// How it stands; `None` where nothing is counted.
    pub(crate) fn report(&self) -> Option<Report> {
        let now = self.now();
        self.look(now);
        let change = self.change();
        let settings = change.settings?;
        let Counts { statements, failed, slow } = self.window.counts(now, millis(settings.slow));
        Some(Report {
            unit: Arc::clone(&self.unit),
            state: match self.state.load(Ordering::Relaxed) {
                CLOSED => State::Closed,
                OPEN if now < change.until => State::Open,
                _ => State::HalfOpen,
            },
            statements,
            failed,
            slow,
            opened: self.opened.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        })
    }

    fn now(&self) -> u64 {
        millis(self.runtime.now().saturating_duration_since(self.begun))
    }

    fn change(&self) -> MutexGuard<'_, Change> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for statements that are not answered, now and then.
    fn look(&self, now: u64) {
        let known = self.look_at.load(Ordering::Relaxed);
        let next = now + self.window.slot() / 2 + 1;
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        if now >= known && self.look_at.compare_exchange(known, next, set, fetch).is_ok() {
            self.judge(now);
        }
    }

    /// Opens it where too much went wrong.
    fn judge(&self, now: u64) {
        if self.state.load(Ordering::Relaxed) != CLOSED {
            return;
        }
        let mut change = self.change();
        let Some(settings) = change.settings else { return };
        let counts = self.window.counts(now, millis(settings.slow));
        if self.state.load(Ordering::Relaxed) != CLOSED || !is_too_much(counts, settings) {
            return;
        }
        tracing::warn!(
            unit = %self.unit,
            statements = counts.statements,
            failed = counts.failed,
            slow = counts.slow,
            "the storage unit's circuit opens"
        );
        self.opens(&mut change, now, settings);
        drop(change);
        if let Some(pool) = self.pool.get().and_then(Weak::upgrade) {
            pool.turn_away();
        }
    }

    fn opens(&self, change: &mut Change, now: u64, settings: Settings) {
        change.until = now + millis(settings.open);
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.becomes(change, OPEN);
    }

    fn becomes(&self, change: &mut Change, state: u8) {
        self.era.fetch_add(1, Ordering::Relaxed);
        change.probes.clear();
        change.succeeded = 0;
        if state == CLOSED {
            self.window.clear();
        }
        self.state.store(state, Ordering::Relaxed);
    }

    /// Nothing is known of a statement, and it begins anew when it is sent.
    fn forgets(&self, trial: &Trial) {
        if trial.kind == Kind::Usual {
            if trial.era == self.era.load(Ordering::Relaxed) {
                self.window.forgets(trial.begun);
            }
            return;
        }
        let mut change = self.change();
        if trial.era == self.era.load(Ordering::Relaxed)
            && let Some(at) = change.probes.iter().position(|begun| *begun == trial.begun)
        {
            change.probes.swap_remove(at);
        }
    }

    /// A statement that was let through on trial has come to its end.
    fn proved(&self, trial: &Trial, outcome: Outcome, now: u64) {
        let mut change = self.change();
        let is_of_now = trial.era == self.era.load(Ordering::Relaxed);
        let Some(settings) = change.settings.filter(|_| is_of_now) else { return };
        if let Some(at) = change.probes.iter().position(|begun| *begun == trial.begun) {
            change.probes.swap_remove(at);
        }
        let is_slow = now.saturating_sub(trial.begun) >= millis(settings.slow);
        match outcome {
            Outcome::Failed => self.opens(&mut change, now, settings),
            Outcome::Answered | Outcome::Unknown if is_slow => {
                self.opens(&mut change, now, settings);
            }
            Outcome::Unknown => {}
            Outcome::Answered => {
                change.succeeded += 1;
                if change.succeeded >= settings.probes {
                    tracing::info!(unit = %self.unit, "the storage unit's circuit closes");
                    self.becomes(&mut change, CLOSED);
                }
            }
        }
    }

    fn ended(&self, trial: &Trial, outcome: Outcome) {
        let now = self.now();
        if trial.kind == Kind::Probe {
            return self.proved(trial, outcome, now);
        }
        if trial.era != self.era.load(Ordering::Relaxed) {
            return;
        }
        let is_slow = now.saturating_sub(trial.begun) >= self.slow.load(Ordering::Relaxed);
        match outcome {
            Outcome::Failed => self.window.failed(trial.begun, now),
            Outcome::Answered | Outcome::Unknown if is_slow => {
                self.window.slow(trial.begun, now);
            }
            Outcome::Answered => return self.window.answered(trial.begun),
            Outcome::Unknown => return self.window.forgets(trial.begun),
        }
        self.judge(now);
    }
}

impl Change {
    fn has_place(&self, settings: Settings) -> bool {
        let taken = u32::try_from(self.probes.len()).unwrap_or(u32::MAX);
        taken.saturating_add(self.succeeded) < settings.probes.max(1)
    }

    /// Whether a statement on trial is not answered though it should be.
    fn has_overdue(&self, now: u64, settings: Settings) -> bool {
        self.probes.iter().any(|begun| now.saturating_sub(*begun) >= millis(settings.slow))
    }
}

fn is_too_much(counts: Counts, settings: Settings) -> bool {
    let reaches = |part: u64, percent: u32| {
        percent > 0 && part * 100 >= counts.statements * u64::from(percent)
    };
    counts.statements >= u64::from(settings.least.max(1))
        && (reaches(counts.failed, settings.failed_percent)
            || reaches(counts.slow, settings.slow_percent))
}

impl Trial {
    /// Its answer begins, or its connection is not to be had.
    pub(crate) fn ends<T>(mut self, told: Result<&T, &Error>) {
        let outcome = match told {
            Ok(_) => Outcome::Answered,
            Err(error) if is_failure(error) => Outcome::Failed,
            Err(error) if matches!(error.kind(), ErrorKind::Server(_)) => Outcome::Answered,
            Err(_) => Outcome::Unknown,
        };
        self.is_over = true;
        self.circuit.ended(&self, outcome);
    }
}

impl Trial {
    /// Its statement waits for something else than this storage unit before it is sent.
    pub(crate) fn puts_off(mut self) {
        self.is_over = true;
        self.circuit.forgets(&self);
    }

    /// Nobody waits for its answer any longer, as the server does not even take a cancel.
    pub(crate) fn fails(mut self) {
        self.is_over = true;
        self.circuit.ended(&self, Outcome::Failed);
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if !self.is_over {
            self.circuit.ended(self, Outcome::Unknown);
        }
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
