//! What a session still has to tell its client of the request under way.

use std::collections::VecDeque;
use std::sync::Arc;

use pando_kernel::Result;
use pando_kernel::event::Event;

use crate::bulk::Encoder;

use super::bound::Window;
use super::reply::Reply;
use super::warnings::Warnings;

/// What a session still has to tell its client of the request under way.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Statements of the current request that are not started yet.
    pub(super) queue: VecDeque<Arc<str>>,
    pub(super) pending: VecDeque<Event>,
    pub(super) reply: Reply,
    /// What the door is given next, when it has come before it was asked for.
    pub(super) ahead: VecDeque<Result<Option<Event>>>,
    /// The current reply's rows go to the client as bulk data.
    pub(super) encoder: Option<Box<Encoder>>,
    /// Row limit of the current reply.
    pub(super) window: Option<Window>,
    /// What the last statement was warned of.
    pub(super) warnings: Warnings,
    /// The current request is a text: its end ends what it opened.
    pub(super) is_text: bool,
}
