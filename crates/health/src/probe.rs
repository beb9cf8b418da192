//! One probe: the server's answers over a connection of its own.

use std::future::poll_fn;
use std::sync::Arc;

use pando_kernel::health::{Answer, Role, Step, Vitals};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{
    Backend, Columns, Connector, Error, ErrorKind, Event, Execution, Result, Rows, Value,
};

/// What an answer may bring; a server that sends more is not understood.
const MOST_ROWS: usize = 1024;
const MOST_BYTES: usize = 4 << 20;
/// Questions of one probe.
const MOST_STEPS: usize = 8;

/// The way to one server, with the connection of the last probe while it is good.
#[derive(Debug)]
pub(crate) struct Line {
    connector: Arc<dyn Connector>,
    runtime: SharedRuntime,
    kept: Option<Box<dyn Backend>>,
}

impl Line {
    pub(crate) fn new(connector: Arc<dyn Connector>, runtime: SharedRuntime) -> Self {
        Self { connector, runtime, kept: None }
    }

    /// Asks for everything. A kept connection that turns out to be broken is replaced once: it may have been closed for being idle.
    ///
    /// # Errors
    /// Why the server does not answer.
    ///
    /// # Cancel safety
    /// May be dropped at any await; the connection under way is closed.
    pub(crate) async fn probe(&mut self) -> Result<Vitals> {
        if let Some(kept) = self.kept.take()
            && let Ok(vitals) = self.ask_all(kept).await
        {
            return Ok(vitals);
        }
        let fresh = match self.connector.connect(&self.runtime).await {
            Ok(fresh) => fresh,
            Err(error) => return crowded(error),
        };
        self.ask_all(fresh).await
    }

    async fn ask_all(&mut self, mut backend: Box<dyn Backend>) -> Result<Vitals> {
        let dialect = self.connector.dialect();
        let vitals = match dialect.health() {
            Some(health) => {
                let mut answers = Vec::new();
                loop {
                    match health.next(&answers) {
                        Step::Told(vitals) => break *vitals,
                        Step::Ask(_) if answers.len() == MOST_STEPS => {
                            return Err(Error::internal("a probe has too many questions"));
                        }
                        Step::Ask(text) => {
                            let execution = Execution::Text(text.into());
                            answers.push(ask(&mut *backend, execution).await?);
                        }
                    }
                }
            }
            None => match ask(&mut *backend, Execution::Ping).await? {
                Answer::Rows { .. } => Vitals::default(),
                Answer::Refused(why) => return Err(ErrorKind::Server(Box::new(why)).into()),
            },
        };
        let condition = backend.condition();
        self.kept = (condition.usable && condition.outstanding == 0).then_some(backend);
        Ok(vitals)
    }
}

/// A server that is full is there: what it is can't be asked now. Any other refusal means that nobody gets in.
fn crowded(error: Error) -> Result<Vitals> {
    if let ErrorKind::Server(server) = error.kind()
        && server.is_of_a_full_server()
    {
        let untold = Some(format!("anything: {}", server.message));
        return Ok(Vitals { role: Role::Unknown, untold, ..Vitals::default() });
    }
    Err(error)
}

async fn ask(backend: &mut dyn Backend, execution: Execution) -> Result<Answer> {
    backend.start(execution)?;
    let (mut columns, mut rows): (Option<Columns>, Vec<Vec<Value>>) = (None, Vec::new());
    let mut bytes = 0usize;
    loop {
        let event = match poll_fn(|cx| backend.poll_event(cx)).await {
            Ok(event) => event,
            Err(error) => {
                if let ErrorKind::Server(why) = error.kind()
                    && backend.condition().usable
                {
                    return Ok(Answer::Refused((**why).clone()));
                }
                return Err(error);
            }
        };
        match event {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(chunk) => {
                bytes = bytes.saturating_add(chunk.bytes.len());
                let columns = columns.as_ref();
                let columns = columns.ok_or_else(|| Error::protocol("rows without columns"))?;
                decode(columns, &chunk, &mut rows)?;
                if rows.len() > MOST_ROWS || bytes > MOST_BYTES {
                    let message = format!(
                        "a probe's answer has more than {MOST_ROWS} rows or {MOST_BYTES} bytes"
                    );
                    return Err(ErrorKind::TooLarge(message).into());
                }
            }
            Event::Done => break,
            Event::Complete(_)
            | Event::Empty
            | Event::Suspended
            | Event::Notice(_)
            | Event::Parameter { .. }
            | Event::Described(_)
            | Event::CopyOut(_)
            | Event::CopyData(_) => {}
            Event::CopyIn(_) | Event::SendFile(_) => {
                return Err(Error::protocol(
                    "a probe's question was answered with a request for data",
                ));
            }
        }
    }
    let labels =
        columns.map(|columns| columns.list.iter().map(|column| column.name.clone()).collect());
    Ok(Answer::Rows { labels: labels.unwrap_or_default(), rows })
}

fn decode(columns: &Columns, chunk: &Rows, rows: &mut Vec<Vec<Value>>) -> Result<()> {
    let mut fields = Vec::new();
    chunk.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let values = columns.list.iter().zip(&fields).map(|(column, field)| {
            let raw = field.clone().and_then(|range| body.get(range));
            columns.codec.value(column, raw)
        });
        rows.push(values.collect::<Result<_>>()?);
        Ok(())
    })
}
