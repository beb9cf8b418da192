//! Routines in `pg_temp`, which one connection has: a transaction keeps it, and Sequelize and others make one inside of
//! it, call it and drop it.

use std::sync::Arc;

use pando_kernel::UnitName;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, DataNode, LogicTable, TableKind};
use pando_kernel::route::{Need, Route, Spread, Target, Units};
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Define, DefineAction, Statement};
use pando_sql::{Item, reading};

use crate::plan::about::any_unit;

/// The schema of what one connection has.
const SCHEMA: &str = "pg_temp";

/// Refuses what is about such a routine where no connection is kept.
///
/// # Errors
/// `Refused` outside of a transaction.
pub(in crate::plan) fn kept(ctx: &Context<'_>) -> Result<()> {
    if ctx.session.transaction != TransactionState::Idle {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "a temporary routine belongs to one server connection, which a session keeps inside of a transaction only",
        "make, call and drop it in one transaction, or give it a schema that is not temporary",
    ))
}

/// Where one is made, changed or dropped.
pub(super) fn defined(ctx: &Context<'_>, stmt: &Statement, define: &Define) -> Result<Route> {
    kept(ctx)?;
    if define.action != DefineAction::Create {
        return at_its_unit(ctx);
    }
    let names = names(ctx, &stmt.text);
    let Some(found) = ctx.catalog.tables() else { return Ok(Route::Needs(Need::Tables)) };
    let configured: Vec<LogicTable> =
        ctx.database.features.iter().flat_map(|feature| feature.tables()).collect();
    if let Some(table) = names.iter().find(|name| is_of_several(&configured, name)) {
        return Err(Error::unsupported(
            20101,
            format!(
                "a temporary routine runs on one storage unit, and table `{table}`, which it names, stands on several"
            ),
            "let the client send its statements one by one",
        ));
    }
    let tables: Vec<&Vec<UnitName>> = names.iter().filter_map(|name| found.get(name)).collect();
    let has_all = |unit: &&UnitName| tables.iter().all(|units| units.contains(unit));
    let fit = any_unit(ctx).filter(|unit| has_all(&unit));
    match fit.or_else(|| ctx.database.units.iter().find(has_all).cloned()) {
        Some(unit) => Ok(on(unit)),
        None => Err(Error::unsupported(
            20101,
            "a temporary routine runs on one storage unit, and the tables that it names stand on several",
            "let the client send its statements one by one",
        )),
    }
}

/// Whether a statement calls one.
pub(super) fn is_called(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let text = stmt.text.as_bytes();
    if !text.windows(SCHEMA.len()).any(|part| part.eq_ignore_ascii_case(SCHEMA.as_bytes())) {
        return false;
    }
    let items = reading(&stmt.text, ctx.dialect.syntax(), None).unwrap_or_default();
    items.windows(2).any(|pair| {
        let name = pair[0].name().map(|name| &name.parts[..]);
        pair[1] == Item::Mark("(")
            && matches!(name, Some([schema, _]) if schema.eq_ignore_ascii_case(SCHEMA))
    })
}

/// The one unit that the transaction is on.
pub(super) fn at_its_unit(ctx: &Context<'_>) -> Result<Route> {
    kept(ctx)?;
    match &ctx.session.held[..] {
        [unit] => Ok(on(Arc::clone(unit))),
        [] => Ok(any_unit(ctx).map_or(Route::Unclaimed, on)),
        [_, ..] => Err(Error::unsupported(
            30001,
            "the transaction is on several storage units, and it is not known on which of them its temporary routine is",
            "make and call it in a transaction of its own",
        )),
    }
}

fn on(unit: UnitName) -> Route {
    Route::Units(Units::new(vec![Target::whole(unit)], Spread::Gather))
}

fn is_of_several(configured: &[LogicTable], name: &str) -> bool {
    let is_part = |node: &DataNode| node.table.eq_ignore_ascii_case(name);
    configured.iter().any(|table| {
        table.kind != TableKind::Single
            && table.nodes.len() > 1
            && (table.name.eq_ignore_ascii_case(name) || table.nodes.iter().any(is_part))
    })
}

/// How deep strings in strings are read: a body is one, and may have others in it that it runs.
const DEEPEST: usize = 4;

/// All that a definition says that could be a table, in lower case: what its body is about shows when it runs.
fn names(ctx: &Context<'_>, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut texts = vec![text.to_owned()];
    for _ in 0..DEEPEST {
        for text in std::mem::take(&mut texts) {
            let items = reading(&text, ctx.dialect.syntax(), None).unwrap_or_default();
            let names = items.iter().filter_map(Item::name);
            found.extend(names.flat_map(|name| name.parts.iter().map(|part| part.to_lowercase())));
            texts.extend(items.iter().filter_map(Item::text).map(str::to_owned));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
