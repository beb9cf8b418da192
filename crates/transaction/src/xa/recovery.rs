//! Finishing what somebody has left: prepared branches whose transaction nobody ends any more.
//!
//! Every instance does this for every unit it can reach, also for transactions of instances that are gone. That is safe without knowing who lives: a
//! decision is made once, in the ledger of the deciding unit, and whoever finds none writes one (the fence), so that a coordinator which is late fails.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pando_kernel::backend::Connector;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{all, within};
use pando_kernel::two_phase::{InDoubt, Verdict};

use super::coordinator::{Coordinator, count};
use super::decision::{asked, decide, recall};
use super::id::GlobalId;
use super::watched::{Watched, key};

/// Time between two rounds.
///
/// With what follows here, the recovery interval is 10 seconds: a branch that was left is ended so long after all units can be reached. What can take
/// so long is a look that hangs since before they could, for up to 5 seconds; else it is 5. A decision that is held open by a connection whose machine
/// was lost, so that nobody closed it, adds the patience for it.
pub const ROUND: Duration = Duration::from_secs(2);
/// A branch is left to whoever ends it for so long.
const GRACE: Duration = Duration::from_secs(3);
/// A deciding unit whose connection holds a decision open for longer than this after a branch was prepared has lost its coordinator; and an instance
/// that has not ended its own transaction by then may wait for an answer that never comes.
const PATIENCE: Duration = Duration::from_secs(15);
/// Units that have not answered by then are left for the next round, so that those who are silent delay nobody.
const HASTE: Duration = Duration::from_secs(1);
/// A unit whose last look succeeded so short a time ago can be asked for decisions.
const FRESH: Duration = Duration::from_secs(10);
/// Who wants to know of all waits so long, which is longer than a unit may take.
const ALL: Duration = Duration::from_secs(30);
/// Deciding units are asked for so many decisions at once.
const AT_ONCE: usize = 8;

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

/// A prepared branch, and the places of the units that tell of it: ways to one server, whose users may differ in what they are allowed.
pub(super) type Found = (Vec<usize>, InDoubt);

