//! Routines that not every storage unit can have: one whose definition names a single table is made where the table
//! stands, and found there again.

mod named;
mod passing;

use std::sync::Arc;

use pando_kernel::UnitName;
use pando_kernel::effects::{Effects, Stands, said};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, DataNode, LogicTable, TableKind};
use pando_kernel::route::{Need, Route, Spread, Target, Units};
use pando_kernel::temporary::is_temporary_routine;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::{Item, reading, tokenize, visit};

use crate::plan::about::any_unit;

pub(in crate::plan) use passing::kept;

/// Where a definition of such routines goes that no room has claimed.
///
/// # Errors
/// `Refused` where no unit has all the tables that it names.
pub(in crate::plan) fn defined(ctx: &Context<'_>, stmt: &Statement) -> Result<Route> {
    if let Kind::Utility { verb, .. } = &stmt.kind
        && matches!(verb.as_str(), "GRANT" | "REVOKE")
        && may_differ(ctx)
    {
        return Ok(standing(ctx, granted(ctx, &stmt.text)));
    }
    let Kind::Define(define) = &stmt.kind else { return Ok(Route::Unclaimed) };
    let Some(effects) = ctx.dialect.effects() else { return Ok(Route::Unclaimed) };
    if define.object != ObjectKind::Routine || !may_differ(ctx) {
        return Ok(Route::Unclaimed);
    }
    if is_temporary_routine(define) {
        return passing::defined(ctx, stmt, define);
    }
    match define.action {
        DefineAction::Create => made(ctx, stmt, define, effects),
        DefineAction::Alter | DefineAction::Drop | DefineAction::Comment => {
            if let Some(need) = unasked(ctx) {
                return Ok(Route::Needs(need));
            }
            Ok(changed(ctx, define))
        }
        DefineAction::Truncate | DefineAction::Rename => Ok(Route::Unclaimed),
    }
}

/// On a unit that has the routines that a query without tables calls, where the one that it would go to has not. One
/// that was not asked yet may have them: it is asked before anything runs there.
///
/// # Errors
/// `Refused` for a temporary routine where it is not known whose it is.
pub(in crate::plan) fn called(ctx: &Context<'_>, stmt: &Statement) -> Result<Route> {
    let (Some(effects), Some(first)) = (ctx.dialect.effects(), any_unit(ctx)) else {
        return Ok(Route::Unclaimed);
    };
    let is_query = matches!(stmt.kind, Kind::Select(_) | Kind::Explain { .. } | Kind::Copy(_))
        || matches!(&stmt.kind, Kind::Utility { verb, .. } if verb == "CALL");
    if !is_query
        || !stmt.text.contains('(')
        || !may_differ(ctx)
        || !visit::tables(&stmt.kind).is_empty()
    {
        return Ok(Route::Unclaimed);
    }
    if passing::is_called(ctx, stmt) {
        return passing::at_its_unit(ctx);
    }
    let calls = calls(ctx, &stmt.text, effects);
    let lacks = |unit: &UnitName| calls.iter().any(|name| lacks(ctx, unit, name));
    if !lacks(&first) {
        return Ok(Route::Unclaimed);
    }
    let other = ctx.database.units.iter().find(|unit| !lacks(unit));
    Ok(other.map_or(Route::Unclaimed, |unit| {
        Route::Units(Units::new(vec![Target::whole(Arc::clone(unit))], Spread::Gather))
    }))
}

/// Whether a unit has no routine of this name, and another has, or was not asked and may be.
fn lacks(ctx: &Context<'_>, unit: &UnitName, name: &str) -> bool {
    let may_be_asked = ctx.session.held.is_empty();
    let may_have = |other: &UnitName| has(ctx, other, name).unwrap_or(may_be_asked);
    has(ctx, unit, name) == Some(false) && ctx.database.units.iter().any(may_have)
}

/// Whether a unit has a routine of this name, in lower case; `None` when it was not asked yet.
fn has(ctx: &Context<'_>, unit: &UnitName, name: &str) -> Option<bool> {
    // Effects are asked beside transactions, which may have made more.
    if !ctx.session.held.is_empty()
        && let Some(told) = ctx.catalog.routines(&ctx.database.units).triggers
    {
        return Some(told.stand.get(name).is_some_and(|units| units.contains(unit)));
    }
    if let Some(known) = ctx.catalog.effectful(unit) {
        return Some(known.routines.get(name).is_some_and(|units| units.contains(unit)));
    }
    let told = ctx.catalog.routines(&ctx.database.units).triggers?;
    Some(told.stand.get(name).is_some_and(|units| units.contains(unit)))
}

/// What has to be known first: what a transaction has made is told on its own connections alone.
fn unasked(ctx: &Context<'_>) -> Option<Need> {
    let units = &ctx.database.units;
    let is_asked = ctx.session.held.is_empty()
        && units.iter().all(|unit| ctx.catalog.effectful(unit).is_some());
    let has_told = is_asked || ctx.catalog.routines(units).triggers.is_some();
    (!has_told).then(|| Need::Triggers(units.clone()))
}

