//! The replies a connection waits for, and what each message of the server means to them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use pando_kernel::session::TransactionState;
use pando_kernel::{
    Completion, CopyForm, Description, Error, ErrorKind, Event, Lists, Native, Result, ServerError,
};

use super::describe;
use super::lifted::{self, Seen};
use super::request::Call;
use super::statements::{Returns, Statements};
use crate::codec::backend::{Backend, CommandComplete, ParameterStatus, RowDescription, Status};
use crate::codec::copy::CopyResponse;
use crate::codec::first_word;
use crate::error;
use crate::position::Sent;

/// What is awaited, oldest first.
pub(super) struct Line {
    pub(super) replies: VecDeque<Reply>,
    pub(super) statements: Statements,
    pub(super) lists: Arc<Lists>,
    pub(super) changes: Seen,
    pub(super) transaction: TransactionState,
}

/// One awaited reply.
pub(super) struct Reply {
    task: Task,
    failed: Option<Box<ServerError>>,
    /// The server has passed over it, up to the Sync behind one before it that failed: no message of its own comes.
    passed_over: bool,
    /// It has rows.
    returns: bool,
    /// The server waits for copy data.
    pub(super) copying: bool,
    /// The copy is over, and the server may be ready once or twice before it has closed what `settle` asks it to.
    pub(super) settles: bool,
}

/// What a reply answers.
pub(super) enum Task {
    /// A statement as text.
    Text(Arc<str>),
    /// A statement of which only success counts. It `shares` the Sync of the next reply, or has one of its own.
    Aside { shares: bool },
    /// A prepared statement.
    Run(Run),
    /// A question for types.
    Describe(Subject, Vec<Native>),
    /// A simple query of our own, of which only success or failure counts.
    Silent,
    /// A Sync alone.
    Ping,
}

/// A prepared statement on its way.
pub(super) struct Run {
    pub(super) call: Call,
    /// Its number in the cache; `None` when it is unnamed.
    pub(super) id: Option<u64>,
    /// What it returns, when that is known from an earlier run: it was not prepared anew.
    pub(super) known: Option<Returns>,
    /// It was found prepared, so that the server may have changed its mind about it.
    pub(super) reused: bool,
    /// The server has begun to run it.
    pub(super) bound: bool,
}

/// A statement that is described.
pub(super) struct Subject {
    pub(super) sql: Arc<str>,
    pub(super) types: Arc<[u32]>,
    pub(super) era: u64,
    pub(super) id: Option<u64>,
    /// As for a run.
    pub(super) reused: bool,
}

/// What is sent once more.
pub(super) enum Again {
    Text(Arc<str>),
    Run(Call),
    /// A statement with its types, and its era.
    Describe((Arc<str>, Arc<[u32]>), u64),
}

/// What a message leads to.
pub(super) enum Outcome {
    /// Nothing the caller needs to know.
    Quiet,
    /// A piece of the reply.
    Event(Event),
    /// The reply is over.
    Over(Result<()>),
    /// The server skips everything up to a Sync that has to be sent.
    Sync,
    /// The copy under way has failed: what ends one has to be sent.
    Settle,
    /// It has to be sent once more: prepared anew, or as text.
    Again(Again),
    /// The server has ended the connection, with its reason.
    Lost(String),
}

impl Reply {
    pub(super) fn new(task: Task) -> Reply {
        Reply {
            task,
            failed: None,
            passed_over: false,
            returns: false,
            copying: false,
            settles: false,
        }
    }

    /// Whether its messages end with a Sync instead of standing alone.
    pub(super) fn extended(&self) -> bool {
        match self.task {
            Task::Text(_) | Task::Run(_) | Task::Describe(..) | Task::Aside { .. } => true,
            Task::Silent | Task::Ping => false,
        }
    }

    /// Whether a Sync has been written for it, at which a server that passes messages over stops to do so. At a simple query it does not, and none follows one that shares its own.
    fn syncs(&self) -> bool {
        match self.task {
            Task::Text(_) | Task::Run(_) | Task::Describe(..) | Task::Ping => true,
            Task::Aside { shares } => !shares,
            Task::Silent => false,
        }
    }

