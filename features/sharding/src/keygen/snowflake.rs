//! `SNOWFLAKE`: 41 bits of milliseconds, 10 of worker, 12 of sequence; ascending in time.

use std::sync::{Arc, Mutex, PoisonError};

use pando_config::{Placed, Problem};
use pando_kernel::feature::Source;
use pando_kernel::{Error, ErrorKind, Result, Value};

use super::KeyGenerator;
use crate::algorithm::Reader;

/// 2016-11-01 00:00:00 UTC, in milliseconds since 1970.
const EPOCH: i64 = 1_477_958_400_000;
const SEQUENCE_BITS: u32 = 12;
const WORKER_BITS: u32 = 10;
const SEQUENCES: i64 = 1 << SEQUENCE_BITS;
const MOST_MILLISECONDS: i64 = 1 << 41;
/// How far keys may run ahead of the clock when more are asked for than a millisecond has: two million at once.
const MOST_AHEAD: i64 = 500;

#[derive(Debug)]
struct Snowflake {
    worker: i64,
    vibration: i64,
    tolerance: i64,
    epoch: i64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The clock as last seen, in milliseconds since the epoch.
    seen: i64,
    /// The millisecond of the last key; never decreases.
    millisecond: i64,
    sequence: i64,
    /// What the sequence of a new millisecond starts at.
    start: i64,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn KeyGenerator>, Problem> {
    let mut props = Reader::new(config);
    let worker = props.optional_integer("worker-id", 0..=(1 << WORKER_BITS) - 1)?.unwrap_or(0);
    let vibration = props.optional_integer("max-vibration-offset", 0..=SEQUENCES - 1)?.unwrap_or(1);
    let tolerance = "max-tolerate-time-difference-milliseconds";
    let tolerance = props.optional_integer(tolerance, 0..=i64::from(i32::MAX))?.unwrap_or(10);
    let epoch = props.optional("epoch").map(epoch).transpose()?.unwrap_or(EPOCH);
    props.finish()?;
    let state = State { seen: -1, millisecond: -1, sequence: 0, start: vibration };
    Ok(Arc::new(Snowflake { worker, vibration, tolerance, epoch, state: Mutex::new(state) }))
}

/// `2016-11-01T00:00:00+08:00`, or milliseconds since 1970.
fn epoch(text: &Placed<String>) -> Result<i64, Problem> {
    let milliseconds = text.trim().parse::<i64>().ok().filter(|number| *number >= 0);
    let moment = || text.trim().parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond());
    milliseconds.or_else(moment).ok_or_else(|| {
        let message = format!(
            "property `epoch`: expected a moment as `2016-11-01T00:00:00+08:00`, found `{}`",
            text.value
        );
        text.at.problem(message)
    })
}

impl KeyGenerator for Snowflake {
    fn next(&self, source: &dyn Source) -> Result<Value> {
        // The clock is read inside the lock: two threads could otherwise see it in the wrong order.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = source.now_millis().saturating_sub(self.epoch);
        self.advance(&mut state, now)?;
        let milliseconds = state.millisecond << (SEQUENCE_BITS + WORKER_BITS);
        Ok(Value::Int(milliseconds | self.worker << SEQUENCE_BITS | state.sequence))
    }
}

impl Snowflake {
    fn advance(&self, state: &mut State, now: i64) -> Result<()> {
        if !(0..MOST_MILLISECONDS - MOST_AHEAD).contains(&now) {
            return Err(failed("the clock is outside the 69 years after the epoch"));
        }
        if state.seen - now > self.tolerance {
            return Err(failed(&format!(
                "the clock moved back by {} milliseconds, more than `max-tolerate-time-difference-milliseconds`",
                state.seen - now
            )));
        }
        state.seen = state.seen.max(now);
        // A clock moved back a little, or a millisecond used up, is bridged by counting on from the last key.
        if now > state.millisecond {
            self.start(state, now);
        } else if state.sequence + 1 < SEQUENCES {
            state.sequence += 1;
        } else if state.millisecond + 1 - state.seen <= MOST_AHEAD {
            self.start(state, state.millisecond + 1);
        } else {
            return Err(failed("more keys are asked for than the clock allows; try again"));
        }
        Ok(())
    }

    /// Sequences do not all start at 0: at one key a millisecond all keys would be even.
    fn start(&self, state: &mut State, millisecond: i64) {
        state.millisecond = millisecond;
        state.start = if state.start >= self.vibration { 0 } else { state.start + 1 };
        state.sequence = state.start;
    }
}

