//! Small questions about statements and units that several stages ask.

use pando_kernel::error::{Because, Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Environment, Place, UnitName};
use pando_sql::ast::Kind;

/// Whether a statement changes data or definitions.
pub(crate) fn writes(kind: &Kind) -> bool {
    match kind {
        Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Define(_)
        | Kind::Load(_)
        | Kind::Utility { .. }
        | Kind::Opaque => true,
        Kind::Select(query) => query.lock.is_some() || query.with.iter().any(|c| writes(&c.body)),
        Kind::Explain { inner, analyze, .. } => *analyze && writes(inner),
        Kind::Copy(copy) => copy.direction != pando_sql::ast::CopyDirection::ToClient,
        Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty => false,
    }
}

/// Whether a query changes rows in its WITH.
pub(crate) fn changes_in_with(kind: &Kind) -> bool {
    matches!(kind, Kind::Select(query) if query.with.iter().any(|part| writes(&part.body)))
}

/// The unit a statement without a table of its own goes to: one the session already holds, else the first.
pub(crate) fn any_unit(ctx: &Context<'_>) -> Option<UnitName> {
    let held = ctx.session.held.first().cloned();
    let other = || match ctx.session.environment {
        Some(Environment::Shadow) => leaders(ctx.database.shadows()).into_iter().next(),
        Some(Environment::Production) | None => None,
    };
    held.or_else(other).or_else(|| ctx.database.units.first().cloned())
}

/// Of each place the storage unit that takes its writes.
pub(crate) fn leaders(places: Vec<Place>) -> Vec<UnitName> {
    places.into_iter().filter_map(|place| place.members.into_iter().next()).collect()
}

/// The unit where a statement over rows of others is answered: one that takes writes, where several stand under one name.
pub(crate) fn writing_unit(ctx: &Context<'_>) -> Option<UnitName> {
    any_unit(ctx).map(|unit| writer_of(ctx.database, unit))
}

/// The unit itself, or the one that takes writes of the group it is in or names: a copy may not yet have what was defined there.
pub(crate) fn writer_of(database: &pando_kernel::feature::Database, unit: UnitName) -> UnitName {
    let groups = database.features.iter().flat_map(|feature| feature.groups().places);
    let mut own = groups.filter(|group| group.name == unit || group.members.contains(&unit));
    own.next().and_then(|group| group.members.into_iter().next()).unwrap_or(unit)
}

/// The first unit of a database.
///
/// # Errors
/// `Refused` when it has none.
pub(crate) fn any_unit_of(database: &pando_kernel::feature::Database) -> Result<UnitName> {
    database.units.first().cloned().ok_or_else(|| without_units(&database.name))
}

/// The refusal of what takes a storage unit where there is none. The name is empty outside of every database.
pub(crate) fn without_units(database: &str) -> Error {
    const INSTEAD: &str = "add one with REGISTER STORAGE UNIT, or under `dataSources`";
    if database.is_empty() {
        return Error::unsupported(10101, "there is no storage unit in any database", INSTEAD);
    }
    Error::unsupported(10101, format!("database `{database}` has no storage units"), INSTEAD)
}

/// Whether a refusal speaks of merging and routing, not of what someone forbade.
pub(crate) fn is_for_assembly(refusal: &Error) -> bool {
    refusal.refusal().is_some_and(Because::is_of_several)
}
