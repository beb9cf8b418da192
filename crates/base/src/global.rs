//! A global transaction over the units it has touched: the decision, and what follows from it.
//!
//! The decision to commit is a row in the ledger of one of its units (the deciding one, which is the first that was touched), written in the same local
//! transaction that drops this unit's images and locks. Whoever finds images of a transaction whose time is over decides there to abort, unless it is
//! decided: so either all units keep its changes, or all take them back, whichever instance lives to see to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pando_kernel::Execution;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{BoxFuture, SharedRuntime, all, within};
use pando_kernel::two_phase::{Verdict, verdict};
use pando_pool::{Connection, Pool};
use pando_transaction::xa::{Coordinator, GlobalId, decide};
use pando_transaction::{finish, is_missing, ledger_gone};

use crate::recover::Open;
use crate::rollback::Undone;
use crate::unit::{Branch, Unit};

/// How long a transaction may take before anybody may take it back; as Seata has it.
pub const LIMIT: Duration = Duration::from_secs(60);
/// How long after its begin it may commit: that it was taken back is known for an hour.
const LATEST: Duration = Duration::from_secs(1800);
/// Inquiries about a decision whose connection was lost, and the time between two of them.
const INQUIRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(100);
/// Time for one unit when what others have left is looked for.
const LOOK: Duration = Duration::from_secs(10);
/// Time for each row of its undo log when a transaction is taken back, and for all of them.
const EACH: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(600);
/// Transactions ended at once on a unit, when somebody has left them.
const AT_ONCE: usize = 4;

/// A global transaction.
#[derive(Debug)]
pub struct Global {
    id: GlobalId,
    decider: UnitName,
    /// In the order in which they were touched.
    units: Vec<UnitName>,
    /// What is to be found in their undo logs: the number of each statement that has answered.
    logged: Vec<(UnitName, u64)>,
    statement: u64,
    began: Instant,
}

/// The storage units' pools, and what ends transactions on this instance.
#[derive(Debug, Clone)]
pub struct Field {
    /// Of every unit of the database that leads its group, or is in none: no other may decide.
    pub pools: Vec<Pool>,
    /// The instance's.
    pub coordinator: Arc<Coordinator>,
    /// Where it waits.
    pub runtime: SharedRuntime,
    /// Sessions wait for the rows of the transaction that is ended: nobody who has a connection comes before.
    pub is_awaited: bool,
}

impl Field {
    fn pool(&self, unit: &str) -> Result<&Pool> {
        let found = self.pools.iter().find(|pool| &**pool.unit() == unit);
        found.ok_or_else(|| Error::internal(format!("no storage unit is named `{unit}`")))
    }

    /// A connection on which nothing of any session is left.
    async fn bare(&self, unit: &str) -> Result<Connection> {
        let pool = self.pool(unit)?;
        let mut connection = match self.is_awaited {
            true => pool.take_last().await?,
            false => pool.take().await?,
        };
        if !connection.is_bare() {
            connection.start(Execution::Reset)?;
            finish(&mut connection).await?;
            connection.is_reset();
        }
        Ok(connection)
    }

    async fn rollback(&self, unit: &str, global: &str, from: u64) -> Result<(Undone, Option<u64>)> {
        let mut connection = self.bare(unit).await?;
        let dialect = self.pool(unit)?.connector().dialect();
        Unit::of(&mut connection, dialect.as_ref())?.rollback_counted(global, from).await
    }

    /// Whether somebody else has decided to take a transaction back: what he has restored has no images any more.
    async fn is_taken_back(&self, decider: &str, id: &GlobalId) -> bool {
        let asked = async {
            let mut connection = self.bare(decider).await?;
            let dialect = self.pool(decider)?.connector().dialect();
            let family = dialect.two_phase();
            let family = family.ok_or_else(|| Error::internal("a unit without a ledger"))?;
            let query = family.ledger().verdict_query(id.as_str());
            pando_transaction::rows(&mut *connection, &query).await
        };
        let told: Result<_> = asked.await;
        told.is_ok_and(|rows| verdict(&rows) == Some(Verdict::Abort))
    }

