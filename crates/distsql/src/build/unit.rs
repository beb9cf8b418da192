//! Storage units and single tables.

use pando_config::Secret;

use super::algorithm::properties;
use super::define::{define, drop_removal, each};
use crate::command::{
    Address, Command, Definition, Ignored, Name, Removal, SingleTables, StorageUnit,
};
use crate::error::{Error, Result};
use crate::tree::Part;

/// REGISTER, ADD or ALTER.
pub(crate) fn storage_units(part: Part<'_>) -> Result<Command> {
    let units = each(part, "storageUnit", storage_unit)?;
    define(part, Definition::StorageUnits { units, privileges: part.names("privilege") })
}

fn storage_unit(part: Part<'_>) -> Result<StorageUnit> {
    let address = match part.get("url") {
        Some(url) => Address::Url(url.text()),
        None => Address::Parts {
            host: part.text_of("host")?,
            port: port(part.need("port")?)?,
            database: part.text_of("databaseName")?,
        },
    };
    Ok(StorageUnit {
        name: part.name_of("unit")?,
        address,
        user: part.maybe_text("user").unwrap_or_default(),
        password: part.maybe_text("password").map(Secret::new),
        properties: properties(part.get("properties"))?,
    })
}

pub(super) fn port(part: Part<'_>) -> Result<u16> {
    match u16::try_from(part.number(u64::from(u16::MAX))?) {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(Error::value("port 0 is none, expected 1 to 65535", part.span())),
    }
}

/// UNREGISTER or DROP.
pub(crate) fn drop_units(part: Part<'_>) -> Result<Command> {
    let ignored = part.get("ignore").map_or(Ignored::None, |ignore| {
        match (ignore.has("SINGLE"), ignore.has("BROADCAST")) {
            (true, true) => Ignored::Both,
            (false, true) => Ignored::Broadcast,
            (true, false) => Ignored::Single,
            (false, false) => Ignored::None,
        }
    });
    drop_removal(part, Removal::StorageUnits { units: part.names("unit"), ignored })
}

/// Of a part with one to three `level`s: `table`, `unit.table`, `unit.schema.table`, where `*` is any.
///
/// # Errors
/// A name behind a `*`.
pub(crate) fn single_tables(part: Part<'_>) -> Result<SingleTables> {
    let levels: Vec<Option<Name>> =
        part.all("level").map(|level| level.get("identifier").map(Part::name)).collect();
    if levels.windows(2).any(|pair| matches!(pair, [None, Some(_)])) {
        let message = format!("`{}` has a name behind `*`, expected `*` there", part.raw());
        return Err(Error::value(message, part.span()));
    }
    let mut levels = levels.into_iter();
    Ok(match (levels.next().flatten(), levels.next(), levels.next()) {
        (table, None, _) => SingleTables { unit: None, schema: None, table },
        (unit, Some(table), None) => SingleTables { unit, schema: None, table },
        (unit, schema, Some(table)) => SingleTables { unit, schema, table },
    })
}
