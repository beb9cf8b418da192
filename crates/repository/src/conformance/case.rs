//! What the cases are written with.

use std::time::Duration;

use ::tokio::sync::oneshot;
use pando_kernel::runtime::{BoxFuture, within};

use super::stand::Stand;
use crate::{Closed, Error, Key, Result, Watch};

/// `None` where the stand cannot do what it takes.
pub(super) type Done = std::result::Result<Option<()>, Failure>;

/// What was not as it must be.
pub(super) struct Failure(pub(super) String);

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self(e.to_string())
    }
}

impl From<Closed> for Failure {
    fn from(e: Closed) -> Self {
        Self(e.to_string())
    }
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// Ends the test unless the condition holds.
macro_rules! hold {
    ($condition:expr, $($says:tt)+) => {
        if !$condition {
            return Err($crate::conformance::case::Failure(format!($($says)+)));
        }
    };
}
pub(super) use hold;

/// The key of a case: `/CASE/name`.
pub(super) fn key(case: &str, name: &str) -> Result<Key> {
    Key::parse(&format!("/{case}/{name}"))
}

/// Waits for a signal, for longer than any session lives.
pub(super) async fn signal(
    stand: &dyn Stand,
    watch: &mut Watch,
) -> std::result::Result<(), Failure> {
    let waited = within(&*stand.runtime(), Duration::from_secs(20), watch.changed()).await;
    waited.ok_or_else(|| Failure("the watch says nothing for 20 s".into()))??;
    Ok(())
}

/// Runs beside the test; the answer says how it ended.
pub(super) fn beside<T: Send + 'static>(
    stand: &dyn Stand,
    work: impl Future<Output = T> + Send + 'static,
) -> BoxFuture<'static, std::result::Result<T, Failure>> {
    let (done, answer) = oneshot::channel();
    stand.runtime().spawn(Box::pin(async move { drop(done.send(work.await)) }));
    Box::pin(async move { answer.await.map_err(|_| Failure("a part of the test ended".into())) })
}
