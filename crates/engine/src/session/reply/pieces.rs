//! The reply under way.

use std::future::poll_fn;
use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::feature::RowLimit;
use pando_kernel::route::UnitName;
use pando_kernel::row::Rows;

use crate::copy_rows::{RowCount, Splice};
use crate::counters::Counted;
use crate::execute::{Channel, Shared};

use crate::session::reply::Outbox;
use crate::session::reply::copy_in::CopyIn;
use crate::session::reply::counted_by_unit::Uncounted;
use crate::session::reply::logic_names::Origin;
use crate::session::reply::told_rows::Merging;
use crate::session::reply::turned_rows::Turning;

/// Where the pieces of the current statement come from.
#[derive(Debug, Default)]
pub(in crate::session) enum Reply {
    /// Nowhere: the statement is over.
    #[default]
    Idle,
    /// One storage unit, passed on as it comes.
    Pass(Box<Pass>),
    /// Several, merged.
    Merged(Box<Merged>),
    /// Bulk data of several units, one after the other.
    CopyOut(Box<CopyOut>),
    /// The client sends rows.
    CopyIn(Box<CopyIn>),
}

/// A reply passed on from one unit.
#[derive(Debug)]
pub(in crate::session) struct Pass {
    pub(in crate::session) channel: Channel,
    pub(in crate::session) origin: Origin,
    pub(in crate::session) turning: Option<Box<Turning>>,
    /// As the client is told of them, where some of its rows may wait in a cursor.
    pub(in crate::session) columns: Option<Columns>,
    pub(in crate::session) completion: Option<Completion>,
    pub(in crate::session) rows: u64,
    /// Why its unit takes no more data of a copy, until whoever sends it is told.
    pub(in crate::session) refusal: Option<Box<Error>>,
    pub(in crate::session) verb: Verb,
}

/// A reply merged from several units.
pub(in crate::session) struct Merged {
    pub(in crate::session) merge: Merging,
    pub(in crate::session) turning: Option<Box<Turning>>,
    pub(in crate::session) channels: Vec<Shared>,
    pub(in crate::session) rows: u64,
    pub(in crate::session) announced: bool,
    pub(in crate::session) loaded: Vec<Completion>,
    pub(in crate::session) verb: Verb,
}

/// COPY TO over several units.
#[derive(Debug)]
pub(in crate::session) struct CopyOut {
    pub(in crate::session) channels: Vec<Channel>,
    pub(in crate::session) splice: Splice,
    /// The channel whose data is under way, and whether the trailer has been sent.
    pub(in crate::session) at: usize,
    pub(in crate::session) ended: bool,
    pub(in crate::session) verb: Verb,
}

impl Reply {
    /// What is told otherwise of its rows.
    pub(super) fn turning(&mut self) -> Option<&mut Turning> {
        match self {
            Self::Pass(pass) => pass.turning.as_deref_mut(),
            Self::Merged(merged) => merged.turning.as_deref_mut(),
            Self::Idle | Self::CopyIn(_) | Self::CopyOut(_) => None,
        }
    }
}

impl CopyOut {
    fn next_stream(&mut self) {
        self.splice.next_stream();
        if let Some(copied) = &mut self.verb.copied {
            copied.next_stream();
        }
    }

    /// The next data; `Done` when every unit has sent its own.
    pub(super) async fn step(&mut self) -> Result<Event> {
        while let Some(channel) = self.channels.get_mut(self.at) {
            if let Some(data) = self.splice.next()? {
                return Ok(Event::CopyData(data));
            }
            if channel.is_finished() {
                self.at += 1;
                self.next_stream();
                continue;
            }
            match poll_fn(|cx| channel.poll_event(cx)).await? {
                Event::CopyData(data) => {
                    self.verb.may_copy(&data)?;
                    self.splice.push(data);
                }
                event @ Event::Notice(_) => return Ok(event),
                Event::Complete(done) => channel.completions.push(done),
                // The next statement on the same connection.
                Event::CopyOut(_) => self.next_stream(),
                Event::Columns(_)
                | Event::Rows(_)
                | Event::Empty
                | Event::Suspended
                | Event::Parameter { .. }
                | Event::Described(_)
                | Event::CopyIn(_)
                | Event::SendFile(_)
                | Event::Done => {}
            }
        }
        if !std::mem::replace(&mut self.ended, true)
            && let Some(tail) = self.splice.end()
        {
            return Ok(Event::CopyData(tail));
        }
        Ok(Event::Done)
    }
}

