//! One instance's connection to an ensemble, as a [`Repository`].

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{BoxFuture, SharedRuntime, within};
use pando_repository::{
    Change, Error, Prefix, Repository, Result, Revision, Session, Speaker, View, Watch, Watchers,
};
use tokio::sync::watch;

use crate::commit::{self, Outcome};
use crate::connection::Context;
use crate::link::{self, Link, Published, failure};
use crate::options::Options;
use crate::read::{self, Failed};
use crate::session::Keeper;
use crate::wire::{Access, Op};

/// Keys in ZooKeeper. Dropping it without [`Repository::close`] leaves its session to its expiry.
pub struct ZooKeeper {
    context: Arc<Context>,
    deadline: Duration,
    /// Dropped when closed, which ends the keeper.
    links: Mutex<Option<Published>>,
    session: Session,
    /// For pauses that are not the same in all instances.
    dice: AtomicU64,
}

impl ZooKeeper {
    /// Begins to connect, in the background: the first call waits for it, as long as any call.
    ///
    /// # Errors
    /// `Refused` when there is no server to connect to.
    pub fn open(options: Options, runtime: SharedRuntime) -> Result<Self> {
        if options.servers.is_empty() {
            return Err(Error::Refused("there are no ZooKeeper servers to connect to".into()));
        }
        let access = if options.digest.is_some() { Access::Creator } else { Access::Everybody };
        let context = Arc::new(Context {
            runtime: runtime.clone(),
            watchers: Arc::new(Watchers::new()),
            root: options.namespace.to_string(),
            access,
            zxid: AtomicI64::new(0),
        });
        let speaker = Speaker::new();
        let session = speaker.listen();
        let (links, published) = watch::channel(None);
        let deadline = options.deadline;
        let keeper = Keeper { context: context.clone(), options, speaker, links };
        runtime.spawn(Box::pin(keeper.run()));
        let links = Mutex::new(Some(published));
        let dice = AtomicU64::new(Arc::as_ptr(&context).addr() as u64);
        Ok(Self { context, deadline, links, session, dice })
    }

    async fn view(&self, below: &Prefix) -> Result<View> {
        let began = Instant::now();
        let mut watch = self.context.watchers.register(below);
        let mut broken: Option<Link> = None;
        let mut attempts = 0;
        loop {
            let link = self.link(broken.as_ref()).await?;
            match read::view(&link, &self.context.root, below, &mut watch).await {
                Ok(view) => return Ok(view),
                Err(Failed::Again) => {
                    self.context.runtime.sleep(self.pause(attempts)).await;
                    attempts += 1;
                }
                Err(Failed::Broken) => broken = Some(link),
                Err(Failed::Server(error)) => return Err(failure(error, began)),
                Err(Failed::Odd) => return Err(Error::Unavailable("an odd answer".into())),
                Err(Failed::TooLarge(e)) => return Err(e),
            }
        }
    }

    /// `is_sent` tells, when time runs out, what is known.
    async fn change(&self, change: &Change, is_sent: &AtomicBool) -> Result<Revision> {
        let began = Instant::now();
        let mut broken: Option<Link> = None;
        let mut attempts = 0;
        loop {
            let link = self.link(broken.as_ref()).await?;
            let outcome = match commit::prepare(&link, &self.context.root, change).await {
                Ok(multi) => {
                    is_sent.store(true, Ordering::Relaxed);
                    commit::send(&link, multi).await
                }
                Err(outcome) => Err(outcome),
            };
            match outcome {
                Ok(revision) => return Ok(revision),
                Err(Outcome::Again) => {
                    self.context.runtime.sleep(self.pause(attempts)).await;
                    attempts += 1;
                }
                Err(Outcome::NoLink) => broken = Some(link),
                Err(Outcome::Failed(e)) => return Err(e),
                Err(Outcome::Server(error)) => return Err(failure(error, began)),
            }
            is_sent.store(false, Ordering::Relaxed);
        }
    }

    /// At random up to 2 ms, and twice as much after each failure, up to 64 ms.
    fn pause(&self, attempts: u32) -> Duration {
        let step = |n: u64| Some(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let dice = self.dice.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        let dice = (dice.unwrap_or_default() >> 33) % 2_000;
        Duration::from_micros(dice << attempts.min(5))
    }

    async fn link(&self, not: Option<&Link>) -> Result<Link> {
        let published = self.published().ok_or_else(closed)?;
        link::wait(&published, not).await
    }

    fn published(&self) -> Option<Published> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn end(&self) {
        let Some(published) = self.published() else { return };
        let link = published.borrow().clone();
        if let Some(link) = link {
            // Its answer comes once the session's keys are gone; without one they go with time.
            drop(within(&*self.context.runtime, self.deadline, link.call(Op::Close)).await);
        }
        drop(published);
        *self.links.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.context.watchers.close();
    }
}

fn closed() -> Error {
    Error::Unavailable("it is closed".into())
}

impl Repository for ZooKeeper {
    fn read<'a>(&'a self, below: &'a Prefix) -> BoxFuture<'a, Result<View>> {
        Box::pin(async move {
            let view = within(&*self.context.runtime, self.deadline, self.view(below)).await;
            view.unwrap_or_else(|| {
                Err(Error::Unavailable(format!("no answer within {:?}", self.deadline)))
            })
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(async move {
            change.check()?;
            let is_sent = AtomicBool::new(false);
            let work = self.change(&change, &is_sent);
            let done = within(&*self.context.runtime, self.deadline, work).await;
            done.unwrap_or_else(|| {
                let why = format!("no answer within {:?}", self.deadline);
                let in_doubt = is_sent.load(Ordering::Relaxed);
                Err(if in_doubt { Error::Unknown(why) } else { Error::Unavailable(why) })
            })
        })
    }

    fn watch(&self, below: &Prefix) -> Watch {
        self.context.watchers.register(below)
    }

    fn session(&self) -> Session {
        self.session.clone()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end())
    }
}

impl fmt::Debug for ZooKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZooKeeper").field("root", &self.context.root).finish_non_exhaustive()
    }
}
