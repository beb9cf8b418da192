//! The message loop of one client.

use std::pin::pin;
use std::sync::Arc;

use pando_kernel::runtime::Idle;
use pando_kernel::session::{Doorway, Session, Settings};
use pando_kernel::{CursorId, Error, ErrorKind, Prepared};

use super::end::{End, Halt, own};
use super::execute::Owed;
use super::portals::Portals;
use super::recode;
use super::wait::{Next, next};
use super::wire::{Frame, Wire};
use crate::codec::backend::encode_parse_complete;
use crate::codec::frontend::{Describe, Frontend, Named};
use crate::codec::{Fault, Malformed};

/// One client and its session.
pub(super) struct Client<D: Doorway> {
    pub(super) doorway: Arc<D>,
    pub(super) settings: Settings,
    pub(super) wire: Wire,
    pub(super) session: D::Session,
    /// The statement without a name; those with one are the session's.
    pub(super) unnamed: Option<Arc<Prepared>>,
    pub(super) portals: Portals,
    /// A statement whose ParseComplete is owed: who asks for its description next hears an error in its place, as Parse is where a server finds it.
    pub(super) parsed: Option<Box<str>>,
    /// A portal whose description is owed unless it is run next.
    pub(super) deferred: Option<String>,
    /// After an error in the extended protocol everything up to the next Sync is passed over.
    pub(super) skipping: bool,
    /// It has been told that the next request may come, and nothing has come since.
    pub(super) is_ready: bool,
    /// Something was executed since the last Sync.
    pub(super) executed: bool,
    /// What was executed waits for a Sync to be committed.
    pub(super) opened: bool,
    /// Data of a COPY TO goes out.
    pub(super) copying_out: bool,
    /// Settings (name, value) of which it will hear with the next sign that it may go on.
    pub(super) news: Vec<(String, String)>,
    /// Cursors of portals that are gone with their transaction; they have to be closed.
    pub(super) ended: Vec<CursorId>,
}

