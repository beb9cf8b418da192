//! The two phases. The steps are numbered as in the crate's README, which tells what a failure at each of them comes to.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Completion;
use pando_kernel::route::UnitName;
use pando_kernel::runtime::within;
use pando_kernel::two_phase::{Part, Verdict};
use pando_kernel::value::Value;

use crate::aside::rows;
use crate::broken::{LINGER, Need, lacks};
use crate::errors::{aborted, is_missing, ledger_gone, server_error};
use crate::held::{Held, committed, tell};
use crate::transaction::{Ended, Outcome, Transaction};

use super::coordinator::{Coordinator, count};
use super::decision::decide;
use super::id::GlobalId;

/// A first phase that took longer is rolled back: fences are kept for an hour, so whoever comes later than this could not be told from one that was
/// given up and forgotten.
const FIRST_PHASE: Duration = Duration::from_secs(60);
/// What was decided is waited for so long on every unit; what is not done then is left to recovery. A silent unit must not hold up for ever who has committed.
const SECOND_PHASE: Duration = Duration::from_secs(30);
/// How often, and with what pause, a unit that was lost while it decided is asked what it has decided.
const INQUIRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);

/// What makes a transaction an XA transaction.
#[derive(Debug, Default)]
pub(crate) struct Global {
    id: Option<GlobalId>,
    /// Process or thread number of the deciding unit's connection.
    decider: u64,
}

impl Global {
    /// Whether no unit that takes writes is part of it yet.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.id.is_none()
    }

    /// The transaction's name and that of one more part of it. The first unit that takes writes decides.
    pub(crate) fn joins(
        &mut self,
        coordinator: &Coordinator,
        identity: &str,
        number: usize,
        connection: u64,
    ) -> (&GlobalId, Part) {
        if self.id.is_none() {
            self.decider = connection;
        }
        let id = self.id.get_or_insert_with(|| coordinator.name(identity));
        (id, Part { number, connection, decider: self.decider })
    }
}

/// Where a branch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// At work.
    Open,
    /// Prepared.
    Prepared,
    /// Over.
    Over,
    /// Nobody here knows.
    Unknown,
}

/// What a branch does in the first phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Records the decision.
    Decides,
    /// Prepares.
    Prepares,
    /// Has only read, and leaves at once.
    Leaves,
    /// Has only read as far as Pando knows, and leaves with the others.
    Follows,
}

impl Transaction {
    /// Commits an XA transaction: step 1 to 6.
    pub(crate) async fn commit_globally(&mut self) -> Ended {
        let id = self.global.as_ref().and_then(|global| global.id.clone());
        let (Some(id), Some(coordinator)) = (id, self.coordinator.clone()) else {
            // No unit has a name in it: they took no writes when they were asked, and commit what they have all the same.
            return self.commit_each().await;
        };
        if self.is_read_only() {
            // What was refused has written nothing, and a decision could not be recorded.
            self.held.iter_mut().for_each(|held| held.wrote = false);
        } else if self.held.len() > 1 {
            let asked = within(&*coordinator.runtime, FIRST_PHASE, self.ask_who_wrote()).await;
            if let Err(error) = asked.unwrap_or_else(|| Err(self.drop_silent())) {
                return self.give_up(error).await;
            }
        }
        if self.held.iter().filter(|held| held.wrote).count() < 2 {
            return self.commit_one(&id, &coordinator).await;
        }
        let nameless = self.held.iter().find(|held| held.wrote && held.part.is_none());
        let nameless = nameless.map(|held| Arc::clone(&held.unit));
        if let Some(unit) = nameless {
            let why = format!("storage unit `{unit}` took no writes when it was asked");
            return self.give_up(aborted(&why)).await;
        }
        let ending = coordinator.ends(&id);
        let ended = self.two_phases(&id, &coordinator).await;
        drop(ending);
        ended
    }

    /// Step 1: units that can tell are asked whether a statement that only seemed to read has written.
    async fn ask_who_wrote(&mut self) -> Result<()> {
        for held in &mut self.held {
            let query = held.dialect.two_phase().and_then(|family| family.wrote_query());
            let (Some(query), false, Some(connection)) =
                (query.filter(|_| held.part.is_some()), held.wrote, held.connection.as_mut())
            else {
                continue;
            };
            let answer = rows(&mut **connection, query).await?;
            held.wrote = matches!(answer.concat()[..], [Value::Bool(true)]);
        }
        Ok(())
    }

