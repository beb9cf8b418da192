//! One connection: executions go in, the pieces of their replies come out in order.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, CancelToken, Condition, CopyInput, Error, ErrorKind, Event, Execution, Notification,
    Result, Rows, Whole,
};

use super::job::{Again, Job, Run, Subject, Work};
use super::lifted::Seen;
use super::reply::{Line, Outcome};
use super::request::{self, Call, Question, Steps};
use super::reset::{self, Doing};
use super::statements::{Found, Origin, Statements, name};
use super::whole;
use super::wire::Wire;
use super::{Options, unavailable};
use crate::codec::backend::Backend as Message;
use crate::codec::copy::{encode_data, encode_done, encode_fail};
use crate::codec::frame::{self, HEADER};
use crate::codec::frontend::{encode_sync, encode_terminate};

/// The most bytes queued for writing; more is refused until some are written.
const MAX_QUEUED: usize = 64 * 1024 * 1024;
/// So many notifications wait to be taken before more are read.
const MAX_HEARD: usize = 1000;
/// Copied data goes in messages of at most so many bytes.
const COPY_CHUNK: usize = 1024 * 1024;

/// A connection that is logged in.
pub(super) struct Connection {
    unit: Arc<str>,
    wire: Wire,
    line: Line,
    token: CancelToken,
    /// Why the connection is lost.
    lost: Option<String>,
    /// Why writing fails; what the server sent before is still read.
    mute: Option<String>,
}

impl Connection {
    pub(super) fn new(options: &Options, wire: Wire, token: CancelToken) -> Connection {
        Connection {
            unit: Arc::clone(&options.unit),
            wire,
            line: Line {
                jobs: std::collections::VecDeque::new(),
                statements: Statements::new(options.statements),
                lists: Arc::clone(&options.lists),
                changes: Seen::new(&options.changes),
                transaction: TransactionState::Idle,
                heard: None,
            },
            token,
            lost: None,
            mute: None,
        }
    }

    /// Runs a statement that came as text by its prepared form, if that is kept or may be; else as text.
    fn lifted(&mut self, text: Arc<str>, call: Call) -> Result<()> {
        if self.line.changes.are_more() {
            self.line.statements.names_changed();
        }
        let found = self.line.statements.find(&call.sql, &call.types, Origin::Text(call.era));
        match found {
            Found::Ready(..) => {}
            Found::Unnamed => return self.text(text),
            Found::New(id) => {
                if self.line.changes.gave_up(&call.sql, call.era) {
                    self.line.statements.failed(&call.sql, id);
                    return self.text(text);
                }
            }
        }
        self.run_found(Call { text: Some(text), ..call }, found)
    }

    /// Gives the newest execution a Sync of its own, if it was to share that of one that does not come or is to run even if this one fails.
    fn close_aside(&mut self) {
        if self.line.close() {
            encode_sync(&mut self.wire.output);
        }
    }

    fn text(&mut self, sql: Arc<str>) -> Result<()> {
        let queued = self.wire.output.len();
        if let Err(error) = request::text(&mut self.wire.output, &sql) {
            self.wire.output.truncate(queued);
            return Err(error);
        }
        self.line.jobs.push_back(Job::new(Work::Text(sql)));
        Ok(())
    }

    fn run(&mut self, call: Call) -> Result<()> {
        let found = match has_open(&call.types, call.parameters.len()) {
            true => Found::Unnamed,
            false => self.line.statements.find(&call.sql, &call.types, Origin::Prepared(call.era)),
        };
        self.run_found(call, found)
    }

    fn run_found(&mut self, call: Call, found: Found) -> Result<()> {
        let (id, known, parse) = match found {
            // What stands for a text tells its columns each time, as the text would: their tables may be others by now.
            Found::Ready(id, _) if call.text.is_some() => (Some(id), None, false),
            Found::Ready(id, known) => (Some(id), known, false),
            Found::New(id) => (Some(id), None, true),
            Found::Unnamed => (None, None, true),
        };
        request::close(&mut self.wire.output, &self.line.statements.take_closing());
        let closed = self.wire.output.len();
        let steps = Steps { parse, describe: known.is_none() };
        let statement = id.map(name).unwrap_or_default();
        if let Err(error) = request::call(&mut self.wire.output, &statement, &call, steps) {
            self.abandon(closed, &call.sql, id);
            return Err(error);
        }
        let run = Run { call, id, known, reused: !parse, bound: false };
        self.line.jobs.push_back(Job::new(Work::Run(run)));
        Ok(())
    }

