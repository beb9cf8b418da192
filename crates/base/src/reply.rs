//! The client's part of a statement's reply, and ours.

use std::future::poll_fn;

use bytes::BytesMut;
use pando_kernel::error::{Error, Result};
use pando_kernel::event::Completion;
use pando_kernel::row::Rows;
use pando_kernel::{Cell, Columns, Event};
use pando_pool::Connection;

use crate::ask::{field, too_much};

/// What a statement answers.
#[derive(Debug, Default)]
pub struct Reply {
    /// Everything for the client in order, `Complete` included; never `Done`.
    pub events: Vec<Event>,
    /// How the statement ended.
    pub completion: Completion,
    /// Whether images were written, by which it is taken back.
    pub logged: bool,
}

/// How a result is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// How many columns at the end are ours.
    pub(crate) more: usize,
    /// The client gets the columns in front of them.
    pub(crate) has_result: bool,
    /// Bytes of rows.
    pub(crate) limit: usize,
}

/// Reads the oldest unfinished reply to its end. Result: the client's part, and our columns of each row.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is the client's")]
pub(crate) async fn cut(
    connection: &mut Connection,
    how: Cut,
) -> Result<(Reply, Vec<Vec<Option<String>>>)> {
    let mut reply = Reply::default();
    let mut ours = Vec::new();
    let mut whole: Option<Columns> = None;
    let mut held = 0usize;
    let mut failed = None;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await? {
            Event::Done => break,
            Event::Columns(columns) => {
                if how.has_result {
                    let mut shown = columns.clone();
                    if how.more > 0 {
                        let count = columns.list.len().saturating_sub(how.more);
                        shown.list = columns.list.iter().take(count).cloned().collect();
                    }
                    reply.events.push(Event::Columns(shown));
                }
                whole = Some(columns);
            }
            Event::Rows(rows) => {
                held += rows.bytes.len();
                if held > how.limit {
                    failed = Some(too_much(how.limit));
                } else if failed.is_none() {
                    match cut_rows(whole.as_ref(), rows, how, &mut ours) {
                        Ok(rows) => reply.events.extend(rows.map(Event::Rows)),
                        Err(error) => failed = Some(error),
                    }
                }
            }
            Event::Complete(completion) => {
                reply.completion = completion.clone();
                reply.events.push(Event::Complete(completion));
            }
            other => reply.events.push(other),
        }
    }
    failed.map_or(Ok((reply, ours)), Err)
}

fn cut_rows(
    columns: Option<&Columns>,
    rows: Rows,
    how: Cut,
    ours: &mut Vec<Vec<Option<String>>>,
) -> Result<Option<Rows>> {
    if how.more == 0 {
        return Ok(how.has_result.then_some(rows));
    }
    let columns = columns.ok_or_else(|| Error::protocol("rows without columns"))?;
    let shown = columns.list.len().saturating_sub(how.more);
    let list = columns.list.get(..shown).unwrap_or_default();
    let mut out = BytesMut::new();
    let mut ranges = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut ranges)?;
        let own = ranges.get(shown..).unwrap_or_default();
        ours.push(own.iter().map(|range| field(body, range.clone())).collect::<Result<_>>()?);
        if how.has_result {
            let cells: Vec<Cell<'_>> = ranges
                .iter()
                .take(shown)
                .map(|range| Cell::Raw(range.clone().and_then(|range| body.get(range))))
                .collect();
            columns.codec.write(list, &cells, &mut out)?;
        }
        Ok(())
    })?;
    Ok(how.has_result.then(|| Rows { bytes: out.freeze(), count: rows.count }))
}
