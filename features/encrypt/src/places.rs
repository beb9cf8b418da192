//! Where what is stored of an encrypted column answers as its values would, and where it does not.

use pando_columns::{
    Duplicates, Given, Origin, Place, Reference, Rows, Star, StarPlace, Use, Uses,
};
use pando_kernel::error::{Error, Result};

use crate::column::EncryptedColumn;
use crate::encryptor::Like;
use crate::rule::Rule;
use crate::{otherwise, refused};

/// Refuses a statement that would compare or compute with cipher text, or store values in the plain.
///
/// # Errors
/// `Refused`, with the column and what to do.
pub(crate) fn check<'a>(
    rule: &Rule,
    columns: impl Iterator<Item = &'a Use>,
    stars: &[Star],
) -> Result<()> {
    let mut results = Results::default();
    for one in columns {
        let column = found(rule, &one.of)?;
        check_one(rule, one, column)?;
        if let Place::Item { at, .. } | Place::Returning { at, .. } = one.place {
            results.note(at, column)?;
        }
    }
    for star in stars {
        check_star(rule, star)?;
        if matches!(star.place, StarPlace::Result | StarPlace::Returning) {
            for (at, one) in star.columns.iter().enumerate() {
                if let Some(of) = &one.of {
                    results.note(star.at + at, found(rule, of)?)?;
                }
            }
        }
    }
    Ok(())
}

/// The encryptors of the result's columns.
#[derive(Default)]
struct Results<'a>(Vec<(usize, &'a EncryptedColumn)>);

impl<'a> Results<'a> {
    /// The branches of a set operation give one column, which has one encryptor.
    fn note(&mut self, at: usize, column: &'a EncryptedColumn) -> Result<()> {
        let is_same = |other: &EncryptedColumn| {
            other.told.encryptor == column.told.encryptor && other.declared == column.declared
        };
        if self.0.iter().any(|(known, other)| *known == at && !is_same(other)) {
            let why = "a set operation has columns of two encryptors, or types, in one place";
            return Err(refused(why));
        }
        self.0.push((at, column));
        Ok(())
    }
}

pub(crate) fn found<'a>(rule: &'a Rule, of: &Origin) -> Result<&'a EncryptedColumn> {
    let column = rule.column(of).map(std::convert::AsRef::as_ref);
    column.ok_or_else(|| Error::internal("a column that no rule encrypts"))
}

/// Whether the text names the table's own column, so that another stored one of it can be named instead.
pub(crate) fn is_own(one: &Use) -> bool {
    match one.by {
        Reference::Column | Reference::Proposed => true,
        Reference::Named | Reference::Ordinal | Reference::Query | Reference::Position => false,
    }
}

