//! What a session still has to tell its client of the request under way.

pub(in crate::session) mod assigned;
pub(in crate::session) mod command_tag;
pub(in crate::session) mod copy_in;
pub(in crate::session) mod counted_by_unit;
mod encode;
pub(in crate::session) mod logic_names;
pub(in crate::session) mod made;
mod outbox;
pub(in crate::session) mod pieces;
pub(in crate::session) mod pull;
pub(in crate::session) mod show_rows;
pub(in crate::session) mod told_rows;
pub(in crate::session) mod turned_rows;
pub(in crate::session) mod warned;
pub(in crate::session) mod warnings;

use std::collections::VecDeque;

use pando_kernel::Result;
use pando_kernel::event::Event;

use crate::copy_rows::{Encoder, Retell};

use crate::session::given::{Queued, Window};
use crate::session::reply::pieces::Reply;
use crate::session::reply::warned::Warnings;

/// What a session still has to tell its client of the request under way.
#[derive(Debug, Default)]
pub(in crate::session) struct Outbox {
    /// Statements of the current request that are not started yet.
    queue: VecDeque<Queued>,
    pending: VecDeque<Event>,
    reply: Reply,
    /// What the door is given next, when it has come before it was asked for.
    ahead: VecDeque<Result<Option<Event>>>,
    /// The current reply goes to the client in another form.
    writer: Option<Box<Writer>>,
    /// Row limit of the current reply.
    window: Option<Window>,
    /// What the last statement was warned of.
    warnings: Warnings,
    /// How many of these are not told yet with the end of a statement.
    noted: u16,
    /// The current request is a text: its end ends what it opened.
    is_text: bool,
}

/// Gives a reply another form on its way to the client.
#[derive(Debug)]
struct Writer {
    form: Form,
    /// What is in that form already.
    ready: VecDeque<Event>,
}

/// The form in which a reply goes to the client.
#[derive(Debug)]
enum Form {
    /// Its rows are bulk data.
    Encoder(Encoder),
    /// Its lines are told otherwise.
    Retell(Retell),
}

/// What waits while the statements of which another consists are run.
#[derive(Debug)]
pub(in crate::session) struct Aside {
    window: Option<Window>,
    queue: VecDeque<Queued>,
}

/// What waits while another reply is read.
#[derive(Debug)]
pub(in crate::session) struct Interrupted {
    reply: Reply,
    window: Option<Window>,
    pending: VecDeque<Event>,
}
