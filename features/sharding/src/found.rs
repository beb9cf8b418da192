//! What routing finds, and how it refuses.

use pando_kernel::error::Error;
use pando_kernel::route::{Need, Units};

/// The outcome of routing.
pub(crate) enum Found {
    Units(Units),
    Needs(Need),
}

const NARROW: &str = "narrow it to one shard by an equality on the sharding key, or join the tables on their sharding keys as binding tables";

/// The refusal of what needs more than one shard has.
pub(crate) fn spans_shards(code: u32, reason: impl Into<String>) -> Error {
    Error::spans_shards(code, reason, NARROW)
}

/// The refusal of what is not done with sharded tables at all.
pub(crate) fn unsupported(reason: impl Into<String>) -> Error {
    Error::unsupported(20030, reason, NARROW)
}
