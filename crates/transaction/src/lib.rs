//! Transactions over several storage units. LOCAL: one-phase commit to the units the transaction touched. XA: all of them commit, or none.

mod aside;
pub mod broken;
mod errors;
mod held;
mod reply;
mod transaction;
pub mod xa;

pub use aside::{Aside, rows};
pub use errors::{aborted, is_missing, ledger_gone};
pub use reply::{drain, finish, finish_all};
pub use transaction::{
    Course, Ended, Outcome, Sight, TableLock, Transaction, catch_up, no_savepoint,
};
pub use xa::{Coordinator, Ready, Recovery};
