//! Where a masked column may stand: told, it is masked; compared, it is what it is; anything that would tell it in
//! another form, or keep it under another name, is refused.

use pando_columns::{Definition, Origin, Place, Star, StarPlace, Use};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;

use crate::refused;
use crate::rule::{Conditions, MaskedColumn, Rule};

/// Refuses a statement that would show a masked column's values to a user who sees masks.
///
/// # Errors
/// `Refused`, with the column and what to do.
pub(crate) fn check<'a>(
    rule: &Rule,
    ctx: &Context<'_>,
    columns: impl Iterator<Item = &'a Use>,
    stars: &[Star],
) -> Result<()> {
    let user = &ctx.session.facts.user;
    let masked = |of: &Origin| rule.column(of).filter(|column| column.is_masked_for(user));
    let mut results = Results::default();
    for one in columns {
        let Some(column) = masked(&one.of) else { continue };
        check_one(rule, one, column)?;
        if let Place::Item { at, .. } | Place::Returning { at, .. } = one.place {
            results.note(at, column)?;
        }
    }
    for star in stars {
        for (at, one) in star.columns.iter().enumerate() {
            let Some(column) = one.of.as_ref().and_then(masked) else { continue };
            match &star.place {
                StarPlace::Result | StarPlace::Returning => results.note(star.at + at, column)?,
                StarPlace::Inner => {}
                StarPlace::Stored(into) => {
                    let into = into.get(at).and_then(Option::as_ref);
                    if !is_kept(rule, column, into) {
                        return Err(refused(
                            "a `*` would store a masked column in one that is not",
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// The masks of the result's columns.
#[derive(Default)]
struct Results<'a>(Vec<(usize, &'a str)>);

impl<'a> Results<'a> {
    /// The branches of a set operation give one column, which has one mask.
    fn note(&mut self, at: usize, column: &'a MaskedColumn) -> Result<()> {
        if self.0.iter().any(|(known, other)| *known == at && *other != column.algorithm) {
            return Err(refused("a set operation has columns of two masks in one place"));
        }
        self.0.push((at, &column.algorithm));
        Ok(())
    }
}

/// Whether a value stays behind the same mask where it is stored.
fn is_kept(rule: &Rule, column: &MaskedColumn, into: Option<&Origin>) -> bool {
    let into = into.and_then(|into| rule.column(into));
    into.is_some_and(|into| into.algorithm == column.algorithm && into.unmasked == column.unmasked)
}

fn check_one(rule: &Rule, one: &Use, column: &MaskedColumn) -> Result<()> {
    let name = &one.of.column;
    match &one.place {
        Place::Item { .. }
        | Place::Returning { .. }
        | Place::InnerItem { .. }
        | Place::InsertColumn { .. }
        | Place::Assigned(_)
        | Place::ConflictTarget
        | Place::Field { .. }
        | Place::Definition(Definition::Column { .. } | Definition::Key) => Ok(()),
        Place::Stored { into, .. } | Place::AssignedTo { into } => {
            match is_kept(rule, column, into.as_ref()) {
                true => Ok(()),
                false => Err(refused(format!(
                    "the masked column `{name}` would be stored in one that is not masked alike"
                ))),
            }
        }
        Place::Aggregate { function, .. } if function == "count" => Ok(()),
        Place::EqualTo(_)
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
        | Place::DistinctKey => match column.conditions {
            Conditions::Allowed => Ok(()),
            Conditions::Refused => Err(Error::forbidden(
                30001,
                format!("the masked column `{name}` could be guessed by this condition"),
                "its rule says `allowConditions: false`",
            )),
        },
        Place::Aggregate { .. } | Place::Definition(Definition::Other) | Place::Inside { .. } => {
            Err(refused(format!(
                "the masked column `{name}` would be told by an expression or a definition"
            )))
        }
    }
}
