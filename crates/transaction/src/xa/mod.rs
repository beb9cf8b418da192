//! XA: two-phase commit without a log of its own. The decision is a row in the ledger of one of the storage units, the deciding one, written and committed
//! together with that unit's own part. So n units need n − 1 prepares, nothing but the units must survive, and whoever can reach them can finish what
//! another instance has left (presumed abort: no row, and nobody can write one any more, means that the transaction is rolled back).

mod barrier;
mod commit;
mod coordinator;
mod decision;
mod id;
mod ready;
mod recovery;
mod watched;

pub use barrier::{Barrier, Pass};
pub(crate) use commit::{Global, unsure};
pub(crate) use coordinator::count;
pub use coordinator::{Coordinator, Counts};
pub use decision::decide;
pub use id::GlobalId;
pub use ready::Ready;
pub use recovery::{Doubt, ROUND, Recovery, Way};