    /// At most one unit has written: it commits in one phase, after those that have read. Not between other units' snapshots and its own: it heeds
    /// barriers first, by a step of its own, as MySQL would commit all the same when that fails.
    async fn commit_one(&mut self, id: &GlobalId, coordinator: &Coordinator) -> Ended {
        let several = self.held.len() > 1;
        let first_step = self.texts(|held| match held.wrote {
            true if several => held.heed(id),
            true => Vec::new(),
            false => held.commit(id),
        });
        let last_step = self.texts(|held| if held.wrote { held.commit(id) } else { Vec::new() });
        if first_step.iter().any(|texts| !texts.is_empty()) {
            let told = self.tell_within(coordinator, FIRST_PHASE, first_step).await;
            let told = told.map(|told| self.have_answered(told));
            if let Some(error) = told.map_or_else(|| Some(self.drop_silent()), first) {
                let error = self.without_ledger(error);
                return self.give_up(error).await;
            }
        }
        if let Some(error) = first(self.commits(last_step).await) {
            return self.give_up(unsure(error)).await;
        }
        self.clear(Ok(Outcome::Committed))
    }

    async fn two_phases(&mut self, id: &GlobalId, coordinator: &Arc<Coordinator>) -> Ended {
        let roles: Vec<Role> = self.held.iter().map(role).collect();
        self.held.iter_mut().for_each(|held| held.ends = true);
        let started = coordinator.runtime.now();
        // Step 2 and 3: all prepare, and the deciding unit writes what it is about to decide.
        let texts = self.held.iter().zip(&roles).map(|(held, role)| held.first_phase(id, *role));
        let told = self.tell_within(coordinator, FIRST_PHASE, texts.collect()).await;
        let Some(results) = told else {
            count(&coordinator.counts.rolled_back);
            self.abandon_late(id, &roles, coordinator).await;
            return self.clear(Err(silent()));
        };
        let mut stages = Vec::new();
        let mut failed = None;
        for ((held, role), result) in self.held.iter().zip(&roles).zip(results) {
            let (stage, error) = held.reached(*role, result);
            stages.push(stage);
            failed = failed.or(error);
        }
        let late = coordinator.runtime.now().saturating_duration_since(started) > FIRST_PHASE;
        if let Some(error) = failed.or_else(|| late.then(|| aborted("preparing it took too long")))
        {
            count(&coordinator.counts.rolled_back);
            self.abandon(id, &stages, coordinator).await;
            return self.clear(Err(error));
        }
        // Step 4: the decision.
        match self.decision(id, &roles, coordinator).await {
            // Whoever looks for coordinators that die here need not look for long.
            Decided::Commit if lacks(Need::Decision) => coordinator.runtime.sleep(LINGER).await,
            Decided::Commit => {}
            Decided::Abort(error) => {
                count(&coordinator.counts.rolled_back);
                over(&roles, Role::Decides, &mut stages);
                self.abandon(id, &stages, coordinator).await;
                return self.clear(Err(error));
            }
            Decided::Unknown => {
                count(&coordinator.counts.left);
                self.held.iter_mut().for_each(Held::discard);
                return self.clear(Err(unknown(id)));
            }
        }
        // Step 5: the second phase. It cannot fail any more; what is not done now is done by recovery.
        let texts = self.held.iter().zip(&roles).map(|(held, role)| held.second_phase(id, *role));
        let told = self.tell_within(coordinator, SECOND_PHASE, texts.collect()).await;
        let told = told.map(|told| self.have_answered(told));
        let stray = self.stray(&roles, told.as_deref());
        let whole = match told {
            Some(results) => self.have_committed(id, results),
            None => {
                self.leave_to_recovery(id, &roles);
                false
            }
        };
        count(&coordinator.counts.committed);
        // Step 6: the decision is not needed any longer.
        if whole {
            coordinator.settles(id)
        } else {
            count(&coordinator.counts.left)
        }
        self.clear(stray.map_or(Ok(Outcome::Committed), |unit| Err(strayed(&unit))))
    }

