//! The guard, without servers: every kind of statement × every position of a name in it × every way a text can come in × every spelling of a name
//! its user may not reach. The product is made here from tables of templates with a hole. Nothing that names what is not the user's may arrive at a
//! storage unit; with a name of his own in the hole the same statement is let through, so that refusing everything does not pass.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod house;
mod mysql;
mod postgres;
