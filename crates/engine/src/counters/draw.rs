//! Numbers of a counter: of what is leased, or leased for it.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::counters::Change;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::Runtime;

use crate::snapshot::LiveDatabase;

use super::ledger::Ledger;
use super::{Asks, Counter, Row, Steps};

/// How often somebody else may have been faster before a statement gives up.
const ROUNDS: usize = 100;
/// What is waited for beyond somebody's lease, for clocks that do not go alike.
const MARGIN: Duration = Duration::from_millis(20);

/// A column that a table counts over its shards.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Its name in the ledger: that of the table's first shard.
    pub(crate) name: String,
    /// The storage unit with the ledger.
    pub(crate) home: UnitName,
    /// The table's shards: units that take writes, and actual tables. Never empty.
    pub(crate) shards: Vec<Shard>,
    /// What is known of it.
    pub(crate) counter: Counter,
}

/// A shard of a counted table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) unit: UnitName,
    pub(crate) table: Arc<str>,
}

/// What is asked of a counter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) counted: &'a Counted,
    /// What each row of the statement wants, in their order.
    pub(crate) rows: &'a [Row],
    pub(crate) steps: Steps,
}

/// Numbers for the rows that want one, in their order; the counter is behind the values that others bring. The numbers
/// of one statement follow each other, and those of a session's statements ascend.
///
/// # Errors
/// What the home says, and the family's own error when nothing is left to count.
///
/// # Cancel safety
/// Numbers that were leased are lost, or served to the next.
pub(crate) async fn numbers(
    live: &LiveDatabase,
    runtime: &dyn Runtime,
    order: Order<'_>,
) -> Result<Vec<u64>> {
    let Order { counted, rows, steps } = order;
    let counter = &counted.counter;
    if let Some(numbers) = counter.lease().serve(rows, steps, runtime.now()) {
        return Ok(numbers);
    }
    let _asking = counter.asking.lock().await;
    for _ in 0..ROUNDS {
        if let Some(numbers) = counter.lease().serve(rows, steps, runtime.now()) {
            return Ok(numbers);
        }
        if let Some(numbers) = ask(live, runtime, order).await? {
            return Ok(numbers);
        }
    }
    Err(ErrorKind::Server(Box::new(ServerError {
        number: 1205,
        sqlstate: "HY000".into(),
        message: format!(
            "the counter of `{}` is asked by too many at once; try again",
            counted.name
        ),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into())
}

/// Asks the ledger once. `None`: somebody was faster, or has to be waited for, or it is to be served now.
async fn ask(
    live: &LiveDatabase,
    runtime: &dyn Runtime,
    order: Order<'_>,
) -> Result<Option<Vec<u64>>> {
    let Order { counted, rows, steps } = order;
    let counter = &counted.counter;
    let holder = &*live.counters.holder;
    let ledger = Ledger { live, home: &counted.home, counter: &counted.name };
    let asked = runtime.now();
    let seen = ledger.look().await?;
    let is_settled = counter.lease().is_settled;
    let Some(seen) = seen.filter(|_| is_settled) else {
        settle(&ledger, counted).await?;
        counter.lease().is_settled = true;
        return Ok(None);
    };
    let asks = counter.lease().asks(&seen, holder, rows, steps);
    match asks {
        Asks::Nothing => Err(exhausted()),
        Asks::Ends(time) => {
            ledger.change(Change::Closes).await?;
            runtime.sleep(time + MARGIN).await;
            Ok(None)
        }
        Asks::Gives { seen: next, lease, terms } => {
            let gives = Change::Gives { seen: next, to: lease.end, holder, terms };
            if ledger.change(gives).await? == 0 {
                return Ok(None);
            }
            let mut own = counter.lease();
            own.given(&seen, holder, lease, asked);
            if !terms.is_leased() {
                let numbers = own.serve(rows, steps, asked);
                own.is_used();
                return Ok(numbers);
            }
            Ok(None)
        }
    }
}

/// Brings the ledger to where the shards are: what was inserted past Pando, before it, or under another configuration
/// has moved their own counters.
async fn settle(ledger: &Ledger<'_>, counted: &Counted) -> Result<()> {
    let next = farthest(ledger, counted).await?;
    ledger.reaches(next).await
}

/// The number that the shard which has come farthest would count next.
async fn farthest(ledger: &Ledger<'_>, counted: &Counted) -> Result<u64> {
    let mut next = 1;
    for shard in &counted.shards {
        next = next.max(ledger.own(&shard.unit, &shard.table).await?);
    }
    Ok(next)
}

/// The next number of a counter.
///
/// # Errors
/// What the home and the shards say.
pub(crate) async fn next(live: &LiveDatabase, counted: &Counted) -> Result<u64> {
    let ledger = Ledger { live, home: &counted.home, counter: &counted.name };
    let Some(seen) = ledger.look().await? else { return farthest(&ledger, counted).await };
    let is_settled = counted.counter.lease().is_settled;
    if !is_settled {
        return Ok(seen.next.max(farthest(&ledger, counted).await?));
    }
    let left = counted.counter.lease().left(&seen, &live.counters.holder);
    Ok(left.unwrap_or(seen.next))
}

/// Moves a counter behind values that shards have computed for their rows.
///
/// # Errors
/// What the shards and the home say.
pub(crate) async fn catch_up(
    live: &LiveDatabase,
    runtime: &dyn Runtime,
    counted: &Counted,
) -> Result<()> {
    let ledger = Ledger { live, home: &counted.home, counter: &counted.name };
    let Some(greatest) = farthest(&ledger, counted).await?.checked_sub(1) else { return Ok(()) };
    let rows = [Row::Given(greatest)];
    let order = Order { counted, rows: &rows, steps: Steps::default() };
    numbers(live, runtime, order).await.map(drop)
}

/// Takes a counter away whose table begins anew, or counts on from elsewhere: whoever asks next begins where the shards
/// are. Nobody goes by what it said, anywhere, once this is done.
///
/// # Errors
/// What the home says.
pub(crate) async fn forget(
    live: &LiveDatabase,
    runtime: &dyn Runtime,
    counted: &Counted,
) -> Result<()> {
    let counter = &counted.counter;
    let ledger = Ledger { live, home: &counted.home, counter: &counted.name };
    let _asking = counter.asking.lock().await;
    for _ in 0..ROUNDS {
        let Some(seen) = ledger.look().await? else { break };
        if seen.known.is_zero() || seen.holder == live.counters.holder {
            ledger.change(Change::Goes).await?;
            break;
        }
        ledger.change(Change::Closes).await?;
        runtime.sleep(seen.known + MARGIN).await;
    }
    counter.lease().forget();
    Ok(())
}

/// <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>: ER_AUTOINC_READ_FAILED.
fn exhausted() -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number: 1467,
        sqlstate: "HY000".into(),
        message: "Failed to read auto-increment value from storage engine".into(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}