fn check_one(rule: &Rule, one: &Use, column: &EncryptedColumn) -> Result<()> {
    if column.is_told_plain() && is_read(&one.place) {
        return match column_beside(rule, &one.place)? {
            Some(other) if !other.is_told_plain() => Err(unanswerable(one, column)),
            Some(_) | None => Ok(()),
        };
    }
    let has_equality = match is_own(one) {
        true => column.equality().is_some(),
        false => column.told.makes.abilities().equal,
    };
    let is_right = match &one.place {
        // A sub-query may be labelled by its text.
        Place::Item { duplicates, .. } | Place::InnerItem { duplicates, .. } => {
            one.by != Reference::Query && is_distinct_by(*duplicates, column)
        }
        Place::Returning { .. } => one.by != Reference::Query,
        Place::Stored { into, duplicates, .. } => {
            is_copied(rule, one, column, into.as_ref())? && is_distinct_by(*duplicates, column)
        }
        Place::AssignedTo { into } => is_copied(rule, one, column, into.as_ref())?,
        Place::Assigned(given) => match given {
            Given::Value(_) | Given::Default(_) => true,
            Given::Column(from) => found(rule, from)?.is_stored_as(column),
            Given::Expression(_) => return Err(computed(column)),
        },
        Place::InsertColumn { rows, .. } => match rows {
            Rows::Values(list) if list.iter().any(is_computed) => return Err(computed(column)),
            Rows::Values(_) | Rows::Default => true,
            Rows::Query { from, .. } => match from {
                Some(from) => found(rule, from)?.is_stored_as(column),
                None => false,
            },
        },
        Place::EqualTo(_) | Place::NotEqualTo(_) | Place::InList { .. } => has_equality,
        Place::EqualToColumn(other) | Place::NotEqualToColumn(other) => {
            is_joined(one, column, found(rule, other)?)
        }
        Place::NullTest | Place::Field { .. } => true,
        Place::GroupKey => column.told.makes.abilities().equal,
        Place::ConflictTarget => column.equality().is_some(),
        Place::Aggregate { function, distinct } => {
            function == "count" && (!distinct || has_equality)
        }
        Place::Like { operator, .. } => return check_like(one, column, operator),
        // `define` looks at these.
        Place::Definition(_) => true,
        Place::OrderKey
        | Place::DistinctKey
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::Inside { .. } => false,
    };
    if is_right { Ok(()) } else { Err(unanswerable(one, column)) }
}

/// Whether nothing of a column is stored by a place, but something of it is read.
fn is_read(place: &Place) -> bool {
    match place {
        Place::Item { .. }
        | Place::Returning { .. }
        | Place::InnerItem { .. }
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
        | Place::ConflictTarget
        | Place::Inside { .. } => true,
        Place::Stored { .. }
        | Place::AssignedTo { .. }
        | Place::Assigned(_)
        | Place::InsertColumn { .. }
        | Place::Field { .. }
        | Place::Definition(_) => false,
    }
}

/// The column that a place compares one with.
fn column_beside<'a>(rule: &'a Rule, place: &Place) -> Result<Option<&'a EncryptedColumn>> {
    if let Place::EqualToColumn(other) | Place::NotEqualToColumn(other) = place {
        return found(rule, other).map(Some);
    }
    Ok(None)
}

fn is_computed(given: &Given) -> bool {
    match given {
        Given::Value(_) | Given::Default(_) => false,
        Given::Column(_) | Given::Expression(_) => true,
    }
}

fn is_distinct_by(duplicates: Duplicates, column: &EncryptedColumn) -> bool {
    duplicates == Duplicates::Kept || column.told.makes.abilities().equal
}

/// Whether what is stored can be stored there as it is. Under a name that an item gave only the cipher text goes on.
fn is_copied(
    rule: &Rule,
    one: &Use,
    column: &EncryptedColumn,
    into: Option<&Origin>,
) -> Result<bool> {
    let Some(into) = into else { return Ok(false) };
    let is_whole = is_own(one) || column.further().next().is_none();
    Ok(is_whole && found(rule, into)?.is_stored_as(column))
}

/// Cipher texts of one encryptor compare under any name; assisted columns where both are the tables' own.
fn is_joined(one: &Use, column: &EncryptedColumn, other: &EncryptedColumn) -> bool {
    match by_cipher(column, other) {
        true => true,
        false => is_own(one) && column.compares_with(other),
    }
}

/// Whether two columns are compared by their cipher texts.
pub(crate) fn by_cipher(column: &EncryptedColumn, of_other: &EncryptedColumn) -> bool {
    let (own, other) = (&column.told, &of_other.told);
    own.makes.abilities().equal && own.encryptor == other.encryptor && column.writes_as(of_other)
}

