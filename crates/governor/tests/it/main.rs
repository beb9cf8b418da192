//! Governors over the embedded store, with a house that only remembers what it was told to serve.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "test support functions"
)]

mod changes;
mod cluster;
mod faulty;
mod house;
mod large;
mod statements;
