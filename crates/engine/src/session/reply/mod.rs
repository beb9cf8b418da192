//! What a session still has to tell its client of the request under way.

pub(in crate::session) mod command_tag;
pub(in crate::session) mod logic_names;
pub(in crate::session) mod made;
pub(in crate::session) mod pieces;
pub(in crate::session) mod read_ahead;
pub(in crate::session) mod show_rows;
pub(in crate::session) mod turned_rows;
pub(in crate::session) mod warnings;
pub(in crate::session) mod whole;

use std::collections::VecDeque;

use pando_kernel::Result;
use pando_kernel::error::ServerError;
use pando_kernel::event::Event;
use pando_kernel::request::CursorId;

use crate::copy_rows::Encoder;
use crate::execute::Channel;

use crate::session::given::{Queued, Window};
use crate::session::reply::pieces::Reply;
use crate::session::reply::warnings::Warnings;

/// What a session still has to tell its client of the request under way.
#[derive(Debug, Default)]
pub(in crate::session) struct Outbox {
    /// Statements of the current request that are not started yet.
    pub(in crate::session) queue: VecDeque<Queued>,
    pub(in crate::session) pending: VecDeque<Event>,
    pub(in crate::session) reply: Reply,
    /// What the door is given next, when it has come before it was asked for.
    pub(in crate::session) ahead: VecDeque<Result<Option<Event>>>,
    /// The current reply's rows go to the client as bulk data.
    pub(in crate::session) encoder: Option<Box<Encoder>>,
    /// Row limit of the current reply.
    pub(in crate::session) window: Option<Window>,
    /// What the last statement was warned of.
    pub(in crate::session) warnings: Warnings,
    /// The current request is a text: its end ends what it opened.
    pub(in crate::session) is_text: bool,
}

impl Outbox {
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
