//! Questions and utilities.

use crate::command::{Command, Counted, Name, Rql, Rul, Subject};
use crate::error::Result;
use crate::tree::Part;

/// A question with the FROM and LIKE of its statement.
pub(crate) fn query(part: Part<'_>, subject: Subject) -> Result<Command> {
    let (database, like) = (part.maybe_name("database"), part.maybe_pattern()?);
    Ok(Command::Rql(Rql { subject, database, like }))
}

/// SHOW STORAGE UNITS, with the number of rules that use them where it is given.
pub(crate) fn storage_unit_query(part: Part<'_>) -> Result<Command> {
    const MOST: u64 = u32::MAX as u64;
    let count = part.get("usageCount").map(|count| count.number(MOST)).transpose()?;
    query(part, Subject::StorageUnits(count))
}

/// SHOW UNLOADED SINGLE TABLES of a unit.
pub(crate) fn unloaded_query(part: Part<'_>) -> Result<Command> {
    let (unit, schema) = (part.maybe_name("unit"), part.maybe_name("schema"));
    query(part, Subject::UnloadedSingleTables { unit, schema })
}

/// COUNT of the feature whose word stands there.
pub(crate) fn count_query(part: Part<'_>) -> Result<Command> {
    let features = [
        ("SHARDING", Counted::Sharding),
        ("BROADCAST", Counted::Broadcast),
        ("READWRITE_SPLITTING", Counted::ReadwriteSplitting),
        ("ENCRYPT", Counted::Encrypt),
        ("MASK", Counted::Mask),
        ("SHADOW", Counted::Shadow),
        ("DB_DISCOVERY", Counted::Discovery),
        ("SINGLE", Counted::SingleTable),
    ];
    let found = features.into_iter().find(|(word, _)| part.has(word));
    query(part, Subject::Count(found.map_or(Counted::Every, |(_, counted)| counted)))
}

/// A utility about the statement it holds.
pub(crate) fn utility(part: Part<'_>, of: fn(Name) -> Rul) -> Result<Command> {
    Ok(Command::Rul(of(part.need("sql")?.rest())))
}

pub(crate) fn help(part: Part<'_>) -> Result<Command> {
    Ok(Command::Rul(Rul::Help(part.maybe_pattern()?)))
}
