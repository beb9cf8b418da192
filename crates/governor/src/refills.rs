//! Tables whose rows are stored otherwise while clients go on: which instance does it, and how far it is.
//!
//! What is to be done stands in the configuration, so that it goes on after any end of an instance: at another one, or
//! at the same one once it has begun again. Two may do it at once for a moment: each row is looked at under its lock.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use pando_config::Database;
use pando_config::rules::{EncryptReads, EncryptStage, EncryptTable};
use pando_distsql::command::{EncryptStep, Rdl};
use pando_kernel::Administration as _;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::within;
use pando_model::EncryptAdvance;
use pando_repository::{Change, Expected, Prefix, Revision};

use crate::error::{refusal, repository as failed};
use crate::governor::Governor;
use crate::house::{Orders, Progress, Refilling, RowsLook};
use crate::keys;
use crate::positions::{Claimed, Kept};

/// Time between two attempts of work that has failed.
const AGAIN: Duration = Duration::from_secs(10);
/// Time between two looks whether all instances follow.
const LOOK: Duration = Duration::from_millis(200);
/// Time between two entries of how far rows are: everybody reads them.
const KEPT_EVERY: Duration = Duration::from_secs(5);
/// Statements that were planned before a change are over by then where units let them wait no longer for connections.
const LEAST_SETTLED: Duration = Duration::from_secs(1);

/// A table of a database.
type Table = (String, String);

/// What this instance does.
#[derive(Debug, Default)]
pub(crate) struct Refills(BTreeMap<Table, Arc<Work>>);

/// One table's work.
#[derive(Debug, Default)]
struct Work {
    progress: Progress,
    told: std::sync::Mutex<Told>,
}

/// What is told of it.
#[derive(Debug, Default, Clone)]
struct Told {
    pass: &'static str,
    message: String,
    is_over: bool,
}

impl Governor {
    /// Begins what is to be done and nobody does, and ends what is not to be done any more.
    pub(crate) fn tend_refills(&self) {
        if self.repository().is_none() {
            return;
        }
        let open = self.open_tables();
        self.end_others(&open);
        for (database, table) in open {
            let rate = self.rule_of(&database, &table).and_then(|own| own.rows_per_second);
            let work = {
                let mut own = self.shared.refills.lock().unwrap_or_else(PoisonError::into_inner);
                let key = (database.clone(), table.clone());
                if let Some(work) = own.0.get(&key).filter(|work| !work.told().is_over) {
                    work.progress.rate.store(rate.unwrap_or_default(), Ordering::Relaxed);
                    continue;
                }
                let work = Arc::new(Work::default());
                work.progress.rate.store(rate.unwrap_or_default(), Ordering::Relaxed);
                own.0.insert(key, Arc::clone(&work));
                work
            };
            let weak = Arc::downgrade(&self.shared);
            self.shared.runtime.spawn(Box::pin(async move {
                let Some(shared) = weak.upgrade() else { return };
                let governor = Self { shared };
                let outcome = governor.refill(&database, &table, &work).await;
                let again = outcome.is_err();
                if let Err(error) = outcome {
                    tracing::warn!(%database, %table, %error, "rows are not stored otherwise yet");
                    work.tell("", &error.to_string());
                }
                let runtime = Arc::clone(&governor.shared.runtime);
                drop(governor);
                if again {
                    runtime.sleep(AGAIN).await;
                }
                work.ends();
            }));
        }
    }

    /// Tells work at tables that are not among these to end, and forgets what has ended of tables without a rule.
    fn end_others(&self, open: &[Table]) {
        let mut own = self.shared.refills.lock().unwrap_or_else(PoisonError::into_inner);
        for (table, work) in &own.0 {
            if !open.contains(table) {
                work.progress.stops.store(true, Ordering::Relaxed);
            }
        }
        own.0.retain(|(database, table), work| {
            !work.told().is_over || self.stage(database, table).is_some()
        });
    }

