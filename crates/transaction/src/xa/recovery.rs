//! Finishing what somebody has left: prepared branches whose transaction nobody ends any more.
//!
//! Every instance does this for every unit it can reach, also for transactions of instances that are gone. That is safe without knowing who lives: a
//! decision is made once, in the ledger of the deciding unit, and whoever finds none writes one (the fence), so that a coordinator which is late fails.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use pando_kernel::backend::Connector;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{BoxFuture, SharedRuntime, within};
use pando_kernel::two_phase::{Branch, InDoubt, Part, Standing, Verdict, verdict};
use pando_kernel::value::Value;

use crate::aside::Aside;

use super::coordinator::{Coordinator, count};
use super::id::GlobalId;

/// Time between two rounds.
///
/// With what follows here, the recovery interval is 10 seconds: a branch that was left is ended so long after all units can be reached. What can take
/// so long is a look that hangs since before they could, for up to 5 seconds; else it is 5. A decision that is held open by a connection whose machine
/// was lost, so that nobody closed it, adds the patience for it.
pub const ROUND: Duration = Duration::from_secs(2);
/// A branch is left to whoever ends it for so long.
const GRACE: Duration = Duration::from_secs(3);
/// A deciding unit whose connection holds a decision open for longer than this after a branch was prepared has lost its coordinator.
const PATIENCE: Duration = Duration::from_secs(15);
/// Units that have not answered by then are left for the next round, so that those who are silent delay nobody.
const HASTE: Duration = Duration::from_secs(1);
/// Who wants to know of all waits so long, which is longer than a unit may take.
const ALL: Duration = Duration::from_secs(30);
/// Who a unit is, and decisions that are old, are looked at so often.
const SELDOM: Duration = Duration::from_secs(60);
/// The same for a unit that had no ledger: somebody may have made it since.
const OFTEN: Duration = Duration::from_secs(4);

/// A storage unit by name, and the way to it.
pub type Way = (UnitName, Arc<dyn Connector>);

/// A branch in doubt, for who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The transaction.
    pub global: String,
    /// The storage unit.
    pub unit: UnitName,
    /// The branch.
    pub part: String,
    /// Whole seconds since it was prepared, or since it was first seen here where the server does not know.
    pub seconds: u64,
    /// The storage unit that decides, where it is one of this instance's.
    pub decider: Option<UnitName>,
    /// Its decision, when it has made one and can be asked.
    pub verdict: Option<Verdict>,
}

/// A unit under watch.
struct Watched {
    name: UnitName,
    connector: Arc<dyn Connector>,
    /// The last one that it told.
    identity: Option<String>,
    /// The branches it told last: until it answers again they are not forgotten.
    told: Vec<(String, String)>,
    /// `None` while a look is under way, this round's or an earlier one's.
    asker: Option<Box<Asker>>,
    look: Option<BoxFuture<'static, Look>>,
}

/// What a look comes to.
type Look = (Box<Asker>, Result<Vec<InDoubt>>);

/// Who asks a unit.
struct Asker {
    connector: Arc<dyn Connector>,
    runtime: SharedRuntime,
    aside: Option<Aside>,
    /// `None` while it has no ledger.
    identity: Option<String>,
    asked: Option<Instant>,
    swept: Option<Instant>,
    /// It answered in this round.
    answered: bool,
}

/// The memory of one instance's recovery.
pub struct Recovery {
    coordinator: Arc<Coordinator>,
    grace: Duration,
    units: Vec<Watched>,
}

impl Debug for Recovery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let units: Vec<_> = self.units.iter().map(|unit| &unit.name).collect();
        f.debug_struct("Recovery").field("grace", &self.grace).field("units", &units).finish()
    }
}

impl Recovery {
    /// That of an instance.
    pub fn new(coordinator: Arc<Coordinator>) -> Self {
        Self::after(coordinator, GRACE)
    }

    /// The same, which leaves a branch for so long to whoever ends it.
    pub fn after(coordinator: Arc<Coordinator>, grace: Duration) -> Self {
        Self { coordinator, grace, units: Vec::new() }
    }

