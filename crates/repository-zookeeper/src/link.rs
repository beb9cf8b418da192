//! The way from a call to whichever connection stands at the moment.

use std::time::Instant;

use pando_repository::{Error, Result};
use tokio::sync::{mpsc, oneshot, watch};

use crate::wire::{Op, Reader, code};

/// Calls that wait to be written; more wait in their callers.
pub(crate) const MAX_QUEUED: usize = 64;

/// A request on its way to the connection.
pub(crate) struct Call {
    pub(crate) op: Op,
    pub(crate) reply: oneshot::Sender<std::result::Result<Reply, Broken>>,
}

/// What the server answered; an `error` other than 0 has no body.
pub(crate) struct Reply {
    pub(crate) zxid: i64,
    pub(crate) error: i32,
    pub(crate) body: Reader,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The request has not left.
    NotSent,
    /// It may have been done.
    InDoubt(String),
}

/// A connection whose session stands and whose watch is set.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) calls: mpsc::Sender<Call>,
    pub(crate) session: i64,
}

impl Link {
    /// Asks for something; the answer comes later, in the order of the asking.
    pub(crate) async fn ask(&self, op: Op) -> Pending {
        let (reply, answer) = oneshot::channel();
        // When the connection has ended the call is dropped here, and so its reply.
        drop(self.calls.send(Call { op, reply }).await);
        Pending(answer)
    }

    pub(crate) async fn call(&self, op: Op) -> std::result::Result<Reply, Broken> {
        self.ask(op).await.answer().await
    }
}

/// An answer to come.
pub(crate) struct Pending(oneshot::Receiver<std::result::Result<Reply, Broken>>);

impl Pending {
    pub(crate) async fn answer(self) -> std::result::Result<Reply, Broken> {
        self.0.await.unwrap_or(Err(Broken::NotSent))
    }
}

/// Where the link of the moment is published; `None` while there is none.
pub(crate) type Published = watch::Receiver<Option<Link>>;

/// Waits for a link other than `not`, which has proved broken.
pub(crate) async fn wait(published: &Published, not: Option<&Link>) -> Result<Link> {
    let mut published = published.clone();
    let is_other = |link: &Link| not.is_none_or(|not| !not.calls.same_channel(&link.calls));
    let found = published.wait_for(|link| link.as_ref().is_some_and(is_other)).await;
    let closed = || Error::Unavailable("it is closed".into());
    found.map_err(|_| closed())?.clone().ok_or_else(closed)
}

/// What an error of the server means to the caller.
pub(crate) fn failure(error: i32, since: Instant) -> Error {
    match error {
        code::NO_AUTH | code::AUTH_FAILED | code::INVALID_ACL => {
            Error::Refused(format!("ZooKeeper does not permit it (error {error})"))
        }
        code::QUOTA_EXCEEDED => Error::Refused("a quota of ZooKeeper is exceeded".into()),
        _ => Error::Unavailable(format!(
            "ZooKeeper answers with error {error} after {:?}",
            since.elapsed()
        )),
    }
}
