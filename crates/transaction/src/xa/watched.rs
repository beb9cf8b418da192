//! A storage unit under the watch of recovery: looking at its prepared branches, ending them, forgetting its decisions.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use pando_kernel::backend::Connector;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::two_phase::{Branch, InDoubt, Part, Standing, Verdict};
use pando_kernel::value::Value;

use crate::aside::Aside;

use super::recovery::Found;

/// Who a unit is, and decisions that are old, are looked at so often.
const SELDOM: Duration = Duration::from_secs(60);
/// The same for a unit that had no ledger: somebody may have made it since.
const OFTEN: Duration = Duration::from_secs(4);

/// A unit under watch.
pub(super) struct Watched {
    pub(super) name: UnitName,
    pub(super) connector: Arc<dyn Connector>,
    /// The last one that it told.
    pub(super) identity: Option<String>,
    /// When it answered last; `None` when the last look failed.
    pub(super) heard: Option<Instant>,
    /// The branches it told last: until it answers again they are not forgotten.
    pub(super) told: Vec<(String, String)>,
    /// `None` while a look is under way, this round's or an earlier one's.
    asker: Option<Box<Asker>>,
    look: Option<BoxFuture<'static, Look>>,
}

/// What a look comes to.
type Look = (Box<Asker>, Result<Vec<InDoubt>>);

/// Who asks a unit.
pub(super) struct Asker {
    connector: Arc<dyn Connector>,
    runtime: SharedRuntime,
    aside: Option<Aside>,
    /// `None` while it has no ledger.
    pub(super) identity: Option<String>,
    asked: Option<Instant>,
    swept: Option<Instant>,
    /// It answered in this round.
    answered: bool,
}

pub(super) fn key(doubt: &InDoubt) -> (String, String) {
    (doubt.global.clone(), doubt.part.clone())
}

impl Watched {
    /// One that has not been asked yet.
    pub(super) fn new(
        name: UnitName,
        connector: Arc<dyn Connector>,
        runtime: SharedRuntime,
    ) -> Self {
        let asker = Some(Box::new(Asker::new(Arc::clone(&connector), runtime)));
        Self { name, connector, identity: None, heard: None, told: Vec::new(), asker, look: None }
    }

    /// Who asks it, when it has answered in this round.
    pub(super) fn answering(&mut self) -> Option<&mut Asker> {
        self.asker.as_deref_mut().filter(|asker| asker.answered)
    }

    /// Begins to look, unless an earlier look is still under way.
    pub(super) fn begin(&mut self) {
        if let Some(mut asker) = self.asker.take() {
            self.look = Some(Box::pin(async move {
                let found = asker.prepared().await;
                (asker, found)
            }));
        }
    }

    /// What a look has found, told once.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<InDoubt>>> {
        let Some(look) = &mut self.look else { return Poll::Ready(None) };
        let (mut asker, found) = ready!(look.as_mut().poll(cx));
        self.look = None;
        let found = found.map_err(|error| {
            tracing::debug!(unit = %self.name, %error, "a storage unit cannot be asked for transactions in doubt");
            asker.failed();
        });
        self.heard = found.is_ok().then(|| asker.runtime.now());
        if let Ok(found) = &found {
            self.told = found.iter().map(key).collect();
        }
        self.identity.clone_from(&asker.identity);
        self.asker = Some(asker);
        Poll::Ready(found.ok())
    }
}

impl Asker {
    fn new(connector: Arc<dyn Connector>, runtime: SharedRuntime) -> Self {
        Self {
            connector,
            runtime,
            aside: None,
            identity: None,
            asked: None,
            swept: None,
            answered: false,
        }
    }

    /// It is asked no more in this round, and anew in the next.
    pub(super) fn failed(&mut self) {
        (self.aside, self.asked, self.answered) = (None, None, false);
    }

    async fn aside(&mut self) -> Result<&mut Aside> {
        if self.aside.as_ref().is_none_or(|aside| !aside.is_usable()) {
            self.aside = None;
            let opened =
                Aside::open(Arc::clone(&self.connector), Arc::clone(&self.runtime)).await?;
            self.aside = Some(opened);
        }
        self.aside.as_mut().ok_or_else(|| Error::internal("a connection that was opened"))
    }