    /// Whether the server has told its error; its end is still to come.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether rows and warnings are of no interest.
    pub(super) fn silent(&self) -> bool {
        matches!(self.task, Task::Silent | Task::Ping | Task::Aside { .. })
    }

    fn shares(&self) -> bool {
        matches!(self.task, Task::Aside { shares: true })
    }
}

impl Task {
    /// The statement that is told of in its errors.
    fn sql(&self) -> Option<Arc<str>> {
        match self {
            Task::Text(sql)
            | Task::Run(Run { call: Call { sql, .. }, .. })
            | Task::Describe(Subject { sql, .. }, _) => Some(Arc::clone(sql)),
            Task::Aside { .. } | Task::Silent | Task::Ping => None,
        }
    }

    /// What of a statement that was found prepared can be sent anew, and its number in the cache.
    fn once_more(self) -> Option<(u64, Again)> {
        match self {
            Task::Run(Run { call, id: Some(id), reused: true, .. }) => Some((id, Again::Run(call))),
            Task::Describe(Subject { sql, types, era, id: Some(id), reused: true }, _) => {
                Some((id, Again::Describe((sql, types), era)))
            }
            Task::Run(_)
            | Task::Describe(..)
            | Task::Text(_)
            | Task::Aside { .. }
            | Task::Silent
            | Task::Ping => None,
        }
    }
}

/// A statement's error, with the text that it was told of.
fn told(error: Box<ServerError>, sql: Option<&Arc<str>>) -> Error {
    Sent::with(Error::new(ErrorKind::Server(error)), sql)
}

impl Again {
    fn sql(&self) -> &str {
        match self {
            Again::Run(call) => &call.sql,
            Again::Describe((sql, _), _) | Again::Text(sql) => sql,
        }
    }
}

impl Line {
    /// Takes a message that is neither a row nor copy data.
    pub(super) fn take(&mut self, message: Backend<'_>) -> Result<Outcome> {
        match message {
            Backend::ReadyForQuery(ready) => return self.finish(ready.0),
            Backend::Error(notice) => return Ok(self.fail(error::read(&notice))),
            Backend::Notice(notice) => {
                return Ok(self.tell(|| Event::Notice(Box::new(error::read(&notice)))));
            }
            Backend::ParameterStatus(status) if misreads(&status) => {
                return Ok(Outcome::Lost(format!(
                    "setting `{}` was changed, by which the server reads statements",
                    status.name
                )));
            }
            Backend::ParameterStatus(status) => return Ok(self.tell(|| parameter(&status))),
            Backend::Notification(notification) => {
                // Nobody can LISTEN through a connection that is shared.
                tracing::debug!(channel = notification.channel, "dropped a notification");
            }
            Backend::RowDescription(description) => return self.describe(Some(&description)),
            Backend::NoData => return self.describe(None),
            Backend::ParameterDescription(description) => {
                if let Task::Describe(_, parameters) = &mut self.front()?.task {
                    *parameters = describe::parameters(&description);
                }
            }
            Backend::ParseComplete => self.parsed()?,
            Backend::BindComplete => return self.bound(),
            Backend::CommandComplete(complete) => return self.complete(&complete),
            Backend::EmptyQuery => {
                return Ok(self.end_shared().unwrap_or_else(|| self.tell(|| Event::Empty)));
            }
            Backend::CopyIn(response) => return self.copy_in(response),
            Backend::CopyOut(response) => {
                return Ok(self.tell(|| Event::CopyOut(form(response))));
            }
            Backend::CloseComplete => {
                if let Some(reply) = self.replies.front_mut() {
                    reply.settles = false;
                }
            }
            Backend::CopyDone | Backend::DataRow(_) => {}
            Backend::Authentication(_)
            | Backend::KeyData(_)
            | Backend::PortalSuspended
            | Backend::CopyBoth(_)
            | Backend::CopyData(_)
            | Backend::Negotiate(_) => {
                return Err(Error::protocol("the server sent a message that has no place here"));
            }
        }
        Ok(Outcome::Quiet)
    }