    /// A unit that was not prepared, as it has only read as far as Pando knows, and has not said that it has committed.
    fn stray(
        &self,
        roles: &[Role],
        told: Option<&[Option<Result<Completion>>]>,
    ) -> Option<UnitName> {
        let has_committed =
            |at: usize| told.is_some_and(|told| matches!(told.get(at), Some(Some(Ok(_)))));
        let mut parts = self.held.iter().zip(roles).enumerate();
        let found = parts.find(|(at, (_, role))| **role == Role::Follows && !has_committed(*at));
        found.map(|(_, (held, _))| Arc::clone(&held.unit))
    }

    /// Whether every part has committed; others are left to recovery.
    fn have_committed(&mut self, id: &GlobalId, results: Vec<Option<Result<Completion>>>) -> bool {
        let mut whole = true;
        for (held, result) in self.held.iter_mut().zip(results) {
            if let Some(Err(error)) = result {
                tracing::warn!(unit = %held.unit, %error, transaction = %id, "a part of a committed transaction is left to recovery");
                whole = false;
                held.discard();
            }
        }
        whole
    }

    /// Leaves the second phase to recovery: whether those that have answered have done it is not known either, and a connection must not go back to its pool with
    /// a prepared branch.
    fn leave_to_recovery(&mut self, id: &GlobalId, roles: &[Role]) {
        for (held, role) in self.held.iter_mut().zip(roles) {
            if matches!(role, Role::Prepares | Role::Follows) {
                tracing::warn!(unit = %held.unit, transaction = %id, "a part of a committed transaction is left to recovery: not all units have answered");
                held.discard();
            }
        }
    }

    /// Commits the deciding unit's part, and with it the decision.
    async fn decision(
        &mut self,
        id: &GlobalId,
        roles: &[Role],
        coordinator: &Arc<Coordinator>,
    ) -> Decided {
        let decides = |at: usize| roles.get(at) == Some(&Role::Decides);
        let texts = (0..self.held.len()).map(|at| match self.held.get(at) {
            Some(held) if decides(at) => held.commit(id),
            _ => Vec::new(),
        });
        let error = match self.tell_within(coordinator, FIRST_PHASE, texts.collect()).await {
            Some(results) => match first(self.have_answered(results)) {
                Some(error) => Some(error),
                None => return Decided::Commit,
            },
            None => None,
        };
        let decider = (0..).zip(&mut self.held).find(|(at, _)| decides(*at));
        let Some((_, held)) = decider else { return Decided::Unknown };
        if let Some(error) = error
            && held.has_said(&error)
        {
            return Decided::Abort(error);
        }
        // Lost: it may have committed all the same. Whoever asks decides, if it has not.
        let connector = held.connection.as_ref().and_then(|connection| connection.connector());
        held.discard();
        let Some(connector) = connector else { return Decided::Unknown };
        for attempt in 0..INQUIRIES {
            match decide(&connector, &coordinator.runtime, id).await {
                Ok(Verdict::Commit) => return Decided::Commit,
                Ok(Verdict::Abort) => {
                    return Decided::Abort(aborted("a storage unit was lost while it committed"));
                }
                Err(error) => tracing::debug!(%error, attempt, "a decision cannot be learned yet"),
            }
            coordinator.runtime.sleep(PAUSE).await;
        }
        Decided::Unknown
    }

    /// Rolls back every branch of which it is known how it stands.
    async fn abandon(&mut self, id: &GlobalId, stages: &[Stage], coordinator: &Coordinator) {
        let texts =
            self.held.iter().zip(stages).map(|(held, stage)| match (stage, held.branch(id)) {
                (Stage::Prepared, Some((family, branch))) => {
                    vec![family.rollback_prepared(&branch)]
                }
                (Stage::Open, _) => held.rollback(id),
                (Stage::Prepared | Stage::Over | Stage::Unknown, _) => Vec::new(),
            });
        let told = self.tell_within(coordinator, SECOND_PHASE, texts.collect()).await;
        let results =
            told.unwrap_or_else(|| self.held.iter().map(|_| Some(Err(silent()))).collect());
        for ((held, stage), result) in self.held.iter_mut().zip(stages).zip(results) {
            let failed = matches!(result, Some(Err(_)));
            if *stage == Stage::Unknown || *stage == Stage::Prepared && failed || held.is_silent() {
                held.discard();
            }
        }
    }

