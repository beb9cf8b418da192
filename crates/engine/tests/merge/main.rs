//! The result merger against plain computations over all rows at once.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "test support functions"
)]

mod forms;
mod groups;
mod random;
mod support;
mod told;
mod turns;
