//! What is not asked beside a statement's own tables.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::presentation::{Asked, Holding};
use pando_sql::ast::Statement;
use pando_sql::visit;

use super::tables as all_tables;

/// Refuses own tables beside relations that list tables: each unit would show its actual ones, and rows elsewhere would
/// not meet them.
///
/// # Errors
/// `Refused`.
pub(in crate::plan) fn unmixed(ctx: &Context<'_>, stmt: &Statement) -> Result<()> {
    let Some(presentation) = ctx.dialect.presentation() else { return Ok(()) };
    if let Asked::Table(table) = presentation.asked(stmt, ctx.parameters.unwrap_or(&[]))
        && is_in_parts(ctx, &table)
    {
        return Err(Error::unsupported(
            30001,
            format!("the number of the sharded table `{table}` is not known to its storage units"),
            "ask for it in a statement that reads no tables but those of the catalogue",
        ));
    }
    let tables = visit::tables(&stmt.kind);
    let lists = |name| presentation.holding(name) == Some(Holding::Tables);
    match tables.iter().find(|table| lists(table.name)) {
        None => Ok(()),
        Some(table) => Err(Error::spans_shards(
            30001,
            format!(
                "own tables cannot be asked beside tables of the catalogue (`{}`): each storage unit has a part of both",
                table.name.span.of(&stmt.text)
            ),
            "ask the catalogue in a statement of its own",
        )),
    }
}

/// Whether the storage units call a table otherwise than clients do.
fn is_in_parts(ctx: &Context<'_>, table: &str) -> bool {
    let mut own = all_tables(ctx.database).filter(|known| known.name == table);
    own.any(|known| known.nodes.iter().any(|node| *node.table != *known.name))
}
