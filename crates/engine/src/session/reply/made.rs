//! Replies made here: rows that no storage unit gave, and completions.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::error::Result;
use pando_kernel::event::{Completion, Event};
use pando_kernel::row::{Cell, NeutralCodec, RowCodec, Rows};
use pando_kernel::{Column, Columns, Kind as ValueKind, Value};

use crate::session::Session;

/// Rows made here.
pub(in crate::session) fn rows(
    session: &mut Session,
    tag: &str,
    names: &[&str],
    rows: &[Vec<Value>],
) -> Result<()> {
    let list = names.iter().map(|name| Column::computed(*name, ValueKind::Text)).collect();
    typed_rows(session, tag, list, rows)
}

/// Rows made here, of columns that say what they hold.
pub(in crate::session) fn typed_rows(
    session: &mut Session,
    tag: &str,
    list: Vec<Column>,
    rows: &[Vec<Value>],
) -> Result<()> {
    session.place.counts_rows(-1);
    let mut out = BytesMut::new();
    for row in rows {
        let cells: Vec<Cell<'_>> = row.iter().map(Cell::Value).collect();
        NeutralCodec.write(&list, &cells, &mut out)?;
    }
    let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
    session.outbox.pending.push_back(Event::Columns(columns));
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    if count > 0 {
        session.outbox.pending.push_back(Event::Rows(Rows { bytes: out.freeze(), count }));
    }
    session.outbox.complete(Completion {
        tag: tag.to_owned().into(),
        affected: Some(u64::from(count)),
        ..Completion::default()
    });
    Ok(())
}

/// Rows of texts made here, as a SHOW.
pub(in crate::session) fn text_rows(
    session: &mut Session,
    labels: &[&str],
    texts: Vec<Vec<String>>,
) -> Result<()> {
    let list: Vec<Vec<Value>> =
        texts.into_iter().map(|row| row.into_iter().map(Value::Text).collect()).collect();
    rows(session, "SHOW", labels, &list)
}

/// Answers a statement that has changed no rows.
pub(in crate::session) fn complete(session: &mut Session, tag: &str) {
    session.place.counts_rows(0);
    session.outbox.complete(Completion { tag: tag.to_owned().into(), ..Completion::default() });
}