    fn front(&mut self) -> Result<&mut Reply> {
        self.replies.front_mut().ok_or_else(|| Error::internal("no reply is awaited"))
    }

    fn tell(&self, event: impl FnOnce() -> Event) -> Outcome {
        match self.replies.front() {
            Some(reply) if !reply.silent() => Outcome::Event(event()),
            Some(_) | None => Outcome::Quiet,
        }
    }

    fn fail(&mut self, error: ServerError) -> Outcome {
        if matches!(error.severity.as_str(), "FATAL" | "PANIC") {
            return Outcome::Lost(error.message);
        }
        let Some(reply) = self.replies.front_mut() else { return Outcome::Lost(error.message) };
        forget(&mut self.statements, &reply.task);
        reply.failed = Some(Box::new(error));
        if reply.shares() {
            return self.pass_over_behind();
        }
        let is_cut_off = std::mem::take(&mut reply.copying) && reply.extended();
        reply.settles |= is_cut_off;
        if is_cut_off { Outcome::Settle } else { Outcome::Quiet }
    }

    /// The oldest reply has failed before any Sync: the server passes over everything up to the next one, simple queries among it. Where only those have been
    /// sent, one has to be sent now; what is started later stands behind it.
    /// <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY>
    fn pass_over_behind(&mut self) -> Outcome {
        let error = self.replies.front().and_then(|reply| reply.failed.clone());
        for behind in self.replies.iter_mut().skip(1) {
            behind.failed.clone_from(&error);
            behind.passed_over = true;
            if behind.syncs() {
                return Outcome::Quiet;
            }
        }
        Outcome::Sync
    }

    fn finish(&mut self, status: Status) -> Result<Outcome> {
        self.transaction = match status {
            Status::Idle => TransactionState::Idle,
            Status::Transaction => TransactionState::Open,
            Status::Failed => TransactionState::Failed,
        };
        if self.replies.front().is_some_and(|reply| reply.settles) {
            return Ok(Outcome::Quiet);
        }
        let Some(reply) = self.replies.pop_front() else {
            return Err(Error::protocol("the server is ready although nothing was asked"));
        };
        let Some(error) = reply.failed else {
            return match reply.shares() {
                true => Err(Error::protocol("the server is ready before it has ended a statement")),
                false => Ok(Outcome::Over(Ok(()))),
            };
        };
        if let Task::Run(Run { call, id, reused, bound, .. }) = &reply.task
            && let Some(text) = &call.text
        {
            let unbound = id.filter(|_| !bound).map(|id| (id, *reused));
            return Ok(self.lifted_failed(error, (call, text), unbound));
        }
        let sql = reply.task.sql();
        let mut error = error;
        if let Task::Text(text) = &reply.task {
            lifted::name_parameter(&mut error, text);
        }
        if let Some((id, again)) = reply.task.once_more()
            && stale(&error)
        {
            if error.sqlstate == "26000" {
                self.statements.clear();
            } else {
                self.statements.discard(again.sql(), id);
            }
            // Behind it others may wait for their replies, which come in order.
            if self.transaction == TransactionState::Idle && self.replies.is_empty() {
                return Ok(Outcome::Again(again));
            }
        }
        Ok(Outcome::Over(Err(told(error, sql.as_ref()))))
    }

    /// Ends the oldest reply if it shares its Sync: no other message ends it.
    fn end_shared(&mut self) -> Option<Outcome> {
        self.replies.pop_front_if(|reply| reply.shares()).map(|_| Outcome::Over(Ok(())))
    }

    /// Ends the oldest reply if no message of its own comes.
    pub(super) fn pass_over(&mut self) -> Option<Error> {
        let reply = self.replies.pop_front_if(|reply| reply.passed_over)?;
        forget(&mut self.statements, &reply.task);
        let error = reply.failed.map(|error| Error::new(ErrorKind::Server(error)));
        Some(error.unwrap_or_else(|| Error::internal("passed over for nothing")))
    }

