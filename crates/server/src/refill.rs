//! Storing the rows of a table otherwise while clients go on: its columns, and then its rows by their primary key, on
//! connections of its own.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pando_governor::{Found, Orders, Position, Positions, Progress, Refilling, RowsLook};
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::{BoxFuture, all};
use pando_kernel::{Dialect, Nulls, Refill, RefillWords, Value};

mod reading;

use self::reading::Reading;
use crate::inquiry::{Inquiry, text};
use crate::look::Look;

/// Rows that are read at once, without any lock: at first, and at most.
const FIRST: usize = 50;
const MOST: usize = 1000;
/// About as many bytes are read at once at most, unless one row has more.
const MOST_BYTES: usize = 4 << 20;
/// Rows that are locked and written at once.
const WRITTEN: usize = 100;
/// Time between two attempts at rows that somebody else holds.
const PAUSE: Duration = Duration::from_millis(500);
/// The same at a table: whoever writes it waits behind an attempt, so that they are few.
const LONG_PAUSE: Duration = Duration::from_secs(5);
/// Time for a change of a table's definition, which may copy the table.
const DEFINED_WITHIN: Duration = Duration::from_secs(24 * 3600);

/// The data nodes of a table, and what is made of their rows.
pub(crate) struct Refills<'l> {
    look: &'l Look<'l>,
    refill: Arc<dyn Refill>,
    nodes: Vec<Found>,
}

/// An actual table under work.
struct Node<'l> {
    look: &'l Look<'l>,
    refill: &'l dyn Refill,
    words: &'l dyn RefillWords,
    found: &'l Found,
    progress: &'l Progress,
    pace: &'l Pace,
}

/// When the next rows of a table may be looked at, where there is a bound.
#[derive(Debug, Default)]
struct Pace(Mutex<Option<Instant>>);

impl<'l> Refills<'l> {
    /// Looks where the table stands.
    ///
    /// # Errors
    /// As the units say; `Refused` where it stands nowhere, or no rule stores it otherwise.
    pub(crate) async fn of(look: &'l Look<'l>, table: &str) -> Result<Self> {
        let key = look.database.dialect.syntax().table_key(table);
        let mut rooms = look.database.features.iter().filter_map(|room| room.columns());
        let refill = rooms.find_map(|shows| shows.refill(&key));
        let refill =
            refill.ok_or_else(|| refused(table, "no rule stores its columns otherwise"))?;
        let nodes = look.standing(table).await?;
        if nodes.is_empty() {
            return Err(refused(table, "it does not exist"));
        }
        Ok(Self { look, refill, nodes })
    }

    /// The orders of the table's columns, by its first node.
    ///
    /// # Errors
    /// As the units say.
    pub(crate) async fn orders(&self, table: &str) -> Result<Orders> {
        let Some(first) = self.nodes.first() else { return Ok(Orders::default()) };
        let stored = self.look.columns(first).await?;
        let key = self.look.database.dialect.syntax().table_key(table);
        let logic = self.look.database.logic_columns(&key, &stored)?;
        let standing: Vec<String> = stored.iter().map(|column| column.name.clone()).collect();
        let Some(logic) = logic else {
            return Ok(Orders { told: standing.clone(), standing });
        };
        let told: Vec<String> = logic.told().into_iter().map(|column| column.name).collect();
        let seen = |name: &String| {
            let mut list = logic.list.iter();
            let own = list.find(|one| one.stored.first().is_some_and(|first| first.name == *name));
            own.map(|one| one.column.name.clone())
        };
        Ok(Orders { told, standing: standing.iter().filter_map(seen).collect() })
    }

