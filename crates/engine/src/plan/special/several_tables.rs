//! DROP TABLE and TRUNCATE of several tables: each table is routed as if it stood alone, and each storage unit gets one statement that names
//! what it has of them. One, because PostgreSQL truncates tables that refer to each other only together.

use std::sync::Arc;

use pando_kernel::effects::Leaves;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Route, Spread, Target};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, Statement};
use pando_sql::{Edits, Span};

use super::{catalogue, missing};
use crate::plan::{Plan, Planned, Purpose, Told, Unit, rewrite, route, writes};

/// What one storage unit has of the tables.
struct Share {
    target: Target,
    /// Their actual names as they are listed, in the statement's order.
    names: Vec<String>,
}

/// Plans such a statement; `None` when it is none, or names what no room knows.
///
/// # Errors
/// What the rooms refuse of one of its tables.
pub(in crate::plan) fn list(
    ctx: &Context<'_>,
    stmt: &Statement,
    purpose: Purpose,
) -> Result<Option<Planned>> {
    let Some(define) = listing(ctx, stmt) else { return Ok(None) };
    let mut shares: Vec<Share> = Vec::new();
    let mut missing: Vec<(String, &str)> = Vec::new();
    for (at, listed) in define.listed.iter().enumerate() {
        let one = alone(stmt, define, at);
        let units = match route::routed(ctx, &one) {
            Ok(Route::Units(units)) => units,
            Ok(Route::Needs(need)) => return Ok(Some(Planned::Needs(need))),
            Ok(Route::Unclaimed) => return Ok(None),
            Err(error) => {
                // Of what DROP names all that is missing is told at once.
                let (ErrorKind::UnknownTable(key), DefineAction::Drop) =
                    (error.kind(), define.action)
                else {
                    return Err(error);
                };
                missing.push((key.clone(), listed.of(&stmt.text)));
                continue;
            }
        };
        for target in units.targets {
            let name = named(ctx, &one, &target, *listed)?;
            add(&mut shares, target, name);
        }
    }
    if !missing.is_empty() && !goes_on(ctx, define, &missing, &mut shares) {
        let keys: Vec<String> = missing.into_iter().map(|(key, _)| key).collect();
        if let Some(error) = missing::missing(define, &keys) {
            return Err(error.into());
        }
    }
    catalogue::unmixed(ctx, stmt)?;
    let place = |share: &Share| ctx.database.units.iter().position(|u| *u == share.target.unit);
    shares.sort_by_key(place);
    if purpose == Purpose::Describe {
        shares.truncate(1);
    }
    Ok(Some(Planned::Run(Box::new(plan(stmt, define, shares)))))
}

/// The definition, when it lists several tables.
fn listing<'a>(ctx: &Context<'_>, stmt: &'a Statement) -> Option<&'a Define> {
    let Kind::Define(define) = &stmt.kind else { return None };
    let is_list = define.object == ObjectKind::Table
        && matches!(define.action, DefineAction::Drop | DefineAction::Truncate)
        && define.listed.len() > 1
        && !define.temporary
        && ctx.dialect.lists_tables(define.action);
    is_list.then_some(define)
}

/// Whether the tables that are there are dropped all the same: all that IF EXISTS finds, and on servers that drop first and say then what was missing. The
/// first of these says it of the missing ones, too, where no part of a table is called so.
fn goes_on(
    ctx: &Context<'_>,
    define: &Define,
    missing: &[(String, &str)],
    shares: &mut [Share],
) -> bool {
    let Some(first) = shares.first_mut() else { return false };
    if define.conditional {
        return true;
    }
    let version = ctx.session.facts.version.as_deref().unwrap_or_default();
    let known = ctx.catalog.tables();
    let is_nowhere = |key: &String| known.as_ref().is_some_and(|known| !known.contains_key(key));
    if !ctx.dialect.drops_the_others(version) || !missing.iter().all(|(key, _)| is_nowhere(key)) {
        return false;
    }
    first.names.extend(missing.iter().map(|(_, name)| (*name).to_owned()));
    true
}

/// The statement as if it named this table only. Its text stays, so that all places in it do.
fn alone(stmt: &Statement, define: &Define, at: usize) -> Statement {
    let mut one = define.clone();
    one.names = define.names.get(at).cloned().into_iter().collect();
    one.listed = define.listed.get(at).copied().into_iter().collect();
    Statement { kind: Kind::Define(Box::new(one)), ..stmt.clone() }
}

/// What the list has to say for this table at a target.
fn named(ctx: &Context<'_>, one: &Statement, target: &Target, listed: Span) -> Result<String> {
    let mut edits = rewrite::edits(ctx, one, target)?;
    edits.replace(Span::new(0, listed.start), "");
    edits.replace(Span::new(listed.end, one.text.len() as u32), "");
    Ok(edits.apply(&one.text))
}

fn add(shares: &mut Vec<Share>, target: Target, name: String) {
    match shares.iter_mut().find(|share| share.target.unit == target.unit) {
        None => shares.push(Share { target, names: vec![name] }),
        Some(share) => {
            share.names.push(name);
            for table in target.tables {
                if !share.target.tables.contains(&table) {
                    share.target.tables.push(table);
                }
            }
        }
    }
}

fn plan(stmt: &Statement, define: &Define, shares: Vec<Share>) -> Plan {
    let list = define.listed.iter().fold(define.listed[0], |all, one| all.to(*one));
    let unit = |share: Share| {
        let mut edits = Edits::default();
        if let Some(hint) = stmt.hint_span {
            edits.replace(hint, "");
        }
        edits.replace(list, share.names.join(", "));
        Unit {
            target: share.target,
            sql: Arc::from(edits.apply(&stmt.text)),
            parameters: Vec::new(),
            turns: Vec::new(),
            replaced: Vec::new(),
            attributes: Vec::new(),
        }
    };
    Plan {
        units: shares.into_iter().map(unit).collect(),
        spread: Spread::Same,
        merge: MergePlan::iterate(),
        keys: None,
        fields: Vec::new(),
        writes: writes(&stmt.kind),
        before: Vec::new(),
        leaves: Leaves::Nothing,
        judged: None,
        told: Told::default(),
    }
}
