//! What is done with an outbox: told, limited, set aside, forgotten.

use std::collections::VecDeque;

use pando_kernel::Result;
use pando_kernel::error::ServerError;
use pando_kernel::event::{Completion, Event};
use pando_kernel::request::CursorId;

use crate::copy_rows::{Encoder, Retell};
use crate::execute::Channel;

use crate::session::given::{Queued, Window};
use crate::session::reply::pieces::Reply;
use crate::session::reply::{Aside, Form, Interrupted, Outbox, Writer};

impl Interrupted {
    /// Without what was about to be told.
    pub(in crate::session) fn without_told(self) -> Self {
        Self { pending: VecDeque::new(), ..self }
    }
}

impl Outbox {
    /// An event for the client, behind those that wait.
    pub(in crate::session) fn tell(&mut self, event: Event) {
        self.pending.push_back(event);
    }

    pub(in crate::session) fn tell_all(&mut self, events: impl IntoIterator<Item = Event>) {
        self.pending.extend(events);
    }

    /// A statement is complete that no storage unit has answered.
    pub(in crate::session) fn complete(&mut self, completion: Completion) {
        let more = self.has_queued();
        self.tell(Event::Complete(Completion { more, ..completion }));
    }

    /// The completion that was told last belongs to no statement of the client.
    pub(in crate::session) fn take_back_completion(&mut self) {
        if matches!(self.pending.back(), Some(Event::Complete(_))) {
            self.pending.pop_back();
        }
    }

    /// The reply of a statement that has been started.
    pub(in crate::session) fn answers_with(&mut self, reply: Reply) {
        self.reply = reply;
    }

    pub(in crate::session) fn reply(&self) -> &Reply {
        &self.reply
    }

    pub(in crate::session) fn take_reply(&mut self) -> Reply {
        std::mem::take(&mut self.reply)
    }

    /// Takes a reply that will not be read to its end, and tells nothing more of it.
    pub(in crate::session) fn drop_reply(&mut self) -> Reply {
        self.pending.clear();
        self.take_reply()
    }

    /// Whether no reply is under way.
    pub(in crate::session) fn is_idle(&self) -> bool {
        matches!(self.reply, Reply::Idle)
    }

    /// Whether the current reply has more to tell.
    pub(in crate::session) fn has_more(&self) -> bool {
        !self.is_idle() || !self.pending.is_empty()
    }

    /// Reads another reply first.
    pub(in crate::session) fn turn_to(&mut self, reply: Reply) -> Interrupted {
        Interrupted {
            reply: std::mem::replace(&mut self.reply, reply),
            window: self.window.take(),
            pending: std::mem::take(&mut self.pending),
        }
    }

    /// Goes on with the reply that was interrupted. Returns what is left of the other.
    pub(in crate::session) fn turn_back(&mut self, interrupted: Interrupted) -> Reply {
        let Interrupted { reply, window, pending } = interrupted;
        self.window = window;
        self.pending = pending;
        std::mem::replace(&mut self.reply, reply)
    }

    /// Lets the client's request wait for statements that are none of its own.
    pub(in crate::session) fn set_aside(&mut self) -> Aside {
        Aside { window: self.window.take(), queue: std::mem::take(&mut self.queue) }
    }

    /// Goes on with the client's request.
    pub(in crate::session) fn take_up(&mut self, aside: Aside) {
        self.window = aside.window;
        self.queue = aside.queue;
    }

    /// The request has failed: nothing more of it is run or told.
    pub(in crate::session) fn forget_rest(&mut self) {
        self.queue.clear();
        self.pending.clear();
        self.writer = None;
        self.window = None;
    }

    /// The client has turned to another request.
    pub(in crate::session) fn forget_request(&mut self) {
        self.ahead.clear();
        self.forget_rest();
    }

    /// What the door is given next, when it has come before it was asked for.
    pub(in crate::session) fn next_ahead(&mut self) -> Option<Result<Option<Event>>> {
        self.ahead.pop_front()
    }

