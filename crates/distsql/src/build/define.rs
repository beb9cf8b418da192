//! What all definitions and removals have in common.

use super::algorithm::properties;
use super::sharding::strategy;
use crate::command::{
    Change, Command, Definition, EncryptStep, MOST_ROWS_PER_SECOND, Missing, Property,
    ROWS_PER_SECOND, Rdl, Removal, Scope, Thing,
};
use crate::error::{Error, Result};
use crate::tree::Part;

/// A definition, new or altered as the statement's first words say.
pub(crate) fn define(part: Part<'_>, definition: Definition) -> Result<Command> {
    let change = if part.has("ALTER") {
        Change::Alter
    } else if part.has("ifNotExists") {
        Change::CreateIfNotExists
    } else {
        Change::Create
    };
    Ok(Command::Rdl(Rdl::Define { change, definition }))
}

/// Every part with a label, read.
pub(crate) fn each<'a, T>(
    part: Part<'a>,
    label: &str,
    read: fn(Part<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    part.all(label).map(read).collect()
}

pub(crate) fn drop_removal(part: Part<'_>, removal: Removal) -> Result<Command> {
    let missing = if part.has("ifExists") { Missing::Passes } else { Missing::Fails };
    Ok(Command::Rdl(Rdl::Drop { missing, removal }))
}

/// Drops the names with a label.
pub(crate) fn drop_named(part: Part<'_>, thing: Thing, label: &str) -> Result<Command> {
    drop_removal(part, Removal::Named(thing, part.names(label)))
}

/// A step of the table that is named.
pub(crate) fn encrypt_step(part: Part<'_>, step: EncryptStep) -> Result<Command> {
    let table = part.name_of("table")?;
    let mut rows_per_second = None;
    for property in properties(part.get("properties"))? {
        rows_per_second = Some(rate(&property)?);
    }
    Ok(Command::Rdl(Rdl::EncryptTable { step, table, rows_per_second }))
}

/// The one property of such a step.
fn rate(property: &Property) -> Result<u64> {
    let Property { key, value, place } = property;
    if key != ROWS_PER_SECOND {
        let hint = pando_config::suggest::hint(key, [ROWS_PER_SECOND]);
        let message = format!("unknown property `{key}`{hint}; there is `{ROWS_PER_SECOND}`");
        return Err(Error::value(message, place.0));
    }
    let rate = value.parse::<u64>().ok().filter(|rate| (1..=MOST_ROWS_PER_SECOND).contains(rate));
    rate.ok_or_else(|| {
        let message = format!(
            "`{ROWS_PER_SECOND}` is to be a whole number from 1 to {MOST_ROWS_PER_SECOND}, and is `{value}`"
        );
        Error::value(message, place.0)
    })
}

/// Of a statement about a default strategy: a definition, or with DROP a removal.
pub(crate) fn default_strategy(part: Part<'_>) -> Result<Command> {
    let scope = if part.has("DATABASE") { Scope::Database } else { Scope::Table };
    if part.has("DROP") {
        return drop_removal(part, Removal::DefaultStrategy(scope));
    }
    define(part, Definition::DefaultStrategy(scope, strategy(part.need("strategy")?)?))
}
