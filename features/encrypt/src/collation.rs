//! Whether servers compare what is stored octet by octet. Cipher text differs in more than letters' case, and what people's own
//! encryptors store may not.

use pando_columns::{Duplicates, Origin, Place, Star, Use};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::Fold;

use crate::encryptor::Stores;
use crate::places::found;
use crate::rule::Rule;

/// Refuses what would be compared by a collation that takes other texts for equal.
///
/// # Errors
/// `Refused`, with the column and its collation.
pub(crate) fn check<'a>(
    rule: &Rule,
    ctx: &Context<'_>,
    columns: impl Iterator<Item = &'a Use>,
    stars: &[Star],
) -> Result<()> {
    // PostgreSQL's collations take no two texts for equal, unless one is made to.
    if rule.fold == Fold::Lower {
        return Ok(());
    }
    let mut compared = columns.filter(|one| is_compared(&one.place)).map(|one| &one.of);
    compared.try_for_each(|of| check_one(rule, ctx, of))?;
    let distinct = stars.iter().filter(|star| star.duplicates != Duplicates::Kept);
    let mut all = distinct.flat_map(|star| star.columns.iter().filter_map(|one| one.of.as_ref()));
    all.try_for_each(|of| check_one(rule, ctx, of))
}

fn check_one(rule: &Rule, ctx: &Context<'_>, of: &Origin) -> Result<()> {
    let column = found(rule, of)?;
    if column.told.makes.stores() == Stores::Ascii || column.assisted.is_some() {
        return Ok(());
    }
    let seen = ctx.catalog.columns(&of.table);
    let own = seen.iter().flat_map(|all| all.iter());
    let mut own = own.filter(|one| rule.is_called(&one.name, &of.column));
    match own.next().map(|one| one.collation.to_lowercase()) {
        Some(collation) if !is_by_octets(&collation) => Err(Error::unsupported(
            30001,
            format!(
                "what is stored of `{}` is compared by the collation {collation}, which takes other texts for equal",
                of.column
            ),
            "give the stored column a binary collation, as utf8mb4_bin",
        )),
        Some(_) | None => Ok(()),
    }
}

fn is_by_octets(collation: &str) -> bool {
    collation.is_empty() || collation == "binary" || collation.ends_with("_bin")
}

fn is_compared(place: &Place) -> bool {
    match place {
        Place::Item { duplicates, .. }
        | Place::InnerItem { duplicates, .. }
        | Place::Stored { duplicates, .. } => *duplicates != Duplicates::Kept,
        Place::Aggregate { distinct, .. } => *distinct,
        Place::EqualTo(_)
        | Place::NotEqualTo(_)
        | Place::InList { .. }
        | Place::EqualToColumn(_)
        | Place::NotEqualToColumn(_)
        | Place::GroupKey
        | Place::ConflictTarget
        | Place::OrderKey
        | Place::DistinctKey
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::Like { .. }
        | Place::Inside { .. } => true,
        Place::Returning { .. }
        | Place::NullTest
        | Place::InsertColumn { .. }
        | Place::Assigned(_)
        | Place::AssignedTo { .. }
        | Place::Field { .. }
        | Place::Definition(_) => false,
    }
}