    /// The oldest reply will get nothing but what ends it.
    pub(super) fn is_passed_over(&self) -> bool {
        self.replies.front().is_some_and(|reply| reply.passed_over)
    }

    /// Lets the newest reply share its Sync no longer. Result: whether it did, and needs one of its own. For one that has failed a Sync is there already.
    pub(super) fn close(&mut self) -> bool {
        let waits = |reply: &&mut Reply| reply.shares() && reply.failed.is_none();
        let newest = self.replies.back_mut().filter(waits);
        newest.map(|reply| reply.task = Task::Aside { shares: false }).is_some()
    }

    /// A statement that came as text has failed in its prepared form; `unbound` is its number in the cache, and whether it was found prepared, if it did not come to
    /// be bound.
    fn lifted_failed(
        &mut self,
        mut error: Box<ServerError>,
        (Call { sql, era, .. }, text): (&Call, &Arc<str>),
        unbound: Option<(u64, bool)>,
    ) -> Outcome {
        if let Some((id, reused)) = unbound {
            match error.sqlstate.as_str() {
                "26000" => self.statements.clear(),
                _ => self.statements.discard(sql, id),
            }
            let tells_types = lifted::tells_types(&error);
            if reused && (stale(&error) || tells_types) {
                self.changes.one_more();
            }
            let is_outside = self.transaction == TransactionState::Idle;
            let may_be_repeated = tells_types || reused && stale(&error);
            if may_be_repeated && (tells_types || !is_outside) {
                self.changes.failed(sql, *era, tells_types);
            }
            if is_outside && self.replies.is_empty() && lifted::may_fare_better(&error) {
                return Outcome::Again(Again::Text(Arc::clone(text)));
            }
            if may_be_repeated && !is_outside {
                error = Box::new(lifted::to_be_repeated(&error));
            }
        }
        lifted::relocate(&mut error, sql, text);
        lifted::forget_parameters(&mut error);
        Outcome::Over(Err(told(error, Some(text))))
    }

    fn parsed(&mut self) -> Result<()> {
        let (text, id) = match &self.front()?.task {
            Task::Run(Run { call, id: Some(id), .. }) => (Arc::clone(&call.sql), *id),
            Task::Describe(Subject { sql, id: Some(id), .. }, _) => (Arc::clone(sql), *id),
            Task::Run(_)
            | Task::Describe(..)
            | Task::Text(_)
            | Task::Aside { .. }
            | Task::Silent
            | Task::Ping => {
                return Ok(());
            }
        };
        self.statements.parsed(&text, id);
        Ok(())
    }

    fn bound(&mut self) -> Result<Outcome> {
        let reply = self.front()?;
        Ok(match &mut reply.task {
            Task::Run(Run { call, known: Some(Some(columns)), .. }) => {
                reply.returns = true;
                Outcome::Event(Event::Columns(describe::formatted(columns, &call.formats)))
            }
            Task::Run(run) => {
                run.bound = true;
                Outcome::Quiet
            }
            Task::Describe(..) | Task::Text(_) | Task::Aside { .. } | Task::Silent | Task::Ping => {
                Outcome::Quiet
            }
        })
    }

    /// `None` is NoData.
    fn describe(&mut self, description: Option<&RowDescription<'_>>) -> Result<Outcome> {
        let columns = description.map(describe::columns);
        let reply =
            self.replies.front_mut().ok_or_else(|| Error::internal("no reply is awaited"))?;
        reply.returns = columns.is_some();
        let event = match &mut reply.task {
            Task::Silent | Task::Ping | Task::Aside { .. } => None,
            Task::Text(_) => columns.map(|list| Event::Columns(describe::with_codec(list))),
            Task::Run(run) => {
                let mut columns = columns;
                if let Some(id) = run.id.filter(|_| run.call.text.is_none()) {
                    // Shared as they are kept; a text's come anew each time.
                    columns = columns.map(|list| self.lists.shared(list));
                    self.statements.described(&run.call.sql, id, columns.clone());
                }
                columns.map(|list| Event::Columns(describe::with_codec(list)))
            }
            Task::Describe(subject, parameters) => {
                let columns = columns.map(|list| self.lists.shared(list));
                if let Some(id) = subject.id {
                    self.statements.described(&subject.sql, id, columns.clone());
                }
                Some(Event::Described(Description {
                    parameters: std::mem::take(parameters),
                    columns: columns.map(describe::with_codec),
                }))
            }
        };
        Ok(event.map_or(Outcome::Quiet, Outcome::Event))
    }