fn check_like(one: &Use, column: &EncryptedColumn, operator: &str) -> Result<()> {
    let name = &column.of.column;
    let Some(part) = column.like.as_ref().filter(|_| is_own(one)) else {
        let why = format!("column `{name}` is encrypted and has no LIKE query column here");
        return Err(Error::stored_otherwise(30001, why, "give it a `likeQuery` in its rule"));
    };
    match (operator, part.makes.abilities().like) {
        ("LIKE", Like::Approved) => Ok(()),
        ("LIKE", Like::More | Like::Never) => Err(Error::stored_otherwise(
            30001,
            format!("LIKE of the encrypted column `{name}` would find more rows than match"),
            "give its encryptor `approximate: true` where the application looks at what it gets",
        )),
        _ => Err(otherwise(format!("`{operator}` of the encrypted column `{name}` has no digest"))),
    }
}

fn computed(column: &EncryptedColumn) -> Error {
    let name = &column.of.column;
    let why = format!("the encrypted column `{name}` would be given what a server computes");
    Error::unsupported(30001, why, "compute the value in the application")
}

fn unanswerable(one: &Use, column: &EncryptedColumn) -> Error {
    let name = &column.of.column;
    let is_order =
        matches!(one.place, Place::OrderKey | Place::Ordered { .. } | Place::Between { .. });
    let is_stored = matches!(
        one.place,
        Place::Stored { .. }
            | Place::AssignedTo { .. }
            | Place::Assigned(_)
            | Place::InsertColumn { .. }
    );
    if is_order {
        return otherwise(format!(
            "what is stored of the encrypted column `{name}` stands in another order"
        ));
    }
    if is_stored {
        return refused(format!(
            "the encrypted column `{name}` would be stored in one that is encrypted otherwise, or not at all"
        ));
    }
    otherwise(format!("what is stored of the encrypted column `{name}` cannot answer this"))
}

fn check_star(rule: &Rule, star: &Star) -> Result<()> {
    let columns = || star.columns.iter().filter_map(|one| one.of.as_ref());
    for of in columns() {
        if !is_distinct_by(star.duplicates, found(rule, of)?) {
            let name = &of.column;
            return Err(otherwise(format!(
                "what is stored of the encrypted column `{name}` is not equal where values are"
            )));
        }
    }
    match &star.place {
        StarPlace::Result | StarPlace::Returning => Ok(()),
        StarPlace::Inner if star.columns.iter().all(|one| one.name.is_some()) => Ok(()),
        StarPlace::Inner => Err(refused("a `*` over encrypted columns has one without a name")),
        StarPlace::Stored(into) => {
            for (one, into) in star.columns.iter().zip(into) {
                let is_right = match (&one.of, into) {
                    (None, None) => true,
                    (Some(of), Some(into)) => {
                        let column = found(rule, of)?;
                        let is_whole =
                            one.by == Reference::Column || column.further().next().is_none();
                        is_whole && found(rule, into)?.is_stored_as(column)
                    }
                    _ => false,
                };
                if !is_right {
                    return Err(refused(
                        "a `*` would store an encrypted column in one that is encrypted otherwise, or not at all",
                    ));
                }
            }
            Ok(())
        }
    }
}

/// Refuses an INSERT that stores an encrypted column in one that is not.
///
/// # Errors
/// `Refused`, with the column.
pub(crate) fn check_kept(uses: &Uses) -> Result<()> {
    let columns = uses.columns.iter().filter(|one| {
        matches!(one.place, Place::Stored { into: None, .. } | Place::AssignedTo { into: None })
    });
    let mut lost = columns.map(|one| &one.of);
    let stars = uses.stars.iter().filter_map(|star| match &star.place {
        StarPlace::Stored(into) => Some(star.columns.iter().zip(into)),
        StarPlace::Result | StarPlace::Returning | StarPlace::Inner => None,
    });
    let mut of_stars = stars.flatten().filter(|(_, into)| into.is_none());
    let lost = lost.next().or_else(|| of_stars.find_map(|(one, _)| one.of.as_ref()));
    match lost {
        None => Ok(()),
        Some(of) => Err(refused(format!(
            "the encrypted column `{}` would be stored in one that is encrypted otherwise, or not at all",
            of.column
        ))),
    }
}
