//! This process among those that make keys: the worker id it holds, and the moments it has used up.

use std::sync::{Mutex, PoisonError};

/// What keeps generated keys apart: between processes the worker id, within one the moments used up. A process has one, through all
/// of its configurations, so that a key generator that is built anew goes on where the old one has come to.
#[derive(Debug, Default)]
pub struct Worker(Mutex<State>);

/// Which worker id a process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkerId {
    /// None is asked for: the process stands alone, and is number 0.
    #[default]
    Alone,
    /// Nobody else has it.
    Leased {
        /// The number.
        id: u32,
        /// From when on somebody else may have it, in milliseconds since 1970 by the clock of [`Source`](crate::feature::Source).
        until: i64,
    },
    /// It had one, or waits for its first: no key can be made that is surely nobody else's.
    Lost,
}

/// The moments used up, by the clock of [`Source`](crate::feature::Source); before the first key all are -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The clock as last seen, in milliseconds since 1970.
    pub seen: i64,
    /// The millisecond of the last key; never decreases, and may be ahead of the clock.
    pub millisecond: i64,
    /// The last key's number in its millisecond.
    pub sequence: i64,
}

#[derive(Debug, Default)]
struct State {
    id: WorkerId,
    used: Used,
}

impl Default for Used {
    fn default() -> Self {
        Self { seen: -1, millisecond: -1, sequence: -1 }
    }
}

impl Worker {
    /// Takes another id, or the same for longer, or none. Keys made from now on have it.
    pub fn hold(&self, id: WorkerId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).id = id;
    }

    /// The id held at this moment, for people; absent where none is leased.
    pub fn id(&self, now: i64) -> Option<u32> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).id {
            WorkerId::Leased { id, until } if now < until => Some(id),
            WorkerId::Leased { .. } | WorkerId::Alone | WorkerId::Lost => None,
        }
    }

    /// Makes one key, while nobody else of the process makes one: from the id held and the moments used up, which it moves on.
    pub fn make<K>(&self, key: impl FnOnce(WorkerId, &mut Used) -> K) -> K {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = state.id;
        key(id, &mut state.used)
    }
}
