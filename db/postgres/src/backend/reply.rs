//! The replies a connection waits for, and what each message of the server means to them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use pando_kernel::session::TransactionState;
use pando_kernel::{
    Completion, CopyForm, Description, Error, ErrorKind, Event, Lists, Notification, Result,
    ServerError,
};

use super::describe;
use super::job::{Again, Job, Run, Subject, Work};
use super::lifted::{self, Seen};
use super::request::Call;
use super::statements::Statements;
use crate::codec::backend::{
    Backend, CommandComplete, Notification as Told, ParameterStatus, RowDescription, Status,
};
use crate::codec::copy::CopyResponse;
use crate::codec::first_word;
use crate::error;
use crate::position::Sent;

/// What is awaited, oldest first.
pub(super) struct Line {
    pub(super) jobs: VecDeque<Job>,
    pub(super) statements: Statements,
    pub(super) lists: Arc<Lists>,
    pub(super) changes: Seen,
    pub(super) transaction: TransactionState,
    /// What channels have told; `None` while nobody listens.
    pub(super) heard: Option<Vec<Notification>>,
}

/// What a message leads to.
pub(super) enum Outcome {
    /// Nothing the caller needs to know.
    Quiet,
    /// A channel has told something: whoever listens takes it before more is read.
    Heard,
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

/// A prepared statement that was not bound.
struct Unbound {
    /// Its number in the cache.
    id: u64,
    /// It was found prepared.
    reused: bool,
}

/// A statement's error, with the text that it was told of.
fn told(error: Box<ServerError>, sql: Option<&Arc<str>>) -> Error {
    Sent::with(Error::new(ErrorKind::Server(error)), sql)
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
            Backend::Notification(told) => return Ok(self.hear(told)),
            Backend::RowDescription(description) => return self.describe(Some(&description)),
            Backend::NoData => return self.describe(None),
            Backend::ParameterDescription(description) => {
                if let Work::Describe(_, parameters) = &mut self.front()?.work {
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
                if let Some(job) = self.jobs.front_mut() {
                    job.settles = false;
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

    fn hear(&mut self, told: Told<'_>) -> Outcome {
        let Some(heard) = &mut self.heard else {
            // Nobody can LISTEN through a connection that is shared, but by a function of a user's.
            tracing::debug!(channel = told.channel, "dropped a notification");
            return Outcome::Quiet;
        };
        heard.push(Notification {
            process: told.process,
            channel: told.channel.into(),
            payload: told.payload.into(),
        });
        Outcome::Heard
    }

    fn front(&mut self) -> Result<&mut Job> {
        self.jobs.front_mut().ok_or_else(|| Error::internal("no reply is awaited"))
    }

    fn tell(&self, event: impl FnOnce() -> Event) -> Outcome {
        match self.jobs.front() {
            Some(job) if !job.silent() => Outcome::Event(event()),
            Some(_) | None => Outcome::Quiet,
        }
    }

    fn fail(&mut self, error: ServerError) -> Outcome {
        if matches!(error.severity.as_str(), "FATAL" | "PANIC") {
            return Outcome::Lost(error.message);
        }
        let Some(job) = self.jobs.front_mut() else { return Outcome::Lost(error.message) };
        forget(&mut self.statements, &job.work);
        job.failed = Some(Box::new(error));
        if job.shares() {
            return self.pass_over_behind();
        }
        let is_cut_off = std::mem::take(&mut job.copying) && job.extended();
        job.settles |= is_cut_off;
        if is_cut_off { Outcome::Settle } else { Outcome::Quiet }
    }

    /// The oldest reply has failed before any Sync: the server passes over everything up to the next one, simple queries among it. Where only those have been
    /// sent, one has to be sent now; what is started later stands behind it.
    /// <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY>
    fn pass_over_behind(&mut self) -> Outcome {
        let error = self.jobs.front().and_then(|job| job.failed.clone());
        for behind in self.jobs.iter_mut().skip(1) {
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
        if self.jobs.front().is_some_and(|job| job.settles) {
            return Ok(Outcome::Quiet);
        }
        let Some(job) = self.jobs.pop_front() else {
            return Err(Error::protocol("the server is ready although nothing was asked"));
        };
        let Some(error) = job.failed else {
            return match job.shares() {
                true => Err(Error::protocol("the server is ready before it has ended a statement")),
                false => Ok(Outcome::Over(Ok(()))),
            };
        };
        if let Work::Run(Run { call, id, reused, bound, .. }) = &job.work
            && let Some(text) = &call.text
        {
            let unbound = id.filter(|_| !bound).map(|id| Unbound { id, reused: *reused });
            return Ok(self.lifted_failed(error, call, text, unbound));
        }
        let sql = job.work.sql();
        let mut error = error;
        if let Work::Text(text) = &job.work {
            lifted::name_parameter(&mut error, text);
        }
        if let Some((id, again)) = job.work.once_more()
            && stale(&error)
        {
            if error.sqlstate == "26000" {
                self.statements.clear();
            } else {
                self.statements.discard(again.sql(), id);
            }
            // Behind it others may wait for their replies, which come in order.
            if self.transaction == TransactionState::Idle && self.jobs.is_empty() {
                return Ok(Outcome::Again(again));
            }
        }
        Ok(Outcome::Over(Err(told(error, sql.as_ref()))))
    }

    /// Ends the oldest reply if it shares its Sync: no other message ends it.
    fn end_shared(&mut self) -> Option<Outcome> {
        self.jobs.pop_front_if(|job| job.shares()).map(|_| Outcome::Over(Ok(())))
    }

    /// Ends the oldest reply if no message of its own comes.
    pub(super) fn pass_over(&mut self) -> Option<Error> {
        let job = self.jobs.pop_front_if(|job| job.passed_over)?;
        forget(&mut self.statements, &job.work);
        let error = job.failed.map(|error| Error::new(ErrorKind::Server(error)));
        Some(error.unwrap_or_else(|| Error::internal("passed over for nothing")))
    }

    /// The oldest reply will get nothing but what ends it.
    pub(super) fn is_passed_over(&self) -> bool {
        self.jobs.front().is_some_and(|job| job.passed_over)
    }

    /// Lets the newest reply share its Sync no longer. Result: whether it did, and needs one of its own. For one that has failed a Sync is there already.
    pub(super) fn close(&mut self) -> bool {
        let waits = |job: &&mut Job| job.shares() && job.failed.is_none();
        let newest = self.jobs.back_mut().filter(waits);
        newest.map(|job| job.work = Work::Aside { shares: false }).is_some()
    }

    /// A statement that came as text has failed in its prepared form, perhaps before it was bound.
    fn lifted_failed(
        &mut self,
        mut error: Box<ServerError>,
        call: &Call,
        text: &Arc<str>,
        unbound: Option<Unbound>,
    ) -> Outcome {
        let Call { sql, era, .. } = call;
        if let Some(Unbound { id, reused }) = unbound {
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
                match tells_types {
                    true => self.changes.never_fits(sql, *era),
                    false => self.changes.failed(sql, *era),
                }
            }
            if is_outside && self.jobs.is_empty() && lifted::may_fare_better(&error) {
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
        let (text, id) = match &self.front()?.work {
            Work::Run(Run { call, id: Some(id), .. }) => (Arc::clone(&call.sql), *id),
            Work::Describe(Subject { question, id: Some(id), .. }, _) => {
                (Arc::clone(&question.sql), *id)
            }
            Work::Run(_)
            | Work::Describe(..)
            | Work::Text(_)
            | Work::Aside { .. }
            | Work::Silent
            | Work::Ping => {
                return Ok(());
            }
        };
        self.statements.parsed(&text, id);
        Ok(())
    }

    fn bound(&mut self) -> Result<Outcome> {
        let job = self.front()?;
        Ok(match &mut job.work {
            Work::Run(Run { call, known: Some(Some(columns)), .. }) => {
                job.returns = true;
                Outcome::Event(Event::Columns(describe::formatted(columns, &call.formats)))
            }
            Work::Run(run) => {
                run.bound = true;
                Outcome::Quiet
            }
            Work::Describe(..) | Work::Text(_) | Work::Aside { .. } | Work::Silent | Work::Ping => {
                Outcome::Quiet
            }
        })
    }

    /// `None` is NoData.
    fn describe(&mut self, description: Option<&RowDescription<'_>>) -> Result<Outcome> {
        let columns = description.map(describe::columns);
        let job = self.jobs.front_mut().ok_or_else(|| Error::internal("no reply is awaited"))?;
        job.returns = columns.is_some();
        let event = match &mut job.work {
            Work::Silent | Work::Ping | Work::Aside { .. } => None,
            Work::Text(_) => columns.map(|list| Event::Columns(describe::with_codec(list))),
            Work::Run(run) => {
                let mut columns = columns;
                if let Some(id) = run.id.filter(|_| run.call.text.is_none()) {
                    // Shared as they are kept; a text's come anew each time.
                    columns = columns.map(|list| self.lists.shared(list));
                    self.statements.described(&run.call.sql, id, columns.clone());
                }
                columns.map(|list| Event::Columns(describe::with_codec(list)))
            }
            Work::Describe(subject, parameters) => {
                let columns = columns.map(|list| self.lists.shared(list));
                if let Some(id) = subject.id {
                    self.statements.described(&subject.question.sql, id, columns.clone());
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
        } else if lifted::may_name(complete.tag) || !returns && lifted::is_select(complete.tag) {
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
        if self.jobs.len() > 1 {
            // The server would take the executions behind it for broken copy data.
            return Err(Error::internal("a COPY FROM STDIN was not the last execution started"));
        }
        let job = self.front()?;
        if job.silent() {
            return Err(Error::protocol("the server asks for data nobody has"));
        }
        job.copying = true;
        Ok(Outcome::Event(Event::CopyIn(form(response))))
    }
}

/// A statement that failed before it was ever prepared is none of those that are kept.
fn forget(statements: &mut Statements, work: &Work) {
    match work {
        Work::Run(Run { call, id: Some(id), .. }) => statements.failed(&call.sql, *id),
        Work::Describe(Subject { question, id: Some(id), .. }, _) => {
            statements.failed(&question.sql, *id);
        }
        Work::Run(_)
        | Work::Describe(..)
        | Work::Text(_)
        | Work::Aside { .. }
        | Work::Silent
        | Work::Ping => {}
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
