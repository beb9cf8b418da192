//! Which member of a group a statement goes to.

use pando_config::rules::TransactionalRead;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Route, UnitName};
use pando_kernel::session::TransactionState;
use pando_kernel::states::Primary;
use pando_sql::ast::Statement;

use crate::algorithm::Asked;
use crate::read::{asks_primary, may_define, only_reads};
use crate::rule::{Group, Rule};

/// Replaces group names by storage units. One statement sees one replica of each group, however many targets name it.
///
/// # Errors
/// `Unavailable` when no member can answer.
pub(crate) fn redirect(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    route: &mut Route,
) -> Result<()> {
    let units = match route {
        Route::Units(units) => units,
        Route::Unclaimed => return unclaimed(rule, stmt),
        Route::Needs(_) => return Ok(()),
    };
    let mut reads = None;
    let mut chosen: Vec<(UnitName, UnitName)> = Vec::new();
    for target in &mut units.targets {
        if let Some((_, unit)) = chosen.iter().find(|(group, _)| *group == target.unit) {
            target.unit = unit.clone();
            continue;
        }
        let Some(group) = rule.groups.iter().find(|group| group.name == target.unit) else {
            continue;
        };
        let reads = *reads.get_or_insert_with(|| only_reads(stmt));
        let unit = if reads { read_unit(group, ctx) } else { write_unit(group, ctx) }?;
        chosen.push((target.unit.clone(), unit.clone()));
        target.unit = unit;
    }
    Ok(())
}

/// What goes to every storage unit goes to the primaries: none may be missing.
fn unclaimed(rule: &Rule, stmt: &Statement) -> Result<()> {
    for group in &rule.groups {
        if let Primary::Nobody { why } = &group.primary
            && (may_define(&stmt.kind) || asks_primary(&stmt.kind))
        {
            return Err(unavailable(&group.name, why.clone()));
        }
    }
    Ok(())
}

fn read_unit(group: &Group, ctx: &Context<'_>) -> Result<UnitName> {
    if ctx.session.transaction == TransactionState::Idle && !ctx.session.sees_one_state {
        return balanced(group, ctx);
    }
    // A transaction reads its own writes, which no replica has yet.
    if ctx.session.has_written || ctx.session.sees_one_state {
        return write_unit(group, ctx);
    }
    match group.transactional {
        TransactionalRead::Primary => write_unit(group, ctx),
        TransactionalRead::Dynamic => balanced(group, ctx),
        TransactionalRead::Fixed => {
            let mut able = group.able.iter().filter_map(|at| group.reads.get(*at));
            let held = able.find(|unit| ctx.session.held.contains(unit));
            held.cloned().map_or_else(|| balanced(group, ctx), Ok)
        }
    }
}

/// A replica that may be asked, and whose circuit is not open; the primary where there is none.
fn balanced(group: &Group, ctx: &Context<'_>) -> Result<UnitName> {
    let unbroken: Vec<usize>;
    let able = match &ctx.session.shut {
        None => &group.able,
        Some(shut) => {
            let is_shut = |at: &usize| group.reads.get(*at).is_some_and(|own| shut.contains(own));
            unbroken = group.able.iter().copied().filter(|at| !is_shut(at)).collect();
            &unbroken
        }
    };
    let at = group.balancer.choose(&Asked {
        group: &group.name,
        reads: &group.reads,
        among: able,
        primary: match &group.primary {
            Primary::Unit(unit) => unit,
            Primary::Nobody { .. } => "",
        },
        user: &ctx.session.facts.user,
        in_transaction: ctx.session.transaction != TransactionState::Idle,
        ticket: ctx.session.ticket,
        source: ctx.source,
    })?;
    match at.and_then(|at| group.reads.get(at)) {
        Some(read) => Ok(read.clone()),
        None => write_unit(group, ctx),
    }
}

fn write_unit(group: &Group, ctx: &Context<'_>) -> Result<UnitName> {
    let unit = match &group.primary {
        Primary::Unit(unit) => unit,
        Primary::Nobody { why } => return Err(unavailable(&group.name, why.clone())),
    };
    let held = &ctx.session.held;
    let is_former = |held: &&UnitName| group.former.contains(held) && *held != unit;
    if ctx.session.transaction != TransactionState::Idle
        && !held.contains(unit)
        && let Some(former) = held.iter().find(is_former)
    {
        // What the transaction has done there would be no part of what it does here.
        let message = format!(
            "`{unit}` takes the writes of group `{}` in its place; roll the transaction back and begin it again",
            group.name
        );
        return Err(unavailable(former, message));
    }
    Ok(unit.clone())
}

fn unavailable(unit: &UnitName, message: String) -> Error {
    ErrorKind::Unavailable { unit: unit.to_string(), message }.into()
}