    /// The tables of all databases at whose rows there is something to do.
    fn open_tables(&self) -> Vec<Table> {
        let now = self.now();
        let of = |database: &Arc<Database>| {
            let tables = database.rules.encrypt.as_ref().map(|rule| &rule.tables);
            let open = tables.into_iter().flat_map(|tables| tables.iter());
            let open = open.filter(|(_, table)| is_open(table.stage));
            let name = database.name.value.clone();
            open.map(move |(table, _)| (name.clone(), table.value.clone())).collect::<Vec<_>>()
        };
        now.databases().flat_map(of).collect()
    }

    fn stage(&self, database: &str, table: &str) -> Option<(Arc<Database>, EncryptStage)> {
        let stage = self.rule_of(database, table)?.stage;
        let database = self.now().database(database).map(Arc::clone)?;
        Some((database, stage))
    }

    fn rule_of(&self, database: &str, table: &str) -> Option<EncryptTable> {
        let database = self.now().database(database).map(Arc::clone)?;
        let rule = database.rules.encrypt.as_ref()?;
        let own = rule.tables.iter().find(|(name, _)| name.value == table);
        own.map(|(_, own)| own.clone())
    }

    /// Goes from stage to stage until the rows are in step, where no other instance does.
    async fn refill(&self, database: &str, table: &str, work: &Work) -> Result<()> {
        let Some(claim) = self.claims(database, table).await? else {
            work.tell("", "another instance does it");
            return Ok(());
        };
        let outcome = self.refill_claimed(Claimed { database, table, claim }, work).await;
        self.gives_up(database, table).await;
        outcome
    }

    async fn refill_claimed(&self, of: Claimed<'_>, work: &Work) -> Result<()> {
        let Claimed { database, table, .. } = of;
        loop {
            let Some((served, stage)) = self.stage(database, table) else { return Ok(()) };
            let house = &self.shared.house;
            let to = match stage {
                EncryptStage::Waiting | EncryptStage::InStep => {
                    work.tell("", "");
                    return Ok(());
                }
                EncryptStage::Columns => {
                    self.settled_everywhere(work).await?;
                    work.tell("columns", "");
                    house.refill(&served, table, Refilling::Columns, &work.progress).await?;
                    if let Some(told) = self.defined(database) {
                        told.await;
                    }
                    // Of rows that were looked at before: they may have been changed since in the one column alone.
                    self.forget_kept(of).await?;
                    EncryptStage::Rows
                }
                EncryptStage::Rows => {
                    self.settled_everywhere(work).await?;
                    self.bring_in_step(&served, of, work).await?;
                    EncryptStage::InStep
                }
            };
            let advance = EncryptAdvance { from: stage, to };
            self.change(&|model| {
                self.around("", |around| {
                    model.reach_encrypt_stage(database, table, advance, around)
                })
            })
            .await?;
        }
    }

    /// Waits until every running instance serves what this one does.
    async fn settled_everywhere(&self, work: &Work) -> Result<()> {
        loop {
            let (cluster, checksum) = {
                let now = self.now();
                (Arc::clone(&now.stored.cluster), now.checksum.clone())
            };
            let behind = cluster.behind(&self.shared.id, &checksum);
            if behind.is_empty() || !self.has_others() {
                return Ok(());
            }
            work.tell("waits for instances", &format!("{behind:?} do not follow"));
            work.go_on()?;
            self.shared.runtime.sleep(LOOK).await;
        }
    }

    /// Waits until no statement is left that was planned by an older rule and waits for its connection.
    async fn outlives_plans(&self, served: &Database, begun: Instant, work: &Work) -> Result<()> {
        work.tell("waits for older statements", "");
        let waits = served.storage_units.iter().map(|unit| unit.pool.connection_timeout);
        let longest = waits.max().unwrap_or_default().max(LEAST_SETTLED);
        while self.shared.runtime.now().saturating_duration_since(begun) < longest {
            work.go_on()?;
            self.shared.runtime.sleep(LOOK).await;
        }
        Ok(())
    }

