//! A small client over the wire: the same code that speaks to storage units, turned on Pando's own doors.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::{Backend, Columns, Connector, Error, Event, Execution, Result, Value};

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection to a door.
pub(super) struct Client {
    backend: Box<dyn Backend>,
    runtime: SharedRuntime,
}

/// What a statement gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Labels of the columns; empty when it returns no rows.
    pub(super) columns: Vec<String>,
    /// One text per column; NULL is `NULL`.
    pub(super) rows: Vec<Vec<String>>,
    /// Rows affected, where the door counts them.
    pub(super) affected: Option<u64>,
}

impl Client {
    pub(super) async fn connect(
        connector: &dyn Connector,
        runtime: &SharedRuntime,
    ) -> Result<Self> {
        let backend = within(&**runtime, PATIENCE, connector.connect(runtime))
            .await
            .unwrap_or_else(|| Err(Error::internal("the door does not answer")))?;
        Ok(Self { backend, runtime: Arc::clone(runtime) })
    }

    /// Runs one statement and reads its whole answer.
    pub(super) async fn ask(&mut self, sql: &str) -> Result<Answer> {
        self.backend.start(Execution::Text(sql.into()))?;
        let runtime = Arc::clone(&self.runtime);
        let answer = within(&*runtime, PATIENCE, read(&mut *self.backend)).await;
        answer.unwrap_or_else(|| Err(Error::internal(format!("no answer to `{sql}`"))))
    }
}

async fn read(backend: &mut dyn Backend) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut columns: Option<Columns> = None;
    loop {
        match poll_fn(|cx| backend.poll_event(cx)).await? {
            Event::Columns(found) => {
                answer.columns = found.list.iter().map(|column| column.name.clone()).collect();
                columns = Some(found);
            }
            Event::Rows(rows) => {
                let columns = columns
                    .as_ref()
                    .ok_or_else(|| Error::protocol("rows came before their columns"))?;
                rows.for_each(columns, |body| {
                    answer.rows.push(texts(columns, body)?);
                    Ok(())
                })?;
            }
            Event::Complete(completion) => answer.affected = completion.affected,
            Event::Done => return Ok(answer),
            Event::Empty
            | Event::Suspended
            | Event::Notice(_)
            | Event::Parameter { .. }
            | Event::Described(_)
            | Event::CopyIn(_)
            | Event::CopyOut(_)
            | Event::CopyData(_)
            | Event::SendFile(_) => {}
        }
    }
}

fn texts(columns: &Columns, body: &[u8]) -> Result<Vec<String>> {
    let mut fields = Vec::new();
    columns.codec.fields(&columns.list, body, &mut fields)?;
    let pairs = columns.list.iter().zip(fields);
    pairs
        .map(|(column, field)| {
            let raw = field.and_then(|range| body.get(range));
            columns.codec.value(column, raw).map(text)
        })
        .collect()
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        Value::Float(v) => v.to_string(),
        Value::Decimal(v) => v.to_plain_string(),
        Value::Text(v) => v,
        Value::Bytes(v) => String::from_utf8_lossy(&v).into_owned(),
    }
}
