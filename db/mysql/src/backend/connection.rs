//! The queue of executions on one connection: what is written when, and whose reply is being read.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{BufMut, BytesMut};
use pando_kernel::backend::{Backend, CancelToken, Condition, Execution};
use pando_kernel::session::TransactionState;
use pando_kernel::{CopyInput, Error, ErrorKind, Event, Parameter, Result, Whole};

use super::job::{Job, Stage, Work};
use super::lifted::Counts;
use super::login::{Agreement, misreads};
use super::statements::{Statements, Suits};
use super::whole::Seen;
use super::wire::Wire;
use super::{Settings, unavailable};
use crate::codec::{CommandCode, Query, Status};
use crate::row::{BinaryRows, TextRows};
use crate::types::{ColumnType, put_parameter};

/// Executions that may wait on one connection.
const MAX_JOBS: usize = 1024;

/// The protocol's own bound on a packet, in bytes.
const MAX_COMMAND: usize = 1 << 30;

/// Its victim's transaction is over.
pub(super) const DEADLOCK: u32 = 1213;

pub(super) struct Connection {
    pub(super) settings: Arc<Settings>,
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
            .field("unit", &self.settings.unit)
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
        settings: Arc<Settings>,
        wire: Wire,
        agreement: Agreement,
        status: Status,
    ) -> Self {
        Self {
            statements: Statements::new(settings.statements),
            counts: Counts::default(),
            settings,
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

    /// Appends one command, whose packets start at sequence number 0.
    pub(super) fn command(&mut self, fill: impl FnOnce(&mut BytesMut)) {
        self.wire.output.restart(0);
        self.wire.output.packet(fill);
        self.answered_from = self.wire.output.sequence();
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

    /// Writes the first command of a job; returns what its answer begins with.
    pub(super) fn write(&mut self, work: &Work) -> Stage {
        match work {
            Work::Text(sql) => {
                if sets(sql) {
                    // What was prepared before goes on as it was prepared.
                    self.statements.take_all().into_iter().for_each(|id| self.write_close(id));
                    self.counts.clear();
                }
                let capabilities = self.agreement.capabilities;
                self.command(|out| Query::encode(sql.as_bytes(), capabilities, out));
                Stage::Answer
            }
            Work::Prepared { sql, parameters } | Work::Lifted { sql, parameters, .. } => {
                match self.statements.suited(sql, parameters) {
                    Some(Suits::Yes(id, count)) => self.write_execute(id, count, parameters),
                    Some(Suits::No(id)) => {
                        self.write_close(id);
                        self.write_prepare(sql)
                    }
                    None => self.write_prepare(sql),
                }
            }
            Work::Describe { sql } => match self.statements.get(sql) {
                Some(found) => Stage::Described(found.clone()),
                None => self.write_prepare(sql),
            },
            Work::Reset => Stage::Reset(self.write_reset()),
            Work::Ping => {
                self.command(|out| CommandCode::Ping.encode(&[], out));
                Stage::Pong
            }
        }
    }

    fn write_prepare(&mut self, sql: &str) -> Stage {
        self.command(|out| CommandCode::Prepare.encode(sql.as_bytes(), out));
        Stage::PrepareAnswer
    }

    pub(super) fn write_execute(
        &mut self,
        statement: u32,
        count: usize,
        parameters: &[Parameter],
    ) -> Stage {
        if count != parameters.len() {
            let given = parameters.len();
            return Stage::Failed(Some(Error::new(ErrorKind::Value(format!(
                "{given} parameters are given, the statement has {count}"
            )))));
        }
        self.command(|out| put_execute(statement, parameters, out));
        Stage::Answer
    }

    pub(super) fn write_close(&mut self, statement: u32) {
        self.command(|out| CommandCode::Close.encode(&statement.to_le_bytes(), out));
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
                &self.settings.unit,
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

impl Default for Job {
    fn default() -> Self {
        Self::new(Work::Ping)
    }
}

/// Whether a text that is Pando's own sets variables of the session, and not only the user's own.
fn sets(sql: &str) -> bool {
    let sets_users = sql.starts_with("SET @");
    let sets_more =
        || [", SESSION ", ", NAMES ", ", CHARACTER "].iter().any(|part| sql.contains(part));
    sql.starts_with("SET ") && !sql.starts_with("SET TRANSACTION") && (!sets_users || sets_more())
}

fn put_execute(statement: u32, parameters: &[Parameter], out: &mut BytesMut) {
    out.put_u8(CommandCode::Execute as u8);
    out.put_u32_le(statement);
    out.put_u8(0);
    out.put_u32_le(1);
    if parameters.is_empty() {
        return;
    }
    let bitmap = out.len();
    out.put_bytes(0, parameters.len().div_ceil(8));
    out.put_u8(1);
    let types = out.len();
    out.put_bytes(0, parameters.len() * 2);
    for (index, parameter) in parameters.iter().enumerate() {
        let sent = put_parameter(parameter, out);
        let null = sent.type_id == ColumnType::Null as u8;
        if let Some(byte) = out.get_mut(bitmap + index / 8) {
            *byte |= u8::from(null) << (index % 8);
        }
        if let Some(slot) = out.get_mut(types + index * 2..types + index * 2 + 2) {
            slot.copy_from_slice(&[sent.type_id, if sent.unsigned { 0x80 } else { 0 }]);
        }
    }
}

fn size(work: &Work) -> usize {
    match work {
        Work::Text(sql) | Work::Describe { sql } => sql.len(),
        Work::Lifted { text, .. } => text.len(),
        Work::Prepared { sql, parameters } => {
            let raw = |parameter: &Parameter| parameter.raw.as_ref().map_or(32, bytes::Bytes::len);
            sql.len().max(parameters.iter().map(raw).sum())
        }
        Work::Reset | Work::Ping => 0,
    }
}

impl Backend for Connection {
    fn start(&mut self, execution: Execution) -> Result<()> {
        if let Some(why) = &self.lost {
            return Err(unavailable(&self.settings.unit, why));
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
        if size(&work) >= MAX_COMMAND {
            return Err(Error::new(ErrorKind::TooLarge("a statement exceeds 1 GiB".into())));
        }
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
            let error = unavailable(&self.settings.unit, why);
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
                let why = unavailable(&self.settings.unit, why);
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
            return Poll::Ready(Err(unavailable(&self.settings.unit, why)));
        }
        self.pump();
        ready!(self.wire.poll_write(cx))?;
        if self.jobs.is_empty() && self.ready.is_empty() {
            // An idle server says nothing but good-bye.
            let last = match self.wire.poll_read(cx) {
                Poll::Pending => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => {
                    unavailable(&self.settings.unit, "the server ended the connection")
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
