//! Bounds: which rows of the merged stream the client gets, and how much memory merging may take.

use pando_kernel::column::Columns;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::row::Rows;

/// Rows to skip, then rows to let through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    skip: u64,
    left: Option<u64>,
}

impl Window {
    /// `limit` rows after the first `offset`.
    pub(super) fn new(offset: u64, limit: Option<u64>) -> Self {
        Self { skip: offset, left: limit }
    }

    /// No further row will pass.
    pub(super) fn is_spent(&self) -> bool {
        self.left == Some(0)
    }

    /// Whether the next row passes.
    pub(super) fn pass(&mut self) -> bool {
        self.take(1) == (0, 1)
    }

    /// Of `count` rows: how many are skipped, and how many of the others pass.
    fn take(&mut self, count: u64) -> (u64, u64) {
        let skipped = self.skip.min(count);
        self.skip -= skipped;
        let passed = self.left.map_or(count - skipped, |left| left.min(count - skipped));
        self.left = self.left.map(|left| left - passed);
        (skipped, passed)
    }

    /// The part of a chunk that passes, without looking into its rows; `None` when none does.
    ///
    /// # Errors
    /// `Protocol` when the chunk holds fewer rows than it says.
    pub(super) fn cut(&mut self, rows: Rows, columns: &Columns) -> Result<Option<Rows>> {
        let count = u64::from(rows.count);
        let (skipped, passed) = self.take(count);
        if passed == count {
            return Ok(Some(rows));
        }
        if passed == 0 {
            return Ok(None);
        }
        let start = frames(&rows, columns, 0, skipped)?;
        let end = if skipped + passed == count {
            rows.bytes.len()
        } else {
            frames(&rows, columns, start, passed)?
        };
        let count = u32::try_from(passed).unwrap_or(rows.count);
        Ok(Some(Rows { bytes: rows.bytes.slice(start..end), count }))
    }
}

/// Where the frame after `count` frames from `at` begins.
fn frames(rows: &Rows, columns: &Columns, mut at: usize, count: u64) -> Result<usize> {
    let short = || Error::protocol("a chunk holds fewer rows than it says");
    for _ in 0..count {
        let rest = rows.bytes.get(at..).filter(|rest| !rest.is_empty()).ok_or_else(short)?;
        let (length, _) = columns.codec.next(rest)?;
        at = at.checked_add(length).filter(|at| *at <= rows.bytes.len()).ok_or_else(short)?;
    }
    Ok(at)
}

/// Memory of the forms that hold rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    used: usize,
    limit: usize,
}

impl Budget {
    /// At most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { used: 0, limit }
    }

    /// Bytes taken so far.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// `Memory` when there are not so many left.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used <= self.limit {
            return Ok(());
        }
        let message = format!(
            "merging the rows of several storage units needs more than {} bytes of memory",
            self.limit
        );
        Err(Error::new(ErrorKind::Memory(message)))
    }

    /// Gives bytes back.
    pub(super) fn give(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::{Bytes, BytesMut};
    use pando_kernel::column::Column;
    use pando_kernel::row::{Cell, NeutralCodec, RowCodec};
    use pando_kernel::value::{Kind, Value};

    use super::*;

    fn chunk(count: u32) -> (Columns, Rows) {
        let list = vec![Column::computed("a", Kind::Int)];
        let mut bytes = BytesMut::new();
        for n in 0..count {
            let value = Value::Int(i64::from(n));
            NeutralCodec.write(&list, &[Cell::Value(&value)], &mut bytes).unwrap();
        }
        (
            Columns { list: list.into(), codec: Arc::new(NeutralCodec) },
            Rows { bytes: bytes.freeze(), count },
        )
    }

    #[test]
    fn chunks_are_cut_at_row_boundaries() {
        for (offset, limit, expected) in [
            (0, None, Some((0, 5))),
            (2, None, Some((2, 3))),
            (0, Some(2), Some((0, 2))),
            (1, Some(2), Some((1, 2))),
            (4, Some(9), Some((4, 1))),
            (5, Some(1), None),
            (u64::MAX, None, None),
        ] {
            let (columns, rows) = chunk(5);
            let width = rows.bytes.len() / 5;
            let cut = Window::new(offset, limit).cut(rows.clone(), &columns).unwrap();
            let expected = expected.map(|(at, count): (usize, usize)| {
                rows.bytes.slice(at * width..(at + count) * width)
            });
            assert_eq!(cut.map(|rows| rows.bytes), expected, "{offset} {limit:?}");
        }
    }

    #[test]
    fn a_chunk_that_lies_about_its_count_is_refused() {
        let (columns, mut rows) = chunk(2);
        rows.count = 9;
        assert!(Window::new(5, None).cut(rows, &columns).is_err());
        let broken = Rows { bytes: Bytes::from_static(&[9, 0, 0, 0, 1]), count: 2 };
        assert!(Window::new(1, None).cut(broken, &columns).is_err());
    }

    #[test]
    fn a_budget_ends_exactly_at_its_limit() {
        let mut budget = Budget::new(10);
        budget.take(10).unwrap();
        budget.give(4);
        budget.take(4).unwrap();
        assert!(matches!(budget.take(1).unwrap_err().kind(), ErrorKind::Memory(_)));
        assert!(Budget::new(10).take(usize::MAX).is_err());
    }
}