    /// Its prepared branches; none while it has no ledger.
    async fn prepared(&mut self) -> Result<Vec<InDoubt>> {
        self.answered = false;
        let now = self.runtime.now();
        let pause = if self.identity.is_some() { SELDOM } else { OFTEN };
        let seldom = |asked: Instant| now.saturating_duration_since(asked) < pause;
        if !self.asked.is_some_and(seldom) {
            self.asked = None;
            self.identity = self.identify().await?;
            self.asked = Some(now);
        }
        if self.identity.is_none() {
            self.answered = true;
            self.aside = None;
            return Ok(Vec::new());
        }
        let aside = self.aside().await?;
        let query = aside.two_phase(|family| Ok(family.prepared_query()))?;
        let rows = aside.rows(query).await?;
        let read = aside.two_phase(|family| {
            Ok(rows.iter().filter_map(|row| family.read_prepared(row)).collect())
        })?;
        self.answered = true;
        Ok(read)
    }

    /// Who it is; `None` when it takes no writes or never took part in an XA transaction.
    async fn identify(&mut self) -> Result<Option<String>> {
        let aside = self.aside().await?;
        let query = aside.two_phase(|family| Ok(family.standing_query()))?;
        let standing = aside.rows(query).await?.concat();
        // One that cannot prepare any more may have prepared before.
        if matches!(
            aside.two_phase(|family| family.read_standing(&standing)),
            Ok(Standing::ReadOnly)
        ) {
            return Ok(None);
        }
        let present = aside.two_phase(|family| Ok(family.ledger().present_query()))?;
        let query = aside.two_phase(|family| Ok(family.ledger().identity_query()))?;
        let there = aside.rows(present).await?.concat();
        if !matches!(there[..], [Value::Bool(true) | Value::Int(1)]) {
            return Ok(None);
        }
        Ok(match &aside.rows(query).await?.concat()[..] {
            [Value::Text(identity), ..] => Some(identity.clone()),
            _ => None,
        })
    }

    /// Ends a prepared branch; false when another connection still owns it.
    pub(super) async fn end(
        &mut self,
        doubt: &InDoubt,
        verdict: Verdict,
        tries: u32,
    ) -> Result<bool> {
        let branch = Branch { global: &doubt.global, part: &doubt.part };
        let aside = self.aside().await?;
        let text = aside.two_phase(|family| {
            Ok(match verdict {
                Verdict::Commit => family.commit_prepared(&branch),
                Verdict::Abort => family.rollback_prepared(&branch),
            })
        })?;
        let Err(error) = aside.rows(&text).await else { return Ok(true) };
        let ErrorKind::Server(server) = error.kind() else { return Err(error) };
        if !aside.two_phase(|family| Ok(family.is_gone(server)))? {
            return Err(error);
        }
        // Listed, and yet not to be had: the connection that prepared it is still there, or somebody else was faster.
        let owner = Part::read(&doubt.part).map(|part| part.connection);
        let evict = aside.two_phase(|family| Ok(owner.and_then(|one| family.evict_owner(one))))?;
        if tries > 0
            && let Some(evict) = evict
        {
            let _ = aside.rows(&evict).await;
            return Ok(aside.rows(&text).await.is_ok());
        }
        Ok(false)
    }

    pub(super) async fn forget(&mut self, globals: &[String]) -> Result<()> {
        let globals: Vec<&str> = globals.iter().map(String::as_str).collect();
        let aside = self.aside().await?;
        let text = aside.two_phase(|family| Ok(family.ledger().forget(&globals)))?;
        aside.rows(&text).await.map(drop)
    }

    pub(super) async fn sweep(&mut self, doubts: &[Found]) -> Result<()> {
        let now = self.runtime.now();
        let seldom = |swept: Instant| now.saturating_duration_since(swept) < SELDOM;
        if self.swept.is_some_and(seldom) {
            return Ok(());
        }
        self.swept = Some(now);
        let aside = self.aside().await?;
        let query = aside.two_phase(|family| Ok(family.ledger().stale_query()))?;
        let rows = aside.rows(query).await?;
        // There are more than one answer holds.
        if rows.len() >= 1000 {
            self.swept = None;
        }
        let is_open = |global: &str| doubts.iter().any(|(_, doubt)| doubt.global == global);
        let text = |value| if let Value::Text(text) = value { Some(text) } else { None };
        let stale = rows.into_iter().flatten().filter_map(text);
        let stale: Vec<String> = stale.filter(|global| !is_open(global)).collect();
        if stale.is_empty() { Ok(()) } else { self.forget(&stale).await }
    }
}
