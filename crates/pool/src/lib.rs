//! The pool of backend connections of one storage unit: take one, or several at once, and drop them to give them back.
//!
//! It knows no runtime but the kernel's seam and may be used from several threads and executors at once. No lock is held across an await.

mod circuit;
mod connection;
mod crowd;
mod definitions;
mod fence;
mod idle;
mod keeper;
mod leash;
mod live;
mod loose;
mod options;
mod recover;
mod shared;
mod slot;
mod take;
mod wait;
mod window;

use std::sync::{Arc, atomic::AtomicU64};

use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{Connector, Result};

pub use connection::{Connection, Dress, Left};
pub use leash::Leash;
pub use loose::LoosePool;
pub use options::Options;
pub use shared::Statistics;

use shared::Shared;
use wait::Turn;

/// The connections of one storage unit. Clones are the same pool.
///
/// # Example
/// ```
/// # use pando_fake::{FakeRuntime, Unit};
/// # use pando_pool::{Options, Pool};
/// let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
/// let pool = Pool::new("ds_0", unit.connector(), runtime.handle(), Options::default());
/// let connection = runtime.block_on(pool.take())?;
/// assert!(connection.condition().usable);
/// drop(connection);
/// assert_eq!(pool.statistics().idle, 1);
/// # Ok::<(), pando_kernel::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

impl Pool {
    /// An empty pool: nothing connects before the first [`Pool::take`]. `unit` is the storage unit's name, for messages.
    pub fn new(
        unit: impl Into<Arc<str>>,
        connector: Arc<dyn Connector>,
        runtime: SharedRuntime,
        options: Options,
    ) -> Self {
        Self { shared: Shared::new(unit.into(), connector, runtime, options) }
    }

    /// The storage unit's name.
    pub fn unit(&self) -> &Arc<str> {
        &self.shared.unit
    }

    /// What opens its connections; also the way to cancel a statement.
    pub fn connector(&self) -> &Arc<dyn Connector> {
        &self.shared.connector
    }

    /// One connection, ready for executions.
    ///
    /// # Errors
    /// `Timeout` when none becomes free within `connection_timeout`, `Unavailable` when the server does not answer in that time; what the connector says (`Unavailable`, `Server`) as soon as it says so, but `Full` only
    /// when no connection is open that might come free; `TooManyConnections` when too many callers wait already; `Shutdown` after [`Pool::close`].
    ///
    /// # Cancel safety
    /// May be dropped at any time: a place in the queue or a connection already assigned goes to the next caller.
    pub async fn take(&self) -> Result<Connection> {
        take::one(&self.shared, Turn::First).await
    }

    /// As [`Pool::take`], for a caller that holds connections of other pools, which others may wait for: it stands before 1,000 that hold none. Full pools so
    /// come free again, where newcomers would else take each connection that is given back to one that waits with another. While it waits, `place` says where:
    /// of all who wait for one pool, lower places are served before. Errors and cancel safety are those of [`Pool::take`].
    pub async fn take_further(&self, place: &AtomicU64) -> Result<Connection> {
        take::one(&self.shared, Turn::Further(place)).await
    }

    /// As [`Pool::take`], for a caller that ends what others may wait for who have all of the connections: it stands before everybody, and may have one beyond the
    /// pool's maximum.
    pub async fn take_last(&self) -> Result<Connection> {
        take::one(&self.shared, Turn::Last).await
    }

    /// One connection that idles and need not be asked for a sign of life: what [`Pool::take`] gives without waiting, nearly always. `None` says only that it
    /// may have to wait.
    ///
    /// # Errors
    /// `Shutdown` after [`Pool::close`].
    pub fn take_idle(&self) -> Result<Option<Connection>> {
        take::idle(&self.shared)
    }

    /// `count` connections at once: all or none, so that two callers can never hold a part each and wait for the other's. Takes its turn in the
    /// same queue as [`Pool::take`]; nobody of the same turn overtakes.
    ///
    /// # Errors
    /// As [`Pool::take`], whose cancel safety it has as well, and `Configuration` at once when `count` is more than the pool's maximum.
    pub async fn take_many(&self, count: usize) -> Result<Vec<Connection>> {
        take::many(&self.shared, Turn::First, count).await
    }

    /// As [`Pool::take_many`], with the turn of [`Pool::take_further`]; errors and cancel safety are the same.
    pub async fn take_many_further(
        &self,
        count: usize,
        place: &AtomicU64,
    ) -> Result<Vec<Connection>> {
        take::many(&self.shared, Turn::Further(place), count).await
    }

    /// A number that is another one when the server may have been started anew since: a connection was found dead, connecting failed, or one was opened while
    /// there was none. One idle connection is looked at for it, without asking its server; those that are closed go.
    pub fn breaks(&self) -> u64 {
        self.shared.breaks()
    }

    /// How many connections there are now.
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics()
    }

    /// Drains the pool: idle connections are closed, those in use are closed when they come back, waiting callers get `Shutdown`.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Closes the pool at once, for a server that has been replaced or has fallen silent: nothing that was begun there may be finished. Whoever uses a
    /// connection, waits for its server or for a connection, now or later, gets `Unavailable` with this reason; what was open is lost.
    pub fn condemn(&self, why: &str) {
        self.shared.condemn(why);
    }
}
