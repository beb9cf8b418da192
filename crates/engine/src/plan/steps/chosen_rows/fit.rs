//! Whether a value that was read means the same as a constant: where it is compared, types and collations of what it came from would have had a say.

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::transfer::Transfer;
use pando_kernel::{Column, Dialect, Kind};

use super::Form;
use super::item::{Goal, Item};
use super::place::Manner;

/// Refuses an answer whose values would not mean the same.
///
/// # Errors
/// `Refused` with the column.
pub(super) fn check(dialect: &dyn Dialect, form: Form, item: &Item, column: &Column) -> Result<()> {
    let goal = item.goal.as_ref();
    let is_assigned = goal.is_some_and(|goal| goal.manner == Manner::Assigned);
    if is_assigned || form == Form::Existence {
        return Ok(());
    }
    let fits = match (dialect.error_fails_transaction(), dialect.transfer()) {
        (true, _) => keeps_its_collation(form, item, column),
        (false, Some(transfer)) => is_same(transfer, item, column),
        (false, None) => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        format!("as constants, values of `{}` might be compared in another way", column.name),
        "compare a column with one of the same type and collation, or narrow the sub-query to one shard",
    ))
}

/// PostgreSQL: every constant has its own type, and a text the default collation. Equality asks for no collation.
fn keeps_its_collation(form: Form, item: &Item, column: &Column) -> bool {
    let asks = match form {
        Form::Value | Form::Table => column.kind == Kind::Text,
        Form::List { .. } | Form::Array { .. } | Form::Existence => false,
    };
    let default = |from: &TableColumn| from.collate.is_empty();
    let other = |goal: &Goal| item.from.as_ref().is_some_and(|f| f.collate == goal.column.collate);
    !asks || item.from.as_ref().is_some_and(default) || item.goal.as_ref().is_some_and(other)
}

/// MySQL: a whole number is a number anywhere; anything else must come from a column like the one that it is compared with.
fn is_same(transfer: &dyn Transfer, item: &Item, column: &Column) -> bool {
    let kind = column.kind;
    if kind == Kind::Int || kind == Kind::UInt && item.goal.is_some() {
        return true;
    }
    let (Some(from), Some(goal)) = (&item.from, &item.goal) else { return false };
    let goal = &goal.column;
    let travels = match goal.kind {
        Kind::Int
        | Kind::UInt
        | Kind::Decimal
        | Kind::Text
        | Kind::Bytes
        | Kind::Date
        | Kind::Time
        | Kind::Timestamp => !goal.type_name.to_lowercase().starts_with("bit"),
        Kind::Bool | Kind::Float | Kind::TimestampTz | Kind::Other => false,
    };
    let alike = from.type_name.eq_ignore_ascii_case(&goal.type_name);
    travels && alike && from.collation == goal.collation && transfer.survives(goal).is_none()
}
