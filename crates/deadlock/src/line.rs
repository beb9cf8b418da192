//! The way to one server, past its storage unit's pool: a full pool must not keep anybody from seeing why it is full.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::waits::{MOST_WAITS, Server, Wait};
use pando_kernel::{
    Backend, Columns, Connector, Error, ErrorKind, Event, Execution, Result, Rows, Value,
};

/// A server that does not answer a question for so long is left out of the look.
const ANSWER_LIMIT: Duration = Duration::from_millis(500);
/// The same for a connection to it.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// Bytes of one answer.
const MOST_BYTES: usize = 1 << 20;
/// A connection that nobody needed for so long is closed.
pub(crate) const IDLE: Duration = Duration::from_secs(30);
/// A server that refuses, as it is being started anew, is left alone for so long, and twice as long each time, up to [`PAUSE`].
const REFUSED_PAUSE: Duration = Duration::from_millis(200);
/// The same for one that does not answer. Everybody else's deadlocks wait for the attempt, so they see at least half of the time; but a busy server is late just when there are deadlocks.
const SILENT_PAUSE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_secs(10);
/// Different things that are said; each is said once.
const MOST_SAID: usize = 256;

/// What has been said in the log.
#[derive(Debug, Default)]
pub(crate) struct Said(Mutex<BTreeSet<String>>);

impl Said {
    /// Warns of something, unless it was said before.
    fn warn(&self, text: String) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MOST_SAID && !said.contains(&text) {
            tracing::warn!("{text}");
            said.insert(text);
        } else {
            tracing::debug!("{text}");
        }
    }
}

/// A connection of its own to one storage unit's server.
#[derive(Debug)]
pub(crate) struct Line {
    /// What opens it.
    pub(crate) connector: Arc<dyn Connector>,
    backend: Option<Box<dyn Backend>>,
    server: Option<Server>,
    /// When it was last needed.
    pub(crate) used: Instant,
    /// Not to be tried before.
    not_before: Option<Instant>,
    /// Attempts that failed since it could be asked.
    failures: u32,
    said: Arc<Said>,
}

impl Line {
    pub(crate) fn new(connector: Arc<dyn Connector>, now: Instant, said: &Arc<Said>) -> Self {
        let said = Arc::clone(said);
        let (backend, server, not_before, failures) = (None, None, None, 0);
        Self { connector, backend, server, used: now, not_before, failures, said }
    }

    /// The server, when it is known.
    pub(crate) fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// Finds out which server it is, unless that is known.
    pub(crate) async fn meet(&mut self, runtime: &SharedRuntime) {
        if self.server.is_some() || self.not_before.is_some_and(|then| runtime.now() < then) {
            return;
        }
        let dialect = self.connector.dialect();
        let Some(waits) = dialect.waits() else { return };
        let met = async {
            let mut backend = self.connector.connect(runtime).await?;
            let rows = ask(&mut *backend, waits.server_query()).await?;
            let row = rows.first().ok_or_else(|| Error::internal("a server without a name"))?;
            Ok((backend, waits.read_server(row)?))
        };
        match within(&**runtime, CONNECT_LIMIT, met).await {
            Some(Ok((backend, server))) => {
                if let Some(why) = &server.untold {
                    self.said.warn(format!(
                        "server `{}` cannot tell who waits for whom: {why}; deadlocks over several storage units are only suspected there, after some seconds",
                        server.name
                    ));
                }
                (self.backend, self.server) = (Some(backend), Some(server));
            }
            Some(Err(error)) => self.fails(runtime, &error),
            None => self.fails(runtime, &silent()),
        }
    }

    /// Who waits there. Nobody, when the server cannot be asked.
    pub(crate) async fn waits(&mut self, runtime: &SharedRuntime) -> Vec<Wait> {
        let is_kept = self.backend.is_some();
        let mut looked = self.look(runtime).await;
        // A connection may have been ended while nobody looked; the server is well all the same.
        if is_kept && looked.as_ref().is_err_and(|error| !is_silent(error)) {
            looked = self.look(runtime).await;
        }
        looked.unwrap_or_else(|error| {
            self.fails(runtime, &error);
            Vec::new()
        })
    }