    /// Ends, on every unit that answers, the transactions whose time is over. Returns how many parts were ended.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn recover(&self) -> u64 {
        let told = self.told().await;
        let ending = told.iter().map(|heard| {
            let decided = |one| {
                let decider = decider(&told, one);
                if decider.is_none() && one.is_overdue && one.dirty.is_none() {
                    tracing::debug!(unit = %heard.unit, transaction = one.global, "an abandoned transaction waits for the storage unit that decides on it, which does not answer");
                }
                Some((one, decider?))
            };
            let open = heard.open.iter().filter_map(decided);
            let (unit, open) = (&heard.unit, open.collect());
            Box::pin(async move { Ok(self.recover_unit(unit, open).await) }) as BoxFuture<'_, _>
        });
        let ended: Result<Vec<u64>> = all(ending.collect()).await;
        ended.into_iter().flatten().sum()
    }

    /// What waits for a person, or for its time to be over, on the units that answer: by unit.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn left(&self) -> Vec<(UnitName, Open)> {
        let told = self.told().await.into_iter();
        told.flat_map(|Heard { unit, open, .. }| {
            open.into_iter().filter(Open::waits).map(move |one| (Arc::clone(&unit), one))
        })
        .collect()
    }

    /// The global transactions that have images anywhere now, whoever runs them.
    ///
    /// # Errors
    /// A storage unit's own, where one does not tell.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn opened(&self) -> Result<Vec<String>> {
        let mut opened = Vec::new();
        for pool in &self.pools {
            let heard = self.open(pool.unit()).await?;
            opened.extend(heard.into_iter().flat_map(|heard| heard.open).map(|open| open.global));
        }
        Ok(opened)
    }

    /// What the undo logs hold, of the units that answer in time and take writes. They are asked side by side.
    async fn told(&self) -> Vec<Heard> {
        let asking = self.pools.iter().map(|pool| {
            let unit = Arc::clone(pool.unit());
            Box::pin(async move {
                let told = match within(&*self.runtime, LOOK, self.open(&unit)).await {
                    Some(Ok(heard)) => heard,
                    Some(Err(error)) => {
                        tracing::debug!(%unit, %error, "a storage unit's undo log cannot be read now");
                        None
                    }
                    None => {
                        tracing::debug!(%unit, "a storage unit does not tell its undo log");
                        None
                    }
                };
                Ok(told)
            }) as BoxFuture<'_, _>
        });
        let told: Result<Vec<Option<_>>> = all(asking.collect()).await;
        told.into_iter().flatten().flatten().collect()
    }

    async fn open(&self, unit: &UnitName) -> Result<Option<Heard>> {
        let mut connection = self.bare(unit).await?;
        let dialect = self.pool(unit)?.connector().dialect();
        if dialect.undo().is_none() {
            return Ok(None);
        }
        let mut own = Unit::of(&mut connection, dialect.as_ref())?;
        if !own.takes_writes().await? {
            return Ok(None);
        }
        let identity = own.identity().await?;
        let open = if own.is_prepared().await? { own.open().await? } else { Vec::new() };
        Ok(Some(Heard { unit: Arc::clone(unit), identity, open }))
    }

    /// A person has looked at a transaction that could not be taken back: its rows are taken back now, or stay as they are. Returns how many parts it had.
    ///
    /// # Errors
    /// What keeps it from being taken back once more (40002); `TransactionState` when it was decided to commit, or nobody has tried yet to take it back.
    /// Where the unit that decides is gone for good, what the person says is done: where `everybody`, the identities of all units that could decide, lacks it.
    /// That is `None` while one of them does not tell its own.
    pub async fn resolve(
        &self,
        global: &str,
        verdict: Verdict,
        everybody: Option<&[String]>,
    ) -> Result<u64> {
        let mut parts = 0;
        let told = self.told().await;
        let is_it = |one: &&Open| one.global == global && one.waits();
        let of = |heard| {
            let Heard { unit, open, .. }: &Heard = heard;
            open.iter().find(is_it).map(|open| (unit, open))
        };
        for (unit, open) in told.iter().filter_map(of) {
            parts += 1;
            let mut connection = self.bare(unit).await?;
            let dialect = self.pool(unit)?.connector().dialect();
            let mut own = Unit::of(&mut connection, dialect.as_ref())?;
            let nobody_decides = is_orphaned(open, everybody);
            if nobody_decides {
                tracing::warn!(%unit, transaction = global, "resolved by hand, without the deciding unit");
            }
            match (verdict, GlobalId::read(global)) {
                (Verdict::Commit, _) if open.dirty.is_some() || nobody_decides => {
                    own.accept(global).await?;
                }
                (Verdict::Abort, Some(id)) => {
                    if !nobody_decides {
                        let decider = decider(&told, open).ok_or_else(|| {
                            wrong("the storage unit that decides on it does not answer here")
                        })?;
                        let decider = self.pool(decider)?.connector();
                        if decide(decider, &self.runtime, &id).await? == Verdict::Commit {
                            return Err(wrong("it is decided to commit it"));
                        }
                    }
                    if let Undone::Dirty(rows) = own.rollback(global, 0).await? {
                        return Err(dirty(unit, &rows));
                    }
                }
                (Verdict::Commit | Verdict::Abort, _) => {
                    return Err(wrong("nobody has tried yet to take it back"));
                }
            }
        }
        Ok(parts)
    }

    /// The identities of its units, `None` while one does not tell its own.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn identities(&self) -> Option<Vec<String>> {
        let told = self.told().await;
        let all = told.len() == self.pools.len();
        all.then(|| told.into_iter().filter_map(|heard| heard.identity).collect())
    }

    /// Ends the parts of abandoned transactions on one unit, several at once. One that fails is left for the next round; one that takes long keeps those
    /// that come after it waiting, within its limit.
    async fn recover_unit(&self, unit: &UnitName, mut open: Vec<(&Open, &str)>) -> u64 {
        open.retain(|(one, _)| one.is_overdue && one.dirty.is_none());
        let mut ended = 0;
        for some in open.chunks(AT_ONCE) {
            let parts = some.iter().map(|(open, decider)| {
                Box::pin(async move { Ok(self.try_part(unit, open, decider).await) })
                    as BoxFuture<'_, _>
            });
            let parts: Vec<bool> = all(parts.collect()).await.unwrap_or_default();
            ended += parts.into_iter().map(u64::from).sum::<u64>();
        }
        ended
    }

    async fn try_part(&self, unit: &UnitName, open: &Open, decider: &str) -> bool {
        let Some(id) = GlobalId::read(&open.global) else { return false };
        // One with many images is restored in one piece, or begins anew.
        let images = open.images.try_into().unwrap_or(u32::MAX);
        let limit = LONGEST.min(LOOK.saturating_add(EACH.saturating_mul(images)));
        match within(&*self.runtime, limit, self.recover_part(unit, decider, &id)).await {
            Some(Ok(is_ended)) => {
                if is_ended {
                    tracing::info!(%unit, transaction = %id, "a part of an abandoned transaction is ended");
                }
                return is_ended;
            }
            Some(Err(error)) => {
                tracing::warn!(%unit, transaction = %id, %error, "an abandoned transaction cannot be ended yet");
            }
            None => {
                tracing::warn!(%unit, transaction = %id, "an abandoned transaction is not ended in time");
            }
        }
        false
    }

    /// False when its rows are no longer as it left them.
    async fn recover_part(&self, unit: &UnitName, decider: &str, id: &GlobalId) -> Result<bool> {
        let decider = self.pool(decider)?.connector();
        let verdict = decide(decider, &self.runtime, id).await?;
        let mut connection = self.bare(unit).await?;
        let dialect = self.pool(unit)?.connector().dialect();
        let mut own = Unit::of(&mut connection, dialect.as_ref())?;
        match verdict {
            Verdict::Commit => own.conclude(id.as_str(), &[]).await?,
            Verdict::Abort => {
                if let Undone::Dirty(rows) = own.rollback(id.as_str(), 0).await? {
                    tracing::error!(%unit, transaction = %id, ?rows, "an abandoned transaction cannot be taken back");
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// What a unit's undo log holds.
struct Heard {
    unit: UnitName,
    /// Who it is, where it has a ledger.
    identity: Option<String>,
    open: Vec<Open>,
}

/// The unit that decides on a transaction, among those that answer: whoever has the identity now, as a unit's name may have gone over to another server.
fn decider<'a>(told: &'a [Heard], open: &Open) -> Option<&'a str> {
    let id = GlobalId::read(&open.global)?;
    let is_it = |heard: &&Heard| heard.identity.as_deref() == Some(id.decider());
    let found = told.iter().find(is_it);
    let named = || told.iter().find(|heard| *heard.unit == *open.decider);
    found.or_else(named).map(|heard| &*heard.unit)
}

/// Whether the unit that decides on a transaction is none of anybody's any more: its ledger was made anew, or it was unregistered.
fn is_orphaned(open: &Open, everybody: Option<&[String]>) -> bool {
    let Some((id, everybody)) = GlobalId::read(&open.global).zip(everybody) else { return false };
    !everybody.iter().any(|identity| identity == id.decider())
}

impl Global {
    /// Begins one; the unit of this name and identity will decide.
    pub fn begin(field: &Field, decider: UnitName, identity: &str) -> Self {
        let id = field.coordinator.name(identity);
        let began = field.runtime.now();
        Self { id, decider, units: Vec::new(), logged: Vec::new(), statement: 0, began }
    }

    /// Its name.
    pub fn id(&self) -> &GlobalId {
        &self.id
    }

    /// The number of the last statement; 0 before the first.
    pub fn statement(&self) -> u64 {
        self.statement
    }

    /// The next statement, about to run on a unit: its number, and the time that is left. From here on the unit is asked when the transaction ends, whatever
    /// comes of the statement.
    ///
    /// # Errors
    /// One of class 40001 when the transaction's time is over.
    pub fn next(&mut self, unit: &UnitName, now: Instant) -> Result<(u64, Duration)> {
        let gone = now.saturating_duration_since(self.began);
        let remaining = LIMIT.checked_sub(gone).filter(|left| !left.is_zero());
        let remaining = remaining.ok_or_else(|| aborted("it has taken longer than 60 s"))?;
        if !self.units.contains(unit) {
            self.units.push(Arc::clone(unit));
        }
        self.statement += 1;
        Ok((self.statement, remaining))
    }

    /// A statement has answered on a unit, and its images are in the undo log there.
    pub fn logged(&mut self, unit: &UnitName, statement: u64) {
        self.logged.push((Arc::clone(unit), statement));
    }

    /// Statements from a number on have been taken back.
    pub fn forget(&mut self, from: u64) {
        self.logged.retain(|(_, statement)| *statement < from);
    }

    /// What a unit is told of a statement.
    pub fn branch(&self, statement: u64, remaining: Duration) -> Branch<'_> {
        Branch { global: self.id.as_str(), statement, decider: &self.decider, remaining }
    }

    /// Decides to commit, and lets go of its rows.
    ///
    /// # Errors
    /// The transaction is taken back then, and the error says why; only one of class 08007 means that it is not known yet how it will end: on all units alike.
    pub async fn commit(&self, field: &Field) -> Result<()> {
        if self.units.is_empty() {
            return Ok(());
        }
        if field.runtime.now().saturating_duration_since(self.began) > LATEST {
            self.rollback(field, 0).await?;
            return Err(aborted("it has not been ended for half an hour"));
        }
        match self.decide(field).await {
            Ok(Verdict::Commit) => {}
            Ok(Verdict::Abort) => {
                self.rollback(field, 0).await?;
                return Err(aborted("it was decided otherwise meanwhile"));
            }
            Err(error) => return Err(error),
        }
        let others = self.units.iter().filter(|unit| **unit != self.decider);
        let others: Vec<UnitName> = others.map(Arc::clone).collect();
        for unit in &others {
            if let Err(error) = self.release(field, unit).await {
                tracing::warn!(%unit, transaction = %self.id, %error, "a committed transaction still holds rows");
            }
        }
        if others.is_empty() {
            field.coordinator.settles(&self.id);
            return Ok(());
        }
        // Only what nobody waits for is left.
        let (field, id) = (Field { is_awaited: false, ..field.clone() }, self.id.clone());
        let runtime = Arc::clone(&field.runtime);
        runtime.spawn(Box::pin(async move {
            let mut whole = true;
            for unit in &others {
                whole &= cleaned(&field, unit, &id).await.is_ok();
            }
            // Otherwise recovery needs to find the decision.
            if whole {
                field.coordinator.settles(&id);
            }
        }));
        Ok(())
    }

    async fn release(&self, field: &Field, unit: &str) -> Result<()> {
        let mut connection = field.bare(unit).await?;
        let dialect = field.pool(unit)?.connector().dialect();
        Unit::of(&mut connection, dialect.as_ref())?.release(self.id.as_str()).await
    }

    /// Writes the decision, unless somebody has decided otherwise.
    async fn decide(&self, field: &Field) -> Result<Verdict> {
        let pool = field.pool(&self.decider)?;
        let dialect = pool.connector().dialect();
        let family = dialect.two_phase();
        let family = family.ok_or_else(|| Error::internal("a deciding unit without a ledger"))?;
        let record = [family.ledger().record(self.id.as_str())];
        let error = match field.bare(&self.decider).await {
            Ok(mut connection) => {
                let mut unit = Unit::of(&mut connection, dialect.as_ref())?;
                match unit.conclude(self.id.as_str(), &record).await {
                    Ok(()) => return Ok(Verdict::Commit),
                    // The server says so itself: nothing is decided, and nobody can decide there any more.
                    Err(error) if is_missing(&error) => {
                        self.rollback(field, 0).await?;
                        return Err(ledger_gone(&self.decider, error));
                    }
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        // Whatever became of it: whoever asks decides, if it is not decided.
        for _ in 0..INQUIRIES {
            match decide(pool.connector(), &field.runtime, &self.id).await {
                Ok(Verdict::Commit) => return Ok(Verdict::Commit),
                Ok(Verdict::Abort) => {
                    self.rollback(field, 0).await?;
                    return Err(error);
                }
                Err(later) => tracing::debug!(%later, "a decision cannot be learned yet"),
            }
            field.runtime.sleep(PAUSE).await;
        }
        Err(unknown(&self.id))
    }

    /// Takes back its statements from a number on; from 0 on all, and it lets go of its rows.
    ///
    /// # Errors
    /// What keeps a unit's part from being taken back: rows that somebody else has changed, or an undo log that was
    /// removed (40002), or the unit's own. All other
    /// units' parts are taken back all the same.
    pub async fn rollback(&self, field: &Field, from: u64) -> Result<()> {
        let mut result = Ok(());
        for unit in self.units.iter().rev() {
            let is_its = |(own, statement): &&(UnitName, u64)| own == unit && *statement >= from;
            let mut expected = self.logged.iter().filter(is_its).count() as u64;
            let undone = match field.rollback(unit, self.id.as_str(), from).await {
                // A connection that was lost meanwhile says nothing of the unit, and may have taken all back.
                Err(error) if matches!(error.kind(), ErrorKind::Unavailable { .. }) => {
                    let again = field.rollback(unit, self.id.as_str(), from).await;
                    expected = expected.min(u64::from(matches!(again, Ok((_, None)))));
                    again
                }
                undone => undone,
            };
            match undone {
                Ok((Undone::Clean, found)) if found.unwrap_or(0) < expected => {
                    if !field.is_taken_back(&self.decider, &self.id).await {
                        tracing::error!(%unit, transaction = %self.id, "the undo log of a transaction was removed: what it has changed stays");
                        result = Err(images_gone(unit));
                    }
                }
                Ok((Undone::Clean, _)) => {}
                Ok((Undone::Dirty(rows), _)) => {
                    tracing::error!(%unit, transaction = %self.id, ?rows, "a transaction cannot be taken back");
                    result = Err(dirty(unit, &rows));
                }
                Err(error) => {
                    tracing::warn!(%unit, transaction = %self.id, %error, "a part of a transaction is left to recovery");
                    result = result.and(Err(error));
                }
            }
        }
        result
    }
}

/// Images go together with the locks that may be left: whoever finds no images looks for no locks.
async fn cleaned(field: &Field, unit: &str, id: &GlobalId) -> Result<()> {
    let mut connection = field.bare(unit).await?;
    let dialect = field.pool(unit)?.connector().dialect();
    Unit::of(&mut connection, dialect.as_ref())?.conclude(id.as_str(), &[]).await
}

fn wrong(why: &str) -> Error {
    ErrorKind::TransactionState(format!("the transaction cannot be resolved so: {why}")).into()
}

fn dirty(unit: &str, rows: &[String]) -> Error {
    told(
        1180,
        "40002",
        format!(
            "the transaction cannot be taken back on storage unit `{unit}`: {}",
            rows.join("; ")
        ),
    )
}

fn images_gone(unit: &str) -> Error {
    told(
        1180,
        "40002",
        format!(
            "the transaction cannot be taken back on storage unit `{unit}`, and what it has changed there stays: Pando's own tables were removed from there, and the undo log with them"
        ),
    )
}

fn aborted(why: &str) -> Error {
    told(1213, "40001", format!("the transaction is taken back on every storage unit: {why}"))
}

fn unknown(id: &GlobalId) -> Error {
    told(
        1180,
        "08007",
        format!(
            "whether the transaction {id} is committed is not known yet: its deciding storage unit does not answer; all of its parts will end alike"
        ),
    )
}

fn told(number: u32, sqlstate: &str, message: String) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message,
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// Refuses sessions under whose variables (name, value text) images would lose something, and families without an undo log.
///
/// # Errors
/// `Refused`.
pub fn admits(dialect: &dyn pando_kernel::Dialect, variables: &[(String, String)]) -> Result<()> {
    crate::table::undo_of(dialect)?.check(variables)
}