    fn describe(&mut self, question: Question) -> Result<()> {
        let Question { sql, types, era } = &question;
        let found = match has_open(types, types.len()) {
            true => Found::Unnamed,
            false => self.line.statements.find(sql, types, Origin::Prepared(*era)),
        };
        let (id, parse) = match found {
            Found::Ready(id, _) => (Some(id), false),
            Found::New(id) => (Some(id), true),
            Found::Unnamed => (None, true),
        };
        request::close(&mut self.wire.output, &self.line.statements.take_closing());
        let closed = self.wire.output.len();
        let statement = id.map(name).unwrap_or_default();
        let (output, steps) = (&mut self.wire.output, Steps { parse, describe: true });
        if let Err(error) = request::describe(output, &statement, &question, steps) {
            self.abandon(closed, &question.sql, id);
            return Err(error);
        }
        let subject = Subject { question, id, reused: !parse };
        let work = Work::Describe(subject, Vec::new());
        self.line.jobs.push_back(Job::new(work));
        Ok(())
    }

    /// Takes back what was written of an execution that cannot be. The Close messages in front of it
    /// stay: the cache has forgotten those statements, and they get no reply of their own.
    fn abandon(&mut self, closed: usize, sql: &str, id: Option<u64>) {
        self.wire.output.truncate(closed);
        if let Some(id) = id {
            self.line.statements.failed(sql, id);
        }
    }

    fn doing(&self) -> Doing {
        let is_idle = self.line.transaction == TransactionState::Idle && self.line.jobs.is_empty();
        if is_idle { Doing::Nothing } else { Doing::Something }
    }

    /// Writes what can be written now. A failure is kept until the input is read to its end: the
    /// server's last words say more than a broken pipe.
    fn try_write(&mut self, cx: &mut Context<'_>) {
        self.close_aside();
        if self.mute.is_none()
            && self.wire.has_output()
            && let Poll::Ready(Err(error)) = self.wire.poll_write(cx)
        {
            self.mute = Some(error.to_string());
        }
    }

    /// Takes in what an idle server has sent: notices, a changed parameter, or its last words.
    fn look(&mut self, cx: &mut Context<'_>) -> Result<()> {
        while self.line.jobs.is_empty() {
            if self.line.heard.as_ref().is_some_and(|heard| heard.len() >= MAX_HEARD) {
                cx.waker().wake_by_ref();
                break;
            }
            match self.step() {
                Ok(Some(Outcome::Lost(message))) => return Err(self.lose(message)),
                Ok(Some(_)) => continue,
                Ok(None) => {}
                Err(error) => return Err(self.lose(error.to_string())),
            }
            match self.wire.poll_read(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Err(self.broken(&error)),
            }
        }
        Ok(())
    }

    /// The connection is lost: the oldest reply ends so, and each one behind it when it is asked for.
    fn lose(&mut self, why: String) -> Error {
        let why = self.lost.get_or_insert(why).clone();
        self.line.jobs.pop_front();
        unavailable(&self.unit, why)
    }

    fn broken(&mut self, error: &io::Error) -> Error {
        let why = match (&self.mute, error.kind()) {
            (Some(mute), _) => format!("the connection broke: {mute}"),
            (None, io::ErrorKind::UnexpectedEof) => "the server closed the connection".into(),
            (None, _) => format!("the connection broke: {error}"),
        };
        self.lose(why)
    }

