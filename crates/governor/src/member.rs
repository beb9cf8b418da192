//! This instance among the others: its entry, and a worker id that nobody else has.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use pando_repository::{Change, Error, Expected, Prefix, Repository, Result};

use crate::cluster::Instance;
use crate::governor::{Governor, Origin};
use crate::house::Lease;
use crate::keys;

/// How often an instance looks at the latest whether its worker id is still its own, and whether the repository answers.
const LOOK: Duration = Duration::from_millis(1500);
/// A look gives the worker id for a third of the session's time: so often within it, so that one or two looks may be late.
const LOOKS: u32 = 9;
/// Time for other instances to follow a change, and between two looks whether they have.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(5);
const FOLLOWED_PAUSE: Duration = Duration::from_millis(5);
/// Worker ids of SNOWFLAKE: ten bits.
const WORKERS: u32 = 1024;

/// What this instance has put into the repository.
#[derive(Debug)]
pub(crate) struct Member {
    /// What it says of itself.
    instance: Instance,
    /// Clients can reach it.
    stands: bool,
    /// How long its entries stand without a sign of life.
    lease: Option<Duration>,
    /// What stands in its entry.
    told: Option<String>,
    /// Its worker id.
    worker: Option<u32>,
    /// Databases with definitions that others have not been told of, and how many there have been in all.
    untold: BTreeSet<String>,
    told_definitions: u64,
}

impl Member {
    pub(crate) fn new(instance: Instance, lease: Option<Duration>) -> Self {
        Self {
            instance,
            stands: false,
            lease,
            told: None,
            worker: None,
            untold: BTreeSet::new(),
            told_definitions: 0,
        }
    }

    pub(crate) fn stands_at(&mut self, host: &str, port: u16) {
        host.clone_into(&mut self.instance.host);
        self.instance.port = port;
        self.stands = true;
    }

    /// The time until the next look.
    pub(crate) fn look(&self) -> Duration {
        self.lease.map_or(LOOK, |lease| LOOK.min(lease / LOOKS))
    }

    /// Whether this instance serves clients: before that it is nobody's business.
    fn stands(&self) -> bool {
        self.stands
    }

    pub(crate) fn instance(&self) -> &Instance {
        &self.instance
    }
}

/// What was put before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    MayStand,
    /// The repository's session that held it is over.
    IsGone,
}

/// Puts this instance's entry where it is missing or has changed, and takes a worker id, or looks whether the one it has still stands.
///
/// # Errors
/// As the repository says. The worker id is then good until the end of the last look's lease.
pub(crate) async fn keep(governor: &Governor, before: Before) -> Result<()> {
    let Some(repository) = governor.repository() else { return Ok(()) };
    let _one_at_a_time = governor.shared.keeping.lock().await;
    let (text, is_told, worker) = {
        let (checksum, knows) = {
            let now = governor.now();
            (now.checksum.clone(), now.stored.cluster.definitions_known())
        };
        let mut member = governor.member();
        if !member.stands() {
            return Ok(());
        }
        if before == Before::IsGone {
            member.told = None;
            member.worker = None;
            governor.shared.house.lease(None);
        }
        (member.instance.serves, member.instance.knows) = (checksum, knows);
        let text = member.instance.text();
        (text.clone(), member.told.as_ref() == Some(&text), member.worker)
    };
    if !is_told {
        let key = keys::key(keys::ONLINE, &[&governor.shared.id])?;
        repository.commit(Change::new().put_for_session(&key, text.clone())).await?;
        governor.member().told = Some(text);
    }
    governor.tell_definitions(&*repository).await?;
    match worker {
        Some(worker) => look(governor, &*repository, worker).await,
        None => take(governor, &*repository).await,
    }
}

