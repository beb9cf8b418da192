//! A statement passes its limits, one after the other: at once, or after it has waited.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context as Task, Poll};
use std::time::{Duration, Instant};

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Deadline, Permit, Permits, RowLimit, Waiting};

use crate::bucket::Rate;
use crate::gate::{HasGate, Place};
use crate::meter::Meter;
use crate::rule::Limit;

/// A limit that a statement has to pass, and the meter it is counted by.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) limit: Arc<Limit>,
    pub(crate) meter: Arc<Meter>,
}

/// What a statement waits for at one limit.
#[derive(Debug)]
enum Stage {
    /// Its token, until then.
    Token(Instant, Delayed),
    /// Room, until then at most.
    Room(Instant, Place<Meter>),
}

/// A statement that waits for a token is counted as long as it does.
#[derive(Debug)]
struct Delayed(Arc<Meter>);

impl Drop for Delayed {
    fn drop(&mut self) {
        self.0.delayed.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Step {
    /// Begins to pass: through, where nothing is to be waited for.
    fn begin(&self, now: Instant, permits: &mut Permits) -> Result<Option<Stage>> {
        let Self { limit, meter } = self;
        if let Some(rate) = limit.rate {
            // Those whose token has come are still among them until they are asked again.
            if limit.queue > 0 && meter.delayed.load(Ordering::Relaxed) >= limit.queue as u64 {
                return Err(self.refused("so many wait already"));
            }
            match meter.bucket.take(rate, meter.age(now), self.longest(rate)) {
                Ok(Duration::ZERO) => {}
                Ok(wait) => {
                    meter.delayed.fetch_add(1, Ordering::Relaxed);
                    let delayed = Delayed(Arc::clone(meter));
                    return Ok(Some(Stage::Token(now + wait, delayed)));
                }
                Err(wait) if wait <= limit.wait => {
                    return Err(self.refused("so many wait already"));
                }
                Err(_) => return Err(self.refused("too many statements in this time")),
            }
        }
        self.enter(now, permits)
    }

    /// How far ahead a token may be promised: to no more statements than may wait. Those who are refused would else take
    /// the tokens of all others.
    fn longest(&self, rate: Rate) -> Duration {
        let limit = &self.limit;
        let queue = u32::try_from(limit.queue).unwrap_or(u32::MAX);
        limit.wait.min(rate.each.saturating_mul(queue))
    }

    /// Goes on behind the token.
    fn enter(&self, now: Instant, permits: &mut Permits) -> Result<Option<Stage>> {
        let Self { limit, meter } = self;
        if limit.most.is_some() && !meter.gate().try_enter() {
            let longest = if limit.wait.is_zero() { 0 } else { limit.queue };
            return match Place::last(meter, longest) {
                Some(place) => Ok(Some(Stage::Room(now + limit.wait, place))),
                None => Err(self.refused("so many statements run and wait already")),
            };
        }
        self.is_through(now, permits);
        Ok(None)
    }

    /// It is inside.
    fn is_through(&self, now: Instant, permits: &mut Permits) {
        let Self { limit, meter } = self;
        meter.admitted.fetch_add(1, Ordering::Relaxed);
        if limit.most.is_some() {
            permits.hold(Permit::of(Arc::clone(meter) as _));
        }
        if let Some(time) = limit.time {
            let by = Arc::clone(meter) as _;
            permits.end_at(Deadline { at: now + time, told: Arc::clone(&limit.told.time), by });
        }
        if let Some(most) = limit.rows {
            let by = Arc::clone(meter) as _;
            permits.tell_at_most(RowLimit { most, told: Arc::clone(&limit.told.rows), by });
        }
    }

    fn refused(&self, why: &str) -> Error {
        self.meter.refused.fetch_add(1, Ordering::Relaxed);
        let message = format!("limit `{}`: {why}; try again later", self.limit.name);
        Error::new(ErrorKind::Limited(message))
    }
}

/// A statement on its way through its limits.
#[derive(Debug)]
pub(crate) struct Passage<S> {
    step: Step,
    stage: Option<Stage>,
    rest: S,
    begun: Instant,
}

/// Passes as far as nothing is to be waited for. `None`: through.
///
/// # Errors
/// `Limited`.
pub(crate) fn pass<S: Iterator<Item = Step>>(
    mut steps: S,
    now: Instant,
    permits: &mut Permits,
) -> Result<Option<Passage<S>>> {
    while let Some(step) = steps.next() {
        if let Some(stage) = step.begin(now, permits)? {
            step.meter.waited.fetch_add(1, Ordering::Relaxed);
            return Ok(Some(Passage { step, stage: Some(stage), rest: steps, begun: now }));
        }
    }
    Ok(None)
}

impl<S: Iterator<Item = Step>> Passage<S> {
    /// The same, with what is still to be passed in a list of its own.
    pub(crate) fn kept(self) -> Passage<std::vec::IntoIter<Step>> {
        let rest = self.rest.collect::<Vec<_>>().into_iter();
        Passage { step: self.step, stage: self.stage, rest, begun: self.begun }
    }
}

impl<S: Iterator<Item = Step> + Send> Waiting for Passage<S> {
    fn poll_turn(
        &mut self,
        now: Instant,
        permits: &mut Permits,
        task: &Task<'_>,
    ) -> Poll<Result<()>> {
        loop {
            let next = match self.stage.take() {
                Some(Stage::Token(at, delayed)) if now < at => {
                    self.stage = Some(Stage::Token(at, delayed));
                    return Poll::Pending;
                }
                Some(Stage::Token(_, delayed)) => {
                    drop(delayed);
                    self.step.enter(now, permits)
                }
                Some(Stage::Room(until, mut place)) => match place.poll_entered(task) {
                    Poll::Ready(()) => {
                        self.step.is_through(now, permits);
                        Ok(None)
                    }
                    Poll::Pending if now < until => {
                        self.stage = Some(Stage::Room(until, place));
                        return Poll::Pending;
                    }
                    Poll::Pending => Err(self.step.refused("no room became free in time")),
                },
                None => match self.rest.next() {
                    None => return Poll::Ready(Ok(())),
                    Some(step) => {
                        self.step = step;
                        let begun = self.step.begin(now, permits);
                        if let Ok(Some(_)) = begun {
                            self.step.meter.waited.fetch_add(1, Ordering::Relaxed);
                        }
                        begun
                    }
                },
            };
            match next {
                Ok(stage) => self.stage = stage,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn ask_again(&self) -> Instant {
        match &self.stage {
            Some(Stage::Token(at, _) | Stage::Room(at, _)) => *at,
            // Between two stages, where nobody asks.
            None => self.begun,
        }
    }
}