fn failed(why: &str) -> Error {
    let message = format!("key generator `SNOWFLAKE`: {why}");
    Error::new(ErrorKind::ShardingValue { code: 10440, message })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[derive(Debug)]
    struct Clock(AtomicI64);

    impl Source for Clock {
        fn now_millis(&self) -> i64 {
            self.0.load(Ordering::Relaxed)
        }

        fn random(&self, _buffer: &mut [u8]) {}
    }

    fn generator(props: &[(&str, &str)]) -> Arc<dyn KeyGenerator> {
        let config = pando_config::Algorithm::nowhere("SNOWFLAKE", props.iter().copied());
        build(&config).expect("valid properties")
    }

    fn at(millis: i64) -> Clock {
        Clock(AtomicI64::new(EPOCH + millis))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other outcome fails the test")]
    fn key(generator: &dyn KeyGenerator, clock: &Clock) -> Result<i64> {
        match generator.next(clock)? {
            Value::Int(key) => Ok(key),
            other => Err(Error::internal(format!("{other:?}"))),
        }
    }

    #[test]
    fn a_key_is_milliseconds_worker_and_sequence() {
        let generator = generator(&[("worker-id", "123"), ("max-vibration-offset", "3")]);
        let clock = at(1000);
        let keys: Vec<i64> = (0..4)
            .map(|i| {
                clock.0.store(EPOCH + 1000 + i, Ordering::Relaxed);
                key(&*generator, &clock).expect("a key")
            })
            .collect();
        let expected: Vec<i64> = (0..4).map(|i| (1000 + i) << 22 | 123 << 12 | i).collect();
        assert_eq!(keys, expected);
    }

    #[test]
    fn keys_ascend_over_used_up_milliseconds_and_small_steps_back() {
        let generator = generator(&[]);
        let clock = at(5);
        let mut last = -1;
        for i in 0..20_000 {
            if i == 10_000 {
                clock.0.store(EPOCH + 1, Ordering::Relaxed);
            }
            let next = key(&*generator, &clock).expect("a key");
            assert!(next > last);
            last = next;
        }
    }

    #[test]
    fn a_clock_that_jumps_back_is_an_error_until_it_has_caught_up() {
        let generator = generator(&[("max-tolerate-time-difference-milliseconds", "10")]);
        let clock = at(1000);
        key(&*generator, &clock).expect("a key");
        clock.0.store(EPOCH + 989, Ordering::Relaxed);
        let error = key(&*generator, &clock).expect_err("too far").to_string();
        assert!(error.contains("moved back by 11 milliseconds"), "{error}");
        clock.0.store(EPOCH + 990, Ordering::Relaxed);
        key(&*generator, &clock).expect("within the tolerance");
    }

    #[test]
    fn a_clock_that_stands_still_does_not_make_keys_for_ever() {
        let generator = generator(&[]);
        let clock = at(1000);
        let made = (0..3_000_000).take_while(|_| key(&*generator, &clock).is_ok()).count();
        assert!(made > 2_000_000 && made < 2_100_000, "{made}");
        clock.0.store(EPOCH + 1001, Ordering::Relaxed);
        key(&*generator, &clock).expect("the clock went on");
    }

    #[test]
    fn threads_never_get_the_same_key() {
        let generator = generator(&[]);
        let clock = at(1000);
        let keys: Vec<i64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let keys = (0..10_000).map(|_| {
                            clock.0.fetch_add(i64::from(rand_bit(&clock)), Ordering::Relaxed);
                            key(&*generator, &clock).expect("a key")
                        });
                        keys.collect::<Vec<i64>>()
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
        });
        let distinct: HashSet<i64> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), keys.len());
    }

    fn rand_bit(clock: &Clock) -> bool {
        clock.0.load(Ordering::Relaxed) % 3 == 0
    }

    #[test]
    fn an_epoch_may_be_a_moment_with_its_zone() {
        let generator = generator(&[("epoch", "2016-11-01T00:00:00+08:00")]);
        let first = key(&*generator, &at(0)).expect("a key");
        assert_eq!(first >> 22, 8 * 3600 * 1000);
        let early = key(&*generator, &at(-8 * 3600 * 1000 - 1)).expect_err("before the epoch");
        assert!(early.to_string().contains("epoch"));
    }

    #[test]
    fn properties_out_of_range_are_refused() {
        for (name, value) in [
            ("worker-id", "1024"),
            ("worker-id", "x"),
            ("max-vibration-offset", "4096"),
            ("epoch", "yesterday"),
            ("worker", "1"),
        ] {
            let config = pando_config::Algorithm::nowhere("SNOWFLAKE", [(name, value)]);
            let problem = build(&config).expect_err(name).to_string();
            assert!(problem.contains(name), "{problem}");
        }
    }
}
