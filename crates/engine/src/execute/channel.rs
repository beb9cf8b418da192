//! One backend connection with the executions a statement runs on it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::row::Rows;
use pando_kernel::{Column, Columns, Execution, Format, Whole};
use pando_pool::Connection;

use super::asked::Asked;
use super::renumber::Renumbering;
use crate::merge::{RowSource, alike};
use crate::mirror::Tap;
use crate::variables::UNKNOWN;

/// Executions that are sent ahead on one connection. Enough to keep its server busy; few, because each that is sent must be cancelled by itself.
const AHEAD: u8 = 8;

/// Notices of one statement that are kept for its client; what a unit says beyond is not passed on.
const NOTICES: usize = 1000;

/// A connection, the replies to swallow first, and the statement's replies still to be read.
#[derive(Debug)]
pub(crate) struct Channel {
    /// The connection.
    pub(crate) connection: Connection,
    /// Replies of preparing executions (session variables, BEGIN) that come first.
    swallow: usize,
    /// Replies of the statement that are not yet at their end, also of what is not started yet.
    remaining: usize,
    /// The first execution of the statement, until it is started. Apart from the others, because most statements have but one.
    first: Option<Execution>,
    /// Those behind it that are not started yet.
    waiting: VecDeque<Execution>,
    /// An error does not keep what comes behind it from being done.
    goes_on: bool,
    /// How many executions are sent before the first of them is answered.
    ahead: u8,
    opening: Opening,
    /// Rows that were read while other units were waited for.
    kept: VecDeque<Rows>,
    /// What later replies are compared with. Apart, because most statements have but one.
    form: Option<Box<Form>>,
    /// Where the unit's types have other numbers than are shown.
    renumbering: Option<Box<Renumbering>>,
    /// Where servers forget with the next statement what the one before was warned of.
    asked: Option<Box<Asked>>,
    /// Where the statement is to run a second time elsewhere.
    tap: Option<Box<Tap>>,
    /// The statement was cancelled: nothing further is started.
    halt: Arc<AtomicBool>,
    /// How the replies ended so far.
    pub(crate) completions: Vec<Completion>,
    /// Notices that came meanwhile.
    pub(crate) notices: VecDeque<Event>,
    /// It takes no part in the session's transaction, and must be reset before it serves others.
    pub(crate) apart: bool,
    /// Its preparing executions set the savepoint that undoes the statement.
    pub(crate) savepoint: bool,
}

/// The columns of the first reply that has any, and why rows of the present one may not follow its rows.
#[derive(Debug)]
struct Form {
    first: Arc<[Column]>,
    unlike: Option<Error>,
}

/// Whether the preparing executions open a transaction that changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// They do not.
    None,
    /// They do, and what is started now travels with them.
    Near,
    /// They do, and what is started before they are answered would not.
    Gone,
}

/// The executions of a statement on one channel.
struct Jobs {
    /// How many there are, those that have been started included.
    remaining: usize,
    /// To be started when the channel is read, and those behind it.
    first: Option<Execution>,
    waiting: VecDeque<Execution>,
}

impl Channel {
    /// Nobody reads any more whether the connection took what it was to wear.
    pub(crate) fn doubt(&mut self) {
        if self.swallow > 0 {
            self.connection.set_session_state(UNKNOWN);
        }
    }

    /// A channel on which `swallow` preparing executions and then `jobs` of the statement have been started.
    pub(crate) fn new(connection: Connection, swallow: usize, jobs: usize) -> Self {
        let jobs = Jobs { remaining: jobs, first: None, waiting: VecDeque::new() };
        Self::of(connection, swallow, jobs, Arc::default())
    }

    /// A channel for one execution, as [`Channel::feeding`] makes one for several.
    pub(crate) fn feeding_one(
        connection: Connection,
        swallow: usize,
        execution: Execution,
        halt: Arc<AtomicBool>,
    ) -> Self {
        let jobs = Jobs { remaining: 1, first: Some(execution), waiting: VecDeque::new() };
        Self::of(connection, swallow, jobs, halt)
    }

    fn of(connection: Connection, swallow: usize, jobs: Jobs, halt: Arc<AtomicBool>) -> Self {
        let Jobs { remaining, first, waiting } = jobs;
        Self {
            connection,
            swallow,
            remaining,
            first,
            waiting,
            goes_on: false,
            ahead: AHEAD,
            opening: Opening::None,
            kept: VecDeque::new(),
            form: None,
            renumbering: None,
            asked: None,
            tap: None,
            halt,
            completions: Vec::new(),
            notices: VecDeque::new(),
            apart: false,
            savepoint: false,
        }
    }