    /// Rolls back after a first phase that not all have answered in time. Once the deciding part is gone nobody can decide any more, so whoever has prepared need
    /// not wait for recovery, which might not reach the deciding unit.
    async fn abandon_late(&mut self, id: &GlobalId, roles: &[Role], coordinator: &Coordinator) {
        let mut stages = Vec::new();
        for (held, role) in self.held.iter_mut().zip(roles) {
            if *role == Role::Decides || held.is_silent() {
                held.discard();
            }
            stages.push(match (role, held.connection.is_some()) {
                // If it has failed to prepare, there is no such branch, and its connection is closed for that answer.
                (Role::Prepares, true) => Stage::Prepared,
                (Role::Leaves, true) => Stage::Over,
                (Role::Follows, true) => Stage::Open,
                (_, _) => Stage::Unknown,
            });
        }
        self.abandon(id, &stages, coordinator).await;
    }

    /// Rolls back an XA transaction none of whose branches is prepared.
    pub(crate) async fn rollback_globally(&mut self) {
        let Some(id) = self.global.as_ref().and_then(|global| global.id.clone()) else { return };
        let Some(coordinator) = self.coordinator.clone() else { return };
        let texts = self.texts(|held| held.rollback(&id));
        if self.tell_within(&coordinator, FIRST_PHASE, texts).await.is_none() {
            self.drop_silent();
        }
    }

    /// Rolls back what is left, because of this error.
    async fn give_up(&mut self, error: Error) -> Ended {
        self.rollback_globally().await;
        self.clear(Err(error))
    }

    /// Closes the connections that do not answer, which rolls their parts back. Returns the error that says so.
    fn drop_silent(&mut self) -> Error {
        self.held.iter_mut().filter(|held| held.is_silent()).for_each(Held::discard);
        silent()
    }

    fn texts(&self, of: impl Fn(&Held) -> Vec<String>) -> Vec<Vec<String>> {
        self.held.iter().map(of).collect()
    }

    /// Tells what commits, as long as it takes.
    async fn commits(&mut self, texts: Vec<Vec<String>>) -> Vec<Option<Result<Completion>>> {
        let told = tell(&mut self.held, texts).await;
        self.have_answered(told)
    }

    /// The error of what only heeds the barrier, and names no other table than that.
    fn without_ledger(&self, error: Error) -> Error {
        let writer = self.held.iter().find(|held| held.wrote);
        match writer.filter(|_| is_missing(&error)) {
            Some(held) => ledger_gone(&held.unit, error),
            None => error,
        }
    }

    /// Answers to what commits: one that says ROLLBACK is an error.
    fn have_answered(
        &self,
        told: Vec<Option<Result<Completion>>>,
    ) -> Vec<Option<Result<Completion>>> {
        let answers = self.held.iter().zip(told);
        answers.map(|(held, told)| told.map(|told| committed(&held.unit, told))).collect()
    }

    /// As [`Transaction::tell`]; `None` when not all have answered in time, and what the others have answered is not known then.
    async fn tell_within(
        &mut self,
        coordinator: &Coordinator,
        limit: Duration,
        texts: Vec<Vec<String>>,
    ) -> Option<Vec<Option<Result<Completion>>>> {
        within(&*coordinator.runtime, limit, tell(&mut self.held, texts)).await
    }
}

impl Held {
    /// Whether an answer of it is still to come.
    fn is_silent(&self) -> bool {
        self.connection.as_ref().is_some_and(|one| one.condition().outstanding > 0)
    }

    /// What waits until no snapshot of all units is being taken, and keeps the next from it.
    fn heed(&self, id: &GlobalId) -> Vec<String> {
        let heed = self.branch(id).map(|(family, _)| family.ledger().heed().to_owned());
        heed.into_iter().collect()
    }

    /// What commits it without a first phase.
    fn commit(&self, id: &GlobalId) -> Vec<String> {
        match self.branch(id) {
            Some((family, branch)) if !self.decides => family.commit(&branch),
            Some(_) | None => {
                self.dialect.transaction(&TransactionVerb::Commit).into_iter().collect()
            }
        }
    }

    fn rollback(&self, id: &GlobalId) -> Vec<String> {
        match self.branch(id) {
            Some((family, branch)) if !self.decides => family.rollback(&branch),
            Some(_) | None => {
                self.dialect.transaction(&TransactionVerb::Rollback).into_iter().collect()
            }
        }
    }

