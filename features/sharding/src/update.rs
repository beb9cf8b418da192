//! UPDATE may not take a row away from its shard.

use pando_kernel::error::{Error, Result};
use pando_kernel::route::Units;
use pando_sql::ast::{Ident, Update};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::insert::stored;
use crate::literal;
use crate::scope::{Scope, last};
use crate::table::Table;

/// Refuses assignments to sharding columns, unless the statement runs on one node and its rows, with the new value, belong to that node.
pub(crate) fn keeps_its_shard(
    asked: &Asked<'_>,
    update: &Update,
    scope: &Scope<'_>,
    units: &Units,
) -> Result<()> {
    // Without its values nothing is known yet.
    if asked.ctx.parameters.is_none() && asked.stmt.parameters > 0 {
        return Ok(());
    }
    let tables = asked.tables(scope);
    let keys = |i: usize, column: &str| {
        tables.get(i).copied().flatten().is_some_and(|table| table.is_key(column))
    };
    let domains = scope.domains(asked, &keys);
    for assignment in &update.assignments {
        let column = last(&assignment.column);
        let owner = assignment.column.parts.len().checked_sub(2);
        let owner = owner.and_then(|i| assignment.column.parts.get(i));
        let owner = owner.map(Ident::key);
        for (i, source) in scope.sources.iter().enumerate() {
            let Some(table) = tables.get(i).copied().flatten() else { continue };
            if owner.as_ref().is_some_and(|owner| *owner != source.label) || !table.is_key(&column)
            {
                continue;
            }
            let value = literal::value(asked, &assignment.value).filter(|value| !value.is_null());
            let value = value.and_then(|value| stored(asked, table, &column, value).ok());
            let stays = value.is_some_and(|value| {
                let of = |key: &str| {
                    if key == column {
                        return Domain::equal(value.clone());
                    }
                    domains.get(&(i, key.to_owned())).cloned().unwrap_or_default()
                };
                on_one_node(table, units, &of)
            });
            if !stays {
                return Err(Error::moves_row(
                    20031,
                    format!(
                        "UPDATE may not change the sharding column `{column}` of `{}`",
                        table.logic()
                    ),
                    "insert the row with its new key and delete the old one in a transaction",
                ));
            }
        }
    }
    Ok(())
}

/// Whether values like these live on the one node the statement runs on.
fn on_one_node(table: &Table, units: &Units, of: &dyn Fn(&str) -> Domain) -> bool {
    let [target] = &units.targets[..] else { return false };
    let nodes = table.route_exactly(of, &[]).unwrap_or_default();
    let [node] = nodes[..] else { return false };
    table.node(node).is_ok_and(|actual| {
        actual.unit == target.unit && target.actual(table.logic()) == Some(&*actual.table)
    })
}