    /// Takes the next message of the input; `None` when it is not whole yet.
    fn step(&mut self) -> Result<Option<Outcome>> {
        let limit = self.wire.limit();
        let tag = match frame::header(&self.wire.input, limit)? {
            None => return Ok(None),
            Some(header) => header.tag,
        };
        match tag {
            b'D' => self.rows(limit),
            b'd' => self.copied(),
            _ => {
                let Some((header, body)) = self.wire.frame()? else { return Ok(None) };
                let outcome = self.line.take(Message::decode(header.tag, body)?)?;
                self.wire.skip(header.total);
                Ok(Some(outcome))
            }
        }
    }

    /// As many whole rows as have arrived, handed on as they stand.
    fn rows(&mut self, limit: usize) -> Result<Option<Outcome>> {
        let (length, count) = frame::run(&self.wire.input, b'D', limit)?;
        if count == 0 {
            return Ok(None);
        }
        let bytes = self.wire.take(length);
        let count = u32::try_from(count).map_err(|_| Error::internal("too many rows at once"))?;
        Ok(Some(self.unless_silent(|| Event::Rows(Rows { bytes, count }))))
    }

    fn copied(&mut self) -> Result<Option<Outcome>> {
        let Some((header, _)) = self.wire.frame()? else { return Ok(None) };
        let data: Bytes = self.wire.take(header.total).slice(HEADER..);
        Ok(Some(self.unless_silent(|| Event::CopyData(data))))
    }

    fn unless_silent(&self, event: impl FnOnce() -> Event) -> Outcome {
        match self.line.jobs.front() {
            Some(job) if !job.silent() => Outcome::Event(event()),
            Some(_) | None => Outcome::Quiet,
        }
    }

    /// Acts on a message; the result is what the caller is told, if anything.
    fn act(&mut self, outcome: Outcome) -> Option<Result<Event>> {
        match outcome {
            Outcome::Quiet | Outcome::Heard => None,
            Outcome::Event(event) => Some(Ok(event)),
            Outcome::Over(result) => Some(result.map(|()| Event::Done)),
            Outcome::Sync => {
                encode_sync(&mut self.wire.output);
                None
            }
            Outcome::Settle => {
                request::settle(&mut self.wire.output);
                None
            }
            Outcome::Again(Again::Text(sql)) => self.text(sql).err().map(Err),
            Outcome::Again(Again::Run(call)) => self.run(call).err().map(Err),
            Outcome::Again(Again::Describe(question)) => self.describe(question).err().map(Err),
            Outcome::Lost(message) => Some(Err(self.lose(message))),
        }
    }
}

/// Whether the server is to find the type of one of so many parameters. It keeps what it finds with the statement, whatever the names in it come to mean: to another
/// session's temporary table, in another schema, or when somebody has changed the column. So such a statement is kept for nobody else.
fn has_open(types: &[u32], parameters: usize) -> bool {
    types.len() < parameters || types.contains(&0)
}

impl Backend for Connection {
    fn start(&mut self, execution: Execution) -> Result<()> {
        if let Some(why) = &self.lost {
            return Err(unavailable(&self.unit, why.clone()));
        }
        if self.wire.output.len() > MAX_QUEUED {
            let message = "too many bytes wait to be written to the storage unit";
            return Err(Error::new(ErrorKind::TooLarge(message.into())));
        }
        let work = match execution {
            Execution::Text(sql) => return self.text(sql),
            Execution::Lifted { text, sql, parameters, era } => {
                let types = parameters.iter().map(|one| one.native.type_id).collect();
                let formats = Vec::new();
                let call = Call { sql, types, parameters, formats, era, text: None };
                return self.lifted(text, call);
            }
            Execution::Prepared { sql, types, parameters, formats, era } => {
                return self.run(Call { sql, types, parameters, formats, era, text: None });
            }
            Execution::Describe { sql, types, era } => {
                return self.describe(Question { sql, types, era });
            }
            Execution::Aside(sql) => {
                request::aside(&mut self.wire.output, &sql)?;
                Work::Aside { shares: true }
            }
            Execution::Reset => {
                self.close_aside();
                let doing = self.doing();
                reset::put(&mut self.wire.output, doing)?;
                Work::Silent
            }
            Execution::Scrub => {
                self.close_aside();
                let doing = self.doing();
                reset::put_scrub(&mut self.wire.output, doing)?;
                self.line.statements.clear();
                Work::Silent
            }
            Execution::Ping => {
                self.close_aside();
                encode_sync(&mut self.wire.output);
                Work::Ping
            }
        };
        self.line.jobs.push_back(Job::new(work));
        Ok(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        if let Some(why) = self.lost.clone() {
            return Poll::Ready(Err(self.lose(why)));
        }
        if self.line.jobs.is_empty() {
            return Poll::Ready(Err(Error::internal("nothing was started on the connection")));
        }
        loop {
            self.try_write(cx);
            if let Some(error) = self.line.pass_over() {
                return Poll::Ready(Err(error));
            }
            match self.step() {
                Err(error) => {
                    self.lose(error.to_string());
                    return Poll::Ready(Err(error));
                }
                Ok(Some(Outcome::Heard)) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Ok(Some(outcome)) => {
                    if let Some(result) = self.act(outcome) {
                        return Poll::Ready(result);
                    }
                }
                Ok(None) => match self.wire.poll_read(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(self.broken(&error))),
                },
            }
        }
    }

