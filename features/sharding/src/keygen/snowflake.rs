//! `SNOWFLAKE`: 41 bits of milliseconds, 10 of worker, 12 of sequence; ascending in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pando_config::{Placed, Problem};
use pando_kernel::feature::Source;
use pando_kernel::worker::Used;
use pando_kernel::{Error, ErrorKind, Result, Unroutable, Value, Worker, WorkerId};

use super::KeyGenerator;
use crate::algorithm::Reader;

/// 2016-11-01 00:00:00 UTC, in milliseconds since 1970.
const EPOCH: i64 = 1_477_958_400_000;
const SEQUENCE_BITS: u32 = 12;
const WORKER_BITS: u32 = 10;
const WORKERS: i64 = 1 << WORKER_BITS;
const SEQUENCES: i64 = 1 << SEQUENCE_BITS;
const MOST_MILLISECONDS: i64 = 1 << 41;
/// How far keys may run ahead of the clock when more are asked for than a millisecond has: two million at once.
const MOST_AHEAD: i64 = 500;

#[derive(Debug)]
pub(super) struct Snowflake {
    /// The configured one; absent takes the one this process holds.
    worker: Option<i64>,
    vibration: i64,
    tolerance: i64,
    epoch: i64,
    /// What the sequence of the last new millisecond started at.
    start: AtomicI64,
    /// For sources that have none.
    own: Worker,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn KeyGenerator>, Problem> {
    let mut props = Reader::new(config);
    let made = Snowflake::read(&mut props)?;
    props.finish()?;
    Ok(Arc::new(made))
}

/// What a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    /// Milliseconds since 1970.
    pub(super) millis: i64,
    /// From 0 to 1023.
    pub(super) worker: i64,
    /// From 0 to 4095.
    pub(super) sequence: i64,
}

impl Snowflake {
    /// Reads what a generator's properties say of it, which may have others beside.
    ///
    /// # Errors
    /// A value that a property cannot have.
    pub(super) fn read(props: &mut Reader<'_>) -> Result<Self, Problem> {
        let worker = props.optional_integer("worker-id", 0..=WORKERS - 1)?;
        let vibration =
            props.optional_integer("max-vibration-offset", 0..=SEQUENCES - 1)?.unwrap_or(1);
        let tolerance = "max-tolerate-time-difference-milliseconds";
        let tolerance = props.optional_integer(tolerance, 0..=i64::from(i32::MAX))?.unwrap_or(10);
        let epoch = props.optional("epoch").map(epoch).transpose()?.unwrap_or(EPOCH);
        let (start, own) = (AtomicI64::new(vibration), Worker::default());
        Ok(Self { worker, vibration, tolerance, epoch, start, own })
    }

    /// What a key was made of.
    pub(super) fn parts(&self, key: i64) -> Parts {
        Parts {
            millis: (key >> (SEQUENCE_BITS + WORKER_BITS)) + self.epoch,
            worker: key >> SEQUENCE_BITS & (WORKERS - 1),
            sequence: key & (SEQUENCES - 1),
        }
    }

    /// The key of these parts, which are in their ranges.
    pub(super) fn key(&self, parts: Parts) -> i64 {
        let Parts { millis, worker, sequence } = parts;
        (millis - self.epoch) << (SEQUENCE_BITS + WORKER_BITS) | worker << SEQUENCE_BITS | sequence
    }

    /// The next key.
    ///
    /// # Errors
    /// `ShardingValue` when none can be made that is surely new.
    pub(super) fn number(&self, source: &dyn Source) -> Result<i64> {
        // The clock is read while no other key is made: two threads could otherwise see it in the wrong order.
        let worker = source.worker().unwrap_or(&self.own);
        worker.make(|id, used| self.made(source, id, used, 1))
    }
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
    fn makes_long_numbers(&self) -> bool {
        true
    }

    fn next(&self, source: &dyn Source) -> Result<Value> {
        self.number(source).map(Value::Int)
    }

    fn run(&self, source: &dyn Source, count: usize) -> Result<Vec<Value>> {
        source.worker().unwrap_or(&self.own).make(|id, used| {
            let mut keys = Vec::with_capacity(count);
            while keys.len() < count {
                // What one millisecond has numbers for; more than that cannot be without a gap.
                let rest = i64::try_from(count - keys.len()).unwrap_or(SEQUENCES).min(SEQUENCES);
                let first = self.made(source, id, used, rest)?;
                used.sequence += rest - 1;
                keys.extend((first..first + rest).map(Value::Int));
            }
            Ok(keys)
        })
    }
}