/// A branch that was left, and its age.
type Due<'a> = (&'a Found, Duration);

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
        let (mut due, mut next) = (Vec::new(), ROUND);
        self.coordinator.sees_only(self.units.iter().flat_map(|unit| unit.told.clone()).collect());
        for found in &doubts {
            let (_, doubt) = found;
            let (first, _) = self.coordinator.first_seen(key(doubt), now);
            let here = now.saturating_duration_since(first);
            let age = doubt.seconds.map_or(here, |seconds| here.max(Duration::from_secs(seconds)));
            if age < self.grace {
                next = next.min(self.grace.saturating_sub(age));
            } else if age > PATIENCE || !self.coordinator.is_ending(&doubt.global) {
                due.push((found, age));
            }
        }
        self.settle(due).await;
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
                let (name, connector) = (Arc::clone(name), Arc::clone(connector));
                let runtime = Arc::clone(&self.coordinator.runtime);
                self.units.push(Watched::new(name, connector, runtime));
            }
        }
    }

    /// The prepared branches of all units that answer soon. A server tells those of all its databases: each is listed once.
    async fn look(&mut self, haste: Duration) -> Vec<Found> {
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
        let mut doubts: Vec<Found> = Vec::new();
        let mut places: HashMap<(String, String), usize> = HashMap::new();
        for (at, branches) in found.into_iter().enumerate() {
            for doubt in branches.into_iter().flatten() {
                let place = *places.entry(key(&doubt)).or_insert(doubts.len());
                match doubts.get_mut(place) {
                    Some((ways, _)) => ways.push(at),
                    None => doubts.push((vec![at], doubt)),
                }
            }
        }
        doubts
    }

    /// Ends branches as their transactions were decided.
    async fn settle(&mut self, due: Vec<Due<'_>>) {
        let verdicts = self.verdicts(&due).await;
        for (found, _) in due {
            let (ways, doubt) = found;
            let Some(verdict) = verdicts.get(&doubt.global) else { continue };
            let (_, tries) =
                self.coordinator.first_seen(key(doubt), self.coordinator.runtime.now());
            let first = ways.first().and_then(|at| self.units.get(*at));
            let unit = first.map(|unit| Arc::clone(&unit.name)).unwrap_or_default();
            let transaction = &doubt.global;
            match self.end(found, *verdict, tries).await {
                Ok(Some(true)) => {
                    count(&self.coordinator.counts.recovered);
                    tracing::info!(%unit, transaction, ?verdict, "a branch in doubt is ended");
                }
                Ok(Some(false)) => self.coordinator.in_vain(&key(doubt)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%unit, transaction, %error, "a branch in doubt cannot be ended yet");
                }
            }
        }
    }

    /// Ends a branch by the first of its ways that can; false when another connection still owns it, `None` when no unit answers any more.
    ///
    /// # Errors
    /// That of the last way that was tried.
    async fn end(&mut self, found: &Found, verdict: Verdict, tries: u32) -> Result<Option<bool>> {
        let (ways, doubt) = found;
        let mut result = Ok(None);
        for at in ways {
            let Some(asker) = self.units.get_mut(*at).and_then(Watched::answering) else {
                continue;
            };
            match asker.end(doubt, verdict, tries).await {
                Ok(is_ended) => return Ok(Some(is_ended)),
                Err(error) => {
                    // What the server says of one branch holds up no other.
                    if !matches!(error.kind(), ErrorKind::Server(_)) {
                        asker.failed();
                    }
                    result = Err(error);
                }
            }
        }
        result
    }

    /// What was decided on these transactions, and is now where nothing was, each asked once and several at once: one whose decision somebody holds
    /// open costs a second. Those whose deciding unit is none of ours or has not answered are left out.
    async fn verdicts(&mut self, due: &[Due<'_>]) -> HashMap<String, Verdict> {
        let mut known = HashSet::new();
        let mut asking = Vec::new();
        for ((_, doubt), age) in due {
            let Some((id, (_, decider))) =
                GlobalId::read(&doubt.global).zip(self.decider(&doubt.global))
            else {
                continue;
            };
            if !known.insert(id.as_str().to_owned()) {
                continue;
            }
            if self.answers(id.decider()) {
                let is_lost = *age > PATIENCE;
                let runtime = Arc::clone(&self.coordinator.runtime);
                let name = id.decider().to_owned();
                asking.push((name, asked(decider, runtime, id, is_lost.then_some(doubt))));
            } else {
                tracing::warn!(transaction = %id, "a transaction in doubt waits for the storage unit that decides on it, which does not answer");
            }
        }
        let mut verdicts = HashMap::new();
        let mut silent = HashSet::new();
        while !asking.is_empty() {
            let some = asking.split_off(asking.len().saturating_sub(AT_ONCE));
            let some = some.into_iter().map(|(_, asked)| asked).collect();
            for (id, told) in all(some).await.unwrap_or_default() {
                match told {
                    Ok(verdict) => {
                        verdicts.insert(id.as_str().to_owned(), verdict);
                    }
                    Err(error) => {
                        tracing::warn!(transaction = %id, %error, "a transaction in doubt cannot be decided yet");
                        if !matches!(error.kind(), ErrorKind::Server(_)) {
                            silent.insert(id.decider().to_owned());
                        }
                    }
                }
            }
            asking.retain(|(decider, _)| !silent.contains(decider));
        }
        verdicts
    }

    /// Whether a unit of this identity answers: in this round, or one of the last.
    fn answers(&self, identity: &str) -> bool {
        let now = self.coordinator.runtime.now();
        let is_fresh = |heard| now.saturating_duration_since(heard) < FRESH;
        let is_it = |unit: &Watched| unit.identity.as_deref() == Some(identity);
        self.units.iter().any(|unit| is_it(unit) && unit.heard.is_some_and(is_fresh))
    }

    /// The unit that decides on a transaction, where it is one of ours.
    fn decider(&self, global: &str) -> Option<Way> {
        let id = GlobalId::read(global)?;
        let decides = |unit: &&Watched| unit.identity.as_deref() == Some(id.decider());
        let unit = self.units.iter().find(decides)?;
        Some((Arc::clone(&unit.name), Arc::clone(&unit.connector)))
    }

    /// Forgets the decisions on transactions that are over, and old ones that no branch waits for.
    async fn forget(&mut self, doubts: &[Found]) {
        let all_answered = self.units.iter_mut().all(|unit| unit.answering().is_some());
        'units: for unit in &mut self.units {
            let name = Arc::clone(&unit.name);
            let Some(asker) = unit.answering() else { continue };
            let Some(identity) = asker.identity.clone() else { continue };
            let until = self.coordinator.runtime.now() + HASTE;
            loop {
                let settled = self.coordinator.take_settled(&identity);
                if settled.is_empty() || self.coordinator.runtime.now() > until {
                    self.coordinator.put_back(&identity, settled);
                    break;
                }
                if asker.forget(&settled).await.is_err() {
                    self.coordinator.put_back(&identity, settled);
                    asker.failed();
                    continue 'units;
                }
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
        for (ways, doubt) in found {
            let (first, _) = self.coordinator.first_seen(key(&doubt), now);
            let here = now.saturating_duration_since(first).as_secs();
            let decider = self.decider(&doubt.global);
            let decided = match &decider {
                Some((_, way)) => recall(way, &runtime, &doubt.global).await.ok().flatten(),
                None => None,
            };
            let Some(unit) = ways.first().and_then(|at| self.units.get(*at)) else { continue };
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

    /// The units that did not answer the last look.
    pub fn silent(&self) -> impl Iterator<Item = &UnitName> {
        self.units.iter().filter(|unit| unit.heard.is_none()).map(|unit| &unit.name)
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
            return Err(Error::unsupported(
                14000,
                format!("no transaction `{global}` is in doubt"),
                "SHOW IN DOUBT TRANSACTIONS lists them",
            ));
        }
        if self.coordinator.is_ending(global) {
            return Err(Error::unsupported(14000, "the transaction is being ended right now", ""));
        }
        let runtime = Arc::clone(&self.coordinator.runtime);
        if let Some(id) = GlobalId::read(global)
            && let Some((unit, decider)) = self.decider(global)
        {
            match decide(&decider, &runtime, &id).await {
                Ok(verdict) if verdict == wanted => {}
                Ok(verdict) => {
                    let word = if verdict == Verdict::Commit { "COMMIT" } else { "ROLLBACK" };
                    return Err(Error::unsupported(
                        14000,
                        format!(
                            "storage unit `{unit}` has decided on {word}: the transaction would come apart"
                        ),
                        format!("RESOLVE IN DOUBT TRANSACTION '{global}' {word}"),
                    ));
                }
                // It can be asked, and somebody is about to decide.
                Err(error) if matches!(error.kind(), ErrorKind::Server(_)) => return Err(error),
                Err(error) => {
                    tracing::warn!(transaction = global, %error, "resolved by hand, without the deciding unit");
                }
            }
        }
        let mut ended = 0;
        for found in found {
            ended += u64::from(self.end(&found, wanted, 1).await? == Some(true));
        }
        Ok(ended)
    }
}