    /// The current reply's rows go to the client as bulk data.
    pub(in crate::session) fn encodes_with(&mut self, encoder: Encoder) {
        self.writes_as(Form::Encoder(encoder));
    }

    /// The current reply's lines are told otherwise, where that is so.
    pub(in crate::session) fn retells_with(&mut self, retell: Option<Retell>) {
        if let Some(retell) = retell {
            self.writes_as(Form::Retell(retell));
        }
    }

    fn writes_as(&mut self, form: Form) {
        self.writer = Some(Box::new(Writer { form, ready: VecDeque::new() }));
    }

    /// A statement of the request's text waits for its turn.
    pub(in crate::session) fn enqueue(&mut self, statement: Queued) {
        self.queue.push_back(statement);
    }

    pub(in crate::session) fn next_queued(&mut self) -> Option<Queued> {
        self.queue.pop_front()
    }

    /// Whether the request has statements that are not started yet.
    pub(in crate::session) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether the request is a text, whose end ends what it opened.
    pub(in crate::session) fn is_text(&self) -> bool {
        self.is_text
    }

    /// Returns whether the text had begun before.
    pub(in crate::session) fn begins_text(&mut self) -> bool {
        std::mem::replace(&mut self.is_text, true)
    }

    /// Returns whether there was a text.
    pub(in crate::session) fn ends_text(&mut self) -> bool {
        std::mem::take(&mut self.is_text)
    }

    /// The first warning of the last statement that speaks of more than style.
    pub(in crate::session) fn first_warning(&self) -> Option<String> {
        self.warnings.first()
    }

    /// Whether the current reply has a limit of rows.
    pub(in crate::session) fn is_limited(&self) -> bool {
        self.window.is_some()
    }

    pub(in crate::session) fn window_mut(&mut self) -> Option<&mut Window> {
        self.window.as_mut()
    }

    pub(in crate::session) fn take_window(&mut self) -> Option<Window> {
        self.window.take()
    }

    pub(in crate::session) fn limit_again(&mut self, window: Option<Window>) {
        self.window = window;
    }

    /// What waits in a cursor behind so many rows of the next reply, where there is a limit.
    pub(in crate::session) fn limit_rows(&mut self, limit: Option<u32>, cursor: Option<CursorId>) {
        self.window = limit.map(|limit| Window { left: u64::from(limit), cursor });
    }

    /// A transaction begun by START TRANSACTION is told so.
    pub(in crate::session) fn name_start(&mut self, text: &str) {
        let word = text.trim_start().get(..5);
        if let Some(Event::Complete(done)) = self.pending.back_mut()
            && word.is_some_and(|word| word.eq_ignore_ascii_case("start"))
            && done.tag == "BEGIN"
        {
            done.tag = "START TRANSACTION".into();
        }
    }

    /// What the door is given next of what has been told.
    pub(in crate::session) fn next_told(&mut self) -> Option<Event> {
        let mut event = self.pending.pop_front()?;
        if let Event::Complete(done) = &mut event {
            self.tell_noted(done);
        }
        Some(event)
    }

    /// A statement's end says how many warnings there are besides those of storage units: once.
    pub(in crate::session) fn tell_noted(&mut self, done: &mut Completion) {
        done.warnings = done.warnings.saturating_add(std::mem::take(&mut self.noted));
    }

    /// A warning for the client.
    pub(in crate::session) fn warn(&mut self, sqlstate: &str, message: &str) {
        self.pending.push_back(Event::Notice(Box::new(ServerError {
            sqlstate: sqlstate.to_owned(),
            message: message.to_owned(),
            severity: "WARNING".into(),
            ..ServerError::default()
        })));
    }

    /// Passes on what the units had to say besides their replies.
    pub(in crate::session) fn pass_notices(&mut self, channels: &mut [Channel]) {
        self.pending.extend(channels.iter_mut().flat_map(|channel| channel.notices.drain(..)));
    }
}
