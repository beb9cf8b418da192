//! The grammar of DistSQL: one table, in parts. Everything else in this crate follows from it.

mod administer;
mod encrypting;
mod features;
mod fragments;
mod global;
mod gone;
mod heads;
mod metadata;
mod query;
mod query_features;
mod sharding;
mod units;
mod utility;

pub use fragments::FRAGMENTS;
pub(crate) use gone::GONE;
pub(crate) use heads::{HEADS, STAYS_SQL};

use crate::entry::Entry;

/// Words that cannot be names without quotes, as they open the clauses behind names.
pub(crate) const RESERVED: [&str; 6] =
    ["FROM", "LIKE", "WHERE", "IF", "WITH", "SHARDING_ALGORITHM"];

/// Every statement, in the order in which the parser tries them and the documentation lists them.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let parts = [
        units::UNITS,
        sharding::SHARDING,
        features::FEATURES,
        encrypting::ENCRYPTING,
        query::QUERY,
        query_features::QUERY_FEATURES,
        administer::ADMINISTER,
        metadata::METADATA,
        global::GLOBAL,
        utility::UTILITY,
    ];
    parts.into_iter().flatten()
}
