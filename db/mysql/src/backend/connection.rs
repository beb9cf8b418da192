//! The queue of executions on one connection: what is written when, and whose reply is being read.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pando_kernel::backend::{Backend, CancelToken, Condition, Execution};
use pando_kernel::session::TransactionState;
use pando_kernel::{CopyInput, Error, ErrorKind, Event, Result, Whole};

use super::job::{Job, Stage, Work};
use super::lifted::Counts;
use super::login::{Agreement, misreads};
use super::request;
use super::statements::Statements;
use super::whole::Seen;
use super::wire::Wire;
use super::{Options, unavailable};
use crate::codec::Status;
use crate::row::{BinaryRows, TextRows};

/// Executions that may wait on one connection.
const MAX_JOBS: usize = 1024;

/// Its victim's transaction is over.
pub(super) const DEADLOCK: u32 = 1213;

pub(super) struct Connection {
    pub(super) options: Arc<Options>,
    pub(super) wire: Wire,
    pub(super) agreement: Agreement,
    pub(super) status: Status,
    pub(super) statements: Statements,
    pub(super) counts: Counts,
    /// Oldest first; the first `sent` have been written, at least in part.
    pub(super) jobs: VecDeque<Job>,
    pub(super) sent: usize,
    /// The last written job must be answered before more is written.
    pub(super) held: bool,
    /// Events already read, before anything that is still in the buffer.
    pub(super) ready: VecDeque<Event>,
    /// Why a file's content could not be had.
    pub(super) no_file: Option<String>,
    /// The server does not know COM_RESET_CONNECTION.
    pub(super) lacks_reset: bool,
    pub(super) seen: Seen,
    pub(super) text_rows: Arc<TextRows>,
    pub(super) binary_rows: Arc<BinaryRows>,
    /// The sequence number that the answer to the last written command begins with.
    pub(super) answered_from: u8,
    lost: Option<String>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("unit", &self.options.unit)
            .field("thread", &self.agreement.thread)
            .field("jobs", &self.jobs.len())
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// What the server called its version in the greeting.
    pub(super) fn version(&self) -> &str {
        &self.agreement.version
    }

    pub(super) fn new(
        options: Arc<Options>,
        wire: Wire,
        agreement: Agreement,
        status: Status,
    ) -> Self {
        Self {
            statements: Statements::new(options.statements),
            counts: Counts::default(),
            options,
            wire,
            agreement,
            status,
            jobs: VecDeque::new(),
            sent: 0,
            held: false,
            ready: VecDeque::new(),
            no_file: None,
            lacks_reset: false,
            seen: Seen::default(),
            text_rows: Arc::new(TextRows),
            binary_rows: Arc::new(BinaryRows),
            answered_from: 1,
            lost: None,
        }
    }

    /// Writes waiting jobs as far as they may go out before an answer is needed.
    pub(super) fn pump(&mut self) {
        while !self.held
            && let Some(mut job) = self.jobs.get_mut(self.sent).map(std::mem::take)
        {
            job.stage = self.write(&job.work);
            job.answered_from = self.answered_from;
            self.held = job.holds_line();
            if let Some(slot) = self.jobs.get_mut(self.sent) {
                *slot = job;
            }
            self.sent += 1;
            if self.sent == 1 {
                self.wire.input.expect(self.answered_from);
            }
        }
    }

    /// Takes in what the server says of itself at the end of a reply.
    ///
    /// # Errors
    /// `Unavailable` when it reads texts otherwise from now on than they are read here: something has set what no statement may set.
    pub(super) fn stands(&mut self, status: Status) -> Result<()> {
        self.status = status;
        match misreads(status, &self.agreement) {
            false => Ok(()),
            true => Err(unavailable(
                &self.options.unit,
                "the SQL mode was changed, by which the server reads statements",
            )),
        }
    }

    fn lose(&mut self, error: Error) -> Error {
        if self.lost.is_none() {
            self.lost = Some(error.to_string());
        }
        self.ready.clear();
        self.finish();
        error
    }

    /// Removes the oldest job.
    pub(super) fn finish(&mut self) {
        if self.jobs.pop_front().is_some() {
            self.sent = self.sent.saturating_sub(1);
            let next = self.jobs.front().map_or(1, |job| job.answered_from);
            self.wire.input.expect(next);
        }
        if self.sent == 0 {
            self.held = false;
        }
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        loop {
            self.pump();
            if let Poll::Ready(Err(error)) = self.wire.poll_write(cx) {
                // The server may have said why it closed the connection.
                return match self.advance() {
                    Ok(Some(event)) => Poll::Ready(Ok(event)),
                    Ok(None) | Err(_) => Poll::Ready(Err(self.lose(error))),
                };
            }
            match self.advance() {
                Ok(Some(event)) => return Poll::Ready(Ok(event)),
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(self.fail(error))),
            }
            // `advance` may have written more: send it before waiting.
            if let Poll::Ready(Err(error)) = self.wire.poll_write(cx) {
                return Poll::Ready(Err(self.lose(error)));
            }
            match self.wire.poll_read(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.lose(error))),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Whether the server waits for a file's content, and has got some of it.
    fn file(&mut self) -> Option<&mut bool> {
        let Stage::File { begun } = &mut self.jobs.front_mut()?.stage else { return None };
        Some(begun)
    }

