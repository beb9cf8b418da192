//! What own key generators are given, and a trial of many of them: ids that lie side by side, and ids that lie anywhere.

use std::collections::HashSet;

use pando_kernel::{Error, ErrorKind, Result, Unroutable, Value};

use super::snowflake::Parts;

/// So many that lie anywhere: of keys that go around after ten million, two are alike.
const ANYWHERE: u64 = 8_000;

/// 2026-01-01 00:00 UTC.
const FIRST: i64 = 1_767_225_600_000;

/// Makes the keys of these ids, and tells whether any is a number beyond 32 bits.
///
/// # Errors
/// Two of them are alike, or one cannot be made.
pub(super) fn tried(
    samples: impl Iterator<Item = (Parts, u128)>,
    made: impl Fn(Parts, u128) -> Result<Value>,
) -> Result<bool, String> {
    let (mut seen, mut is_long) = (HashSet::new(), false);
    for (parts, uuid) in samples {
        let key = made(parts, uuid).map_err(|error| error.to_string())?;
        let told = if let Value::Int(number) = &key {
            is_long |= i32::try_from(*number).is_err();
            number.to_string()
        } else if let Value::Text(text) = &key {
            text.clone()
        } else {
            return Err("its keys are neither texts nor numbers".to_owned());
        };
        if let Some(twice) = seen.replace(told) {
            return Err(format!("its keys are not unique: two ids have the key `{twice}`"));
        }
    }
    Ok(is_long)
}

/// Moments, workers and numbers that lie side by side, each with a text of 32 digits.
pub(super) fn beside() -> impl Iterator<Item = (Parts, u128)> {
    /// The next milliseconds, seconds, days, years.
    const BEHIND: [i64; 10] =
        [0, 1, 2, 10, 1_000, 60_000, 3_600_000, 86_400_000, 2_592_000_000, 31_536_000_000];
    const WORKERS: [i64; 7] = [0, 1, 2, 10, 11, 100, 1023];
    const SEQUENCES: [i64; 14] = [0, 1, 2, 3, 4, 5, 9, 10, 11, 100, 1000, 1024, 2048, 4095];
    let times = BEHIND.into_iter().map(|behind| FIRST + behind);
    let all = times.flat_map(|millis| {
        WORKERS.into_iter().flat_map(move |worker| {
            SEQUENCES.into_iter().map(move |sequence| Parts { millis, worker, sequence })
        })
    });
    all.zip((0..).map(text))
}

/// The same anywhere within ten years.
pub(super) fn anywhere() -> impl Iterator<Item = (Parts, u128)> {
    (0..ANYWHERE).map(|n| {
        let drawn = i64::try_from(stirred(n) >> 1).unwrap_or_default();
        let millis = FIRST + drawn % 315_360_000_000;
        let parts = Parts { millis, worker: drawn % 1021, sequence: drawn % 4093 };
        (parts, text(n + (1 << 32)))
    })
}

fn text(n: u64) -> u128 {
    u128::from(stirred(n)) << 64 | u128::from(stirred(!n))
}

/// SplitMix64: all digits of a number change with it.
fn stirred(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// No key can be made.
pub(super) fn failed(kind: &str, why: &str) -> Error {
    let message = format!("key generator `{kind}`: {why}");
    Error::new(ErrorKind::ShardingValue { is: Unroutable::NoPlace, code: 10440, message })
}
