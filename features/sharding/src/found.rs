//! What routing finds, and how it refuses.

use pando_kernel::error::Error;
use pando_kernel::route::{Need, Units};

/// The outcome of routing.
pub(crate) enum Found {
    Units(Units),
    Needs(Need),
}

pub(crate) fn refused(code: u32, reason: impl Into<String>) -> Error {
    Error::refused(
        code,
        reason,
        "narrow it to one shard by an equality on the sharding key, or join the tables on their sharding keys as binding tables",
    )
}