    /// An error that ends the oldest job's reply, and with it the connection unless the server sent it.
    fn fail(&mut self, error: Error) -> Error {
        self.ready.clear();
        if let ErrorKind::Server(server) = error.kind() {
            // A deadlock's victim is rolled back as a whole; the packet has no status to tell it.
            if server.number == DEADLOCK {
                self.status = self.status.without(Status::IN_TRANSACTION);
            }
        } else if !matches!(error.kind(), ErrorKind::Value(_)) {
            return self.lose(error);
        }
        self.finish();
        error
    }
}

impl Backend for Connection {
    fn start(&mut self, execution: Execution) -> Result<()> {
        if let Some(why) = &self.lost {
            return Err(unavailable(&self.options.unit, why));
        }
        let work = match execution {
            Execution::Text(sql) | Execution::Aside(sql) => Work::Text(sql),
            Execution::Lifted { text, sql, parameters, era } => {
                let prepares = || self.counts.suffice(&sql, era) && self.statements.has_room();
                match self.statements.tells(&sql).unwrap_or_else(prepares) {
                    true => Work::Lifted { text, sql, parameters },
                    false => Work::Text(text),
                }
            }
            Execution::Prepared { sql, parameters, .. } => Work::Prepared { sql, parameters },
            Execution::Describe { sql, .. } => Work::Describe { sql },
            // A server forgets all that one session has, prepared statements among it.
            Execution::Reset | Execution::Scrub => Work::Reset,
            Execution::Ping => Work::Ping,
        };
        request::check(&work)?;
        if self.jobs.len() >= MAX_JOBS {
            return Err(Error::new(ErrorKind::TooLarge(format!(
                "{MAX_JOBS} executions wait on one connection"
            ))));
        }
        self.jobs.push_back(Job::new(work));
        self.pump();
        Ok(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        if let Some(event) = self.ready.pop_front() {
            return Poll::Ready(Ok(event));
        }
        if self.jobs.is_empty() {
            return Poll::Ready(Err(Error::internal("no execution is under way")));
        }
        if let Some(why) = &self.lost {
            let error = unavailable(&self.options.unit, why);
            self.finish();
            return Poll::Ready(Err(error));
        }
        self.step(cx)
    }

    fn poll_whole(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Whole>>> {
        self.pump();
        // Why nothing can be written shows when the pieces are read.
        let is_lost =
            self.lost.is_some() || matches!(self.wire.poll_write(cx), Poll::Ready(Err(_)));
        if is_lost || !self.may_come_whole() {
            return Poll::Ready(Ok(None));
        }
        while self.wire.input.buffered().is_empty() {
            if let Err(error) = ready!(self.wire.poll_read(cx)) {
                return Poll::Ready(Err(self.lose(error)));
            }
        }
        let whole = self.take_whole();
        Poll::Ready(whole.map_err(|error| self.lose(error)))
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        let begun = self.file().ok_or_else(|| Error::internal("no file is asked for"))?;
        match input {
            // An empty packet is the end, so empty data must not become one.
            CopyInput::Data(data) if data.is_empty() => return Ok(()),
            CopyInput::Data(data) => {
                *begun = true;
                // Parts below the limit of a frame keep the server's joining buffer small.
                for part in data.chunks(1 << 20) {
                    self.wire.output.payload(part);
                }
                return Ok(());
            }
            CopyInput::Done => {}
            // There is no other end than the regular one: a statement of its own would commit what has come so far.
            CopyInput::Fail(why) if *begun => {
                let why = unavailable(&self.options.unit, why);
                return Err(self.lose(why));
            }
            CopyInput::Fail(why) => self.no_file = Some(why),
        }
        self.wire.output.payload(&[]);
        self.wire.input.expect(self.wire.output.sequence());
        if let Some(job) = self.jobs.front_mut() {
            job.stage = Stage::Answer;
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(why) = &self.lost {
            return Poll::Ready(Err(unavailable(&self.options.unit, why)));
        }
        self.pump();
        ready!(self.wire.poll_write(cx))?;
        if self.jobs.is_empty() && self.ready.is_empty() {
            // An idle server says nothing but good-bye.
            let last = match self.wire.poll_read(cx) {
                Poll::Pending => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => {
                    unavailable(&self.options.unit, "the server ended the connection")
                }
                Poll::Ready(Err(error)) => error,
            };
            return Poll::Ready(Err(self.lose(last)));
        }
        Poll::Ready(Ok(()))
    }

    fn condition(&self) -> Condition {
        let open = self.status.has(Status::IN_TRANSACTION);
        // A job whose reply is read but not taken still counts.
        let untaken = self.ready.iter().filter(|event| matches!(event, Event::Done)).count();
        Condition {
            usable: self.lost.is_none(),
            outstanding: self.jobs.len() + untaken,
            transaction: if open { TransactionState::Open } else { TransactionState::Idle },
        }
    }

    fn token(&self) -> CancelToken {
        CancelToken { id: u64::from(self.agreement.thread), secret: 0 }
    }
}
