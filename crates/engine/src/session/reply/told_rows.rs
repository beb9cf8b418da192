//! Rows that are merged once more as they are told: sorted, filtered or grouped by values that no storage unit has.

use std::task::{Context, Poll, ready};

use pando_kernel::Columns;
use pando_kernel::dialect::Ordering;
use pando_kernel::error::Result;
use pando_kernel::merge::MergePlan;
use pando_kernel::row::Rows;

use crate::execute::Source;
use crate::merge::{Input, Limits, Merge, RowSource};

use crate::session::reply::turned_rows::Turning;

/// The rows of a reply.
#[derive(Debug)]
pub(in crate::session) enum Merging {
    /// As they are stored.
    Stored(Merge<Source>),
    /// As they are told.
    Told(Box<Merge<Told>>),
}

/// Merged rows, turned.
#[derive(Debug)]
pub(in crate::session) struct Told {
    merge: Merge<Source>,
    turning: Box<Turning>,
}

impl RowSource for Told {
    fn poll_rows(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        match ready!(self.merge.poll_rows(cx))? {
            Some(rows) => Poll::Ready(self.turning.rows(&rows).map(Some)),
            None => Poll::Ready(Ok(None)),
        }
    }
}

impl Merging {
    /// Rows that are turned by `turning`, and merged by `how` after that.
    ///
    /// # Errors
    /// What the columns say, and the merge of them.
    pub(in crate::session) fn told(
        merge: Merge<Source>,
        turning: Box<Turning>,
        how: &MergePlan,
        dialect: &dyn Ordering,
        limits: Limits,
    ) -> Result<Self> {
        let mut turning = turning;
        let columns = turning.columns(merge.columns().clone())?;
        let input = Input { columns, rows: Told { merge, turning } };
        Merge::new(how, vec![input], dialect, limits).map(|merge| Self::Told(Box::new(merge)))
    }

    /// The columns of the rows.
    pub(in crate::session) fn columns(&self) -> &Columns {
        match self {
            Self::Stored(merge) => merge.columns(),
            Self::Told(merge) => merge.columns(),
        }
    }

    /// As [`Merge::poll_rows`].
    ///
    /// # Errors
    /// As there.
    pub(in crate::session) fn poll_rows(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Rows>>> {
        match self {
            Self::Stored(merge) => merge.poll_rows(cx),
            Self::Told(merge) => merge.poll_rows(cx),
        }
    }
}

/// The columns of rows that are merged by `how` as they are told.
///
/// # Errors
/// As [`Merge::new`].
pub(in crate::session) fn merged_columns(
    how: &MergePlan,
    columns: Columns,
    dialect: &dyn Ordering,
) -> Result<Columns> {
    let input = Input { columns, rows: Source::Memory(Default::default()) };
    let merge = Merge::new(how, vec![input], dialect, Limits { memory_bytes: 0 })?;
    Ok(merge.columns().clone())
}
