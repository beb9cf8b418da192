//! Where the rows of a query go.

use crate::scope::Output;
use crate::stop::Stop;
use crate::uses::{Duplicates, Origin, Place, StarPlace};
use pando_sql::Span;

/// Where the rows of a query go.
#[derive(Debug, Clone)]
pub(crate) enum Outlet {
    /// They are the statement's answer.
    Result,
    /// They are the statement's answer, by RETURNING.
    Returning,
    /// Into the statement around.
    Inner,
    /// Into a table, with the column of interest for each item; `None` where none of them is of interest.
    Stored(Option<Vec<Option<Origin>>>),
}

impl Outlet {
    /// What RETURNING of a statement with this outlet has.
    pub(crate) fn returning(&self) -> Self {
        match self {
            Self::Result => Self::Returning,
            Self::Returning | Self::Inner | Self::Stored(_) => self.clone(),
        }
    }

    fn into(&self, at: usize) -> Result<Option<Origin>, Stop> {
        match self {
            Self::Stored(Some(columns)) => columns
                .get(at)
                .cloned()
                .ok_or_else(|| Stop::unclear("a query has more items than its table has columns")),
            Self::Stored(None) | Self::Result | Self::Returning | Self::Inner => Ok(None),
        }
    }

    /// The place of an item.
    pub(crate) fn place(
        &self,
        at: usize,
        expr: Span,
        alias: Option<Span>,
        duplicates: Duplicates,
    ) -> Result<Place, Stop> {
        Ok(match self {
            Self::Result => Place::Item { at, expr, alias, duplicates },
            Self::Returning => Place::Returning { at, expr, alias },
            Self::Inner => Place::InnerItem { at, expr, alias, duplicates },
            Self::Stored(_) => Place::Stored { at, into: self.into(at)?, expr, alias, duplicates },
        })
    }

    /// The place of a `*` whose first column is number `at`.
    pub(crate) fn star(&self, at: usize, columns: &[Output]) -> Result<StarPlace, Stop> {
        Ok(match self {
            Self::Result => StarPlace::Result,
            Self::Returning => StarPlace::Returning,
            Self::Inner => StarPlace::Inner,
            Self::Stored(_) => {
                let into = (at..at + columns.len()).map(|at| self.into(at));
                StarPlace::Stored(into.collect::<Result<_, _>>()?)
            }
        })
    }
}