    /// A channel that starts these executions one behind the other when it is read, `swallow` preparing ones having been started. None is started any
    /// more after `halt` is set or one has failed.
    pub(crate) fn feeding(
        connection: Connection,
        swallow: usize,
        executions: VecDeque<Execution>,
        halt: Arc<AtomicBool>,
    ) -> Self {
        let jobs = Jobs { remaining: executions.len(), first: None, waiting: executions };
        Self::of(connection, swallow, jobs, halt)
    }

    /// What is sent and answered is told in the numbers that are shown; of what was started before, the answer.
    pub(crate) fn renumber(&mut self, renumbering: Option<Box<Renumbering>>) {
        self.renumbering = renumbering;
    }

    /// Of a channel that has started nothing yet: all that it starts, and what is answered, is seen.
    pub(crate) fn is_tapped(&mut self, tap: Tap) {
        self.tap = Some(Box::new(tap));
    }

    /// Reads on for who sees the answers, though nobody else wants them: to their end, or so many bytes of rows.
    pub(crate) async fn read_out(&mut self, limit: usize) {
        let mut bytes = 0;
        while self.tap.is_some() && bytes < limit {
            match poll_fn(|cx| self.poll_rows(cx)).await {
                Ok(Some(rows)) => bytes += rows.bytes.len(),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Starts every execution even if one before it fails.
    pub(crate) fn go_on_after_errors(&mut self) {
        self.goes_on = true;
    }

    /// Sends no execution before the one in front of it has succeeded. Some servers leave a transaction by themselves when a statement fails (a deadlock's
    /// victim in MySQL): what has been sent behind it would then stand by itself, and stay.
    pub(crate) fn one_by_one(&mut self) {
        self.ahead = 1;
    }

    /// Asks behind each statement that was warned of something what it was, before the next makes its server forget.
    /// They are sent one by one: a server that has the next already answers of that.
    pub(crate) fn asks_between(&mut self, question: &'static str) {
        self.one_by_one();
        self.asked = Some(Box::new(Asked::new(question)));
    }

    /// What statements before the last were warned of: see [`Channel::asks_between`].
    pub(crate) fn take_asked(&mut self) -> Vec<(Columns, Rows)> {
        self.asked.as_mut().map(|asked| asked.take_rows()).unwrap_or_default()
    }

    /// Behind preparing executions that open a transaction nothing is sent that would run, and stand by itself, if they fail. What travels with them
    /// ([`Execution::Aside`]) would not: the first execution.
    pub(crate) fn opens(&mut self) {
        self.opening = Opening::Near;
    }

    /// Starts nothing any more.
    pub(crate) fn forgo(&mut self) {
        let dropped = self.waiting.len() + usize::from(self.first.take().is_some());
        self.remaining = self.remaining.saturating_sub(dropped);
        self.waiting.clear();
    }

    fn feed(&mut self) -> Result<()> {
        if self.first.is_none() && self.waiting.is_empty() {
            return Ok(());
        }
        if self.halt.load(Ordering::Acquire) {
            self.forgo();
            return Err(ErrorKind::Cancelled.into());
        }
        while self.connection.condition().outstanding < usize::from(self.ahead)
            && (self.opening != Opening::Gone || self.swallow == 0)
            && let Some(execution) = self.first.take().or_else(|| self.waiting.pop_front())
        {
            if self.opening == Opening::Near {
                self.opening = Opening::Gone;
            }
            let mut execution = execution;
            if let Some(tap) = &mut self.tap {
                tap.sends(&execution);
            }
            if let Some(renumbering) = &self.renumbering {
                renumbering.sent(&mut execution);
            }
            if let Err(error) = self.connection.start(execution) {
                self.fails();
                return Err(error);
            }
        }
        Ok(())
    }

    /// One execution has failed.
    fn fails(&mut self) {
        self.remaining = self.remaining.saturating_sub(1);
        if !self.goes_on {
            self.forgo();
        }
    }

    /// The next piece of the statement's replies. `Event::Done` ends each reply.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        loop {
            self.feed()?;
            let event = match ready!(self.connection.poll_event(cx)) {
                Ok(event) => event,
                Err(error) => {
                    // The statement has ended well: what it was warned of is told less completely, and no more.
                    let asked = self.asked.as_mut().filter(|asked| asked.is_answered());
                    if let Some(asked) = asked
                        && self.connection.condition().usable
                    {
                        asked.ends();
                        continue;
                    }
                    if self.swallow > 0 {
                        self.swallow -= 1;
                        // Whoever has the connection next must not take it for dressed.
                        self.connection.set_session_state(UNKNOWN);
                        self.forgo();
                    } else {
                        if let Some(tap) = &mut self.tap {
                            tap.hears_error(&error);
                        }
                        self.fails();
                    }
                    return Poll::Ready(Err(error));
                }
            };
            if self.swallow == 0 {
                let event = match &mut self.asked {
                    None => event,
                    Some(asked) if asked.is_answered() => {
                        asked.takes(event);
                        continue;
                    }
                    Some(asked) => {
                        asked.sees(&event);
                        event
                    }
                };
                if let Some(tap) = &mut self.tap {
                    tap.hears(&event);
                }
                if matches!(event, Event::Done) {
                    self.remaining = self.remaining.saturating_sub(1);
                    self.ask()?;
                }
                return Poll::Ready(match &mut self.renumbering {
                    None => Ok(event),
                    Some(renumbering) => renumbering.event(event),
                });
            }
            if matches!(event, Event::Done) {
                self.swallow -= 1;
            }
        }
    }

    /// A statement has ended, and others follow on this connection.
    fn ask(&mut self) -> Result<()> {
        if let Some(asked) = &mut self.asked
            && self.remaining > 0
            && let Some(question) = asked.take_due()
        {
            return self.connection.start(Execution::Text(question.into()));
        }
        Ok(())
    }

    /// The whole of the one reply there is, if it has come in one piece: see [`pando_kernel::Backend::poll_whole`].
    pub(crate) fn poll_whole(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Whole>>> {
        self.feed()?;
        if self.swallow > 0 || self.remaining != 1 {
            return Poll::Ready(Ok(None));
        }
        let whole = ready!(self.connection.poll_whole(cx));
        if let Some(tap) = &mut self.tap {
            match &whole {
                Ok(Some(whole)) => tap.hears_whole(whole),
                Ok(None) => {}
                Err(error) => tap.hears_error(error),
            }
        }
        match &whole {
            Ok(Some(_)) => self.remaining = 0,
            Ok(None) => {}
            Err(_) => self.fails(),
        }
        if let Some(renumbering) = &mut self.renumbering {
            let renumbered =
                |whole: Option<Whole>| whole.map(|whole| renumbering.whole(whole)).transpose();
            return Poll::Ready(whole.and_then(renumbered));
        }
        Poll::Ready(whole)
    }

    /// Whether every reply has been read.
    pub(crate) fn is_finished(&self) -> bool {
        self.remaining == 0 && self.swallow == 0
    }

    /// Reads on until columns come (`Some`), or one whole reply has ended without any (`None`).
    pub(crate) fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>>> {
        loop {
            let event = ready!(self.poll_event(cx))?;
            match event {
                Event::Columns(ref columns) => {
                    self.compare(columns);
                    return Poll::Ready(Ok(Some(event)));
                }
                Event::CopyIn(_) | Event::CopyOut(_) | Event::SendFile(_) => {
                    return Poll::Ready(Ok(Some(event)));
                }
                Event::Complete(done) => self.completions.push(done),
                Event::Done => return Poll::Ready(Ok(None)),
                Event::Notice(_) => self.note(event),
                Event::Rows(_)
                | Event::Empty
                | Event::Suspended
                | Event::Parameter { .. }
                | Event::Described(_)
                | Event::CopyData(_) => {}
            }
        }
    }

    /// Keeps a notice for the client.
    pub(crate) fn note(&mut self, notice: Event) {
        if self.notices.len() < NOTICES {
            self.notices.push_back(notice);
        }
    }

    /// Sends the data of a copy that waits. A unit to whose notices nobody listens stops taking data at some time, so they are kept meanwhile.
    pub(crate) fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        loop {
            if let Poll::Ready(sent) = self.connection.poll_flush(cx) {
                return Poll::Ready(sent);
            }
            ready!(self.poll_meanwhile(cx))?;
        }
    }

    /// Why the unit has refused the copy under way, whose data is not at its end. Of what it says besides, notices are kept.
    pub(crate) fn poll_refused(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        loop {
            if let Err(error) = ready!(self.poll_meanwhile(cx)) {
                return Poll::Ready(error);
            }
        }
    }

    /// Takes what a unit may say while it is sent data.
    fn poll_meanwhile(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        match ready!(self.poll_event(cx))? {
            event @ Event::Notice(_) => self.note(event),
            Event::Parameter { .. } => {}
            Event::Columns(_)
            | Event::Rows(_)
            | Event::Complete(_)
            | Event::Empty
            | Event::Suspended
            | Event::Done
            | Event::Described(_)
            | Event::CopyIn(_)
            | Event::CopyOut(_)
            | Event::CopyData(_)
            | Event::SendFile(_) => {
                let message = "a storage unit answers before it has all data";
                return Poll::Ready(Err(Error::internal(message)));
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads on and keeps the rows. Whether all replies have ended; false when so many bytes of rows are kept before.
    pub(crate) fn poll_ahead(&mut self, cx: &mut Context<'_>, limit: usize) -> Poll<Result<bool>> {
        let mut bytes: usize = self.kept.iter().map(|rows| rows.bytes.len()).sum();
        while bytes < limit {
            let Some(rows) = ready!(self.poll_fresh(cx))? else { return Poll::Ready(Ok(true)) };
            bytes += rows.bytes.len();
            self.kept.push_back(rows);
        }
        Poll::Ready(Ok(self.is_finished()))
    }

    /// The rows that were read ahead.
    pub(crate) fn take_kept(&mut self) -> VecDeque<Rows> {
        std::mem::take(&mut self.kept)
    }

    /// Reads on to the next rows; `None` when all replies have ended.
    pub(crate) fn poll_rows(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        match self.kept.pop_front() {
            Some(rows) => Poll::Ready(Ok(Some(rows))),
            None => self.poll_fresh(cx),
        }
    }

    fn poll_fresh(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        while !self.is_finished() {
            match ready!(self.poll_event(cx))? {
                Event::Rows(rows) => {
                    let unlike = self.form.as_mut().and_then(|form| form.unlike.take());
                    return Poll::Ready(unlike.map_or(Ok(Some(rows)), Err));
                }
                Event::Complete(done) => self.completions.push(done),
                event @ Event::Notice(_) => self.note(event),
                Event::Columns(columns) => self.compare(&columns),
                Event::Parameter { .. }
                | Event::Empty
                | Event::Suspended
                | Event::Done
                | Event::Described(_)
                | Event::CopyIn(_)
                | Event::CopyOut(_)
                | Event::CopyData(_)
                | Event::SendFile(_) => {}
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Rows of several statements follow each other as those of one: their tables must be alike, as they are unless a definition has failed on some. Without rows
    /// it does not matter: MySQL folds a computed column to another type where it sees that no row can match.
    fn compare(&mut self, columns: &Columns) {
        let Some(form) = &mut self.form else {
            if self.remaining > 1 {
                self.form = Some(Box::new(Form { first: Arc::clone(&columns.list), unlike: None }));
            }
            return;
        };
        let first = &form.first;
        let tells =
            |column: &Column| column.format == Format::Binary || column.native.relation != 0;
        let is_other = |(a, b): (&Column, &Column)| {
            a.format != b.format || tells(a) && a.native.type_id != b.native.type_id
        };
        form.unlike = if Arc::ptr_eq(first, &columns.list) {
            None
        } else if let Err(unlike) = alike(first, &columns.list) {
            Some(unlike)
        } else {
            let other = first.iter().zip(columns.list.iter()).find(|both| is_other(*both));
            other.map(|(column, _)| {
                Error::unmerged(
                    30001,
                    format!("column `{}` has other types in other actual tables", column.name),
                    "give the actual tables the same columns",
                )
            })
        };
    }
}

/// A channel shared between the merge that reads it and the session that gets its connection back.
pub(crate) type Shared = Arc<Mutex<Channel>>;

/// Where a merge reads one target's rows from.
#[derive(Debug)]
pub(crate) enum Source {
    /// Straight from the connection: nothing is held in memory.
    Stream(Shared),
    /// From memory: the connection had to run other statements (paper eq. 1, θ > 1).
    Memory(VecDeque<Rows>),
}

impl RowSource for Source {
    fn poll_rows(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        match self {
            Self::Stream(shared) => {
                shared.lock().unwrap_or_else(PoisonError::into_inner).poll_rows(cx)
            }
            Self::Memory(rows) => Poll::Ready(Ok(rows.pop_front())),
        }
    }
}

/// One target's whole reply in memory.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its columns; `None` when it returned no rows.
    pub(crate) columns: Option<Columns>,
    /// Its rows.
    pub(crate) rows: VecDeque<Rows>,
}
