//! Where a cluster's configuration and its instances' state are kept: one trait, and the store that needs no other server.

mod change;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod embedded;
mod error;
mod key;
pub mod limits;
mod session;
mod view;
mod watch;

use std::fmt::Debug;

use pando_kernel::runtime::BoxFuture;

pub use change::{Change, Expected, Lifetime, Write};
pub use error::{Closed, Error, Result};
pub use key::{Key, Prefix};
pub use session::{Session, SessionState, SessionView, Speaker};
pub use view::{Entry, Revision, View};
pub use watch::{Watch, Watchers};

/// One instance's connection to the place where the cluster's keys are. Every call ends within the repository's deadline.
///
/// A caller that follows the keys below a prefix registers its watch first, then reads, and reads again whenever the watch says so:
///
/// ```
/// # use pando_repository::{Prefix, Repository, Result};
/// # async fn follow(repository: &dyn Repository) -> Result<()> {
/// let rules = Prefix::parse("/metadata/shop/rules")?;
/// let mut watch = repository.watch(&rules);
/// loop {
///     let view = repository.read(&rules).await?;
///     println!("{} keys at {:?}", view.entries.len(), view.revision);
///     if watch.changed().await.is_err() {
///         return Ok(());
///     }
/// }
/// # }
/// ```
pub trait Repository: Send + Sync + Debug {
    /// All keys at and below the prefix as they were together at one moment, no older than the last change that any instance was told
    /// of before this call.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer in time, `Refused` when it may not be read or is larger than
    /// [`limits::MAX_VIEW_BYTES`].
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    fn read<'a>(&'a self, below: &'a Prefix) -> BoxFuture<'a, Result<View>>;

    /// Does all of the change if all its expectations hold, else nothing of it. The answer is the revision of the keys it put.
    ///
    /// # Errors
    /// `Conflict` names the first key that was not as expected. After `Unknown` the change may have been made, or may be made a
    /// moment later: read again, and let the expectations of the next change decide.
    ///
    /// # Cancel safety
    /// Dropping it is like `Unknown`.
    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Revision>>;

    /// Tells when something at or below the prefix may have changed.
    fn watch(&self, below: &Prefix) -> Watch;

    /// Whether the keys put for as long as this instance's session lives still stand.
    fn session(&self) -> Session;

    /// Ends the session: its keys go at once, watches end, every later call is `Unavailable`. Without it they go when the session
    /// expires.
    ///
    /// # Cancel safety
    /// Dropping it may leave the session to its expiry.
    fn close(&self) -> BoxFuture<'_, ()>;
}
