//! Replies made here: rows that no storage unit gave, and completions.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::error::Result;
use pando_kernel::event::{Completion, Event};
use pando_kernel::row::{Cell, NeutralCodec, RowCodec, Rows};
use pando_kernel::{Column, Columns, Kind as ValueKind, Value};

use crate::session::Session;

impl Session {
    /// Rows made here.
    pub(in crate::session) fn rows(
        &mut self,
        tag: &str,
        names: &[&str],
        rows: &[Vec<Value>],
    ) -> Result<()> {
        let list = names.iter().map(|name| Column::computed(*name, ValueKind::Text)).collect();
        self.typed_rows(tag, list, rows)
    }

    /// Rows made here, of columns that say what they hold.
    pub(in crate::session) fn typed_rows(
        &mut self,
        tag: &str,
        list: Vec<Column>,
        rows: &[Vec<Value>],
    ) -> Result<()> {
        self.place.counts_rows(-1);
        let mut out = BytesMut::new();
        for row in rows {
            let cells: Vec<Cell<'_>> = row.iter().map(Cell::Value).collect();
            NeutralCodec.write(&list, &cells, &mut out)?;
        }
        let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
        self.outbox.pending.push_back(Event::Columns(columns));
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if count > 0 {
            self.outbox.pending.push_back(Event::Rows(Rows { bytes: out.freeze(), count }));
        }
        self.outbox.pending.push_back(Event::Complete(pando_kernel::Completion {
            tag: tag.to_owned().into(),
            affected: Some(u64::from(count)),
            more: !self.outbox.queue.is_empty(),
            ..pando_kernel::Completion::default()
        }));
        Ok(())
    }

    pub(in crate::session) fn text_rows(
        &mut self,
        labels: &[&str],
        rows: Vec<Vec<String>>,
    ) -> Result<()> {
        let rows: Vec<Vec<Value>> =
            rows.into_iter().map(|row| row.into_iter().map(Value::Text).collect()).collect();
        self.rows("SHOW", labels, &rows)
    }

    /// Answers a statement that has changed no rows.
    pub(in crate::session) fn complete(&mut self, tag: &str) {
        self.place.counts_rows(0);
        let completion = Completion {
            tag: tag.to_owned().into(),
            more: !self.outbox.queue.is_empty(),
            ..Completion::default()
        };
        self.outbox.pending.push_back(Event::Complete(completion));
    }
}
