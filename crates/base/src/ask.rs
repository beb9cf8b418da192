//! Asking a storage unit on behalf of ourselves.

use std::future::poll_fn;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Completion;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Event, Execution, Value};
use pando_pool::Connection;

/// A whole reply, its rows as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Vec<Option<String>>>,
    pub(crate) completion: Completion,
}

/// Runs a text and reads its reply.
pub(crate) async fn ask(connection: &mut Connection, text: &str, limit: usize) -> Result<Answer> {
    connection.start(Execution::Text(text.into()))?;
    answer(connection, limit).await
}

/// Reads the oldest unfinished reply to its end, whatever comes.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the rest nothing is ours")]
pub(crate) async fn answer(connection: &mut Connection, limit: usize) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut columns: Option<Columns> = None;
    let mut held = 0usize;
    let mut failed = None;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await? {
            Event::Done => break,
            Event::Columns(described) => columns = Some(described),
            Event::Rows(rows) => {
                held += rows.bytes.len();
                if failed.is_none() && held > limit {
                    failed = Some(too_much(limit));
                }
                if failed.is_none() {
                    failed = take(columns.as_ref(), &rows, &mut answer.rows).err();
                }
            }
            Event::Complete(completion) => answer.completion = completion,
            _ => {}
        }
    }
    failed.map_or(Ok(answer), Err)
}

fn take(columns: Option<&Columns>, rows: &Rows, into: &mut Vec<Vec<Option<String>>>) -> Result<()> {
    let columns = columns.ok_or_else(|| Error::protocol("rows without columns"))?;
    let mut ranges = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut ranges)?;
        let row: Result<Vec<Option<String>>> =
            ranges.iter().map(|range| field(body, range.clone())).collect();
        into.push(row?);
        Ok(())
    })
}

/// The text of a field.
pub(crate) fn field(body: &[u8], range: Option<std::ops::Range<usize>>) -> Result<Option<String>> {
    let Some(range) = range else { return Ok(None) };
    let bytes = body.get(range).ok_or_else(|| Error::protocol("a field leaves its row"))?;
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorKind::Value("a value that is no UTF-8 has no image".into()))
    })?;
    Ok(Some(text.to_owned()))
}

pub(crate) fn too_much(limit: usize) -> Error {
    ErrorKind::Memory(format!("the images of the changed rows take more than {limit} bytes")).into()
}

/// The text of a field that is never NULL.
pub(crate) fn text(row: &[Option<String>], at: usize) -> Result<&str> {
    row.get(at)
        .and_then(Option::as_deref)
        .ok_or_else(|| Error::internal("an answer about Pando's own tables has another shape"))
}

/// Reads the oldest unfinished reply to its end, its rows as values.
#[expect(clippy::wildcard_enum_match_arm, reason = "of the rest nothing is ours")]
pub(crate) async fn values(connection: &mut Connection, limit: usize) -> Result<Vec<Vec<Value>>> {
    let mut all = Vec::new();
    let mut columns: Option<Columns> = None;
    let mut held = 0usize;
    let mut failed = None;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await? {
            Event::Done => break,
            Event::Columns(described) => columns = Some(described),
            Event::Rows(rows) => {
                held += rows.bytes.len();
                if held > limit {
                    failed = Some(too_much(limit));
                } else if failed.is_none() {
                    failed = decode(columns.as_ref(), &rows, &mut all).err();
                }
            }
            _ => {}
        }
    }
    failed.map_or(Ok(all), Err)
}

fn decode(columns: Option<&Columns>, rows: &Rows, into: &mut Vec<Vec<Value>>) -> Result<()> {
    let columns = columns.ok_or_else(|| Error::protocol("rows without columns"))?;
    let mut ranges = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut ranges)?;
        let row = columns.list.iter().zip(&ranges).map(|(column, range)| {
            columns.codec.value(column, range.clone().and_then(|range| body.get(range)))
        });
        into.push(row.collect::<Result<_>>()?);
        Ok(())
    })
}