    /// One round over all units: ends branches that were left, and forgets decisions that nobody needs. A unit that does not answer is passed over.
    /// Returns the time until the next: less than [`ROUND`] where a branch is due before.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn round(&mut self, ways: &[Way]) -> Duration {
        self.watch(ways);
        let doubts = self.look(HASTE).await;
        let now = self.coordinator.runtime.now();
        let (mut silent, mut next) = (HashSet::new(), ROUND);
        self.coordinator.sees_only(self.units.iter().flat_map(|unit| unit.told.clone()).collect());
        for (at, doubt) in &doubts {
            let (first, _) = self.coordinator.first_seen(key(doubt), now);
            let here = now.saturating_duration_since(first);
            let age = doubt.seconds.map_or(here, |seconds| here.max(Duration::from_secs(seconds)));
            if age < self.grace {
                next = next.min(self.grace.saturating_sub(age));
            } else if !self.coordinator.is_ending(&doubt.global) {
                self.settle((*at, doubt, age), &mut silent).await;
            }
        }
        self.forget(&doubts).await;
        next
    }

    fn watch(&mut self, ways: &[Way]) {
        self.units.retain(|unit| {
            ways.iter().any(|(name, way)| *name == unit.name && Arc::ptr_eq(way, &unit.connector))
        });
        for (name, connector) in ways {
            let is_known =
                |unit: &Watched| unit.name == *name && Arc::ptr_eq(&unit.connector, connector);
            if !self.units.iter().any(is_known) && connector.dialect().two_phase().is_some() {
                let runtime = Arc::clone(&self.coordinator.runtime);
                self.units.push(Watched {
                    name: Arc::clone(name),
                    connector: Arc::clone(connector),
                    identity: None,
                    told: Vec::new(),
                    asker: Some(Box::new(Asker::new(Arc::clone(connector), runtime))),
                    look: None,
                });
            }
        }
    }

    /// The prepared branches of all units that answer soon. A server tells those of all its databases: each is listed once.
    async fn look(&mut self, haste: Duration) -> Vec<(usize, InDoubt)> {
        let runtime = Arc::clone(&self.coordinator.runtime);
        self.units.iter_mut().for_each(Watched::begin);
        let mut found: Vec<Option<Vec<InDoubt>>> = self.units.iter().map(|_| None).collect();
        let units = &mut self.units;
        let looked = poll_fn(|cx| {
            let mut is_over = true;
            for (unit, found) in units.iter_mut().zip(&mut found) {
                match unit.poll(cx) {
                    Poll::Ready(Some(branches)) => *found = Some(branches),
                    Poll::Ready(None) => {}
                    Poll::Pending => is_over = false,
                }
            }
            if is_over { Poll::Ready(()) } else { Poll::Pending }
        });
        let _ = within(&*runtime, haste, looked).await;
        let mut doubts: Vec<(usize, InDoubt)> = Vec::new();
        for (at, branches) in found.into_iter().enumerate() {
            for doubt in branches.into_iter().flatten() {
                let is_known = |(_, known): &(usize, InDoubt)| {
                    (&known.global, &known.part) == (&doubt.global, &doubt.part)
                };
                if !doubts.iter().any(is_known) {
                    doubts.push((at, doubt));
                }
            }
        }
        doubts
    }

    /// Ends one branch as its transaction was decided. A deciding unit that cannot be asked is not asked again in this round.
    async fn settle(
        &mut self,
        (at, doubt, age): (usize, &InDoubt, Duration),
        silent: &mut HashSet<String>,
    ) {
        let Some(id) = GlobalId::read(&doubt.global) else { return };
        let runtime = Arc::clone(&self.coordinator.runtime);
        // A decider that is none of ours: the branch is not ours to end.
        let Some((_, decider)) = self.decider(&doubt.global) else { return };
        if silent.contains(id.decider()) || !self.units.get(at).is_some_and(Watched::has_answered) {
            return;
        }
        if !self.has_answered(id.decider()) {
            tracing::warn!(transaction = %id, "a transaction in doubt waits for the storage unit that decides on it, which does not answer");
            silent.insert(id.decider().to_owned());
            return;
        }
        let verdict = match decide(&decider, &runtime, &id).await {
            Ok(verdict) => verdict,
            Err(error) => {
                tracing::warn!(transaction = %id, %error, "a transaction in doubt cannot be decided yet");
                silent.insert(id.decider().to_owned());
                if age > PATIENCE {
                    evict(&decider, &runtime, doubt).await;
                }
                return;
            }
        };
        let (_, tries) = self.coordinator.first_seen(key(doubt), runtime.now());
        let Some(unit) = self.units.get_mut(at) else { return };
        let name = Arc::clone(&unit.name);
        let Some(asker) = unit.answering() else { return };
        match asker.end(doubt, (verdict, tries)).await {
            Ok(true) => {
                count(&self.coordinator.counts.recovered);
                tracing::info!(unit = %name, transaction = %id, ?verdict, "a branch in doubt is ended");
            }
            Ok(false) => self.coordinator.in_vain(&key(doubt)),
            Err(error) => {
                asker.failed();
                tracing::warn!(unit = %name, transaction = %id, %error, "a branch in doubt cannot be ended yet");
            }
        }
    }

    /// Whether a unit of this identity has answered in this round.
    fn has_answered(&self, identity: &str) -> bool {
        let is_it = |unit: &Watched| unit.identity.as_deref() == Some(identity);
        self.units.iter().any(|unit| is_it(unit) && unit.has_answered())
    }

    /// The unit that decides on a transaction, where it is one of ours.
    fn decider(&self, global: &str) -> Option<Way> {
        let id = GlobalId::read(global)?;
        let decides = |unit: &&Watched| unit.identity.as_deref() == Some(id.decider());
        let unit = self.units.iter().find(decides)?;
        Some((Arc::clone(&unit.name), Arc::clone(&unit.connector)))
    }

    /// Forgets the decisions on transactions that are over, and old ones that no branch waits for.
    async fn forget(&mut self, doubts: &[(usize, InDoubt)]) {
        let all_answered = self.units.iter_mut().all(|unit| unit.answering().is_some());
        for unit in &mut self.units {
            let name = Arc::clone(&unit.name);
            let Some(asker) = unit.answering() else { continue };
            let Some(identity) = asker.identity.clone() else { continue };
            let settled = self.coordinator.take_settled(&identity);
            if !settled.is_empty() && asker.forget(&settled).await.is_err() {
                self.coordinator.put_back(&identity, settled);
                continue;
            }
            if all_answered && let Err(error) = asker.sweep(doubts).await {
                tracing::debug!(unit = %name, %error, "old decisions cannot be forgotten yet");
            }
        }
    }

    /// The branches in doubt, with what was decided on them.
    ///
    /// # Errors
    /// None: a unit that does not answer tells nothing.
    pub async fn doubts(&mut self, ways: &[Way]) -> Vec<Doubt> {
        self.watch(ways);
        let found = self.look(ALL).await;
        let runtime = Arc::clone(&self.coordinator.runtime);
        let now = runtime.now();
        let mut doubts = Vec::new();
        for (at, doubt) in found {
            let (first, _) = self.coordinator.first_seen(key(&doubt), now);
            let here = now.saturating_duration_since(first).as_secs();
            let decider = self.decider(&doubt.global);
            let decided = match &decider {
                Some((_, way)) => recall(way, &runtime, &doubt.global).await.ok().flatten(),
                None => None,
            };
            let Some(unit) = self.units.get(at) else { continue };
            doubts.push(Doubt {
                unit: Arc::clone(&unit.name),
                seconds: doubt.seconds.unwrap_or(here),
                decider: decider.map(|(name, _)| name),
                verdict: decided,
                global: doubt.global,
                part: doubt.part,
            });
        }
        doubts
    }

    /// Ends the branches of a transaction by hand. Returns how many were ended.
    ///
    /// # Errors
    /// `Refused` when there is no such branch, or when the deciding unit can be asked and says otherwise.
    pub async fn resolve(&mut self, ways: &[Way], global: &str, wanted: Verdict) -> Result<u64> {
        self.watch(ways);
        let found: Vec<_> =
            self.look(ALL).await.into_iter().filter(|(_, one)| one.global == global).collect();
        if found.is_empty() {
            return Err(Error::refused(
                14000,
                format!("no transaction `{global}` is in doubt"),
                "SHOW IN DOUBT TRANSACTIONS lists them",
            ));
        }
        if self.coordinator.is_ending(global) {
            return Err(Error::refused(14000, "the transaction is being ended right now", ""));
        }
        let runtime = Arc::clone(&self.coordinator.runtime);
        if let Some(id) = GlobalId::read(global)
            && let Some((unit, decider)) = self.decider(global)
        {
            match decide(&decider, &runtime, &id).await {
                Ok(verdict) if verdict == wanted => {}
                Ok(verdict) => {
                    let word = if verdict == Verdict::Commit { "COMMIT" } else { "ROLLBACK" };
                    return Err(Error::refused(
                        14000,
                        format!(
                            "storage unit `{unit}` has decided on {word}: the transaction would come apart"
                        ),
                        format!("RESOLVE IN DOUBT TRANSACTION '{global}' {word}"),
                    ));
                }
                Err(error) => {
                    tracing::warn!(transaction = global, %error, "resolved by hand, without the deciding unit");
                }
            }
        }
        let mut ended = 0;
        for (at, doubt) in found {
            let Some(asker) = self.units.get_mut(at).and_then(Watched::answering) else { continue };
            ended += u64::from(asker.end(&doubt, (wanted, 1)).await?);
        }
        Ok(ended)
    }
}