impl std::fmt::Debug for Merged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merged").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// What the completion of a statement needs to know of it.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Verb {
    /// The tag, when the unit gives none.
    pub(in crate::session) tag: &'static str,
    /// It returns rows that are counted.
    pub(in crate::session) selects: bool,
    /// It changes definitions.
    pub(in crate::session) defines: bool,
    /// Counters that are to count on behind what its shards have computed.
    pub(in crate::session) computes: Vec<Arc<Counted>>,
    /// The key that its last row gives, which clients are told though it is no generated one.
    pub(in crate::session) last_key: Option<u64>,
    /// Keys that were made for rows of which some may not have become new ones.
    pub(in crate::session) made: Option<MadeKeys>,
    /// Which of those have; `None` where it was not asked.
    pub(in crate::session) became: Option<Became>,
    /// Counters of tables that begin anew, or count on from elsewhere.
    pub(in crate::session) recounts: Vec<Arc<Counted>>,
    /// It returns rows, and changes others in its WITH.
    pub(in crate::session) changes: bool,
    /// The first of the keys that were made for its rows, where they are numbers: 0 where the others do not follow it,
    /// as clients would count on. `None` where the server tells the key.
    pub(in crate::session) key: Option<u64>,
    /// The rows of an INSERT that changes those which are there.
    pub(in crate::session) upserts: Option<u64>,
    /// It gives its rows' keys itself: the one the server tells is no generated one.
    pub(in crate::session) gives_keys: bool,
    /// It asks the server to count the rows without its LIMIT.
    pub(in crate::session) calculates: bool,
    /// The user variables that it sets on its connection.
    pub(in crate::session) assigns: Option<Arc<[String]>>,
    /// What it has done is not known: it may have ended a transaction.
    pub(in crate::session) unread: bool,
    /// How many rows it may tell, if somebody has said so.
    pub(in crate::session) rows: Option<RowLimit>,
    /// Of COPY TO, how many have come.
    pub(in crate::session) copied: Option<RowCount>,
    /// What whoever defines it is told besides.
    pub(in crate::session) caution: Option<String>,
    /// Its unit counts for its rows, and knows the numbers.
    pub(in crate::session) uncounted: Option<Box<Uncounted>>,
}

impl Verb {
    /// As [`Verb::may_tell`], of a piece of bulk data as a storage unit has sent it.
    ///
    /// # Errors
    /// `Overran`.
    pub(in crate::session) fn may_copy(&mut self, piece: &[u8]) -> Result<()> {
        match &mut self.copied {
            Some(copied) => {
                let told = copied.add(piece);
                self.may_tell(told)
            }
            None => Ok(()),
        }
    }

    /// Refuses rows beyond those that it may tell, of which there have been `told` now.
    ///
    /// # Errors
    /// `Overran`.
    pub(in crate::session) fn may_tell(&self, told: u64) -> Result<()> {
        let Some(limit) = self.rows.as_ref().filter(|limit| told > limit.most) else {
            return Ok(());
        };
        limit.by.overran();
        Err(ErrorKind::Overran(limit.told.to_string()).into())
    }
}

/// Keys that were made for rows of which some may not have become new ones.
#[derive(Debug, Clone)]
pub(in crate::session) struct MadeKeys {
    /// How many rows there are.
    pub(in crate::session) rows: u64,
    /// One for each actual table.
    pub(in crate::session) there: Vec<MadeThere>,
}

/// Asks an actual table for the least of some keys that stands in it.
#[derive(Debug, Clone)]
pub(in crate::session) struct MadeThere {
    pub(in crate::session) unit: UnitName,
    pub(in crate::session) query: String,
}

/// Whether a key that was made has become a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Became {
    /// The first that has.
    Row(u64),
    /// None has: all those rows were there already.
    Nothing,
}

impl Outbox {
    /// Waits until a storage unit refuses the data of the copy that it is sent.
    pub(in crate::session) async fn copy_refused(&mut self) {
        match &mut self.reply {
            Reply::Pass(pass) if pass.refusal.is_some() => {}
            Reply::Pass(pass) => {
                let refusal = poll_fn(|cx| pass.channel.poll_refused(cx)).await;
                pass.refusal = Some(Box::new(refusal));
            }
            // What is refused of lines that go to several shards is told with the batch that has them.
            Reply::Idle | Reply::Merged(_) | Reply::CopyIn(_) | Reply::CopyOut(_) => {
                std::future::pending().await
            }
        }
    }
}

impl Merged {
    /// The columns as the client is told of them.
    pub(in crate::session) fn columns(&self) -> &Columns {
        let told = self.turning.as_ref().and_then(|turning| turning.told());
        told.unwrap_or_else(|| self.merge.columns())
    }

    pub(super) async fn step(&mut self) -> Result<Event> {
        if !self.announced {
            self.announced = true;
            return Ok(Event::Columns(self.merge.columns().clone()));
        }
        let rows = poll_fn(|cx| self.merge.poll_rows(cx)).await?;
        Ok(rows.map_or(Event::Done, Event::Rows))
    }
}

/// Splits a chunk behind its first `take` rows.
pub(in crate::session) fn split(
    columns: &Columns,
    rows: Rows,
    take: u64,
) -> Result<(Option<Rows>, Option<Rows>)> {
    if take >= u64::from(rows.count) {
        return Ok((Some(rows), None));
    }
    let take = u32::try_from(take).unwrap_or(u32::MAX);
    let mut at = 0usize;
    for _ in 0..take {
        let (length, _) = columns.codec.next(&rows.bytes[at..])?;
        at += length;
    }
    let later = Rows { bytes: rows.bytes.slice(at..), count: rows.count - take };
    let now = (take > 0).then(|| Rows { bytes: rows.bytes.slice(..at), count: take });
    Ok((now, Some(later)))
}
