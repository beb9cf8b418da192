//! Where the targets of a statement are, in its environment.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Environment, Route, Spread, Target, Units};
use pando_sql::ast::{Define, DefineAction, Kind, Statement};
use pando_sql::visit;

use crate::decision;
use crate::define;
use crate::refused;
use crate::rule::Rule;

/// Puts storage units, or groups of them, in the place of pairs. Definitions go to both of a pair.
///
/// # Errors
/// `Refused` where a statement about shadows names a table without one.
pub(crate) fn redirect(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    route: &mut Route,
) -> Result<()> {
    let Route::Units(units) = route else { return Ok(()) };
    let environment = match ctx.session.environment {
        Some(environment) => environment,
        None => match decision::environment(rule, ctx, stmt)? {
            Ok(found) => found.unwrap_or(Environment::Production),
            Err(need) => {
                *route = Route::Needs(need);
                return Ok(());
            }
        },
    };
    if let Kind::Define(own) = &stmt.kind
        && own.action != DefineAction::Truncate
        && environment == Environment::Production
    {
        return match define::concerned(rule, ctx, own) {
            Ok(keys) => {
                doubled(rule, own, &keys, units);
                Ok(())
            }
            Err(need) => {
                *route = Route::Needs(need);
                Ok(())
            }
        };
    }
    if environment == Environment::Shadow {
        have_shadows(rule, stmt, units.targets.iter())?;
    }
    units.targets.iter_mut().for_each(|target| redirect_one(rule, environment, target));
    Ok(())
}

/// Puts what stands there in the place of the pair that a target names, if it names one.
pub(crate) fn redirect_one(rule: &Rule, environment: Environment, target: &mut Target) {
    let pair = rule.pair(&target.unit).and_then(|pair| rule.pairs.get(pair));
    if let Some(pair) = pair {
        target.unit = match environment {
            Environment::Production => pair.production.name.clone(),
            Environment::Shadow => pair.shadow.name.clone(),
        };
    }
}

/// Refuses a statement about shadows that names a table which has none where a target is.
///
/// # Errors
/// `Refused`.
pub(crate) fn have_shadows<'t>(
    rule: &Rule,
    stmt: &Statement,
    targets: impl Iterator<Item = &'t Target>,
) -> Result<()> {
    // Rows that were read before stand in the statement under a name of their own.
    let is_stored =
        |key: &String| key != "dual" && !key.starts_with(pando_kernel::relation::PREFIX);
    let tables = visit::tables(&stmt.kind).into_iter().map(|table| table.name.key());
    let tables: Vec<String> = tables.filter(is_stored).collect();
    for target in targets {
        let without = match rule.pair(&target.unit) {
            Some(pair) => tables.iter().find(|key| !rule.has_shadow(key, pair)),
            None => tables.iter().find(|key| rule.table(key).is_some()),
        };
        if let Some(table) = without {
            return Err(without_shadow(table, &target.unit));
        }
    }
    Ok(())
}

/// A definition's targets, and behind them those in the shadows of their pairs.
fn doubled(rule: &Rule, define: &Define, keys: &[String], units: &mut Units) {
    let mut shadows: Vec<Target> = Vec::new();
    for target in &mut units.targets {
        let pair = rule.pair(&target.unit);
        let is_there = |pair: usize| match keys {
            [] => rule.takes_all,
            keys => keys.iter().any(|key| rule.has_shadow(key, pair)),
        };
        if pair.is_some_and(|pair| !define.temporary && is_there(pair)) {
            let mut shadow = target.clone();
            redirect_one(rule, Environment::Shadow, &mut shadow);
            shadows.push(shadow);
        }
        redirect_one(rule, Environment::Production, target);
    }
    if !shadows.is_empty() {
        units.spread = Spread::Same;
        units.targets.extend(shadows);
    }
}

fn without_shadow(table: &str, unit: &str) -> Error {
    refused(
        format!("table `{table}` has no shadow at `{unit}`, and the statement is about shadows"),
        "list it under `tables` of `!SHADOW`, with this data source, or ask for it by itself in production",
    )
}
