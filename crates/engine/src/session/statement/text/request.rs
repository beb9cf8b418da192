//! A request that is a text: its statements, and what they are together.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::runtime::{LONG, aside};
use pando_kernel::session::TransactionState;
use pando_sql::Span;

use crate::plan::unread as syntax_error;
use crate::session::place::Place;
use crate::session::statement::text::executable;
use crate::session::{Bound, Opened, Session};

/// Bytes that are read ahead before other sessions of the thread have their turn.
const AT_ONCE: usize = 32 << 10;

impl Place {
    /// Goes on where long work keeps nobody waiting. The request itself may be short, when its statement was prepared before.
    pub(in crate::session) async fn step_aside(&mut self) {
        let engine = Arc::clone(&self.engine.inner);
        aside(&*engine.runtime).await;
    }
}

impl Session {
    /// Splits a text into statements and starts the first.
    pub(in crate::session) async fn begin_text(&mut self, text: &Arc<str>) -> Result<()> {
        let mut bound = Bound::default();
        if let Some(mut recalled) = self.recall(text, &bound) {
            bound.lifted = recalled.take_lifted();
            self.outbox.is_text = true;
            return match self.start_recalled(&recalled, text, &mut bound).await {
                Ok(()) => Ok(()),
                Err(error) => Err(Box::pin(self.fail_text(error)).await),
            };
        }
        let syntax = *self.place.syntax()?;
        let whole = text;
        let text = &match Box::pin(self.settle_text(whole)).await {
            Ok(settled) => settled,
            Err(error) => return Err(Box::pin(self.fail_text(error)).await),
        };
        let split = pando_sql::split(text, &syntax).map_err(syntax_error).and_then(|spans| {
            if !Arc::ptr_eq(text, whole) {
                executable::refuse_other_units(text, &spans, &syntax)?;
            }
            Ok(spans)
        });
        let read = match split {
            Ok(spans) if spans.len() < 2 => Ok(spans),
            Ok(spans) => Box::pin(self.read_ahead(text, &spans)).await.map(|()| spans),
            Err(error) => Err(error),
        };
        let spans = match read {
            Ok(spans) => spans,
            Err(error) => return Err(Box::pin(self.fail_text(error)).await),
        };
        // An empty one ends what a pipeline has opened before it, as any other does.
        self.outbox.is_text = spans.is_empty();
        if spans.is_empty() {
            self.outbox.pending.push_back(Event::Empty);
        }
        for span in spans {
            let one = span.of(text).trim();
            let one = if one.len() == text.len() { Arc::clone(text) } else { Arc::from(one) };
            self.outbox.queue.push_back(one);
        }
        Ok(())
    }

    /// Where the statements of a text are together, servers read all of it before they run any: a COMMIT in it commits nothing when what follows cannot be
    /// read. What only the units can read is judged by them, when its turn comes. <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT>
    async fn read_ahead(&mut self, text: &str, spans: &[Span]) -> Result<()> {
        let together =
            self.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
        if !together {
            return Ok(());
        }
        let syntax = *self.place.syntax()?;
        let administration = self.place.engine.administration().cloned();
        let Some(first) = spans.first() else { return Ok(()) };
        let mut read = 0;
        for span in spans {
            let one = span.of(text).trim();
            read += one.len();
            if read > AT_ONCE {
                read = 0;
                others_first().await;
            }
            if !administration.as_ref().is_some_and(|other| other.takes(one, &syntax)) {
                let placed = |error| behind(error, begin(text, span) - begin(text, first));
                let statement =
                    pando_sql::parse(one, &syntax).map_err(|error| placed(syntax_error(error)))?;
                self.place.refuse_unreadable(&statement).map_err(placed)?;
            }
        }
        Ok(())
    }

    /// Several statements of one request form one transaction where the language says so.
    pub(in crate::session) fn open_pipeline(&mut self) {
        let together =
            self.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
        if together
            && self.work.autocommit
            && self.work.transaction.state() == TransactionState::Idle
        {
            let modes = self.work.modes_for(Vec::new());
            self.work.transaction.begin(modes, self.course());
            self.work.touched = crate::session::transaction::change_modes::Touched::Nothing;
            self.work.opened = Opened::Pipeline;
            self.settings.at_begin = Some(self.settings.variables.clone());
            self.work.modes.at_begin.clone_from(&self.work.modes.session);
        }
    }

    /// Starts the next statement of the request; false when there is none.
    pub(in crate::session) async fn start_queued(&mut self) -> Result<bool> {
        let Some(text) = self.outbox.queue.pop_front() else {
            if self.work.opened == Opened::Pipeline && self.outbox.is_text {
                self.outbox.is_text = false;
                self.sync().await?;
            }
            return Ok(false);
        };
        let is_behind_another = std::mem::replace(&mut self.outbox.is_text, true);
        if is_behind_another || !self.outbox.queue.is_empty() {
            // Behind a COMMIT of the text as well: what follows is together until the next one.
            self.open_pipeline();
        }
        // A statement before it may have changed the configuration.
        let result = if text.len() > LONG {
            Box::pin(self.start_long(&text)).await
        } else {
            match self.refresh().and_then(|()| self.read(&text)) {
                Ok(statement) => Box::pin(self.start_statement(&statement, Bound::default())).await,
                Err(error) => Err(error),
            }
        };
        match result {
            Ok(()) => Ok(true),
            Err(error) => Err(Box::pin(self.fail_text(error)).await),
        }
    }

    /// Starts a long statement: where it keeps nobody waiting, and with its memory counted.
    async fn start_long(&mut self, text: &Arc<str>) -> Result<()> {
        self.place.step_aside().await;
        let engine = Arc::clone(&self.place.engine.inner);
        let mut counted = engine.reading.begin(&*engine.runtime, text).await?;
        self.refresh()?;
        let statement = self.read(text)?;
        if let Some(counted) = &mut counted {
            engine.reading.add(&*engine.runtime, (counted, &statement)).await?;
        }
        Box::pin(self.start_statement(&statement, Bound::default())).await
    }

    /// A statement of a text has failed, and with it the whole text.
    async fn fail_text(&mut self, error: Error) -> Error {
        let error = self.fail_statement(error).await;
        if self.work.opened == Opened::Pipeline {
            self.outbox.is_text = false;
            if let Err(worse) = self.sync().await {
                return worse;
            }
        }
        error
    }

    /// A statement of a text has failed while its reply was read: what the text opened ends with it, before the client hears of the error.
    pub(in crate::session) async fn end_failed_text(&mut self) {
        if self.work.opened == Opened::Pipeline
            && std::mem::take(&mut self.outbox.is_text)
            && let Err(error) = self.sync().await
        {
            tracing::debug!(%error, "a failed text could not be rolled back in order");
        }
    }
}

/// Lets what else is ready in this thread go on.
async fn others_first() {
    let mut has_waited = false;
    poll_fn(|cx| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// The byte where a statement begins, white space left out.
fn begin(text: &str, span: &Span) -> u32 {
    let one = span.of(text);
    let blank = one.len() - one.trim_start().len();
    span.start.saturating_add(u32::try_from(blank).unwrap_or(u32::MAX))
}

/// A syntax error of a statement that stands so many bytes behind the one whose turn it is: positions count from that.
fn behind(error: Error, bytes: u32) -> Error {
    let ErrorKind::Syntax { message, at } = error.kind() else { return error };
    ErrorKind::Syntax { message: message.clone(), at: at.saturating_add(bytes) }.into()
}
