//! One statement in one local transaction: its change, the images, the locks, the commit.
//!
//! The steps and what becomes of a fault in each stand in the README.

use std::time::{Duration, Instant};

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_transaction::is_missing;

use crate::ask::{Answer, text};
use crate::image::{Change, Image};
use crate::lock;
use crate::packed::unpack;
use crate::plan::{Plan, Told, Work};
use crate::reply::{Cut, Reply, cut};
use crate::restore;
use crate::rows::Round;
use crate::text::{Call, Text};
use crate::unit::{Bounds, Branch, Unit, Waiting, is_collision, server};

/// Names asked for in one query, rows claimed in one statement.
const NAMES: usize = 500;
/// Bytes of values in one row of the undo log; a single longer change makes a longer one.
const PART: usize = 256 << 10;
/// Waits between two looks at a row that is held.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LAST_LOOK: Duration = Duration::from_millis(100);

/// The isolation of the local transaction: images are of one moment.
const SNAPSHOT: &str = "ISOLATION LEVEL REPEATABLE READ";

/// As of when locks are looked at; where a family has no snapshots it is the same.
#[derive(Debug, Clone, Copy)]
enum AsOf {
    Now,
    /// The local transaction's.
    Snapshot,
}

/// What one try came to.
enum Tried {
    Done(Reply),
    /// Other global transactions hold some of these rows.
    Held(Vec<String>),
    /// Pando's own tables are missing.
    Missing,
}

/// What the statement did.
pub(crate) struct Did {
    pub(crate) reply: Reply,
    pub(crate) changes: Vec<Change>,
    /// Names of the rows, sorted.
    pub(crate) names: Vec<String>,
}

