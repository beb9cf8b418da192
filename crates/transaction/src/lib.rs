//! Transactions over several storage units. LOCAL: one-phase commit to the units the transaction touched.

mod local;
mod reply;

pub use local::{Ended, Held, Local, Outcome, no_savepoint};
pub use reply::{drain, finish, finish_all};
