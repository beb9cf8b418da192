//! Questions of the server's own to a storage unit, over a connection made for them.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::backend::{Backend, Connector, Execution};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::{Columns, Value};

/// Time for connecting, and for each answer.
const LIMIT: Duration = Duration::from_secs(10);
/// Rows of an answer: more tables than any unit should have.
const MOST_ROWS: usize = 1_000_000;

/// A connection that serves no client.
pub(crate) struct Inquiry {
    backend: Box<dyn Backend>,
    runtime: SharedRuntime,
    unit: String,
}

impl Inquiry {
    /// Connects and logs in.
    ///
    /// # Errors
    /// As the connector says; `Timeout`.
    pub(crate) async fn connect(
        unit: &str,
        connector: &Arc<dyn Connector>,
        runtime: &SharedRuntime,
    ) -> Result<Self> {
        let connected = within(&**runtime, LIMIT, connector.connect(runtime)).await;
        let backend = connected.unwrap_or_else(|| Err(slow(unit, LIMIT)))?;
        Ok(Self { backend, runtime: Arc::clone(runtime), unit: unit.to_owned() })
    }

    /// The rows of a query.
    ///
    /// # Errors
    /// As the server says; `Timeout`; `TooLarge`.
    pub(crate) async fn rows(&mut self, query: &str) -> Result<Vec<Vec<Value>>> {
        self.rows_within(query, LIMIT).await
    }

    /// The same, of a statement that may take longer.
    ///
    /// # Errors
    /// As [`Inquiry::rows`].
    pub(crate) async fn rows_within(
        &mut self,
        query: &str,
        limit: Duration,
    ) -> Result<Vec<Vec<Value>>> {
        self.backend.start(Execution::Text(query.into()))?;
        let (runtime, unit) = (Arc::clone(&self.runtime), self.unit.clone());
        let answered = within(&*runtime, limit, self.answer()).await;
        answered.unwrap_or_else(|| Err(slow(&unit, limit)))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only columns and rows matter")]
    async fn answer(&mut self) -> Result<Vec<Vec<Value>>> {
        let mut rows = Vec::new();
        let mut columns: Option<Columns> = None;
        loop {
            match poll_fn(|cx| self.backend.poll_event(cx)).await? {
                Event::Columns(found) => columns = Some(found),
                Event::Rows(found) => {
                    let columns = columns.as_ref();
                    let columns = columns.ok_or_else(|| Error::internal("rows without columns"))?;
                    found.for_each(columns, |body| {
                        rows.push(values(columns, body)?);
                        Ok(())
                    })?;
                }
                Event::Done => return Ok(rows),
                _ => {}
            }
            if rows.len() > MOST_ROWS {
                let message = format!("an answer of storage unit `{}`", self.unit);
                return Err(ErrorKind::TooLarge(message).into());
            }
        }
    }
}

fn values(columns: &Columns, body: &[u8]) -> Result<Vec<Value>> {
    let mut fields = Vec::new();
    columns.codec.fields(&columns.list, body, &mut fields)?;
    let fields = columns.list.iter().zip(fields);
    fields
        .map(|(column, field)| columns.codec.value(column, field.and_then(|range| body.get(range))))
        .collect()
}

/// The text of a value.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bytes(octets) => Some(String::from_utf8_lossy(octets).into_owned()),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_) => None,
    }
}

fn slow(unit: &str, limit: Duration) -> Error {
    let seconds = limit.as_secs();
    ErrorKind::Timeout(format!("storage unit `{unit}` did not answer within {seconds} s")).into()
}
