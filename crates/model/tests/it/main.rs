//! The model from outside, among the real rooms.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod cases;
mod common;
mod documents;
mod metadata;
mod moved;
mod own;
mod page;
mod repository;
mod roundtrip;
mod singles;
