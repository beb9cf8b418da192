//! The rows that a declared cursor has given: where it stands, and what of them it can give again.
//!
//! A cursor reads forward only, from its reply. What it has read is kept, one frame a row, so that it goes back over
//! that: all of it where SCROLL was written, and no more than a little where nothing was said, as one server decides by
//! its plan then and may refuse.
//! <https://www.postgresql.org/docs/current/sql-declare.html>

use bytes::{Bytes, BytesMut};

use pando_kernel::error::{Error, Result};
use pando_kernel::{Columns, Rows};
use pando_sql::ast::Scroll;

/// What a cursor keeps of which nobody has said that it goes back, in bytes.
const UNASKED_BYTES: usize = 256 << 10;

/// The rows that a cursor has given.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Given {
    /// All that was read, from the first row on; `None` where it goes forward only.
    frames: Option<Vec<Bytes>>,
    bytes: usize,
    /// It has to keep all of them.
    scrolls: bool,
    stand: Stand,
    /// The chunk that ends with the row that it stands on, where it goes forward only.
    last: Option<Rows>,
}

/// Where a cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Stand {
    /// Behind so many rows, on the last of them; 0 before the first.
    Row(u64),
    /// Behind the last row.
    End,
}

impl Default for Stand {
    fn default() -> Self {
        Self::Row(0)
    }
}

impl Given {
    /// None yet.
    pub(in crate::session) fn new(scroll: Scroll) -> Self {
        let frames = (scroll != Scroll::Refused).then(Vec::new);
        Self { frames, scrolls: scroll == Scroll::Wanted, ..Self::default() }
    }

    pub(in crate::session) fn stand(&self) -> Stand {
        self.stand
    }

    pub(in crate::session) fn stands_at(&mut self, stand: Stand) {
        self.stand = stand;
    }

    /// Whether it can go back.
    pub(in crate::session) fn goes_back(&self) -> bool {
        self.frames.is_some()
    }

    /// What it keeps, in bytes, where it has to.
    pub(in crate::session) fn owed_bytes(&self) -> usize {
        if self.scrolls { self.bytes } else { 0 }
    }

    /// How many rows it can give again.
    pub(in crate::session) fn count(&self) -> u64 {
        self.frames.as_ref().map_or(0, |frames| frames.len() as u64)
    }

    /// Keeps rows that come next.
    ///
    /// # Errors
    /// `Protocol` when these are no whole rows.
    pub(in crate::session) fn keep(&mut self, columns: &Columns, rows: &Rows) -> Result<()> {
        self.last = None;
        if let Some(frames) = &mut self.frames {
            self.bytes += rows.bytes.len();
            if self.bytes > UNASKED_BYTES && !self.scrolls {
                self.frames = None;
                self.bytes = 0;
            } else {
                return each_frame(columns, rows, |frame| frames.push(frame));
            }
        }
        self.last = Some(rows.clone());
        Ok(())
    }

    /// Kept rows from one on, counted from 0, as many as there are up to `count`; in their order, or from the last of
    /// them on.
    pub(in crate::session) fn again(&self, from: u64, count: u64, order: Order) -> Option<Rows> {
        let frames = self.frames.as_deref()?;
        let from = usize::try_from(from).ok()?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let some = frames.get(from..from.saturating_add(count).min(frames.len()))?;
        let count = u32::try_from(some.len()).ok().filter(|count| *count > 0)?;
        let mut bytes = BytesMut::with_capacity(some.iter().map(Bytes::len).sum());
        match order {
            Order::Read => some.iter().for_each(|frame| bytes.extend_from_slice(frame)),
            Order::Back => some.iter().rev().for_each(|frame| bytes.extend_from_slice(frame)),
        }
        Some(Rows { bytes: bytes.freeze(), count })
    }

    /// The row that it stands on; `None` before the first and behind the last.
    ///
    /// # Errors
    /// `Protocol` when what was read are no whole rows.
    pub(in crate::session) fn current(&self, columns: &Columns) -> Result<Option<Rows>> {
        let Stand::Row(at @ 1..) = self.stand else { return Ok(None) };
        if self.frames.is_some() {
            return Ok(self.again(at - 1, 1, Order::Read));
        }
        let Some(rows) = &self.last else { return Ok(None) };
        let mut last = None;
        each_frame(columns, rows, |frame| last = Some(frame))?;
        Ok(last.map(|bytes| Rows { bytes, count: 1 }))
    }
}

/// Which of several rows comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Order {
    /// The one that was read first.
    Read,
    /// The one that was read last.
    Back,
}

fn each_frame(columns: &Columns, rows: &Rows, mut each: impl FnMut(Bytes)) -> Result<()> {
    let mut at = 0;
    while at < rows.bytes.len() {
        let (length, _) = columns.codec.next(&rows.bytes[at..])?;
        let end = at.saturating_add(length);
        if length == 0 || end > rows.bytes.len() {
            return Err(Error::protocol("a row is longer than its chunk"));
        }
        each(rows.bytes.slice(at..end));
        at = end;
    }
    Ok(())
}
