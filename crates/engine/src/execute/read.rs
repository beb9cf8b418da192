//! Reading the replies of several channels side by side.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Event;

use super::{Channel, Loaded, too_much};

/// Bytes of rows that a statement keeps of units that have answered, while it waits for others.
const KEPT_BYTES: usize = 1 << 20;
/// And of each of them.
const KEPT_OF_EACH: usize = 64 << 10;

/// The beginning of every channel's reply: its first columns, or `None` when it returns no rows.
///
/// # Errors
/// The first unit's error.
pub(crate) async fn heads(channels: &mut [Channel]) -> Result<Vec<Option<Event>>> {
    let mut heads = Heads::of(channels);
    heads.next(channels, Meanwhile::Nothing).await?;
    Ok(heads.all())
}

/// What is done with replies that have begun while others are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meanwhile {
    Nothing,
    /// They are read on, within bounds.
    ReadsOn,
}

/// The beginnings of replies, as far as they have come.
#[derive(Debug)]
pub(crate) struct Heads(Vec<Option<Option<Event>>>);

impl Heads {
    /// Of channels of which nothing has been read.
    pub(crate) fn of(channels: &[Channel]) -> Self {
        Self(channels.iter().map(|_| None).collect())
    }

    /// Waits until every reply has begun: `None` then. `Some` is the place of one that has come to its end while another is still waited for.
    ///
    /// # Errors
    /// The first unit's error.
    pub(crate) async fn next(
        &mut self,
        channels: &mut [Channel],
        meanwhile: Meanwhile,
    ) -> Result<Option<usize>> {
        let reads = meanwhile == Meanwhile::ReadsOn;
        poll_fn(|cx| {
            let mut waiting = false;
            for (head, channel) in self.0.iter_mut().zip(channels.iter_mut()) {
                if head.is_some() {
                    continue;
                }
                match channel.poll_head(cx) {
                    Poll::Ready(Ok(event)) => *head = Some(event),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => waiting = true,
                }
            }
            if !waiting {
                return Poll::Ready(Ok(None));
            }
            let begun = |(at, head): (usize, &Option<Option<Event>>)| {
                matches!(head, Some(Some(Event::Columns(_)))).then_some(at)
            };
            let share = (KEPT_BYTES / channels.len().max(1)).min(KEPT_OF_EACH);
            for at in self.0.iter().enumerate().filter(|_| reads).filter_map(begun) {
                if let Poll::Ready(is_over) = channels[at].poll_ahead(cx, share)
                    && is_over?
                {
                    return Poll::Ready(Ok(Some(at)));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Forgets the reply at a place. Result: its beginning.
    pub(crate) fn remove(&mut self, at: usize) -> Option<Event> {
        self.0.remove(at).flatten()
    }

    /// All of them, in the channels' order.
    pub(crate) fn all(self) -> Vec<Option<Event>> {
        self.0.into_iter().map(Option::flatten).collect()
    }
}

/// Reads every reply of every channel to its end at once, keeping no rows.
///
/// # Errors
/// The first unit's error, once every channel has come to its end or failed.
pub(crate) async fn run_out(channels: &mut [Channel]) -> Result<()> {
    let mut failed: Option<Error> = None;
    poll_fn(|cx| {
        let mut waiting = false;
        for channel in channels.iter_mut() {
            loop {
                if channel.is_finished() || !channel.connection.condition().usable {
                    break;
                }
                match channel.poll_rows(cx) {
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => {
                        failed.get_or_insert(error);
                    }
                    Poll::Pending => {
                        waiting = true;
                        break;
                    }
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    failed.map_or(Ok(()), Err)
}

/// Loads the whole replies of `jobs[i]` statements on channel `i` into memory. Result: one entry per statement, channel by channel.
///
/// # Errors
/// The first unit's error, or `Memory` beyond `limit` bytes.
pub(crate) async fn load(
    channels: &mut [Channel],
    firsts: Vec<Option<Event>>,
    limit: usize,
) -> Result<Vec<Vec<Loaded>>> {
    let mut all: Vec<Vec<Loaded>> = firsts.into_iter().map(|head| vec![loaded(head)]).collect();
    let mut bytes = 0usize;
    poll_fn(|cx| {
        let mut waiting = false;
        for (channel, replies) in channels.iter_mut().zip(all.iter_mut()) {
            while !channel.is_finished() {
                let event = match channel.poll_event(cx) {
                    Poll::Ready(event) => event?,
                    Poll::Pending => {
                        waiting = true;
                        break;
                    }
                };
                match event {
                    Event::Columns(_) => replies.push(loaded(Some(event))),
                    Event::Rows(rows) => {
                        bytes += rows.bytes.len();
                        if bytes > limit {
                            return Poll::Ready(Err(too_much(limit)));
                        }
                        if let Some(reply) = replies.last_mut() {
                            reply.rows.push_back(rows);
                        }
                    }
                    Event::Complete(done) => channel.completions.push(done),
                    Event::Notice(_) => channel.note(event),
                    Event::Parameter { .. }
                    | Event::Empty
                    | Event::Suspended
                    | Event::Done
                    | Event::Described(_)
                    | Event::CopyIn(_)
                    | Event::CopyOut(_)
                    | Event::CopyData(_)
                    | Event::SendFile(_) => {}
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    Ok(all)
}

fn loaded(head: Option<Event>) -> Loaded {
    let columns = match head {
        Some(Event::Columns(columns)) => Some(columns),
        _ => None,
    };
    Loaded { columns, rows: VecDeque::new() }
}