fn key(doubt: &InDoubt) -> (String, String) {
    (doubt.global.clone(), doubt.part.clone())
}

impl Watched {
    fn has_answered(&self) -> bool {
        self.asker.as_ref().is_some_and(|asker| asker.answered)
    }

    /// Who asks it, when it has answered in this round.
    fn answering(&mut self) -> Option<&mut Asker> {
        self.asker.as_deref_mut().filter(|asker| asker.answered)
    }

    /// Begins to look, unless an earlier look is still under way.
    fn begin(&mut self) {
        if let Some(mut asker) = self.asker.take() {
            self.look = Some(Box::pin(async move {
                let found = asker.prepared().await;
                (asker, found)
            }));
        }
    }

    /// What a look has found, told once.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<InDoubt>>> {
        let Some(look) = &mut self.look else { return Poll::Ready(None) };
        let (mut asker, found) = ready!(look.as_mut().poll(cx));
        self.look = None;
        let found = found.map_err(|error| {
            tracing::debug!(unit = %self.name, %error, "a storage unit cannot be asked for transactions in doubt");
            asker.failed();
        });
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
    fn failed(&mut self) {
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
    async fn end(&mut self, doubt: &InDoubt, (verdict, tries): (Verdict, u32)) -> Result<bool> {
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

    async fn forget(&mut self, globals: &[String]) -> Result<()> {
        let globals: Vec<&str> = globals.iter().map(String::as_str).collect();
        let aside = self.aside().await?;
        let text = aside.two_phase(|family| Ok(family.ledger().forget(&globals)))?;
        aside.rows(&text).await.map(drop)
    }

    async fn sweep(&mut self, doubts: &[(usize, InDoubt)]) -> Result<()> {
        let now = self.runtime.now();
        let seldom = |swept: Instant| now.saturating_duration_since(swept) < SELDOM;
        if self.swept.is_some_and(seldom) {
            return Ok(());
        }
        self.swept = Some(now);
        let aside = self.aside().await?;
        let query = aside.two_phase(|family| Ok(family.ledger().stale_query()))?;
        let rows = aside.rows(query).await?;
        let is_open = |global: &str| doubts.iter().any(|(_, doubt)| doubt.global == global);
        let text = |value| if let Value::Text(text) = value { Some(text) } else { None };
        let stale = rows.into_iter().flatten().filter_map(text);
        let stale: Vec<String> = stale.filter(|global| !is_open(global)).collect();
        if stale.is_empty() { Ok(()) } else { self.forget(&stale).await }
    }
}

/// The decision on a transaction. Where there is none it is made: to abort.
///
/// # Errors
/// `Timeout`, or the unit's error: it cannot be asked, or somebody is about to decide.
pub async fn decide(
    decider: &Arc<dyn Connector>,
    runtime: &SharedRuntime,
    id: &GlobalId,
) -> Result<Verdict> {
    let mut aside = Aside::open(Arc::clone(decider), Arc::clone(runtime)).await?;
    let query = aside.two_phase(|family| Ok(family.ledger().verdict_query(id.as_str())))?;
    if let Some(verdict) = verdict(&aside.rows(&query).await?) {
        return Ok(verdict);
    }
    for text in aside.two_phase(|family| Ok(family.ledger().fence(id.as_str())))? {
        aside.rows(&text).await?;
    }
    let verdict = verdict(&aside.rows(&query).await?);
    verdict.ok_or_else(|| Error::internal("a decision that was made is not there"))
}

async fn recall(
    decider: &Arc<dyn Connector>,
    runtime: &SharedRuntime,
    global: &str,
) -> Result<Option<Verdict>> {
    let mut aside = Aside::open(Arc::clone(decider), Arc::clone(runtime)).await?;
    let query = aside.two_phase(|family| Ok(family.ledger().verdict_query(global)))?;
    Ok(verdict(&aside.rows(&query).await?))
}

/// Ends the connection that holds a decision open, so that it can be made.
async fn evict(decider: &Arc<dyn Connector>, runtime: &SharedRuntime, doubt: &InDoubt) {
    let Some(part) = Part::read(&doubt.part) else { return };
    let evicted = async {
        let mut aside = Aside::open(Arc::clone(decider), Arc::clone(runtime)).await?;
        let text =
            aside.two_phase(|family| Ok(family.evict_decider(&doubt.global, part.decider)))?;
        aside.rows(&text).await
    };
    if let Err(error) = evicted.await {
        tracing::debug!(%error, "a lost connection cannot be ended");
    }
}
