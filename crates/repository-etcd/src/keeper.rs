//! Keeping a session: a lease that is kept alive, and another one when the cluster has let it run out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pando_kernel::runtime::within;
use pando_repository::{Speaker, Watchers};
use serde_json::json;
use tokio::sync::{Notify, watch};

use crate::gateway::{Fault, Gateway, code};
use crate::http::Failed;
use crate::keys::number;

/// After a failure.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What the parts of an instance's background work share.
pub(crate) struct Shared {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) speaker: Speaker,
    /// The lease of the session; `None` before the first and after an expiry.
    pub(crate) lease: watch::Sender<Option<u64>>,
    /// The newest revision that the watch has shown.
    pub(crate) watched: AtomicU64,
    /// Ends the watch's connection, so that another one is made.
    pub(crate) renew: Notify,
    /// A change was refused as the lease is gone: look at once.
    pub(crate) look: Arc<Notify>,
}

impl Shared {
    /// Runs until it is dropped.
    pub(crate) async fn keep_lease(&self) {
        let mut pause = PAUSE;
        loop {
            match self.one_lease(&mut pause).await {
                // The cluster has ended it; the next one follows at once.
                Ok(()) => {
                    self.lease.send_replace(None);
                    self.speaker.expired();
                    self.watchers.all_changed();
                }
                Err(fault) => {
                    self.speaker.lost();
                    let error = fault.text();
                    tracing::warn!(error, "no session in etcd");
                    self.gateway.runtime.sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// From the grant of a lease to its end.
    async fn one_lease(&self, pause: &mut Duration) -> Result<(), Fault> {
        let seconds = self.gateway.options.session_timeout.as_secs().max(1);
        let grant = json!({"TTL": seconds.to_string(), "ID": "0"});
        let granted = self.gateway.ask("/v3/lease/grant", &grant).await?;
        let odd = || Failed::InDoubt("an odd answer to a lease".into());
        let id = number(&granted["ID"]).filter(|id| *id != 0).ok_or_else(odd)?;
        self.speaker.begun();
        self.lease.send_replace(Some(id));
        *pause = PAUSE;
        let interval = self.gateway.options.session_timeout / 3;
        let mut last_revision = 0;
        loop {
            let look = self.look.notified();
            within(&*self.gateway.runtime, interval, look).await;
            loop {
                match self.keep_alive(id).await {
                    Ok(None) => return Ok(()),
                    Ok(Some(revision)) => {
                        self.speaker.regained();
                        self.check_watch(&mut last_revision, revision);
                        break;
                    }
                    Err(fault) => {
                        self.speaker.lost();
                        tracing::warn!(
                            error = fault.text(),
                            "the session in etcd is not confirmed"
                        );
                        self.gateway.runtime.sleep(*pause).await;
                        *pause = (*pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
            *pause = PAUSE;
        }
    }

    /// The cluster's revision; `None` when the lease is gone.
    async fn keep_alive(&self, id: u64) -> Result<Option<u64>, Fault> {
        let request = json!({"ID": id.to_string()});
        match self.gateway.ask("/v3/lease/keepalive", &request).await {
            Ok(answer) => {
                let result = &answer["result"];
                let odd = || Failed::InDoubt("an odd answer to a sign of life".into());
                let left = number(&result["TTL"]).ok_or_else(odd)?;
                let revision = number(&result["header"]["revision"]).ok_or_else(odd)?;
                Ok((left > 0).then_some(revision))
            }
            Err(fault) if fault.has_code(code::NOT_FOUND) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// A watch's connection that died without a word shows by this: the cluster was at a later revision an interval ago than the watch
    /// has shown until now. Others' keys make it look so, too, and cost a new connection and a read.
    fn check_watch(&self, last: &mut u64, now: u64) {
        if *last > self.watched.fetch_max(*last, Ordering::Relaxed) {
            self.renew.notify_one();
        }
        *last = now;
    }
}