    /// Looks at all rows twice, from where somebody was who did so before.
    async fn bring_in_step(&self, served: &Database, of: Claimed<'_>, work: &Work) -> Result<()> {
        work.begins_at(self.kept(of).await?);
        loop {
            let begun = self.shared.runtime.now();
            self.look_at_rows(served, of, work).await?;
            let look = work.kept().positions.look;
            match look {
                RowsLook::First => self.outlives_plans(served, begun, work).await?,
                RowsLook::Second => break,
            }
            work.begins_second_look();
            self.keep(of, &work.kept()).await?;
        }
        // First this: with the next stage all rows are to be looked at anew whenever it is said.
        self.forget_kept(of).await
    }

    /// Brings rows in step, those that older transactions are still writing as well.
    async fn look_at_rows(&self, served: &Database, of: Claimed<'_>, work: &Work) -> Result<()> {
        let (house, progress) = (&self.shared.house, &work.progress);
        work.tell("waits for transactions", "");
        house.refill(served, of.table, Refilling::Fence, progress).await?;
        work.tell("rows", "");
        let mut rows = house.refill(served, of.table, Refilling::Rows, progress);
        let outcome = loop {
            match within(&*self.shared.runtime, KEPT_EVERY, rows.as_mut()).await {
                Some(outcome) => break outcome,
                None => self.keep_or_tell(of, work).await?,
            }
        };
        drop(rows);
        if outcome.is_err() {
            self.keep_or_tell(of, work).await?;
        }
        outcome
    }

    /// Keeps how far the rows are; a repository that is away ends no work.
    ///
    /// # Errors
    /// `Cancelled` where another instance does the work by now.
    async fn keep_or_tell(&self, of: Claimed<'_>, work: &Work) -> Result<()> {
        let Err(error) = self.keep(of, &work.kept()).await else { return Ok(()) };
        if self.is_taken(of).await {
            return Err(ErrorKind::Cancelled.into());
        }
        tracing::warn!(%error, "how far rows are could not be kept");
        Ok(())
    }

    /// Whether another instance has the work for certain.
    async fn is_taken(&self, of: Claimed<'_>) -> bool {
        let Some(repository) = self.repository() else { return false };
        let key = keys::key(keys::REFILLS, &[of.database, of.table]);
        let Ok(below) = key.and_then(|key| Prefix::parse(key.as_str())) else { return false };
        let view = repository.read(&below).await;
        view.is_ok_and(|view| !view.entries.values().any(|entry| entry.revision == of.claim))
    }