    fn complete(&mut self, complete: &CommandComplete<'_>) -> Result<Outcome> {
        let returns = std::mem::take(&mut self.front()?.returns);
        if matches!(complete.tag, "DEALLOCATE ALL" | "DISCARD ALL") {
            self.statements.clear();
        } else if lifted::may_name(complete.tag, returns) {
            self.statements.names_changed();
        }
        if let Some(over) = self.end_shared() {
            if complete.tag == "BEGIN" {
                self.transaction = TransactionState::Open;
            }
            return Ok(over);
        }
        let affected = complete.rows();
        let tag = match affected {
            // `INSERT 0 5` has the number of an oid in between.
            Some(_) => first_word(complete.tag),
            None => complete.tag,
        };
        Ok(self.tell(|| {
            let tag = known(tag).map_or_else(|| tag.to_owned().into(), Cow::Borrowed);
            Event::Complete(Completion { tag, affected, ..Completion::default() })
        }))
    }

    fn copy_in(&mut self, response: CopyResponse) -> Result<Outcome> {
        if self.replies.len() > 1 {
            // The server would take the executions behind it for broken copy data.
            return Err(Error::internal("a COPY FROM STDIN was not the last execution started"));
        }
        let reply = self.front()?;
        if reply.silent() {
            return Err(Error::protocol("the server asks for data nobody has"));
        }
        reply.copying = true;
        Ok(Outcome::Event(Event::CopyIn(form(response))))
    }
}

/// A statement that failed before it was ever prepared is none of those that are kept.
fn forget(statements: &mut Statements, task: &Task) {
    match task {
        Task::Run(Run { call, id: Some(id), .. }) => statements.failed(&call.sql, *id),
        Task::Describe(Subject { sql, id: Some(id), .. }, _) => statements.failed(sql, *id),
        Task::Run(_)
        | Task::Describe(..)
        | Task::Text(_)
        | Task::Aside { .. }
        | Task::Silent
        | Task::Ping => {}
    }
}

/// The tags of nearly all statements, of which no copy is made.
fn known(tag: &str) -> Option<&'static str> {
    const TAGS: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK"];
    TAGS.into_iter().find(|known| *known == tag)
}

/// Whether an error means that a prepared statement has to be prepared anew.
fn stale(error: &ServerError) -> bool {
    match error.sqlstate.as_str() {
        // What it names by number is gone: a type was dropped and made anew.
        "26000" | "XX000" | "42704" => true,
        "0A000" => {
            let routine = error.fields.iter().find(|(code, _)| *code == b'R');
            routine.is_some_and(|(_, name)| name == "RevalidateCachedQuery")
        }
        _ => false,
    }
}

/// Whether a server reads texts otherwise from now on than they are read here, as when a function sets what no statement can.
pub(super) fn misreads(status: &ParameterStatus<'_>) -> bool {
    match status.name {
        "standard_conforming_strings" => status.value != b"on",
        "client_encoding" => status.value != b"UTF8",
        _ => false,
    }
}

fn parameter(status: &ParameterStatus<'_>) -> Event {
    Event::Parameter {
        name: status.name.to_owned(),
        value: String::from_utf8_lossy(status.value).into_owned(),
    }
}

fn form(response: CopyResponse) -> CopyForm {
    CopyForm { format: response.format, columns: response.columns }
}
