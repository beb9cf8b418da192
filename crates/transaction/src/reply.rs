//! Reading replies that carry no rows anyone wants.

use std::future::poll_fn;
use std::task::{Context, Poll};

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_pool::Connection;

/// Reads the oldest unfinished reply of a connection to its end.
///
/// # Errors
/// The unit's own error; the connection is ready again unless it is lost.
pub async fn finish(connection: &mut Connection) -> Result<Completion> {
    let mut completion = Completion::default();
    poll_fn(|cx| poll_finish(connection, &mut completion, cx)).await?;
    Ok(completion)
}

/// Reads the oldest unfinished reply of every connection to its end, all at once. One result per connection, in order.
pub async fn finish_all(connections: &mut [&mut Connection]) -> Vec<Result<Completion>> {
    let mut results: Vec<Option<Result<Completion>>> = connections.iter().map(|_| None).collect();
    let mut completions = vec![Completion::default(); connections.len()];
    poll_fn(|cx| {
        let mut waiting = false;
        for (i, connection) in connections.iter_mut().enumerate() {
            if results[i].is_some() {
                continue;
            }
            match poll_finish(connection, &mut completions[i], cx) {
                Poll::Ready(done) => {
                    results[i] = Some(done.map(|()| std::mem::take(&mut completions[i])));
                }
                Poll::Pending => waiting = true,
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    results
        .into_iter()
        .map(|result| result.unwrap_or_else(|| Err(Error::internal("a reply was not read"))))
        .collect()
}

/// Reads so many unfinished replies of each connection to their ends, each connection at its own pace. For each what its first failing reply, else its last one,
/// came to; `None` where none was to be read.
pub(crate) async fn finish_each(
    connections: &mut [(usize, &mut Connection)],
) -> Vec<Option<Result<Completion>>> {
    let mut results: Vec<Option<Result<Completion>>> = connections.iter().map(|_| None).collect();
    let mut completions = vec![Completion::default(); connections.len()];
    poll_fn(|cx| {
        let mut waiting = false;
        let places = connections.iter_mut().zip(&mut results).zip(&mut completions);
        for (((left, connection), result), completion) in places {
            while *left > 0 {
                let Poll::Ready(done) = poll_finish(connection, completion, cx) else {
                    waiting = true;
                    break;
                };
                *left -= 1;
                let done = done.map(|()| std::mem::take(completion));
                if !matches!(result, Some(Err(_))) {
                    *result = Some(done);
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    results
}

fn poll_finish(
    connection: &mut Connection,
    completion: &mut Completion,
    cx: &mut Context<'_>,
) -> Poll<Result<()>> {
    loop {
        match std::task::ready!(connection.poll_event(cx))? {
            Event::Done => return Poll::Ready(Ok(())),
            Event::Complete(done) => *completion = done,
            Event::CopyIn(_) | Event::SendFile(_) => {
                return Poll::Ready(Err(Error::internal("a reply asks for copy data")));
            }
            Event::Columns(_)
            | Event::Rows(_)
            | Event::Empty
            | Event::Suspended
            | Event::Notice(_)
            | Event::Parameter { .. }
            | Event::Described(_)
            | Event::CopyOut(_)
            | Event::CopyData(_) => {}
        }
    }
}

/// Reads and drops everything outstanding on a connection, at most `limit` bytes of rows. Afterwards the connection is either ready
/// for the next execution or not usable.
///
/// # Errors
/// `TooLarge` when more than `limit` bytes came: the caller discards the connection. Errors of the dropped replies are dropped with them.
pub async fn drain(connection: &mut Connection, limit: usize) -> Result<()> {
    let mut seen = 0usize;
    while connection.condition().usable && connection.condition().outstanding > 0 {
        match poll_fn(|cx| connection.poll_event(cx)).await {
            Ok(Event::Rows(rows)) => seen += rows.bytes.len(),
            Ok(Event::CopyData(data)) => seen += data.len(),
            Ok(Event::CopyIn(_) | Event::SendFile(_)) => {
                connection.copy(pando_kernel::CopyInput::Fail("abandoned".into()))?;
            }
            Ok(_) | Err(_) => {}
        }
        if seen > limit {
            return Err(ErrorKind::TooLarge("the rest of a reply is too large".into()).into());
        }
    }
    Ok(())
}
