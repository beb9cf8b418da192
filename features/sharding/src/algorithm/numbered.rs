//! Shard numbers → targets whose names end in them.

use std::ops::RangeInclusive;

use super::{Selection, Targets, Union, no_target};
use pando_kernel::{Result, Value};

/// The shards an algorithm may have.
pub(super) const MOST_SHARDS: i64 = 100_000;

/// For each shard number the position of its target, if there is one.
#[derive(Debug)]
pub(super) struct Numbered {
    targets: Targets,
    positions: Vec<Option<usize>>,
    prefix: String,
    width: usize,
}

impl Numbered {
    /// The first target's name without digits at its end, then the number, with zeros in front up to the shortest number
    /// among the names, or to `width`.
    pub(super) fn new(targets: &Targets, shards: usize, width: usize) -> Self {
        let digits =
            |name: &str| name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let shortest = targets.names().map(digits).min().unwrap_or(0);
        let first = targets.names().next().unwrap_or("");
        let prefix = first[..first.len() - digits(first)].to_owned();
        let width = width.max(shortest);
        let name = |shard: usize| format!("{prefix}{shard:0width$}");
        let positions = (0..shards).map(|shard| targets.find(&name(shard))).collect();
        Self { targets: targets.clone(), positions, prefix, width }
    }

    pub(super) fn shards(&self) -> usize {
        self.positions.len()
    }

    /// The target of one shard.
    pub(super) fn one(&self, shard: usize, value: &Value) -> Result<usize> {
        let found = self.positions.get(shard).copied().flatten();
        found.ok_or_else(|| {
            let (prefix, width) = (&self.prefix, self.width);
            no_target(&format!("{prefix}{shard:0width$}"), value, &self.targets)
        })
    }

    /// The targets of some shards. A shard without a target holds no rows, as none can be written there.
    pub(super) fn some(&self, shards: impl IntoIterator<Item = usize>) -> Selection {
        let mut chosen = Union::of(self.targets.len());
        for shard in shards {
            if let Some(position) = self.positions.get(shard).copied().flatten() {
                chosen.one(position);
            }
        }
        chosen.selection()
    }

    /// The targets of neighbouring shards.
    pub(super) fn span(&self, shards: RangeInclusive<usize>) -> Selection {
        if shards.start() == &0 && *shards.end() + 1 >= self.shards() {
            return Selection::All;
        }
        self.some(shards)
    }
}