    /// Does a part of the work on all nodes, those of one unit one after the other.
    ///
    /// # Errors
    /// As [`pando_governor::House::refill`].
    pub(crate) async fn carry_out(&self, part: Refilling, progress: &Progress) -> Result<()> {
        let dialect = &self.look.database.dialect;
        let words = dialect.transfer().and_then(|transfer| transfer.refill());
        let words = words.ok_or_else(|| refused(dialect.family(), "its servers cannot do this"))?;
        progress.nodes.store(self.nodes.len() as u64, Ordering::Relaxed);
        progress.done.store(0, Ordering::Relaxed);
        let (refill, look, pace) = (&*self.refill, self.look, &Pace::default());
        if part == Refilling::Rows {
            takes_up(refill, progress);
        }
        let node = |found| Node { look, refill, words, found, progress, pace };
        let nodes: Vec<Node<'_>> = self.nodes.iter().map(node).collect();
        for node in &nodes {
            node.check(part).await?;
        }
        let mut units: Vec<(&str, Vec<&Node<'_>>)> = Vec::new();
        for node in &nodes {
            match units.iter_mut().find(|(unit, _)| *unit == node.found.unit) {
                Some((_, own)) => own.push(node),
                None => units.push((&node.found.unit, vec![node])),
            }
        }
        let works = units.into_iter().map(|(_, nodes)| {
            let work = async move {
                for node in nodes {
                    node.carry_out(part).await?;
                    node.progress.done.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            };
            Box::pin(work) as BoxFuture<'_, Result<()>>
        });
        all(works.collect()).await.map(drop)
    }
}

impl Node<'_> {
    fn dialect(&self) -> &dyn Dialect {
        &*self.look.database.dialect
    }

    fn name(&self) -> String {
        self.look.named(self.found)
    }

    /// Refuses what cannot be done, before anything is.
    async fn check(&self, part: Refilling) -> Result<()> {
        let names: Vec<String> = self.refill.columns().iter().map(|own| own.name.clone()).collect();
        let (schema, table) = (self.found.schema.as_deref(), self.found.table.as_str());
        match part {
            Refilling::Check | Refilling::Columns => {
                let columns = self.look.columns(self.found).await?;
                let keys = columns.iter().filter(|column| column.primary_key);
                let keys: Vec<&TableColumn> = keys.collect();
                if keys.is_empty() {
                    return Err(refused_without_key(&self.told()));
                }
                let is_stored = |key: &&TableColumn| names.contains(&key.name);
                if let Some(key) = keys.into_iter().find(is_stored) {
                    let why = format!("`{}` is a part of its primary key", key.name);
                    return Err(self.refused(&why));
                }
                self.refill.lacking(&columns, self.dialect())?;
                self.none(
                    &self.words.unseen_changes(schema, table, &names),
                    "would change values unseen",
                )
                .await
            }
            Refilling::Nulls => {
                let unread: Vec<String> =
                    self.refill.unread().into_iter().map(|own| own.name).collect();
                let query = self.words.dependents(schema, table, &unread);
                self.none(
                    &query,
                    "would go with a column; make it anew on the other one, and drop it",
                )
                .await
            }
            Refilling::Fence | Refilling::Rows | Refilling::Drop => Ok(()),
        }
    }

    /// Refuses where a query finds anything.
    async fn none(&self, query: &str, why: &str) -> Result<()> {
        let rows = self.look.inquiry(&self.found.unit).await?.rows(query).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let told = row.first().and_then(text).unwrap_or_default();
        Err(self.refused(&format!("{told} {why}")))
    }

    async fn carry_out(&self, part: Refilling) -> Result<()> {
        match part {
            Refilling::Check => Ok(()),
            Refilling::Columns => self.add_columns().await,
            Refilling::Fence => self.patiently(&self.words.fence(&self.name())).await,
            Refilling::Rows => self.rows().await,
            Refilling::Nulls => self.change_nulls().await,
            Refilling::Drop => self.drop_columns().await,
        }
    }

    async fn add_columns(&self) -> Result<()> {
        let columns = self.look.columns(self.found).await?;
        let lacking = self.refill.lacking(&columns, self.dialect())?;
        if lacking.is_empty() {
            return Ok(());
        }
        let added: Vec<String> = lacking.iter().map(|own| format!("ADD COLUMN {own}")).collect();
        self.patiently(&[format!("ALTER TABLE {} {}", self.name(), added.join(", "))]).await
    }

    async fn change_nulls(&self) -> Result<()> {
        let columns = self.look.columns(self.found).await?;
        let find = |name: &str| columns.iter().find(|column| column.name == name);
        let mut statements = Vec::new();
        for unread in self.refill.unread() {
            let Some(own) = find(&unread.name).filter(|own| !own.nullable) else { continue };
            statements.push(self.words.nullable(&self.name(), own, Nulls::Taken));
            if let Some(told) = find(&unread.told).filter(|told| told.nullable) {
                let statement = self.words.nullable(&self.name(), told, Nulls::Refused);
                if !statements.contains(&statement) {
                    statements.push(statement);
                }
            }
        }
        self.patiently(&statements).await
    }

    async fn drop_columns(&self) -> Result<()> {
        let columns = self.look.columns(self.found).await?;
        let unread = self.refill.unread().into_iter();
        let there = unread.filter(|own| columns.iter().any(|column| column.name == own.name));
        let dropped: Vec<String> =
            there.map(|own| format!("DROP COLUMN {}", self.dialect().quote(&own.name))).collect();
        match dropped.is_empty() {
            true => Ok(()),
            false => {
                let statement = format!("ALTER TABLE {} {}", self.name(), dropped.join(", "));
                self.patiently(&[statement]).await
            }
        }
    }

    /// Runs statements on one connection, again where somebody else holds the table.
    async fn patiently(&self, statements: &[String]) -> Result<()> {
        loop {
            self.go_on()?;
            let mut inquiry = self.connection().await?;
            let outcome = async {
                for statement in statements {
                    inquiry.rows_within(statement, DEFINED_WITHIN).await?;
                }
                Ok(())
            };
            match outcome.await {
                Err(error) if self.words.is_busy(&error) => {
                    self.look.runtime.sleep(LONG_PAUSE).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn connection(&self) -> Result<Inquiry> {
        let mut inquiry = self.look.inquiry(&self.found.unit).await?;
        for setting in self.words.settings() {
            inquiry.rows(setting).await?;
        }
        Ok(inquiry)
    }

    /// # Errors
    /// `Cancelled` when it is told to stop.
    fn go_on(&self) -> Result<()> {
        match self.progress.stops.load(Ordering::Relaxed) {
            true => Err(ErrorKind::Cancelled.into()),
            false => Ok(()),
        }
    }

    async fn rows(&self) -> Result<()> {
        let columns = self.look.columns(self.found).await?;
        let reading = Reading::of(self, &columns);
        let mut inquiry = self.connection().await?;
        let mut writing = self.connection().await?;
        let mut after: Option<Vec<Value>> = match positions(self.progress).nodes.get(self.found) {
            Some(Position::End) => return Ok(()),
            Some(Position::Behind(key)) => Some(key.clone()),
            None => None,
        };
        let mut count = FIRST;
        loop {
            count = self.waits_for_turn(count).await?;
            let begun = self.look.runtime.now();
            let rows = inquiry.rows(&reading.batch(after.as_deref(), count)).await?;
            let stale = reading.stale(&rows).map_err(|error| self.about(&error))?;
            for some in stale.chunks(WRITTEN) {
                let written = self.write(&mut writing, &reading, some).await?;
                self.progress.written.fetch_add(written as u64, Ordering::Relaxed);
            }
            self.progress.seen.fetch_add(rows.len() as u64, Ordering::Relaxed);
            let Some(last) = rows.last().filter(|_| rows.len() == count) else {
                self.comes_to(Position::End);
                return Ok(());
            };
            let key = reading.key(last).to_vec();
            self.comes_to(Position::Behind(key.clone()));
            after = Some(key);
            count = next(count, bytes(&rows));
            if !stale.is_empty() {
                // Clients come first: half of the time is theirs alone.
                let taken = self.look.runtime.now().saturating_duration_since(begun);
                self.look.runtime.sleep(taken).await;
            }
        }
    }

    /// Waits until more rows may be looked at; so many of them, up to `count`.
    async fn waits_for_turn(&self, count: usize) -> Result<usize> {
        let rate = || self.progress.rate.load(Ordering::Relaxed);
        let Some(due) = self.pace.next(self.look.runtime.now(), count, rate()) else {
            self.go_on()?;
            return Ok(count);
        };
        loop {
            self.go_on()?;
            let left = due.at.saturating_duration_since(self.look.runtime.now());
            if left.is_zero() || rate() == 0 {
                return Ok(due.count);
            }
            self.look.runtime.sleep(left.min(PAUSE)).await;
        }
    }

    fn comes_to(&self, position: Position) {
        positions(self.progress).nodes.insert(self.found.clone(), position);
    }

    /// Brings rows in step that are locked for it, by their keys; how many were not by then.
    async fn write(
        &self,
        inquiry: &mut Inquiry,
        reading: &Reading<'_>,
        keys: &[Vec<Value>],
    ) -> Result<usize> {
        loop {
            self.go_on()?;
            let outcome = async {
                inquiry.rows("BEGIN").await?;
                let rows = inquiry.rows(&reading.locked(keys)).await?;
                let (statement, count) =
                    reading.update(&rows).map_err(|error| self.about(&error))?;
                if let Some(statement) = statement {
                    inquiry.rows(&statement).await?;
                }
                inquiry.rows("COMMIT").await?;
                Ok(count)
            };
            match outcome.await {
                Err(error) if self.words.is_busy(&error) => {
                    self.look.runtime.sleep(PAUSE).await;
                    // With it goes the transaction.
                    *inquiry = self.connection().await?;
                }
                outcome => return outcome,
            }
        }
    }

    fn about(&self, error: &Error) -> Error {
        self.refused(&error.to_string())
    }

    fn refused(&self, why: &str) -> Error {
        refused(&self.told(), why)
    }

    /// Its name in errors.
    fn told(&self) -> String {
        format!("{}.{}", self.found.unit, self.found.table)
    }
}

/// Rows that may be looked at, and when.
#[derive(Debug, PartialEq)]
struct Due {
    at: Instant,
    count: usize,
}

impl Pace {
    /// Takes the next turn for up to `most` rows, and no more than a second has; `None` without a bound.
    fn next(&self, now: Instant, most: usize, rate: u64) -> Option<Due> {
        let count = most.min(usize::try_from(rate).unwrap_or(usize::MAX));
        if count == 0 {
            return None;
        }
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = next.map_or(now, |next| next.max(now));
        *next = Some(at + Duration::from_secs_f64(count as f64 / rate as f64));
        Some(Due { at, count })
    }
}

fn positions(progress: &Progress) -> MutexGuard<'_, Positions> {
    progress.positions.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins with the first row where rows were brought in step by something else until now, or by nobody.
fn takes_up(refill: &dyn Refill, progress: &Progress) {
    let mut kept = positions(progress);
    if kept.made_by.is_empty() && kept.nodes.is_empty() {
        kept.made_by = refill.made_by();
    } else if !refill.is_made_by(&kept.made_by) {
        let (look, made_by) = (RowsLook::First, refill.made_by());
        *kept = Positions { look, made_by, ..Positions::default() };
    }
    if kept.nodes.is_empty() {
        progress.seen.store(0, Ordering::Relaxed);
    }
}

/// How many rows are read next, after so many with these bytes.
fn next(count: usize, bytes: usize) -> usize {
    match bytes {
        0..MOST_BYTES if bytes < MOST_BYTES / 4 => (count * 2).min(MOST),
        0..MOST_BYTES => count,
        MOST_BYTES.. => (count / 4).max(1),
    }
}

fn bytes(rows: &[Vec<Value>]) -> usize {
    let of = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Bytes(octets) => octets.len(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_) => 8,
    };
    rows.iter().flatten().map(of).sum()
}

fn refused(what: &str, why: &str) -> Error {
    Error::unsupported(
        30001,
        format!("`{what}` cannot be stored otherwise: {why}"),
        "see docs/features/encrypt.md",
    )
}

fn refused_without_key(what: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "`{what}` cannot be stored otherwise: it has no primary key, by which its rows are gone through"
        ),
        "add one with ALTER TABLE, of columns that tell its rows apart, or of a new column that counts them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_rows_are_looked_at_than_a_rate_allows() {
        let (pace, now) = (Pace::default(), Instant::now());
        let after = |millis| now + Duration::from_millis(millis);
        assert_eq!(pace.next(now, 50, 0), None);
        assert_eq!(pace.next(now, 50, 100), Some(Due { at: now, count: 50 }));
        assert_eq!(pace.next(now, 1000, 100), Some(Due { at: after(500), count: 100 }));
        assert_eq!(pace.next(now, 1000, 10), Some(Due { at: after(1500), count: 10 }));
        // What was not used is not made up for.
        assert_eq!(pace.next(after(9000), 1, 10), Some(Due { at: after(9000), count: 1 }));
        assert_eq!(pace.next(after(9000), 1, 10), Some(Due { at: after(9100), count: 1 }));
    }

    #[test]
    fn as_many_rows_are_read_as_fit() {
        let after = |bytes| next(200, bytes);
        assert_eq!([0, MOST_BYTES / 2, MOST_BYTES].map(after), [400, 200, 50]);
        assert_eq!((next(MOST, 0), next(1, usize::MAX)), (MOST, 1));
        let row = vec![Value::Int(1), Value::Text("abc".into()), Value::Null];
        assert_eq!(bytes(&[row.clone(), row]), 38);
    }
}
