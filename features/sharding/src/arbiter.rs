//! Upserts that name what must be unique: `ON CONFLICT (email)`. Each shard looks among its own rows alone.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{Insert, Statement};
use pando_sql::{Item, reading};

use crate::found::unsupported;
use crate::table::Table;

/// Checks that the rows that an upsert may meet are on the shards of those that it brings.
///
/// # Errors
/// `Refused` where none of the columns that are to be unique decides for a shard.
pub(crate) fn finds_its_rows(
    ctx: &Context<'_>,
    stmt: &Statement,
    table: &Table,
    insert: &Insert,
) -> Result<()> {
    let Some(conflict) = &insert.on_conflict else { return Ok(()) };
    if table.nodes().len() == 1 || table.keys().is_empty() || conflict.constraint.is_some() {
        return Ok(());
    }
    let clause = conflict.span.of(&stmt.text);
    let items = reading(clause, ctx.dialect.syntax(), None)
        .map_err(|_| unsupported("ON CONFLICT that cannot be read"))?;
    let Some(columns) = listed(&items) else { return Ok(()) };
    let is_key = |column: &String| table.keys().iter().any(|key| key.eq_ignore_ascii_case(column));
    if columns.iter().any(is_key) {
        return Ok(());
    }
    let keys: Vec<&str> = table.keys().iter().map(String::as_str).collect();
    Err(Error::unsupported(
        30001,
        format!(
            "ON CONFLICT ({}) looks on one shard of `{}` alone, and the row that it means may be on another",
            columns.join(", "),
            table.logic()
        ),
        format!(
            "take the sharding column `{}` into the unique index and behind ON CONFLICT, or name the constraint to have it hold on each shard: ON CONFLICT ON CONSTRAINT …",
            keys.join("`, `")
        ),
    ))
}

/// The columns behind ON CONFLICT; `None` where no list follows. What is no plain column has no name.
fn listed(items: &[Item<'_>]) -> Option<Vec<String>> {
    let at = items.iter().position(|item| item.is_word("conflict"))?;
    let [Item::Mark("("), list @ ..] = items.get(at + 1..)? else { return None };
    let (mut depth, mut is_first, mut columns) = (1, true, Vec::new());
    for (place, item) in list.iter().enumerate() {
        match item {
            Item::Mark("(") => depth += 1,
            Item::Mark(")") => depth -= 1,
            Item::Mark(",") if depth == 1 => {
                is_first = true;
                continue;
            }
            Item::Name(name) if is_first && depth == 1 => {
                let calls = matches!(list.get(place + 1), Some(Item::Mark("(")));
                columns.extend((!calls).then(|| name.last().to_owned()));
            }
            Item::Name(_)
            | Item::Text(..)
            | Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Mark(_)
            | Item::Unreadable => {}
        }
        is_first = false;
        if depth == 0 {
            break;
        }
    }
    Some(columns)
}
