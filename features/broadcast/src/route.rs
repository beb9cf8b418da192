//! Statements on broadcast tables alone are claimed; routes of other rooms are checked.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Place, Route, Spread, Target, Units};
use pando_sql::ast::{CopyDirection, Cursor, Kind, QueryBody, Statement};
use pando_sql::visit;

use crate::rule::Rule;
use crate::{inherits, passed_over, replicated, same, trigger};

pub(crate) fn route(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    route: &mut Route,
) -> Result<()> {
    match route {
        Route::Needs(_) => Ok(()),
        Route::Unclaimed => claim(rule, ctx, stmt, route),
        Route::Units(units) => verify(rule, stmt, units),
    }
}

fn claim(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
    if let Some(need) = trigger::made(rule, ctx, stmt)? {
        *route = Route::Needs(need);
        return Ok(());
    }
    let named = visit::tables(&stmt.kind);
    if !named.iter().any(|table| is_ours(rule, table)) {
        return Ok(());
    }
    if only_reads(&stmt.kind) {
        if let Some(place) = one(rule, ctx).and_then(|number| rule.readable.get(number)) {
            let target = Target::whole(Arc::clone(&place.name));
            *route = Route::Units(Units::new(vec![target], Spread::Gather));
        }
        return Ok(());
    }
    if rule.places.len() > 1 {
        same::check(rule, ctx, stmt, route)?;
        if let Route::Needs(_) = route {
            return Ok(());
        }
    }
    let targets = rule.places.iter().map(|place| Target::whole(Arc::clone(&place.name))).collect();
    *route = Route::Units(Units::new(targets, Spread::Same));
    Ok(())
}

/// Whether a broadcast table is named here.
pub(crate) fn is_ours(rule: &Rule, table: &visit::Occurrence<'_>) -> bool {
    table.name.parts.last().is_some_and(|name| rule.is_broadcast(&name.key()))
}

/// The number of a readable place: one the session already speaks to, else one after the other, past those whose
/// circuit is open.
pub(crate) fn one(rule: &Rule, ctx: &Context<'_>) -> Option<usize> {
    let is_held = |place: &Place| {
        ctx.session.held.iter().any(|unit| *unit == place.name || place.members.contains(unit))
    };
    let is_shut = |place: &Place| {
        let shut = ctx.session.shut.as_ref();
        shut.is_some_and(|shut| place.members.iter().all(|unit| shut.contains(unit)))
    };
    let places = &rule.readable;
    let turn = usize::try_from(ctx.session.ticket % places.len().max(1) as u64).unwrap_or(0);
    let from_turn = || (turn..places.len()).chain(0..turn);
    let works = |at: &usize| places.get(*at).is_some_and(|place| !is_shut(place));
    let next = || from_turn().find(works).or_else(|| from_turn().next());
    places.iter().position(is_held).or_else(next)
}

/// Another room has claimed the statement. Reading broadcast tables beside its own is fine wherever it goes; changing them is not.
fn verify(rule: &Rule, stmt: &Statement, units: &Units) -> Result<()> {
    let several = units.targets.len() > 1 && units.spread == Spread::Gather;
    if rule.is_empty() && !several {
        return Ok(());
    }
    if rule.places.len() > 1 {
        passed_over::beside_others(rule, stmt)?;
        inherits::check(rule, stmt)?;
    }
    let written = visit::written(&stmt.kind);
    let everywhere = rule.places.len() == 1;
    if let Some(table) = written.iter().find(|table| rule.is_broadcast(table) && !everywhere) {
        return Err(Error::spans_shards(
            30001,
            format!(
                "`{table}` is a broadcast table: a change must not depend on tables that differ from unit to unit"
            ),
            "change it in a statement of its own",
        ));
    }
    if !several {
        return Ok(());
    }
    // A change of a split table runs once on each part; one of a whole table would run once per target.
    if let Some(table) = written.iter().find(|table| !rule.is_split(table)) {
        return Err(Error::spans_shards(
            30001,
            format!(
                "`{table}` is not sharded and would be changed once per target of the statement"
            ),
            "add a condition on the sharding key so that it goes to one target",
        ));
    }
    if units.alone.queries {
        return Ok(());
    }
    replicated::check(&stmt.kind, &|table| rule.is_split(table))
}

pub(crate) fn only_reads(kind: &Kind) -> bool {
    match kind {
        Kind::Select(query) => {
            let into = matches!(&query.body, QueryBody::Select(select) if select.into.is_some() && !select.into_variables);
            query.lock.is_none() && !into && query.with.iter().all(|cte| only_reads(&cte.body))
        }
        Kind::Explain { inner, analyze, .. } => !*analyze || only_reads(inner),
        Kind::Copy(copy) => copy.direction == CopyDirection::ToClient,
        Kind::Cursor(cursor) => match &**cursor {
            Cursor::Declare { query, .. } => query.lock.is_none(),
            Cursor::Fetch { .. } | Cursor::Close(_) => true,
        },
        Kind::Show(_) => true,
        Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Use(_)
        | Kind::Load(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => false,
    }
}