impl Snowflake {
    /// The worker id of a key made now, and the moment whose keys may be somebody else's.
    fn held(&self, id: WorkerId, now: i64) -> Result<(i64, i64)> {
        if let Some(worker) = self.worker {
            return Ok((worker, i64::MAX));
        }
        match id {
            WorkerId::Alone => Ok((0, i64::MAX)),
            WorkerId::Leased { until, .. } if now >= until => Err(failed(LOST)),
            WorkerId::Leased { id, until } if i64::from(id) < WORKERS => Ok((i64::from(id), until)),
            WorkerId::Leased { id, .. } => Err(failed(&format!(
                "the leased worker id {id} is not below {WORKERS}; set `worker-id`"
            ))),
            WorkerId::Lost => Err(failed(LOST)),
        }
    }

    /// The next key, in a millisecond that has numbers for `together` of them.
    fn made(
        &self,
        source: &dyn Source,
        id: WorkerId,
        used: &mut Used,
        together: i64,
    ) -> Result<i64> {
        let now = source.now_millis();
        let (worker, until) = self.held(id, now)?;
        let next = self.advance(used, now, together)?;
        if next.millisecond >= until {
            return Err(failed("more keys are asked for than the lease of the worker id lasts"));
        }
        *used = next;
        Ok(self.key(Parts { millis: next.millisecond, worker, sequence: next.sequence }))
    }

    /// The moment and number of the next key, the first of so many.
    fn advance(&self, used: &Used, now: i64, together: i64) -> Result<Used> {
        if !(0..MOST_MILLISECONDS - MOST_AHEAD).contains(&now.saturating_sub(self.epoch)) {
            return Err(failed("the clock is outside the 69 years after the epoch"));
        }
        if used.seen - now > self.tolerance {
            return Err(failed(&format!(
                "the clock moved back by {} milliseconds, more than `max-tolerate-time-difference-milliseconds`",
                used.seen - now
            )));
        }
        let seen = used.seen.max(now);
        // A clock moved back a little, or a millisecond used up, is bridged by counting on from the last key.
        let first = || self.first().min(SEQUENCES - together);
        if now > used.millisecond {
            Ok(Used { seen, millisecond: now, sequence: first() })
        } else if used.sequence + together < SEQUENCES {
            Ok(Used { seen, sequence: used.sequence + 1, ..*used })
        } else if used.millisecond + 1 - seen <= MOST_AHEAD {
            Ok(Used { seen, millisecond: used.millisecond + 1, sequence: first() })
        } else {
            Err(failed("more keys are asked for than the clock allows; try again"))
        }
    }

    /// Sequences do not all start at 0: at one key a millisecond all keys would be even.
    fn first(&self) -> i64 {
        let last = self.start.load(Ordering::Relaxed);
        let next = if last >= self.vibration { 0 } else { last + 1 };
        self.start.store(next, Ordering::Relaxed);
        next
    }
}

const LOST: &str = "this instance has no worker id, as it has lost its lease or not got one yet; no key is made that another instance could make, too";

