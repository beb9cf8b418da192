//! Templates give the plans that planning gives: for every value, of every type, for text and prepared statements, in both languages.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod alike;
mod lab;
mod lifted;
