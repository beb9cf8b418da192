//! One instance's connection to a cluster, as a [`Repository`].

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pando_kernel::runtime::{BoxFuture, SharedRuntime, within};
use pando_repository::{
    Change, Error, Lifetime, Prefix, Repository, Result, Revision, Session, Speaker, View, Watch,
    Watchers, Write,
};
use serde_json::json;
use tokio::sync::{Notify, watch};

use crate::gateway::{Fault, Gateway, code};
use crate::http::Failed;
use crate::keeper::Shared;
use crate::keys::Namespace;
use crate::options::Options;
use crate::range::{self, Stopped};
use crate::transaction;
use crate::watching::first;

/// Between two attempts of one call.
const PAUSE: Duration = Duration::from_millis(50);

/// Keys in etcd. Dropping it without [`Repository::close`] leaves its session to its expiry.
pub struct Etcd {
    gateway: Arc<Gateway>,
    namespace: Namespace,
    watchers: Arc<Watchers>,
    session: Session,
    look: Arc<Notify>,
    /// Dropped when closed, which ends the background work.
    lease: Mutex<Option<watch::Receiver<Option<u64>>>>,
}

impl Etcd {
    /// Begins to connect, in the background: the first call waits for it, as long as any call.
    ///
    /// # Errors
    /// `Refused` when there is no endpoint to connect to.
    pub fn open(options: Options, runtime: SharedRuntime) -> Result<Self> {
        if options.endpoints.is_empty() {
            return Err(Error::Refused("there are no etcd endpoints to connect to".into()));
        }
        let namespace = Namespace(options.namespace.to_string());
        let gateway = Arc::new(Gateway::new(options, runtime.clone()));
        let watchers = Arc::new(Watchers::new());
        let look = Arc::new(Notify::new());
        let speaker = Speaker::new();
        let session = speaker.listen();
        let (lease, receiver) = watch::channel(None);
        let shared = Shared {
            gateway: gateway.clone(),
            watchers: watchers.clone(),
            speaker,
            lease,
            watched: AtomicU64::new(0),
            renew: Notify::new(),
            look: look.clone(),
        };
        let own = namespace.clone();
        runtime.spawn(Box::pin(async move {
            let work = first(shared.keep_lease(), shared.keep_watching(&own));
            first(shared.lease.closed(), work).await;
        }));
        let lease = Mutex::new(Some(receiver));
        Ok(Self { gateway, namespace, watchers, session, look, lease })
    }

    async fn view(&self, below: &Prefix) -> Result<View> {
        loop {
            match range::view(&self.gateway, &self.namespace, below).await {
                Ok(view) => return Ok(view),
                Err(Stopped::Final(e)) => return Err(e),
                Err(Stopped::Again) => self.gateway.runtime.sleep(PAUSE).await,
            }
        }
    }

    /// `is_sent` tells, when time runs out, what is known.
    async fn change(&self, change: &Change, is_sent: &AtomicBool) -> Result<Revision> {
        let is_of_session = |write: &Write| matches!(write, Write::Put(_, Lifetime::Session));
        let needs_lease = change.writes.iter().any(|(_, write)| is_of_session(write));
        let (mut gone, mut logins) = (None, 0);
        loop {
            let lease = if needs_lease { self.lease(gone).await? } else { 0 };
            let request = transaction::request(&self.namespace, change, lease);
            let answer = match self.gateway.ready().await {
                Ok(ready) => {
                    is_sent.store(true, Ordering::Relaxed);
                    self.gateway.call(ready, "/v3/kv/txn", &request).await
                }
                Err(fault) => Err(fault),
            };
            let fault = match answer {
                Ok(answer) => {
                    let outcome = transaction::outcome(change, &answer);
                    let odd = || Error::Unknown("an odd answer".into());
                    return outcome.ok_or_else(odd)?.map_err(Error::Conflict);
                }
                Err(fault) => fault,
            };
            if fault.has_code(code::UNAUTHENTICATED) && logins == 0 {
                // The token has run out; nothing was done.
                logins += 1;
            } else if needs_lease && fault.has_code(code::NOT_FOUND) {
                gone = Some(lease);
                self.look.notify_one();
            } else if let Some(refusal) = fault.refusal() {
                return Err(refusal);
            } else if matches!(fault, Fault::Transport(Failed::NotSent(_)))
                || !is_sent.load(Ordering::Relaxed)
            {
                self.gateway.runtime.sleep(PAUSE).await;
            } else {
                return Err(Error::Unknown(fault.text()));
            }
            is_sent.store(false, Ordering::Relaxed);
        }
    }

    /// Waits for a lease other than the one that is gone.
    async fn lease(&self, gone: Option<u64>) -> Result<u64> {
        let mut receiver = self.receiver().ok_or_else(closed)?;
        let found = receiver.wait_for(|lease| lease.is_some() && *lease != gone).await;
        found.map_err(|_| closed())?.ok_or_else(closed)
    }

    fn receiver(&self) -> Option<watch::Receiver<Option<u64>>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn end(&self) {
        let Some(receiver) = self.receiver() else { return };
        let lease = *receiver.borrow();
        drop(receiver);
        if let Some(lease) = lease {
            let request = json!({"ID": lease.to_string()});
            let revoked = self.gateway.ask("/v3/lease/revoke", &request);
            // Without an answer the session's keys go with time.
            drop(within(&*self.gateway.runtime, self.gateway.options.deadline, revoked).await);
        }
        *self.lease.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.watchers.close();
        self.gateway.close();
    }

    async fn bounded<T>(
        &self,
        is_sent: &AtomicBool,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if self.receiver().is_none() {
            return Err(closed());
        }
        let deadline = self.gateway.options.deadline;
        let done = within(&*self.gateway.runtime, deadline, work).await;
        done.unwrap_or_else(|| {
            let why = format!("no answer within {deadline:?}");
            let in_doubt = is_sent.load(Ordering::Relaxed);
            Err(if in_doubt { Error::Unknown(why) } else { Error::Unavailable(why) })
        })
    }
}

fn closed() -> Error {
    Error::Unavailable("it is closed".into())
}

impl Repository for Etcd {
    fn read<'a>(&'a self, below: &'a Prefix) -> BoxFuture<'a, Result<View>> {
        Box::pin(async move { self.bounded(&AtomicBool::new(false), self.view(below)).await })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(async move {
            change.check()?;
            let is_sent = AtomicBool::new(false);
            self.bounded(&is_sent, self.change(&change, &is_sent)).await
        })
    }

    fn watch(&self, below: &Prefix) -> Watch {
        self.watchers.register(below)
    }

    fn session(&self) -> Session {
        self.session.clone()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end())
    }
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd").field("namespace", &self.namespace.0).finish_non_exhaustive()
    }
}