impl Unit<'_> {
    /// Runs a statement and commits its local transaction: afterwards its images stand in the undo log, and its rows are held for the global transaction.
    ///
    /// # Errors
    /// `Refused` when what it did cannot be taken back for certain; the unit's own error; one of class 55P03 (1205) when a row stays held by another
    /// global transaction. The local transaction is then rolled back. After an error of the connection itself it may be committed all the same:
    /// [`Unit::rollback`] on another connection tells.
    pub async fn run(
        &mut self,
        plan: &Plan,
        call: &Call,
        branch: &Branch<'_>,
        bounds: &Bounds<'_>,
    ) -> Result<Reply> {
        let began = bounds.runtime.now();
        let mut look = FIRST_LOOK;
        let mut is_prepared = false;
        loop {
            if (bounds.is_cancelled)() {
                return Err(ErrorKind::Cancelled.into());
            }
            match self.attempt(plan, call, branch, bounds).await {
                Ok(Tried::Done(reply)) => return Ok(reply),
                Ok(Tried::Held(names)) => {
                    self.abandon(&[]).await;
                    let queries = self.foreign(plan, &names, branch, AsOf::Snapshot);
                    self.wait(plan, &queries, bounds, began).await?;
                }
                Ok(Tried::Missing) if !is_prepared => {
                    self.abandon(&[]).await;
                    self.prepare().await?;
                    is_prepared = true;
                }
                Ok(Tried::Missing) => {
                    self.abandon(&[]).await;
                    return Err(Error::internal("the undo log cannot be made"));
                }
                Err(error) => {
                    self.abandon(&[]).await;
                    if !is_collision(&error) || is_over(bounds, began) {
                        return Err(error);
                    }
                    bounds.runtime.sleep(look).await;
                    look = (look * 2).min(LAST_LOOK);
                }
            }
        }
    }

    async fn attempt(
        &mut self,
        plan: &Plan,
        call: &Call,
        branch: &Branch<'_>,
        bounds: &Bounds<'_>,
    ) -> Result<Tried> {
        let limit = bounds.image_bytes;
        let did = match &plan.work {
            Work::Returning { text, told, has_result, .. } => {
                let more = if *told == Told::AfterAndBefore { 2 } else { 1 };
                let how = Cut { more, has_result: *has_result, limit };
                let (reply, images) = self.open_with(text, call, how).await?;
                let changes = told_changes(*told, &images)?;
                changes.iter().try_for_each(|change| check(plan, change))?;
                let names = lock::names(&plan.table, &changes);
                Did { reply, changes, names }
            }
            Work::Locking { text, more, keys: told } => {
                let how = Cut { more: *more, has_result: true, limit };
                let (reply, keys) = self.open_with(text, call, how).await?;
                let names = lock::names_of_keys(&plan.table, keys, *told)?;
                Did { reply, changes: Vec::new(), names }
            }
            Work::Rows { .. } | Work::Insert { .. } => {
                let opening = self.begin(&[SNAPSHOT])?;
                self.read_and_change(plan, &Round { call, opening, limit }).await?
            }
        };
        self.log(plan, did, branch).await
    }

    /// Opens the local transaction together with the statement, so that one does not happen without the other.
    async fn open_with(
        &mut self,
        text: &Text,
        call: &Call,
        how: Cut,
    ) -> Result<(Reply, Vec<Vec<Option<String>>>)> {
        let opening = match self.undo.guard() {
            Some(_) => self.begin(&[SNAPSHOT])?,
            None => self.begin_or_nothing(&[SNAPSHOT])?,
        };
        self.connection.start(text.execution(call, how.more))?;
        self.succeed(opening).await?;
        cut(self.connection, how).await
    }

    /// Claims the rows, writes the images and commits.
    async fn log(&mut self, plan: &Plan, mut did: Did, branch: &Branch<'_>) -> Result<Tried> {
        let looks = self.looks(plan, &did.changes)?;
        did.changes.retain(|change| change.before != change.after);
        // A row that was written as it stood is this transaction's all the same.
        if did.names.is_empty() {
            // The row may be missing because somebody has deleted it who has not decided yet.
            if let Some(name) = &plan.asked
                && let Some(held) = self.held_elsewhere(plan, name, branch).await?
            {
                return Ok(held);
            }
            self.commit(&[]).await?;
            return Ok(Tried::Done(did.reply));
        }
        let claims = self.claims(plan, &did.names, branch);
        let images = self.images(plan, std::mem::take(&mut did.changes), branch);
        let claimed = claims.len();
        let mut texts: Vec<&str> = claims.iter().map(String::as_str).collect();
        if self.undo.claim_fails() {
            // A claim that fails takes the whole transaction with it, COMMIT notwithstanding: one round trip for all.
            let commit = self.verb(&TransactionVerb::Commit);
            texts.extend(looks.iter().chain(&images).map(String::as_str).chain([commit.as_str()]));
            let told = self.together(&texts).await?;
            return settled(told, claimed, did);
        }
        let foreign = self.foreign(plan, &did.names, branch, AsOf::Now);
        texts.extend(foreign.iter().chain(&images).map(String::as_str));
        let told = self.together(&texts).await?;
        let looked = told.iter().skip(claimed).take(foreign.len());
        if looked.flatten().any(|held| !held.rows.is_empty()) {
            return Ok(Tried::Held(did.names));
        }
        match settled(told, claimed, did)? {
            Tried::Done(reply) => {
                self.commit(&[]).await?;
                Ok(Tried::Done(reply))
            }
            other @ (Tried::Held(_) | Tried::Missing) => Ok(other),
        }
    }

    /// What keeps a statement that has found no row from being done: another global transaction holds the row it has asked for.
    async fn held_elsewhere(
        &mut self,
        plan: &Plan,
        name: &str,
        branch: &Branch<'_>,
    ) -> Result<Option<Tried>> {
        let names = [name.to_owned()];
        for query in self.foreign(plan, &names, branch, AsOf::Now) {
            match self.ask(&query).await {
                Ok(held) if held.rows.is_empty() => {}
                Ok(_) => return Ok(Some(Tried::Held(names.into()))),
                Err(error) if is_missing(&error) => return Ok(Some(Tried::Missing)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// What makes certain that the rows told as they were are those the statement has changed.
    fn looks(&self, plan: &Plan, changes: &[Change]) -> Result<Vec<String>> {
        match &plan.work {
            Work::Returning { may_miss: true, .. } => {
                restore::looks(&plan.table.shape, changes, self.written())
            }
            Work::Returning { .. }
            | Work::Rows { .. }
            | Work::Insert { .. }
            | Work::Locking { .. } => Ok(Vec::new()),
        }
    }

    fn claims(&self, plan: &Plan, names: &[String], branch: &Branch<'_>) -> Vec<String> {
        let (table, global) = (self.literal(&plan.table.lock_name), self.literal(branch.global));
        names
            .chunks(NAMES)
            .map(|chunk| {
                let rows: Vec<String> = chunk
                    .iter()
                    .map(|name| format!("({table}, {}, {global})", self.literal(name)))
                    .collect();
                self.undo.claim(&rows.join(", "))
            })
            .collect()
    }

    fn images(&self, plan: &Plan, changes: Vec<Change>, branch: &Branch<'_>) -> Vec<String> {
        let tables = self.undo.tables();
        let columns = "global_id, statement_no, part_no, decider, deadline, note, image";
        parts(changes)
            .into_iter()
            .enumerate()
            .map(|(part, changes)| {
                let image = Image { shape: plan.table.shape.as_ref().clone(), changes };
                format!(
                    "INSERT INTO {} ({columns}) VALUES ({}, {}, {part}, {}, {} + {}, '', {})",
                    tables.undo,
                    self.literal(branch.global),
                    branch.statement,
                    self.literal(branch.decider),
                    self.undo.now(),
                    branch.remaining.as_millis().min(1 << 50),
                    self.literal(&image.encode()),
                )
            })
            .collect()
    }

    /// Queries for locks of other global transactions.
    fn foreign(
        &self,
        plan: &Plan,
        names: &[String],
        branch: &Branch<'_>,
        as_of: AsOf,
    ) -> Vec<String> {
        let lock = self.undo.tables().lock;
        let end = match as_of {
            AsOf::Now => " FOR UPDATE",
            AsOf::Snapshot => "",
        };
        names
            .chunks(NAMES)
            .map(|chunk| {
                let list: Vec<String> = chunk.iter().map(|name| self.literal(name)).collect();
                format!(
                    "SELECT global_id, key_text FROM {lock} WHERE table_name = {} AND key_text IN ({}) AND global_id <> {} LIMIT 1{end}",
                    self.literal(&plan.table.lock_name),
                    list.join(", "),
                    self.literal(branch.global),
                )
            })
            .collect()
    }

    /// Waits until nobody else holds any of the rows that these queries look for.
    async fn wait(
        &mut self,
        plan: &Plan,
        queries: &[String],
        bounds: &Bounds<'_>,
        began: Instant,
    ) -> Result<()> {
        let mut look = FIRST_LOOK;
        let mut wait = Wait { told: bounds.waiting, holder: None };
        for query in queries {
            loop {
                let held = self.ask(query).await?;
                let Some(row) = held.rows.first() else { break };
                if (bounds.is_cancelled)() {
                    return Err(ErrorKind::Cancelled.into());
                }
                let (holder, key) = (text(row, 0)?, text(row, 1)?);
                wait.is_for(holder);
                if is_over(bounds, began) {
                    return Err(self.held_by(holder, &plan.table.shape.path, key));
                }
                bounds.runtime.sleep(look).await;
                look = (look * 2).min(LAST_LOOK);
            }
        }
        Ok(())
    }

    /// The vendor's own error for a lock that cannot be had.
    fn held_by(&self, holder: &str, table: &str, key: &str) -> Error {
        let sqlstate = if self.dialect.error_fails_transaction() { "55P03" } else { "HY000" };
        let key = key.split_once(':').map_or(key, |(_, key)| key).replace('\u{1}', ", ");
        ErrorKind::Server(Box::new(ServerError {
            number: 1205,
            sqlstate: sqlstate.to_owned(),
            message: format!("row ({key}) of {table} is held by the global transaction `{holder}`"),
            severity: "ERROR".into(),
            fields: Vec::new(),
        }))
        .into()
    }
}

/// The wait for a row, as it is told.
struct Wait<'a> {
    told: &'a dyn Waiting,
    holder: Option<String>,
}

impl Wait<'_> {
    fn is_for(&mut self, holder: &str) {
        if self.holder.as_deref() == Some(holder) {
            return;
        }
        if let Some(before) = self.holder.replace(holder.to_owned()) {
            self.told.ends(&before);
        }
        self.told.begins(holder);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(holder) = &self.holder {
            self.told.ends(holder);
        }
    }
}

/// What the claims (which come first) and all that followed them came to.
fn settled(told: Vec<Result<Answer>>, claims: usize, did: Did) -> Result<Tried> {
    for (number, one) in told.into_iter().enumerate() {
        match one {
            Err(error) if is_missing(&error) => return Ok(Tried::Missing),
            Err(error) if number < claims && is_held(&error) => return Ok(Tried::Held(did.names)),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(Tried::Done(Reply { logged: true, ..did.reply }))
}

fn is_over(bounds: &Bounds<'_>, began: Instant) -> bool {
    bounds.runtime.now().saturating_duration_since(began) >= bounds.lock_wait
}

/// Whether a claim met another's lock, or one that was made meanwhile.
fn is_held(error: &Error) -> bool {
    is_collision(error) || server(error).is_some_and(|(_, sqlstate)| sqlstate == "23502")
}

/// The changes that a statement's own result tells.
fn told_changes(told: Told, images: &[Vec<Option<String>>]) -> Result<Vec<Change>> {
    let row =
        |image: Option<&Option<String>>| image.and_then(Option::as_deref).map(unpack).transpose();
    images
        .iter()
        .map(|image| {
            let (first, second) = (row(image.first())?, row(image.get(1))?);
            Ok(match told {
                Told::After => Change { before: None, after: first },
                Told::Before => Change { before: first, after: None },
                Told::AfterAndBefore => Change { before: second, after: first },
            })
        })
        .collect()
}

/// Refuses rows of another width.
fn check(plan: &Plan, change: &Change) -> Result<()> {
    [&change.before, &change.after]
        .into_iter()
        .flatten()
        .try_for_each(|row| plan.table.shape.fits(row))
}

/// Cuts changes into rows of the undo log; one at least.
fn parts(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let mut parts = vec![Vec::new()];
    let mut size = 0;
    for change in changes {
        let rows = [&change.before, &change.after];
        let fields = rows.into_iter().flatten().flatten();
        let own: usize = fields.map(|field| field.as_ref().map_or(1, |text| text.len() + 4)).sum();
        if size + own > PART && size > 0 {
            parts.push(Vec::new());
            size = 0;
        }
        size += own;
        if let Some(part) = parts.last_mut() {
            part.push(change);
        }
    }
    parts
}