impl<D: Doorway> Client<D> {
    pub(super) fn new(
        doorway: Arc<D>,
        settings: Settings,
        wire: Wire,
        session: D::Session,
    ) -> Client<D> {
        Client {
            doorway,
            settings,
            wire,
            session,
            unnamed: None,
            portals: Portals::default(),
            parsed: None,
            deferred: None,
            skipping: false,
            is_ready: true,
            executed: false,
            opened: false,
            copying_out: false,
            news: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Serves messages until one side ends it.
    pub(super) async fn serve(&mut self) -> End {
        let doorway = Arc::clone(&self.doorway);
        let mut stopping = pin!(doorway.stopping(self.session.key()));
        let mut idle = Idle::new(doorway.runtime(), self.settings.idle_timeout);
        loop {
            let message = match self.wire.take() {
                Ok(Some(frame)) => Ok(Next::Frame(frame)),
                Ok(None) => {
                    let listens = self.is_ready.then_some(&mut self.session);
                    next(&mut self.wire, &mut idle, stopping.as_mut(), listens).await
                }
                Err(malformed) => Ok(Next::Broken(malformed)),
            };
            let step = match message {
                Ok(Next::Frame(frame)) => self.obey(&frame).await,
                Ok(Next::Broken(malformed)) => Err(self.wire.last_words(&malformed.into()).await),
                Ok(Next::Idle) => {
                    let message = "terminating connection due to idle-session timeout";
                    Err(self.wire.last_words(&own("57P05", message.into())).await)
                }
                Ok(Next::Notified(Ok(told))) => {
                    told.iter().for_each(|told| self.notify(told));
                    self.wire.flush().await
                }
                Ok(Next::Notified(Err(error))) => Err(self.wire.last_words(&error).await),
                Ok(Next::Stopping) => {
                    Err(self.wire.last_words(&Error::new(ErrorKind::Shutdown)).await)
                }
                Err(end) => Err(end),
            };
            if let Err(end) = step {
                return end;
            }
            if self.wire.output.len() >= self.settings.flush_bytes
                && let Err(end) = self.wire.flush().await
            {
                return end;
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    async fn obey(&mut self, frame: &Frame) -> Result<(), End> {
        self.is_ready = false;
        if self.skipping && !matches!(frame.tag, b'S' | b'X') {
            return Ok(());
        }
        let turned = match self.turned(frame) {
            Ok(turned) => turned,
            Err(error) => return self.unreadable(frame.tag, error).await,
        };
        let frame = turned.as_ref().unwrap_or(frame);
        if self.is_unproved(frame)
            && let Err(halt) = Box::pin(self.prove_parsed()).await
        {
            let name = self.parsed.clone().unwrap_or_default();
            Box::pin(self.stumble_over(halt, Some(Named::Statement(&name)))).await?;
            if !matches!(frame.tag, b'S' | b'X') {
                return Ok(());
            }
        }
        let message = match self.decoded(frame) {
            Ok(message) => message,
            Err(malformed) => return self.malformed(frame, malformed).await,
        };
        if self.deferred.is_none() {
            return self.dispatch(message, frame, Owed::Nothing).await;
        }
        let owed = match self.settle_deferred(&message).await {
            Ok(owed) => owed,
            Err(halt) => {
                // The failure belongs to the Describe; a Sync still ends the pipeline.
                let portal = self.deferred.take().unwrap_or_default();
                Box::pin(self.stumble_over(halt, Some(Named::Portal(&portal)))).await?;
                match message {
                    Frontend::Sync | Frontend::Terminate => Owed::Nothing,
                    _ => return Ok(()),
                }
            }
        };
        self.dispatch(message, frame, owed).await
    }

    async fn dispatch(
        &mut self,
        message: Frontend<'_>,
        frame: &Frame,
        owed: Owed,
    ) -> Result<(), End> {
        let outcome = match message {
            Frontend::Query(query) => return self.query(query.text).await,
            Frontend::Parse(parse) => {
                let outcome = self.parse(parse).await;
                return self.stumble_in(outcome, parse.text).await;
            }
            Frontend::Bind(bind) => self.bind(bind, &frame.body).await,
            Frontend::Describe(describe) => self.describe(describe).await,
            Frontend::Execute(execute) => self.execute(execute, owed).await,
            Frontend::Close(close) => self.close(close).await,
            Frontend::Flush => return self.wire.flush().await,
            Frontend::Sync => return self.sync().await,
            Frontend::Terminate => return Err(End::Quit),
            // Left over from a copy that failed.
            Frontend::CopyData(_) | Frontend::CopyDone | Frontend::CopyFail(_) => Ok(()),
            Frontend::FunctionCall => {
                let error = Error::unsupported(
                    30001,
                    "function calls by number are not served",
                    "call the function in a SELECT",
                );
                self.fail(error.into(), None).await?;
                return self.ready().await;
            }
            Frontend::Password(_) => {
                return self.unexpected(frame.tag).await;
            }
        };
        match outcome {
            Ok(()) => Ok(()),
            // Read once more, as nothing of it is kept while it is obeyed.
            Err(halt) => {
                let message = Frontend::decode(frame.tag, &frame.body);
                let named = message.ok().and_then(|message| named(&message));
                Box::pin(self.stumble_over(halt, named)).await
            }
        }
    }

    /// After a failure of a message about this statement or portal.
    async fn stumble_over(&mut self, halt: Halt, named: Option<Named<'_>>) -> Result<(), End> {
        let prepared = named.and_then(|named| match named {
            Named::Statement(name) => self.prepared(name).ok(),
            Named::Portal(name) => Some(Arc::clone(&self.portals.get_mut(name).ok()?.prepared)),
        });
        let text = prepared.as_ref().map_or("", |prepared| &*prepared.sql);
        self.stumble_in(Err(halt), text).await
    }

    /// The message in a frame. By itself, so that the client's task holds it once.
    fn decoded<'f>(&mut self, frame: &'f Frame) -> Result<Frontend<'f>, Malformed> {
        let decoded = Frontend::decode(frame.tag, &frame.body);
        self.settle_parsed(decoded.as_ref().ok());
        decoded
    }

    /// The message with its texts as they are read, where the client writes them otherwise.
    fn turned(&mut self, frame: &Frame) -> Result<Option<Frame>, Error> {
        match self.wire.encoding.is_plain() {
            true => Ok(None),
            false => recode::incoming(self.wire.encoding, frame),
        }
    }

    /// Whether a statement with a name waits to be told parsed, and the message is not the Describe that asks for it.
    fn is_unproved(&self, frame: &Frame) -> bool {
        let Some(name) = self.parsed.as_deref().filter(|name| !name.is_empty()) else {
            return false;
        };
        let asked = frame.body.strip_prefix(b"S").and_then(|body| body.strip_suffix(b"\0"));
        frame.tag != b'D' || asked != Some(name.as_bytes())
    }

    /// Asks for the description of the statement that was parsed: what a server says to it is said to its Parse, and
    /// its name stays free. One without a name is left to its execution, which fails as well.
    async fn prove_parsed(&mut self) -> Result<(), Halt> {
        let Some(name) = self.parsed.clone() else { return Ok(()) };
        let prepared = self.prepared(&name)?;
        self.description(&prepared).await.map(drop)
    }

    /// Pays what a Parse left open, unless the message asks for that statement's description.
    fn settle_parsed(&mut self, message: Option<&Frontend<'_>>) {
        let Some(name) = &self.parsed else { return };
        if !matches!(message, Some(Frontend::Describe(Describe(Named::Statement(asked)))) if *asked == &**name)
        {
            self.complete_parse();
        }
    }

    pub(super) fn complete_parse(&mut self) {
        if self.parsed.take().is_some() {
            encode_parse_complete(self.wire.output.buffer());
        }
    }

    /// Pays what a Describe left open, unless the message is the Execute it waited for. When that fails it stays open.
    async fn settle_deferred(&mut self, message: &Frontend<'_>) -> Result<Owed, Halt> {
        let Some(name) = self.deferred.take() else { return Ok(Owed::Nothing) };
        if matches!(message, Frontend::Execute(execute) if execute.portal == name) {
            return Ok(Owed::Description);
        }
        let described = self.describe_deferred(&name).await;
        if described.is_err() {
            self.deferred = Some(name);
        }
        described.map(|()| Owed::Nothing)
    }

    /// After a failure in the extended protocol: tells it and passes over the rest of the pipeline.
    async fn stumble(&mut self, outcome: Result<(), Halt>) -> Result<(), End> {
        self.stumble_in(outcome, "").await
    }

    async fn stumble_in(&mut self, outcome: Result<(), Halt>, text: &str) -> Result<(), End> {
        let Err(halt) = outcome else { return Ok(()) };
        self.skipping = true;
        self.deferred = None;
        // What cannot be described was never prepared: its name is free again.
        if let Some(name) = self.parsed.take() {
            self.forget(&name);
        }
        let place = (!text.is_empty()).then_some((text, 0));
        self.fail(halt, place).await?;
        // Who asked by a Flush waits for the error before it sends the Sync, and the Flush is passed over.
        if self.wire.sync_is_next() { Ok(()) } else { self.wire.flush().await }
    }

    async fn malformed(&mut self, frame: &Frame, malformed: Malformed) -> Result<(), End> {
        let tag = frame.tag;
        match malformed.fault {
            Fault::UnknownTag(tag) => self.unexpected(tag).await,
            Fault::NotUtf8 => {
                let error = recode::invalid(frame).unwrap_or_else(|| malformed.into());
                self.fail_message(tag, error.into()).await
            }
            Fault::Truncated
            | Fault::Trailing
            | Fault::Unterminated
            | Fault::BadCount
            | Fault::BadCode
            | Fault::BadLength
            | Fault::TooLong => self.fail_message(tag, malformed.into()).await,
        }
    }

    /// After a message with a text that is none in the client's encoding.
    async fn unreadable(&mut self, tag: u8, error: Error) -> Result<(), End> {
        self.settle_parsed(None);
        self.fail_message(tag, error.into()).await
    }

    async fn fail_message(&mut self, tag: u8, halt: Halt) -> Result<(), End> {
        if tag == b'Q' {
            self.fail(halt, None).await?;
            return self.ready().await;
        }
        self.stumble(Err(halt)).await
    }

    async fn unexpected(&mut self, tag: u8) -> Result<(), End> {
        let message = format!("invalid frontend message type {tag}");
        Err(self.wire.last_words(&own("08P01", message)).await)
    }
}

/// The statement or portal that a message is about.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn named<'a>(message: &Frontend<'a>) -> Option<Named<'a>> {
    match message {
        Frontend::Bind(bind) => Some(Named::Statement(bind.statement)),
        Frontend::Describe(describe) => Some(describe.0),
        Frontend::Execute(execute) => Some(Named::Portal(execute.portal)),
        _ => None,
    }
}
