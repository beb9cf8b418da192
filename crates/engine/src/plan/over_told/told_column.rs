//! A column whose values are told, and how they compare.

use pando_kernel::dialect::{Compare, Comparison, Equality};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::table::TableColumn;
use pando_kernel::value::Kind;
use pando_sql::Fold;

/// A column whose values are told.
#[derive(Debug)]
pub(super) struct ToldColumn {
    /// As clients see it; its collation is the one that it is compared by.
    pub(super) column: TableColumn,
    /// Its name in the statement.
    pub(super) text: String,
    /// The same with the collation that is written behind it.
    pub(super) shown: String,
    /// Its place in the result.
    pub(super) at: Option<usize>,
}

impl ToldColumn {
    /// How its values are sorted.
    ///
    /// # Errors
    /// `Refused` where only a server knows.
    pub(super) fn order(&self, ctx: &Context<'_>) -> Result<Compare> {
        match ctx.dialect.comparison(&self.shown, Some(&self.column)) {
            Comparison::Value(compare) => Ok(compare),
            // Texts are their octets.
            Comparison::Derive(_) if self.column.kind == Kind::Text => self.octets(ctx),
            Comparison::Refuse(reason) => Err(unsorted(&self.shown, &reason)),
            Comparison::Derive(_) | Comparison::DeriveNumber(_) | Comparison::ByResult { .. } => {
                Err(unsorted(&self.shown, "only a server knows its order"))
            }
        }
    }

    fn octets(&self, ctx: &Context<'_>) -> Result<Compare> {
        let column =
            TableColumn { collation: self.column.collation.to_lowercase(), ..self.column.clone() };
        match ctx.dialect.equality(&column) {
            Equality::Exact | Equality::Padded => Ok(Compare::Bytes),
            Equality::Folded(_) | Equality::Loose => Err(unsorted(
                &self.shown,
                &format!(
                    "the order of collation `{}` is known to the server only",
                    column.collation
                ),
            )),
        }
    }

    /// How its values are equal.
    ///
    /// # Errors
    /// `Refused` where only a server knows.
    pub(super) fn equality(&self, ctx: &Context<'_>) -> Result<Compare> {
        if self.column.kind != Kind::Text || ctx.dialect.syntax().fold == Fold::Keep {
            return self.order(ctx);
        }
        match ctx.dialect.equality(&self.column) {
            Equality::Exact => Ok(Compare::Bytes),
            Equality::Padded => Ok(Compare::Padded),
            Equality::Folded(_) | Equality::Loose => self.order(ctx),
        }
    }
}

/// What cannot be sorted, and why.
pub(super) fn unsorted(text: &str, reason: &str) -> Error {
    Error::unsupported(
        30001,
        format!("`{text}` is stored otherwise than it is seen, and {reason}"),
        "write COLLATE with a binary collation behind it (`\"C\"`, `utf8mb4_bin`), or compare in the application",
    )
}

/// What cannot be answered over values that are told.
pub(super) fn refused(what: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "{what}, with columns that are stored otherwise than they are seen, cannot be answered"
        ),
        "leave the column out of it",
    )
}
