//! Views over sharded tables. A view is itself configured as a sharded table, bound to those it is made of, and made on each data node over that node's tables.

use pando_kernel::error::{Error, Result};
use pando_kernel::route::{Spread, Units};
use pando_sql::ast::{Define, ObjectName};

use crate::asked::Asked;
use crate::proof::{self, Why};
use crate::route::{everywhere, sharded};
use crate::table::Table;

/// CREATE, ALTER and DROP VIEW: every node.
///
/// # Errors
/// `Refused` 20009 when the view is not bound to its tables, 20032 when its rows are not proven to lie as configured.
pub(crate) fn defined(asked: &Asked<'_>, define: &Define) -> Result<Units> {
    let rule = asked.rule;
    if let (Some(query), Some(name)) = (&define.query, define.names.first()) {
        let view = rule.table(&name.key());
        let tables = sharded(rule, &asked.stmt.kind);
        let Some(view) = view.filter(|view| tables.iter().all(|table| rule.are_bound(view, table)))
        else {
            return Err(unbound(name, &tables));
        };
        let labels = &define.view_columns[..];
        proof::view(asked, (view, name.span), (query, labels))
            .map_err(|why| unproven(name, why))?;
    } else if !define.names.iter().all(|name| rule.table(&name.key()).is_some()) {
        return Err(Error::refused(
            20030,
            "sharded views and others cannot be defined in one statement",
            "write one statement for each view",
        ));
    }
    everywhere(rule, asked.stmt, Spread::Same)
}

fn unbound(view: &ObjectName, tables: &[&Table]) -> Error {
    let view = view.key();
    let others = tables
        .iter()
        .map(|table| table.name())
        .filter(|name| *name.to_lowercase() != *view.to_lowercase());
    let others: Vec<&str> = others.collect();
    Error::refused(
        20009,
        format!("view `{view}` is not bound to {}", others.join(", ")),
        format!(
            "configure `{view}` as a sharded table with the same algorithms and data nodes, and bind it to the tables it is made of"
        ),
    )
}

fn unproven(view: &ObjectName, why: Why) -> Error {
    match why {
        Why::Error(error) => error,
        Why::Doubt(reason) => Error::refused(
            20032,
            format!(
                "view `{}` would not show on each shard what belongs there: {reason}",
                view.key()
            ),
            "let it show the sharding key, and leave what compares rows of several shards to the queries that read it",
        ),
    }
}
