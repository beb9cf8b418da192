//! Which member of a group a statement goes to.

use pando_config::rules::TransactionalRead;
use pando_kernel::feature::Context;
use pando_kernel::route::{Route, UnitName};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Statement;

use crate::read::only_reads;
use crate::rule::{Group, Rule};

/// Replaces group names by storage units. One statement sees one replica of each group, however many targets name it.
pub(crate) fn redirect(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) {
    let Route::Units(units) = route else { return };
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
        let unit = if reads { read_unit(group, ctx) } else { group.write.clone() };
        chosen.push((target.unit.clone(), unit.clone()));
        target.unit = unit;
    }
}

fn read_unit(group: &Group, ctx: &Context<'_>) -> UnitName {
    if ctx.session.transaction == TransactionState::Idle {
        return balanced(group, ctx);
    }
    // A transaction reads its own writes, which no replica has yet.
    if ctx.session.has_written {
        return group.write.clone();
    }
    match group.transactional {
        TransactionalRead::Primary => group.write.clone(),
        TransactionalRead::Dynamic => balanced(group, ctx),
        TransactionalRead::Fixed => {
            let held = ctx.session.held.iter().find(|unit| group.reads.contains(unit));
            held.cloned().unwrap_or_else(|| balanced(group, ctx))
        }
    }
}

fn balanced(group: &Group, ctx: &Context<'_>) -> UnitName {
    let at = group.balancer.choose(group.reads.len(), ctx.session.ticket, ctx.source);
    group.reads.get(at).unwrap_or(&group.write).clone()
}