    async fn look(&mut self, runtime: &SharedRuntime) -> Result<Vec<Wait>> {
        if self.backend.is_none() {
            self.server = None;
            self.meet(runtime).await;
        }
        let (Some(mut backend), Some(server)) = (self.backend.take(), self.server.as_ref()) else {
            return Ok(Vec::new());
        };
        let asked = within(&**runtime, ANSWER_LIMIT, ask(&mut *backend, server.waits)).await;
        let rows = asked.unwrap_or_else(|| Err(silent()))?;
        let waits = rows.iter().map(|row| Wait::read(row)).collect::<Result<_>>()?;
        let condition = backend.condition();
        self.backend = (condition.usable && condition.outstanding == 0).then_some(backend);
        self.failures = 0;
        Ok(waits)
    }

    fn fails(&mut self, runtime: &SharedRuntime, error: &Error) {
        self.backend = None;
        let first = if is_silent(error) { SILENT_PAUSE } else { REFUSED_PAUSE };
        self.not_before = Some(runtime.now() + pause(first, self.failures));
        self.failures = self.failures.saturating_add(1);
        let is_refused = matches!(error.kind(), ErrorKind::Server(_));
        let hint = match is_refused {
            true => {
                "; MySQL and MariaDB want the PROCESS privilege for it, MySQL also SELECT on performance_schema"
            }
            false => "",
        };
        self.said.warn(format!(
            "a storage unit's server could not be asked who waits for whom, so deadlocks that go through it are not seen: {error}{hint}"
        ));
    }
}

fn pause(first: Duration, failures: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(failures)).min(PAUSE)
}

fn is_silent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Timeout(_))
}

fn silent() -> Error {
    Error::new(ErrorKind::Timeout("the server does not answer in time".into()))
}

/// The rows of a query's answer.
async fn ask(backend: &mut dyn Backend, text: &str) -> Result<Vec<Vec<Value>>> {
    backend.start(Execution::Text(text.into()))?;
    let (mut columns, mut rows): (Option<Columns>, Vec<Vec<Value>>) = (None, Vec::new());
    let mut bytes = 0usize;
    loop {
        match poll_fn(|cx| backend.poll_event(cx)).await? {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(chunk) => {
                bytes = bytes.saturating_add(chunk.bytes.len());
                let columns = columns.as_ref();
                let columns = columns.ok_or_else(|| Error::protocol("rows without columns"))?;
                decode(columns, &chunk, &mut rows)?;
                if rows.len() > MOST_WAITS || bytes > MOST_BYTES {
                    return Err(ErrorKind::TooLarge("more waits than were asked for".into()).into());
                }
            }
            Event::Done => return Ok(rows),
            Event::Complete(_)
            | Event::Empty
            | Event::Suspended
            | Event::Notice(_)
            | Event::Parameter { .. }
            | Event::Described(_)
            | Event::CopyOut(_)
            | Event::CopyData(_) => {}
            Event::CopyIn(_) | Event::SendFile(_) => {
                return Err(Error::protocol("a question was answered with a request for data"));
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_who_refuses_is_asked_sooner_than_who_is_silent() {
        assert!(is_silent(&silent()) && !is_silent(&Error::internal("gone")));
        let pauses = [0, 1, 2, 5, 6, 40].map(|failures| pause(REFUSED_PAUSE, failures).as_millis());
        assert_eq!(pauses, [200, 400, 800, 6_400, 10_000, 10_000]);
        let pauses = [0, 1, 4, 5, 40].map(|failures| pause(SILENT_PAUSE, failures).as_millis());
        assert_eq!(pauses, [500, 1_000, 8_000, 10_000, 10_000]);
    }
}
