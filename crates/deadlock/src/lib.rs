//! Deadlocks that no single server can see: who waits for whom on each of them, put together by transaction, and who has to give way.

mod desk;
mod graph;
mod line;
mod lines;
mod notice;
mod party;
mod round;
mod sessions;
mod trail;

pub use desk::Desk;
pub use graph::{Member, Verdict, verdicts};
pub use party::{CLAIMS, Cost, Edge, Party, PartyId, Queue, Spot, Stance};
pub use sessions::{Claims, Held, Sessions, Stand, number_of};

/// So that the README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