fn failed(why: &str) -> Error {
    let message = format!("key generator `SNOWFLAKE`: {why}");
    Error::new(ErrorKind::ShardingValue { is: Unroutable::NoPlace, code: 10440, message })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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

    fn number(value: &Value) -> Option<i64> {
        if let Value::Int(number) = value { Some(*number) } else { None }
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
    fn the_keys_of_a_statement_follow_each_other_without_a_gap() {
        let generator = generator(&[("max-vibration-offset", "4095")]);
        let clock = at(1000);
        let mut last = -1;
        for _ in 0..200 {
            let keys = generator.run(&clock, 1000).expect("keys");
            let first = keys.iter().find_map(number).expect("a number");
            let expected: Vec<Value> = (first..first + 1000).map(Value::Int).collect();
            assert!(keys == expected && first > last, "{first} after {last}");
            last = first + 999;
        }
        // More than a millisecond has room for are still new ones.
        let keys = generator.run(&clock, 10_000).expect("keys");
        let distinct: HashSet<i64> = keys.iter().filter_map(number).collect();
        assert_eq!(distinct.len(), 10_000);
        assert!(distinct.iter().all(|key| *key > last));
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

    /// A process with a worker id of its own.
    #[derive(Debug)]
    struct Process {
        clock: Clock,
        worker: Worker,
    }

    impl Source for Process {
        fn now_millis(&self) -> i64 {
            self.clock.now_millis()
        }

        fn random(&self, _buffer: &mut [u8]) {}

        fn worker(&self) -> Option<&Worker> {
            Some(&self.worker)
        }
    }

    fn process(id: WorkerId) -> Process {
        let process = Process { clock: at(1000), worker: Worker::default() };
        process.worker.hold(id);
        process
    }

    fn leased(id: u32, millis: i64) -> WorkerId {
        WorkerId::Leased { id, until: EPOCH + millis }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other outcome fails the test")]
    fn made(generator: &dyn KeyGenerator, process: &Process) -> Result<i64, String> {
        match generator.next(process).map_err(|error| error.to_string())? {
            Value::Int(key) => Ok(key),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_key_has_the_leased_worker_id_unless_one_is_configured() {
        let process = process(leased(77, 2000));
        assert_eq!(made(&*generator(&[]), &process).map(|key| key >> 12 & 1023), Ok(77));
        assert_eq!(process.worker.id(EPOCH + 1999), Some(77));
        let configured = generator(&[("worker-id", "5")]);
        assert_eq!(made(&*configured, &process).map(|key| key >> 12 & 1023), Ok(5));
        process.worker.hold(WorkerId::Alone);
        assert_eq!(made(&*generator(&[]), &process).map(|key| key >> 12 & 1023), Ok(0));
    }

    #[test]
    fn no_key_is_made_without_the_lease() {
        let (leases, configured) = (generator(&[]), generator(&[("worker-id", "5")]));
        let process = process(WorkerId::Lost);
        assert!(made(&*leases, &process).is_err_and(|error| error.contains("no worker id")));
        made(&*configured, &process).expect("it needs no lease");
        process.worker.hold(leased(3, 1010));
        made(&*leases, &process).expect("it has one");
        // Nobody has told the process that it was asleep when the lease ended.
        process.clock.0.store(EPOCH + 1010, Ordering::Relaxed);
        assert!(made(&*leases, &process).is_err_and(|error| error.contains("lost its lease")));
        assert_eq!(process.worker.id(EPOCH + 1010), None);
        process.worker.hold(leased(1024, 9000));
        assert!(made(&*leases, &process).is_err_and(|error| error.contains("1024")));
    }

    #[test]
    fn keys_do_not_run_ahead_of_the_lease() {
        let (generator, process) = (generator(&[]), process(leased(3, 1003)));
        let keys: Vec<i64> = std::iter::from_fn(|| made(&*generator, &process).ok()).collect();
        assert!(keys.iter().all(|key| key >> 22 < 1003), "{:?}", keys.last());
        assert!(keys.len() > 2 * 4096, "{}", keys.len());
    }

    /// A changed configuration builds every generator anew, while statements still run on the one before.
    #[test]
    fn generators_of_one_process_never_make_the_same_key() {
        let process = process(leased(3, 90_000));
        let mut keys = HashSet::new();
        for round in 0..50 {
            let (old, new) = (generator(&[]), generator(&[("epoch", "1477958400000")]));
            for i in 0..2000 {
                let generator = if i % 3 == 0 { &old } else { &new };
                let key = made(&**generator, &process).expect("a key");
                assert!(keys.insert(key), "round {round}: {key} was made twice");
            }
            process.clock.0.fetch_add(round % 2, Ordering::Relaxed);
        }
    }

    #[test]
    fn tables_that_take_turns_get_odd_and_even_keys() {
        let process = process(WorkerId::Alone);
        let (a, b) = (generator(&[]), generator(&[]));
        let odd = |generator: &dyn KeyGenerator| {
            process.clock.0.fetch_add(1, Ordering::Relaxed);
            made(generator, &process).expect("a key") % 2
        };
        let seen: Vec<(i64, i64)> = (0..4).map(|_| (odd(&*a), odd(&*b))).collect();
        assert_eq!(seen, [(0, 0), (1, 1), (0, 0), (1, 1)]);
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