/// Whether a definition may be possible on one storage unit and not on another: where servers read bodies as they are
/// made, and tables stand under the names of their own units.
fn may_differ(ctx: &Context<'_>) -> bool {
    ctx.dialect.syntax().dollar_strings
        && ctx.database.units.len() > 1
        && ctx.database.features.iter().all(|feature| feature.groups().places.is_empty())
}

/// On the units that have all that a new routine names.
fn made(
    ctx: &Context<'_>,
    stmt: &Statement,
    define: &Define,
    effects: &dyn Effects,
) -> Result<Route> {
    let Some(name) = define.names.first() else { return Ok(Route::Unclaimed) };
    let named = named::named(ctx.dialect.syntax(), &stmt.text, name.span);
    if named.tables.is_empty() && named.code.is_empty() {
        return Ok(Route::Unclaimed);
    }
    let Some(found) = ctx.catalog.tables() else { return Ok(Route::Needs(Need::Tables)) };
    let configured: Vec<LogicTable> =
        ctx.database.features.iter().flat_map(|feature| feature.tables()).collect();
    let is_split = |key: &str| {
        let is_part = |node: &DataNode| node.table.eq_ignore_ascii_case(key);
        configured.iter().any(|table| {
            table.kind == TableKind::Sharded
                && (table.name.eq_ignore_ascii_case(key) || table.nodes.iter().any(is_part))
        })
    };
    // What a rule speaks of has parts, and its server judges the name.
    let tables: Vec<(&String, &Vec<UnitName>)> = named
        .tables
        .iter()
        .filter(|key| !is_split(key))
        .filter_map(|key| found.get_key_value(key))
        .collect();
    let calls: Vec<String> = named.code.iter().flat_map(|code| calls(ctx, code, effects)).collect();
    let cannot = |unit: &UnitName| {
        tables.iter().any(|(_, units)| !units.contains(unit))
            || calls.iter().any(|name| lacks(ctx, unit, name))
    };
    let units: Vec<&UnitName> = ctx.database.units.iter().filter(|unit| !cannot(unit)).collect();
    if units.is_empty() {
        return Err(apart(name, &tables));
    }
    Ok(on(ctx, &units))
}

fn apart(name: &ObjectName, tables: &[(&String, &Vec<UnitName>)]) -> Error {
    let names: Vec<&str> = tables.iter().map(|(table, _)| table.as_str()).collect();
    Error::unsupported(
        20101,
        format!(
            "routine `{}` is of one storage unit, and none has all that it names: `{}`",
            name.key(),
            names.join("`, `")
        ),
        "let the client send its statements one by one, or move the tables to one storage unit",
    )
}

/// On the units that have the routines that a definition names.
fn changed(ctx: &Context<'_>, define: &Define) -> Route {
    standing(ctx, define.names.iter().map(|name| name.key().to_lowercase()).collect())
}

/// The routines on which rights are given or taken, in lower case.
fn granted(ctx: &Context<'_>, text: &str) -> Vec<String> {
    let items = reading(text, ctx.dialect.syntax(), None).unwrap_or_default();
    let is_routine = |item: &Item<'_>| {
        ["function", "procedure", "routine"].iter().any(|word| item.is_word(word))
    };
    let on = items.windows(2).position(|pair| pair[0].is_word("on") && is_routine(&pair[1]));
    let Some(behind) = on.and_then(|at| items.get(at + 2..)) else { return Vec::new() };
    let (mut found, mut depth) = (Vec::new(), 0_i32);
    for item in behind {
        if *item == Item::Mark("(") {
            depth += 1;
        } else if *item == Item::Mark(")") {
            depth -= 1;
        } else if depth == 0 {
            if item.is_word("to") || item.is_word("from") {
                break;
            }
            found.extend(item.name().map(|name| name.last().to_lowercase()));
        }
    }
    found
}

/// On the units that have all these routines.
fn standing(ctx: &Context<'_>, keys: Vec<String>) -> Route {
    let may_have = |unit: &&UnitName| keys.iter().all(|key| has(ctx, unit, key) != Some(false));
    let units: Vec<&UnitName> = ctx.database.units.iter().filter(may_have).collect();
    on(ctx, &units)
}

/// These units; what goes to all or to none is for others to say.
fn on(ctx: &Context<'_>, units: &[&UnitName]) -> Route {
    if units.is_empty() || units.len() == ctx.database.units.len() {
        return Route::Unclaimed;
    }
    let targets = units.iter().map(|unit| Target::whole(Arc::clone(unit))).collect();
    Route::Units(Units::new(targets, Spread::Same))
}

/// What a text calls that may be users' own, in lower case.
pub(in crate::plan) fn calls(ctx: &Context<'_>, text: &str, effects: &dyn Effects) -> Vec<String> {
    let tokens = tokenize(text, ctx.dialect.syntax()).ok();
    let names = tokens.and_then(|tokens| said(text, &tokens.list, &[])).unwrap_or_default();
    let called = names.into_iter().filter(|one| one.stands == Stands::Called);
    called.map(|one| one.name).filter(|name| !effects.is_harmless(name)).collect()
}
