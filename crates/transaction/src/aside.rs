//! A connection beside the pool, for questions that must not wait for those who wait for their answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::backend::{Backend, Connector, Execution};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::row::Rows;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::value::Value;
use pando_kernel::{Columns, TwoPhase};

/// Time to open one, and for one answer on it.
const LIMIT: Duration = Duration::from_secs(5);
/// Rows that one answer may have.
const MAX_ROWS: usize = 1_000_000;

/// A connection to a storage unit that no pool counts. Dropped, it is closed.
#[derive(Debug)]
pub struct Aside {
    backend: Box<dyn Backend>,
    connector: Arc<dyn Connector>,
    runtime: SharedRuntime,
}

impl Aside {
    /// Connects, within 5 seconds.
    ///
    /// # Errors
    /// `Timeout`, or what the connector says.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn open(connector: Arc<dyn Connector>, runtime: SharedRuntime) -> Result<Self> {
        let opened = within(&*runtime, LIMIT, connector.connect(&runtime)).await;
        let backend = opened.unwrap_or_else(|| Err(silent()))?;
        Ok(Self { backend, connector, runtime })
    }

    /// How the unit takes part in distributed transactions, in its own language.
    ///
    /// # Errors
    /// What `about` says; `Refused` for a family that takes no part in any.
    pub fn two_phase<T>(&self, about: impl FnOnce(&dyn TwoPhase) -> Result<T>) -> Result<T> {
        let dialect = self.connector.dialect();
        let family = dialect.two_phase().ok_or_else(|| no_two_phase(dialect.family()))?;
        about(family)
    }

    /// Waits.
    pub(crate) async fn pause(&mut self, time: Duration) {
        let sleep = self.runtime.sleep(time);
        sleep.await;
    }

    /// Whether it can be asked again.
    pub fn is_usable(&self) -> bool {
        let condition = self.backend.condition();
        condition.usable && condition.outstanding == 0
    }

    /// The rows of one statement, decoded, within 5 seconds. After a timeout the connection is not usable.
    ///
    /// # Errors
    /// The unit's own; `Timeout`, `TooLarge`.
    pub async fn rows(&mut self, text: &str) -> Result<Vec<Vec<Value>>> {
        let asked = rows(&mut *self.backend, text);
        within(&*self.runtime, LIMIT, asked).await.unwrap_or_else(|| Err(silent()))
    }
}

impl Aside {
    /// Runs statements whose rows nobody wants, in one write, within 5 seconds. After a timeout the connection is not usable.
    ///
    /// # Errors
    /// The first one's that fails.
    pub async fn run(&mut self, texts: &[&str]) -> Result<()> {
        for text in texts {
            self.backend.start(Execution::Text((*text).into()))?;
        }
        let backend = &mut *self.backend;
        let all = async {
            let mut result = Ok(());
            for _ in texts {
                result = result.and(ended(backend).await);
            }
            result
        };
        within(&*self.runtime, LIMIT, all).await.unwrap_or_else(|| Err(silent()))
    }
}

/// Reads one reply to its end.
async fn ended(backend: &mut dyn Backend) -> Result<()> {
    while !matches!(poll_fn(|cx| backend.poll_event(cx)).await?, Event::Done) {}
    Ok(())
}

/// The rows of one statement on a connection, decoded.
///
/// # Errors
/// The unit's own, with the connection ready again unless it is lost; `TooLarge` for more than a million rows.
#[expect(clippy::wildcard_enum_match_arm, reason = "only rows matter")]
pub async fn rows(backend: &mut dyn Backend, text: &str) -> Result<Vec<Vec<Value>>> {
    backend.start(Execution::Text(text.into()))?;
    let mut columns = None;
    let mut list = Vec::new();
    loop {
        match poll_fn(|cx| backend.poll_event(cx)).await? {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(chunk) => {
                let Some(columns) = &columns else { continue };
                decode(columns, &chunk, &mut list)?;
                if list.len() > MAX_ROWS {
                    return Err(ErrorKind::TooLarge("an answer has too many rows".into()).into());
                }
            }
            Event::Done => return Ok(list),
            _ => {}
        }
    }
}

fn decode(columns: &Columns, rows: &Rows, list: &mut Vec<Vec<Value>>) -> Result<()> {
    let mut fields = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let row = columns.list.iter().zip(&fields).map(|(column, field)| {
            columns.codec.value(column, field.clone().and_then(|range| body.get(range)))
        });
        list.push(row.collect::<Result<_>>()?);
        Ok(())
    })
}

/// A family without two-phase commit.
pub(crate) fn no_two_phase(family: &str) -> Error {
    Error::unsupported(
        30001,
        format!("storage units of {family} take no part in distributed transactions"),
        "use transactions of type LOCAL",
    )
}

fn silent() -> Error {
    ErrorKind::Timeout(format!("a storage unit has not answered within {LIMIT:?}")).into()
}