    /// The entry by which this instance has the work; `None` where another one has it.
    async fn claims(&self, database: &str, table: &str) -> Result<Option<Revision>> {
        let Some(repository) = self.repository() else { return Ok(None) };
        let key = keys::key(keys::REFILLS, &[database, table]).map_err(|error| failed(&error))?;
        let own = self.shared.id.as_bytes().to_vec();
        let change =
            Change::new().expect(&key, Expected::Absent).put_for_session(&key, own.clone());
        match repository.commit(change).await {
            Ok(revision) => Ok(Some(revision)),
            Err(pando_repository::Error::Conflict(_)) => {
                let below = Prefix::parse(key.as_str()).map_err(|error| failed(&error))?;
                let view = repository.read(&below).await.map_err(|error| failed(&error))?;
                let mut entries = view.entries.values();
                Ok(entries.find(|entry| entry.value == own).map(|entry| entry.revision))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    async fn gives_up(&self, database: &str, table: &str) {
        let Some(repository) = self.repository() else { return };
        let Ok(key) = keys::key(keys::REFILLS, &[database, table]) else { return };
        if let Err(error) = repository.commit(Change::new().delete(&key)).await {
            tracing::warn!(%error, "others cannot be told that rows are not written here any more");
        }
    }

    /// Takes a step of a table: looks whether it can be taken, changes the configuration, and does what follows from it.
    ///
    /// # Errors
    /// As [`Governor::change`], and as the storage units say. Behind COMMIT and ROLLBACK the same statement goes on then.
    ///
    /// # Cancel safety
    /// Dropping it leaves the step taken or not; columns that are about to go may be left, and the same statement goes on.
    pub(crate) async fn take_encrypt_step(
        &self,
        of: StepOf<'_>,
        step: EncryptStep,
        statement: &Rdl,
    ) -> Result<()> {
        let StepOf { family, database, table } = of;
        self.refuse_unchangeable()?;
        let model = self.model();
        let outcome = self.around(family, |around| model.apply(database, statement, around));
        outcome.map_err(|why| refusal(&why))?;
        let lost = || Error::internal(format!("`{table}` has a rule that is not served"));
        let (served, table) = self.encrypted(database, table).ok_or_else(lost)?;
        let order = self.precede_step(&served, &table, step).await?;
        self.changes(&|model| {
            self.around(family, |around| {
                let mut changes = vec![model.apply(database, statement, around)?];
                if let (Some(order), Some(first)) = (&order, changes.first()) {
                    let model = &first.model;
                    changes.push(model.keep_encrypt_order(database, &table, order, around)?);
                }
                Ok(changes)
            })
        })
        .await?;
        match step {
            EncryptStep::Encrypt | EncryptStep::Decrypt | EncryptStep::Reencrypt => {
                self.tend_refills();
                Ok(())
            }
            EncryptStep::ReadCipher | EncryptStep::ReadPlain => Ok(()),
            EncryptStep::Commit | EncryptStep::Rollback | EncryptStep::RollbackInNewOrder => {
                self.drop_columns(database, &table).await
            }
        }
    }

    /// What comes before the change of the configuration: it is looked whether the step can be taken, and columns that are
    /// about to go no longer keep rows from being written. Gives the order of columns that is to be kept.
    async fn precede_step(
        &self,
        served: &Database,
        table: &str,
        step: EncryptStep,
    ) -> Result<Option<Vec<String>>> {
        let house = &self.shared.house;
        let part = match step {
            EncryptStep::Encrypt | EncryptStep::Decrypt | EncryptStep::Reencrypt => {
                Refilling::Check
            }
            EncryptStep::ReadCipher | EncryptStep::ReadPlain => return Ok(None),
            EncryptStep::Commit | EncryptStep::Rollback | EncryptStep::RollbackInNewOrder => {
                if step == EncryptStep::Rollback {
                    self.refuse_new_order(served, table).await?;
                }
                self.stop(&served.name.value, table).await;
                Refilling::Nulls
            }
        };
        house.refill(served, table, part, &Progress::default()).await?;
        match matches!(step, EncryptStep::Encrypt | EncryptStep::Decrypt) {
            true => house.orders(served, table).await.map(|orders| Some(orders.told)),
            false => Ok(None),
        }
    }

    /// Who lists no columns would write values into others.
    async fn refuse_new_order(&self, served: &Database, table: &str) -> Result<()> {
        let Orders { told, standing } = self.shared.house.orders(served, table).await?;
        match told == standing {
            true => Ok(()),
            false => Err(Error::forbidden(
                10200,
                format!(
                    "the columns of `{table}` would stand in another order: {}",
                    standing.join(", ")
                ),
                "where no statement goes by the order, add IN NEW ORDER",
            )),
        }
    }

    /// The served database and a table of its encrypt rule, as that calls it.
    fn encrypted(&self, database: &str, table: &str) -> Option<(Arc<Database>, String)> {
        let served = self.now().database(database).map(Arc::clone)?;
        let rule = served.rules.encrypt.as_ref()?;
        let own = rule.tables.iter().find(|(name, _)| name.eq_ignore_ascii_case(table));
        let name = own.map(|(name, _)| name.value.clone())?;
        Some((served, name))
    }

    async fn drop_columns(&self, database: &str, table: &str) -> Result<()> {
        let Some((served, table)) = self.encrypted(database, table) else { return Ok(()) };
        let work = Work::default();
        self.settled_everywhere(&work).await?;
        // What was planned before names the columns.
        self.outlives_plans(&served, self.shared.runtime.now(), &work).await?;
        self.shared.house.refill(&served, &table, Refilling::Drop, &work.progress).await?;
        if let Some(told) = self.defined(&served.name) {
            told.await;
        }
        self.change(&|model| {
            self.around("", |around| model.end_encrypt_table(&served.name, &table, around))
        })
        .await
    }

    /// Ends the work of this instance at a table.
    async fn stop(&self, database: &str, table: &str) {
        let work = {
            let own = self.shared.refills.lock().unwrap_or_else(PoisonError::into_inner);
            own.0.get(&(database.to_owned(), table.to_owned())).map(Arc::clone)
        };
        let Some(work) = work else { return };
        work.progress.stops.store(true, Ordering::Relaxed);
        while !work.told().is_over && !work.told().pass.is_empty() {
            self.shared.runtime.sleep(LOOK).await;
        }
    }

    /// The cells of SHOW STATUS FROM ENCRYPT TABLES.
    pub(crate) fn refill_states(&self, database: &Database) -> Vec<Vec<Option<String>>> {
        let own = self.shared.refills.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = database.rules.encrypt.as_ref();
        let tables = rule.into_iter().flat_map(|rule| rule.tables.iter());
        let row = |(name, table): (&pando_config::Placed<String>, &EncryptTable)| {
            let has_plain = table.columns.iter().any(|(_, column)| column.plain.is_some());
            let work = own.0.get(&(database.name.value.clone(), name.value.clone()));
            if !has_plain && table.stage == EncryptStage::InStep && work.is_none() {
                return None;
            }
            let reads = match table.reads {
                EncryptReads::Cipher => "CIPHER",
                EncryptReads::Plain => "PLAIN",
            };
            let mut cells = vec![Some(name.value.clone()), Some(reads.into())];
            cells.push(Some(table.stage.word().into()));
            cells.extend(work.map_or_else(|| vec![None; 7], |work| work.cells(&self.shared.id)));
            let rate = table.rows_per_second.map(|rate| rate.to_string());
            cells.insert(cells.len() - 1, rate);
            Some(cells)
        };
        tables.filter_map(row).collect()
    }
}

impl Work {
    fn told(&self) -> Told {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell(&self, pass: &'static str, message: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        (told.pass, told.message) = (pass, message.to_owned());
    }

    /// Goes on from what is kept.
    fn begins_at(&self, kept: Kept) {
        let Kept { positions, seen, written } = kept;
        *self.progress.positions.lock().unwrap_or_else(PoisonError::into_inner) = positions;
        self.progress.seen.store(seen, Ordering::Relaxed);
        self.progress.written.store(written, Ordering::Relaxed);
    }

    fn begins_second_look(&self) {
        let mut kept = self.progress.positions.lock().unwrap_or_else(PoisonError::into_inner);
        kept.look = RowsLook::Second;
        kept.nodes.clear();
    }

    /// How far the rows are.
    fn kept(&self) -> Kept {
        let Progress { positions, seen, written, .. } = &self.progress;
        Kept {
            positions: positions.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            seen: seen.load(Ordering::Relaxed),
            written: written.load(Ordering::Relaxed),
        }
    }

    fn ends(&self) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
    }

    /// # Errors
    /// `Cancelled` when it is told to stop.
    fn go_on(&self) -> Result<()> {
        match self.progress.stops.load(Ordering::Relaxed) {
            true => Err(ErrorKind::Cancelled.into()),
            false => Ok(()),
        }
    }

    fn cells(&self, instance: &str) -> Vec<Option<String>> {
        let Progress { nodes, done, seen, written, .. } = &self.progress;
        let Told { pass, message, .. } = self.told();
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let counts = [nodes, done, seen, written];
        let counts = counts.map(|count| Some(count.load(Ordering::Relaxed).to_string()));
        let mut cells = vec![Some(instance.to_owned()), some(pass)];
        cells.extend(counts);
        cells.push(some(&message));
        cells
    }
}

/// Whose table a step is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepOf<'a> {
    /// Of the client's door.
    pub(crate) family: &'static str,
    pub(crate) database: &'a str,
    pub(crate) table: &'a str,
}

/// Whether there is something to do.
fn is_open(stage: EncryptStage) -> bool {
    match stage {
        EncryptStage::Columns | EncryptStage::Rows => true,
        EncryptStage::Waiting | EncryptStage::InStep => false,
    }
}
