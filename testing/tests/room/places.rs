//! Where the room is right, and where it refuses.

use pando_columns::{Given, Origin, Place, Reference, Rows, Star, StarPlace, Use};
use pando_kernel::error::Result;

use crate::turning::refused;

/// Refuses a statement that uses the column where what is stored is not as good.
pub(crate) fn check<'a>(mut columns: impl Iterator<Item = &'a Use>, stars: &[Star]) -> Result<()> {
    columns.try_for_each(check_one)?;
    stars.iter().try_for_each(check_star)
}

fn check_one(one: &Use) -> Result<()> {
    let is_right = match &one.place {
        // A sub-query may be labelled by its text.
        Place::Item { .. } | Place::Returning { .. } | Place::InnerItem { .. } => {
            one.by != Reference::Query
        }
        Place::Stored { into, .. } | Place::AssignedTo { into } => into.is_some(),
        Place::Assigned(given) => is_storable(given),
        Place::InsertColumn { rows, .. } => match rows {
            Rows::Values(list) => list.iter().all(is_insertable),
            Rows::Query { from, .. } => from.is_some(),
            Rows::Default => true,
        },
        Place::EqualTo(_)
        | Place::NotEqualTo(_)
        | Place::EqualToColumn(_)
        | Place::NotEqualToColumn(_)
        | Place::InList { .. }
        | Place::NullTest
        | Place::GroupKey
        | Place::Field { .. }
        | Place::ConflictTarget => true,
        Place::Aggregate { function, .. } => function == "count",
        Place::OrderKey
        | Place::DistinctKey
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::Like { .. }
        | Place::Definition(_)
        | Place::Inside { .. } => false,
    };
    if is_right {
        return Ok(());
    }
    Err(refused(format!(
        "column `{}` is turned, and is used in a place for what is meant",
        one.of.column
    )))
}

fn is_storable(given: &Given) -> bool {
    match given {
        Given::Value(_) | Given::Default(_) | Given::Column(_) => true,
        Given::Expression(_) => false,
    }
}

fn is_insertable(given: &Given) -> bool {
    match given {
        Given::Value(_) | Given::Default(_) => true,
        Given::Column(_) | Given::Expression(_) => false,
    }
}

fn check_star(star: &Star) -> Result<()> {
    let is_right = match &star.place {
        StarPlace::Result | StarPlace::Returning => true,
        StarPlace::Inner => star.columns.iter().all(|one| one.name.is_some()),
        StarPlace::Stored(into) => {
            let of = star.columns.iter().map(|one| one.of.as_ref().map(|_: &Origin| ()));
            into.iter().map(|into| into.as_ref().map(|_| ())).eq(of)
        }
    };
    if is_right { Ok(()) } else { Err(refused("a `*` stores a column that is turned as another")) }
}

/// The column of the result that a place is.
pub(crate) fn told(place: &Place) -> Option<usize> {
    match place {
        Place::Item { at, .. } | Place::Returning { at, .. } => Some(*at),
        Place::InnerItem { .. }
        | Place::Stored { .. }
        | Place::EqualTo(_)
        | Place::NotEqualTo(_)
        | Place::EqualToColumn(_)
        | Place::NotEqualToColumn(_)
        | Place::InList { .. }
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::Like { .. }
        | Place::NullTest
        | Place::GroupKey
        | Place::OrderKey
        | Place::DistinctKey
        | Place::Aggregate { .. }
        | Place::InsertColumn { .. }
        | Place::Assigned(_)
        | Place::AssignedTo { .. }
        | Place::ConflictTarget
        | Place::Field { .. }
        | Place::Definition(_)
        | Place::Inside { .. } => None,
    }
}
