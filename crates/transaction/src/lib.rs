//! Transactions over several storage units. LOCAL: one-phase commit to the units the transaction touched. XA: all of them commit, or none.

mod aside;
pub mod broken;
mod held;
mod reply;
mod transaction;
pub mod xa;

pub use aside::{Aside, rows};
pub use reply::{drain, finish, finish_all};
pub use transaction::{
    Course, Ended, Outcome, Sight, TableLock, Transaction, aborted, catch_up, is_missing,
    ledger_gone, no_savepoint,
};
pub use xa::{Coordinator, Ready, Recovery};