/// The first worker id that nobody has.
async fn take(governor: &Governor, repository: &dyn Repository) -> Result<()> {
    let below = Prefix::parse(keys::WORKERS.trim_end_matches('/'))?;
    for _ in 0..WORKERS {
        let begun = governor.shared.runtime.now();
        let view = repository.read(&below).await?;
        let is_taken = |number: &u32| {
            view.entries.keys().any(|key| key.as_str() == format!("{}{number}", keys::WORKERS))
        };
        let Some(number) = (0..WORKERS).find(|number| !is_taken(number)) else {
            return Err(Error::Refused(format!("all {WORKERS} worker ids are taken")));
        };
        let key = pando_repository::Key::parse(&format!("{}{number}", keys::WORKERS))?;
        let change = Change::new()
            .expect(&key, Expected::Absent)
            .put_for_session(&key, governor.shared.id.as_bytes().to_vec());
        match repository.commit(change).await {
            Ok(_) => {
                governor.member().worker = Some(number);
                governor.holds(number, begun);
                return Ok(());
            }
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Unavailable("other instances keep taking the worker ids".into()))
}

/// Whether the worker id is still this instance's: another look's time of keys can be made with it.
async fn look(governor: &Governor, repository: &dyn Repository, worker: u32) -> Result<()> {
    if governor.member().lease.is_none() {
        return Ok(());
    }
    let begun = governor.shared.runtime.now();
    let below = Prefix::parse(&format!("{}{worker}", keys::WORKERS))?;
    let view = repository.read(&below).await?;
    let own = governor.shared.id.as_bytes();
    if view.entries.values().any(|entry| entry.value == own) {
        governor.holds(worker, begun);
        return Ok(());
    }
    governor.member().worker = None;
    governor.shared.house.lease(None);
    take(governor, repository).await
}

impl Governor {
    /// Whether there may be others who serve the same tables.
    pub(crate) fn has_others(&self) -> bool {
        matches!(self.shared.origin, Origin::Repository { is_shared: true, .. })
    }

    /// Notes a definition that others are to be told of.
    pub(crate) fn note_definition(&self, database: &str) {
        self.member().untold.insert(database.to_owned());
    }

    /// Tells others of the definitions that they have not been told of.
    ///
    /// # Errors
    /// As the repository says; they are told later then.
    pub(crate) async fn tell_definitions(&self, repository: &dyn Repository) -> Result<()> {
        loop {
            let (database, number) = {
                let mut member = self.member();
                let Some(database) = member.untold.pop_first() else { return Ok(()) };
                member.told_definitions += 1;
                (database, member.told_definitions)
            };
            if let Err(error) = self.tell_definition(repository, &database, number).await {
                self.note_definition(&database);
                return Err(error);
            }
        }
    }

    /// Waits until every running instance serves what this one does and has taken up all definitions, or is gone; not for ever. Whoever was told that a
    /// change is done may go on at any instance.
    pub(crate) async fn all_follow(&self) {
        if !self.has_others() {
            return;
        }
        let runtime = &self.shared.runtime;
        let begun = runtime.now();
        loop {
            let (cluster, checksum) = {
                let now = self.now();
                (Arc::clone(&now.stored.cluster), now.checksum.clone())
            };
            let behind = cluster.behind(&self.shared.id, &checksum);
            if behind.is_empty() {
                return;
            }
            if runtime.now().saturating_duration_since(begun) > FOLLOWED_WITHIN {
                tracing::error!(?behind, "instances do not follow a change");
                return;
            }
            runtime.sleep(FOLLOWED_PAUSE).await;
        }
    }

    async fn tell_definition(
        &self,
        repository: &dyn Repository,
        database: &str,
        number: u64,
    ) -> Result<()> {
        let key = keys::key(keys::DEFINITIONS, &[database])?;
        // Unique, also for an instance that begins anew with the same id.
        let moment = self.shared.runtime.wall();
        let moment = moment.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let text = format!("{} {number} {}", self.shared.id, moment.as_nanos());
        repository.commit(Change::new().put(&key, text)).await.map(drop)
    }

    pub(crate) fn member(&self) -> std::sync::MutexGuard<'_, Member> {
        self.shared.member.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker id of this instance.
    pub(crate) fn worker(&self) -> Option<u32> {
        self.member().worker
    }

    /// The entry stood when the look began, so the store keeps it at least for two thirds of the session's time after that, as sessions are renewed
    /// thrice as often as they must; half of that is left as a margin for clocks that differ in speed.
    fn holds(&self, worker: u32, begun: std::time::Instant) {
        let lease = self.member().lease;
        let until = lease.map(|lease| begun + lease / 3);
        self.shared.house.lease(Some(Lease { worker, until }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_id_is_looked_at_several_times_before_it_must_not_be_used_any_more() {
        for seconds in [1, 3, 10, 600] {
            let lease = Duration::from_secs(seconds);
            let member = Member::new(Instance::default(), Some(lease));
            assert!(member.look() * 2 < lease / 3, "{lease:?}");
            assert!(member.look() >= Duration::from_millis(100), "{lease:?}");
        }
        assert_eq!(Member::new(Instance::default(), None).look(), LOOK);
    }
}