    fn first_phase(&self, id: &GlobalId, role: Role) -> Vec<String> {
        match (role, self.branch(id)) {
            (Role::Decides, Some(_)) if lacks(Need::Decision) => Vec::new(),
            (Role::Decides, Some((family, _))) => vec![family.ledger().record(id.as_str())],
            (Role::Prepares, Some((family, branch))) => family.prepare(&branch),
            (Role::Leaves, _) => self.commit(id),
            (Role::Follows, _) | (_, None) => Vec::new(),
        }
    }

    fn second_phase(&self, id: &GlobalId, role: Role) -> Vec<String> {
        match (role, self.branch(id)) {
            (Role::Prepares, Some((family, branch))) if lacks(Need::Halves) => {
                vec![family.rollback_prepared(&branch)]
            }
            (Role::Prepares, Some((family, branch))) => vec![family.commit_prepared(&branch)],
            (Role::Follows, _) => self.commit(id),
            (Role::Decides | Role::Leaves | Role::Prepares, _) => Vec::new(),
        }
    }

    /// Whether an error is the unit's answer. What a server says when it ends a connection is none: it may have done what it was told.
    fn has_said(&self, error: &Error) -> bool {
        let goes_on = self.connection.as_ref().is_some_and(|one| one.condition().usable);
        goes_on && matches!(error.kind(), ErrorKind::Server(_))
    }

    /// Where a branch stands after the first phase, and what is wrong with it.
    fn reached(&self, role: Role, result: Option<Result<Completion>>) -> (Stage, Option<Error>) {
        let family = self.dialect.two_phase();
        match (role, result) {
            (Role::Decides, Some(Err(error))) if is_missing(&error) => {
                (Stage::Open, Some(ledger_gone(&self.unit, error)))
            }
            (_, Some(Err(error))) => {
                (if self.has_said(&error) { Stage::Open } else { Stage::Unknown }, Some(error))
            }
            (Role::Prepares | Role::Leaves, Some(Ok(done)))
                if family.is_some_and(|family| family.refused(&done.tag)) =>
            {
                (
                    Stage::Over,
                    Some(aborted(&format!("its part on storage unit `{}` has failed", self.unit))),
                )
            }
            (Role::Prepares, Some(Ok(_))) => (Stage::Prepared, None),
            (Role::Leaves, Some(Ok(_))) => (Stage::Over, None),
            (Role::Decides | Role::Follows, _) | (_, None) => (Stage::Open, None),
        }
    }
}

fn role(held: &Held) -> Role {
    let asks = held.dialect.two_phase().is_some_and(|family| family.wrote_query().is_some());
    match held.wrote {
        _ if held.decides => Role::Decides,
        true => Role::Prepares,
        false if asks => Role::Leaves,
        false => Role::Follows,
    }
}

fn over(roles: &[Role], which: Role, stages: &mut [Stage]) {
    for (role, stage) in roles.iter().zip(stages) {
        if *role == which {
            *stage = Stage::Over;
        }
    }
}

/// What came of asking the deciding unit to commit.
enum Decided {
    Commit,
    Abort(Error),
    Unknown,
}

fn first(results: Vec<Option<Result<Completion>>>) -> Option<Error> {
    results.into_iter().flatten().find_map(Result::err)
}

/// What became of a COMMIT that a unit has not answered: its error, where it said one.
pub(crate) fn unsure(error: Error) -> Error {
    if matches!(error.kind(), ErrorKind::Server(_)) {
        return error;
    }
    let told = format!(
        "whether the transaction is committed is not known: its storage unit was lost before it answered ({error})"
    );
    server_error(1180, "08007", told)
}

/// SQLSTATE 08007: the transaction is committed where it changed anything that Pando knows of, and a view or a
/// procedure may have changed something behind its back.
fn strayed(unit: &str) -> Error {
    let told = format!(
        "the transaction is committed on every storage unit that it has changed; storage unit `{unit}`, of which it has only read as far as is known, was lost before it answered: whether something that a query there has changed by itself is committed is not known"
    );
    server_error(1180, "08007", told)
}

fn silent() -> Error {
    aborted("a storage unit has not answered in time")
}

/// SQLSTATE 08007, transaction resolution unknown.
fn unknown(id: &GlobalId) -> Error {
    server_error(
        1180,
        "08007",
        format!(
            "whether the transaction is committed is not known yet: the storage unit that decides was lost at that moment; all of its parts will end alike as soon as it answers (SHOW IN DOUBT TRANSACTIONS; {id})"
        ),
    )
}
