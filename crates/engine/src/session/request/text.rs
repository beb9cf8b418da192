//! A request that is a text: its statements, and what they are together.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::runtime::{LONG, aside};
use pando_sql::Span;

use crate::plan::unread as syntax_error;

use crate::session::given::{Cut, Given, Queued};
use crate::session::place::Place;
use crate::session::reply::pieces::Reply;
use crate::session::reply::pull::{finish, piece, read_ahead};
use crate::session::request::executable;
use crate::session::run::template;
use crate::session::settings::modes;
use crate::session::statement::{administer, stand};
use crate::session::transaction::{Opened, begin, commit};
use crate::session::{Session, line};

/// Bytes that are read ahead before other sessions of the thread have their turn.
const AT_ONCE: usize = 32 << 10;

impl Place {
    /// Goes on where long work keeps nobody waiting. The request itself may be short, when its statement was prepared
    /// before.
    pub(in crate::session) async fn step_aside(&mut self) {
        let engine = Arc::clone(&self.engine().inner);
        aside(&*engine.runtime).await;
    }
}

/// Splits a text into statements and starts the first.
pub(in crate::session) async fn begin_text(session: &mut Session, text: &Arc<str>) -> Result<()> {
    let mut given = Given::of_client();
    if let Some(recalled) = template::recall(session, text, &mut given) {
        session.outbox.begins_text();
        return match line::run_recalled(session, &recalled, text, &mut given).await {
            Ok(()) => Ok(()),
            Err(error) => Err(Box::pin(fail_text(session, error)).await),
        };
    }
    let syntax = *session.place.syntax()?;
    let whole = text;
    let text = &match Box::pin(executable::settle_text(session, whole)).await {
        Ok(settled) => settled,
        Err(error) => return Err(Box::pin(fail_text(session, error)).await),
    };
    let modes = modes::modes(session);
    let split =
        pando_sql::split_under(text, &syntax, modes).map_err(syntax_error).and_then(|spans| {
            if !Arc::ptr_eq(text, whole) {
                executable::refuse_other_units(session, text, &spans)?;
            }
            Ok(spans)
        });
    let read = match split {
        Ok(spans) if spans.len() < 2 => Ok(spans),
        Ok(spans) => Box::pin(read_ahead(session, text, &spans)).await.map(|()| spans),
        Err(error) => Err(error),
    };
    let spans = match read {
        Ok(spans) => spans,
        Err(error) => return Err(Box::pin(fail_text(session, error)).await),
    };
    // An empty one ends what a pipeline has opened before it, as any other does.
    session.outbox.ends_text();
    if spans.is_empty() {
        session.outbox.begins_text();
        session.outbox.tell(Event::Empty);
    }
    let is_settled = !Arc::ptr_eq(text, whole);
    for span in spans {
        let one = span.of(text).trim();
        let cut = Cut { modes, is_settled };
        let text = if one.len() == text.len() { Arc::clone(text) } else { Arc::from(one) };
        session.outbox.enqueue(Queued { text, learns: given.learns, cut });
    }
    Ok(())
}

/// Where the statements of a text are together, servers read all of it before they run any: a COMMIT in it commits
/// nothing when what follows cannot be read. What only the units can read is judged by them, when its turn comes.
/// <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT>
async fn read_ahead(session: &mut Session, text: &str, spans: &[Span]) -> Result<()> {
    let together = session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
    if !together {
        return Ok(());
    }
    let syntax = *session.place.syntax()?;
    let administration = session.place.engine().administration().cloned();
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
            session.place.refuse_unreadable(&statement).map_err(placed)?;
        }
    }
    Ok(())
}

/// The next piece of the current request's replies.
pub(in crate::session) async fn next_event(session: &mut Session) -> Result<Option<Event>> {
    loop {
        if let Some(piece) = session.outbox.next_ahead() {
            return piece;
        }
        if session.outbox.passes_on() {
            read_ahead::pass_on(session).await;
            continue;
        }
        if let Some(event) = piece::next_of_reply(session).await? {
            return Ok(Some(event));
        }
        let is_copied = matches!(session.outbox.reply(), Reply::CopyIn(_));
        if is_copied || !start_queued(session).await? {
            return Ok(None);
        }
    }
}

/// Starts the next statement of the request; false when there is none.
async fn start_queued(session: &mut Session) -> Result<bool> {
    let Some(Queued { text, learns, cut }) = session.outbox.next_queued() else {
        if session.work.opened() == Opened::Pipeline && session.outbox.is_text() {
            session.outbox.ends_text();
            commit::sync(session).await?;
        }
        return Ok(false);
    };
    let is_behind_another = session.outbox.begins_text();
    if is_behind_another || session.outbox.has_queued() {
        // Behind a COMMIT of the text as well: what follows is together until the next one.
        begin::open_pipeline(session);
    }
    // A statement before it may have changed the configuration, and how texts are read.
    let result = if let Err(error) = modes::refuse_other_cut(session, &text, cut) {
        Err(error)
    } else if text.len() > LONG {
        Box::pin(start_long(session, &text)).await
    } else {
        let given = Given { learns, ..Given::of_client() };
        match stand::refresh(session).and_then(|()| administer::read(session, &text)) {
            Ok(statement) => Box::pin(line::run(session, &statement, given)).await,
            Err(error) => Err(error),
        }
    };
    match result {
        Ok(()) => Ok(true),
        Err(error) => Err(Box::pin(fail_text(session, error)).await),
    }
}

/// Starts a long statement: where it keeps nobody waiting, and with its memory counted.
async fn start_long(session: &mut Session, text: &Arc<str>) -> Result<()> {
    session.place.step_aside().await;
    let engine = Arc::clone(&session.place.engine().inner);
    let mut counted = engine.reading.begin(&*engine.runtime, text).await?;
    stand::refresh(session)?;
    let statement = administer::read(session, text)?;
    if let Some(counted) = &mut counted {
        engine.reading.add(&*engine.runtime, counted, &statement).await?;
    }
    Box::pin(line::run(session, &statement, Given::of_client())).await
}

/// A statement of a text has failed, and with it the whole text.
async fn fail_text(session: &mut Session, error: Error) -> Error {
    let error = finish::fail_statement(session, error).await;
    if session.work.opened() == Opened::Pipeline {
        session.outbox.ends_text();
        if let Err(worse) = commit::sync(session).await {
            return worse;
        }
    }
    error
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
