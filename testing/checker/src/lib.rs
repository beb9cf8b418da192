//! Judges histories of list-append transactions, as Elle does: what a client was told is enough to find out which isolation anomalies happened.
//!
//! Every value is appended once, so a list that somebody read tells who wrote before whom. `README.md` says which anomaly is which.

mod anomaly;
mod check;
mod cycle;
mod edges;
mod history;
mod level;
mod orders;
mod points;
mod reads;
#[cfg(test)]
mod simulate;
mod words;

pub use anomaly::{Anomaly, Finding};
pub use check::{Report, check};
pub use history::{Fault, History, Key, Op, Outcome, Transaction, Value};
pub use level::{Level, Order};
