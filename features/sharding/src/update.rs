//! UPDATE may not take a row away from its shard.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Units;
use pando_sql::ast::Update;

use crate::domain::Domain;
use crate::literal;
use crate::rule::Rule;
use crate::scope::{Scope, last};

/// Refuses assignments to sharding columns, unless the statement runs on one node and the new value belongs to that node.
pub(crate) fn keeps_its_shard(
    rule: &Rule,
    ctx: &Context<'_>,
    update: &Update,
    scope: &Scope<'_>,
    units: &Units,
) -> Result<()> {
    for assignment in &update.assignments {
        let column = last(&assignment.column);
        let owner = assignment.column.parts.len().checked_sub(2);
        let owner = owner.and_then(|i| assignment.column.parts.get(i)).map(|p| p.value.to_lowercase());
        for source in &scope.sources {
            let Some(table) = rule.table(&source.logic) else { continue };
            if owner.as_ref().is_some_and(|owner| *owner != source.label) || !table.is_key(&column) {
                continue;
            }
            let stays = literal::value(ctx, &assignment.value).is_some_and(|value| {
                let of = |key: &str| {
                    if key == column { Domain::equal(value.clone()) } else { Domain::Any }
                };
                let [target] = &units.targets[..] else { return false };
                let nodes = table.route_exactly(&of, &[]).unwrap_or_default();
                let [node] = nodes[..] else { return false };
                table.node(node).is_ok_and(|actual| {
                    actual.unit == target.unit && target.actual(table.logic()) == Some(&*actual.table)
                })
            });
            if !stays {
                return Err(Error::refused(
                    20031,
                    format!("UPDATE may not change the sharding column `{column}` of `{}`", table.logic()),
                    "insert the row with its new key and delete the old one in a transaction",
                ));
            }
        }
    }
    Ok(())
}