    fn poll_whole(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Whole>>> {
        let is_told = |job: &Job| !job.silent();
        if self.lost.is_some()
            || self.line.is_passed_over()
            || !self.line.jobs.front().is_some_and(is_told)
        {
            return Poll::Ready(Ok(None));
        }
        self.try_write(cx);
        while self.wire.input.is_empty() {
            if let Err(error) = ready!(self.wire.poll_read(cx)) {
                return Poll::Ready(Err(self.broken(&error)));
            }
        }
        match whole::begins(&self.wire.input, self.wire.limit()) {
            Ok(true) => {}
            // Whatever is wrong with it shows when it is read.
            Ok(false) | Err(_) => return Poll::Ready(Ok(None)),
        }
        let whole = whole::gather(|| self.step());
        if let Err(error) = &whole {
            self.lose(error.to_string());
        }
        Poll::Ready(whole.map(Some))
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        // The server has refused what came before, and its error is read when it is ready: it passes over the rest.
        if self.line.jobs.front().is_some_and(Job::has_failed) {
            return Ok(());
        }
        let Some(job) = self.line.jobs.front_mut().filter(|job| job.copying) else {
            return Err(Error::internal("no copy is under way"));
        };
        let output = &mut self.wire.output;
        match input {
            CopyInput::Data(data) => {
                data.chunks(COPY_CHUNK).for_each(|chunk| encode_data(output, chunk));
                return Ok(());
            }
            CopyInput::Done => encode_done(output),
            CopyInput::Fail(reason) => encode_fail(output, &reason),
        }
        job.copying = false;
        if job.extended() {
            job.settles = true;
            request::settle(output);
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(why) = self.lost.as_ref().or(self.mute.as_ref()) {
            return Poll::Ready(Err(unavailable(&self.unit, why.clone())));
        }
        self.close_aside();
        match self.wire.poll_write(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(self.look(cx)),
            Poll::Ready(Err(error)) => {
                let why = error.to_string();
                self.mute = Some(why.clone());
                Poll::Ready(Err(unavailable(&self.unit, why)))
            }
        }
    }

    fn heard(&mut self) -> Vec<Notification> {
        std::mem::take(self.line.heard.get_or_insert_default())
    }

    fn condition(&self) -> Condition {
        Condition {
            usable: self.lost.is_none() && self.mute.is_none(),
            outstanding: self.line.jobs.len(),
            transaction: self.line.transaction,
        }
    }

    fn token(&self) -> CancelToken {
        self.token
    }
}

impl Drop for Connection {
    /// Says good-bye when the stream takes it at once; the server notices a closed socket anyway.
    fn drop(&mut self) {
        if self.lost.is_none() && self.mute.is_none() && self.wire.output.is_empty() {
            encode_terminate(&mut self.wire.output);
            let mut cx = Context::from_waker(std::task::Waker::noop());
            let _ = self.wire.poll_write(&mut cx);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("unit", &self.unit)
            .field("condition", &self.condition())
            .finish_non_exhaustive()
    }
}
