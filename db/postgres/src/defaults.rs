//! Settings that every session starts with on every unit, and that clients are told at login.

/// Dates print as ISO, so that values can be compared and merged.
pub(crate) const DATE_STYLE: &str = "ISO, MDY";
/// One zone for all units: rows of different units would else show different clocks.
pub(crate) const TIME_ZONE: &str = "Etc/UTC";
/// The version clients are told; what follows the number is ignored by drivers.
pub(crate) const SERVER_VERSION: &str = "15.0 (Pando)";
