//! The ledger of counters, asked and changed on connections beside all transactions.

use pando_kernel::Value;
use pando_kernel::backend::Execution;
use pando_kernel::counters::{Change, Counters, Seen};
use pando_kernel::error::{Error, Result};
use pando_pool::{Connection, Pool};
use pando_transaction::{finish, is_missing};

use crate::snapshot::LiveDatabase;

/// Where a counter stands, and how it is spoken to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledger<'a> {
    pub(super) live: &'a LiveDatabase,
    pub(super) home: &'a str,
    pub(super) counter: &'a str,
}

impl Ledger<'_> {
    fn words(&self) -> Result<&dyn Counters> {
        let words = pando_kernel::counters::of(self.live.database.dialect.as_ref());
        words.ok_or_else(|| Error::internal("a family without counters"))
    }

    /// The counter's row; `None` where there is none, or no ledger.
    pub(super) async fn look(&self) -> Result<Option<Seen>> {
        let words = self.words()?;
        let mut connection = bare(self.live.pool(self.home)?).await?;
        let text = words.look(self.counter);
        let rows = match pando_transaction::rows(&mut *connection, &text).await {
            Err(error) if is_missing(&error) => return Ok(None),
            rows => rows?,
        };
        rows.first().map(|row| words.read(row)).transpose()
    }

    /// Changes the row; how many rows that has changed.
    pub(super) async fn change(&self, change: Change<'_>) -> Result<u64> {
        let text = self.words()?.change(self.counter, change);
        let mut connection = bare(self.live.pool(self.home)?).await?;
        run(&mut connection, &text).await
    }

    /// Sees to it that the row counts on from a number at least, the ledger being made if there is none.
    pub(super) async fn reaches(&self, next: u64) -> Result<()> {
        let words = self.words()?;
        let mut connection = bare(self.live.pool(self.home)?).await?;
        let text = words.change(self.counter, Change::Reaches(next));
        match run(&mut connection, &text).await {
            Err(error) if is_missing(&error) => {
                run(&mut connection, words.setup()).await?;
                run(&mut connection, &text).await.map(drop)
            }
            changed => changed.map(drop),
        }
    }

    /// How far the counter of an actual table has come: its next number.
    pub(super) async fn own(&self, unit: &str, table: &str) -> Result<u64> {
        let words = self.words()?;
        let mut connection = bare(self.live.pool(unit)?).await?;
        let rows = pando_transaction::rows(&mut *connection, &words.own(table)).await?;
        let row: &[Value] = rows.first().map_or(&[], Vec::as_slice);
        words.read_own(row)
    }
}

/// A connection on which nothing of any session is left. It is had beyond the pool's maximum where need be: sessions
/// that have all of them may wait for a number.
async fn bare(pool: &Pool) -> Result<Connection> {
    let mut connection = match pool.take_idle()? {
        Some(connection) => connection,
        None => pool.take_last().await?,
    };
    if !connection.is_bare() {
        connection.start(Execution::Reset)?;
        finish(&mut connection).await?;
        connection.is_reset();
    }
    Ok(connection)
}

async fn run(connection: &mut Connection, text: &str) -> Result<u64> {
    connection.start(Execution::Text(text.into()))?;
    let done = finish(connection).await?;
    Ok(done.affected.unwrap_or_default())
}
