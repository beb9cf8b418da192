//! Wall clock and randomness for planning.

use std::time::{SystemTime, UNIX_EPOCH};

use pando_kernel::Worker;
use pando_kernel::feature::Source;

/// The machine's own clock and randomness, and this process among others.
#[derive(Debug, Default)]
pub(crate) struct System {
    pub(crate) worker: Worker,
}

impl Source for System {
    fn now_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn now_micros(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }

    fn random(&self, buffer: &mut [u8]) {
        fill(buffer);
    }

    fn worker(&self) -> Option<&Worker> {
        Some(&self.worker)
    }
}

fn fill(buffer: &mut [u8]) {
    if let Err(error) = getrandom::fill(buffer) {
        tracing::error!(%error, "the system gives no randomness");
    }
}

/// A random number, for cancel secrets.
pub(crate) fn random_u32() -> u32 {
    let mut bytes = [0; 4];
    fill(&mut bytes);
    u32::from_le_bytes(bytes)
}
