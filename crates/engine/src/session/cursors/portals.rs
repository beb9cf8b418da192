//! Replies that wait: portals with a row limit and server-side cursors.

use std::collections::VecDeque;

use pando_kernel::Columns;
use pando_kernel::event::Event;
use pando_kernel::request::CursorId;
use pando_kernel::row::Rows;

use crate::session::cursors::Cursors;
use crate::session::reply::pieces::Reply;

/// Cursors one session may have open.
pub(in crate::session) const MAX_CURSORS: usize = 1_000;

/// A reply that waits for its client to ask for more.
#[derive(Debug)]
pub(in crate::session) struct Cursor {
    pub(super) id: CursorId,
    pub(super) reply: Reply,
    pub(super) columns: Option<Columns>,
    /// Pieces already read: the rest of a chunk, or everything when another statement needed the connection.
    pub(super) stash: VecDeque<Event>,
}

impl Cursor {
    /// Keeps rows for the next fetch.
    pub(in crate::session) fn stash(&mut self, rows: Rows) {
        self.stash.push_back(Event::Rows(rows));
    }

    /// What it keeps in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let rows = |event: &Event| if let Event::Rows(rows) = event { rows.bytes.len() } else { 0 };
        self.stash.iter().map(rows).sum()
    }
}

impl Cursors {
    /// The open ones, in no order.
    pub(in crate::session) fn ids(&self) -> impl Iterator<Item = CursorId> {
        self.portals.keys().copied()
    }

    /// Whether there is one.
    pub(in crate::session) fn are_open(&self) -> bool {
        !self.portals.is_empty()
    }

    /// Whether there is one that a statement has declared.
    pub(in crate::session) fn are_declared(&self) -> bool {
        !self.declared.is_empty()
    }

    /// The cursor made by the last suspension.
    pub(in crate::session) fn newest_cursor(&mut self) -> Option<&mut Cursor> {
        let id = self.last_suspended?;
        self.portals.get_mut(&id)
    }

    /// Whether a cursor still hears from storage units: what is in memory needs none.
    pub(in crate::session) fn waits_in_cursor(&self) -> bool {
        self.portals.values().any(|cursor| !matches!(cursor.reply, Reply::Idle))
    }

    /// Whether a cursor has more to give.
    pub(in crate::session) fn has_cursor(&self, id: CursorId) -> bool {
        self.portals.contains_key(&id)
    }

    /// The columns of a cursor.
    pub(in crate::session) fn cursor_columns(&self, id: CursorId) -> Option<Columns> {
        self.portals.get(&id).and_then(|cursor| cursor.columns.clone())
    }
}
