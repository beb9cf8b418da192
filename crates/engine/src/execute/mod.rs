//! Running a plan's units: grouping by storage unit, θ of the paper's equation 1, and reading the replies side by side.

mod channel;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use pando_kernel::Columns;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};

pub(crate) use channel::{Channel, Loaded, Shared, Source};

/// Connections one storage unit lends to one query, and how many statements each of them runs (θ = ⌈NumOfSQL ÷ MaxCon⌉, paper eq. 1).
pub(crate) fn spread_over(statements: usize, max_connections: usize) -> Vec<usize> {
    let max = max_connections.max(1);
    let theta = statements.div_ceil(max).max(1);
    let mut left = statements;
    let mut shares = Vec::new();
    while left > 0 {
        let share = left.min(theta);
        shares.push(share);
        left -= share;
    }
    shares
}

/// The beginning of every channel's reply: its first columns, or `None` when it returns no rows.
///
/// # Errors
/// The first unit's error.
pub(crate) async fn heads(channels: &mut [Channel]) -> Result<Vec<Option<Event>>> {
    let mut heads: Vec<Option<Option<Event>>> = channels.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for (head, channel) in heads.iter_mut().zip(channels.iter_mut()) {
            if head.is_some() {
                continue;
            }
            match channel.poll_head(cx) {
                Poll::Ready(Ok(event)) => *head = Some(event),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => waiting = true,
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    Ok(heads.into_iter().map(Option::flatten).collect())
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
                    Event::Notice(_) | Event::Parameter { .. } => channel.notices.push_back(event),
                    Event::Empty
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

/// The error of a statement that would hold too much.
pub(crate) fn too_much(limit: usize) -> Error {
    ErrorKind::Memory(format!(
        "merging this statement needs more than {} MiB of memory; narrow it by the sharding key",
        limit >> 20
    ))
    .into()
}

/// Puts channels where a merge and the session can both reach them.
pub(crate) fn share(channels: Vec<Channel>) -> Vec<Shared> {
    channels.into_iter().map(|channel| Arc::new(Mutex::new(channel))).collect()
}

/// Takes channels back after the merge is gone.
pub(crate) fn unshare(shared: Vec<Shared>) -> Vec<Channel> {
    shared
        .into_iter()
        .filter_map(|one| Arc::try_unwrap(one).ok())
        .map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// The columns of a head, when it has any.
pub(crate) fn columns_of(head: &Option<Event>) -> Option<&Columns> {
    match head {
        Some(Event::Columns(columns)) => Some(columns),
        _ => None,
    }
}

/// Adds up how several targets ended.
pub(crate) fn sum<'a>(completions: impl Iterator<Item = &'a Completion>) -> Completion {
    let mut total = Completion::default();
    for (i, one) in completions.enumerate() {
        if i == 0 {
            total.clone_from(one);
            continue;
        }
        total.affected = match (total.affected, one.affected) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        total.warnings = total.warnings.saturating_add(one.warnings);
        if total.last_insert_id == 0 {
            total.last_insert_id = one.last_insert_id;
        }
        total.info = String::new();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(statements: usize, max: usize, expected: &[usize]) {
        assert_eq!(spread_over(statements, max), expected, "{statements} over {max}");
    }

    #[test]
    fn theta_follows_the_papers_equation() {
        check(1, 1, &[1]);
        check(5, 1, &[5]);
        check(5, 10, &[1, 1, 1, 1, 1]);
        check(5, 2, &[3, 2]);
        check(10, 3, &[4, 4, 2]);
        check(0, 3, &[]);
        check(3, 0, &[3]);
    }
}
