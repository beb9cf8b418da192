//! Whether a query means by itself what it means inside the statement: it names nothing of the rows outside, and no table that the statement makes.

use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{Node, Statement};
use pando_sql::visit::{self, Refers};

use super::place::parts;
use crate::plan::assemble::given;

/// Whether the query `sub` of `stmt`, read by itself, is the same.
pub(super) fn is_alone(
    ctx: &Context<'_>,
    stmt: &Statement,
    sub: &Statement,
) -> std::result::Result<bool, Need> {
    let foreign = |owner: &visit::Owner<'_>| matches!(owner.refers, Refers::Unknown);
    if visit::column_owners(&sub.kind).iter().any(foreign) {
        return Ok(false);
    }
    let made = parts(stmt).map_or(&[][..], |parts| parts.with);
    let mut columns = Vec::new();
    for table in visit::tables(&sub.kind) {
        let Some(name) = table.name.parts.last() else { return Ok(false) };
        if made.iter().any(|cte| cte.name.value.eq_ignore_ascii_case(&name.value)) {
            return Ok(false);
        }
        let logic = name.key();
        let Some(known) = ctx.catalog.columns(&logic) else { return Err(Need::Columns(logic)) };
        // What is not known may have any column.
        if known.is_empty() {
            return Ok(false);
        }
        columns.push(known);
    }
    let given = given(sub);
    let hidden = ctx.dialect.hidden_columns();
    let mut alone = true;
    visit::exprs(&sub.kind, &mut |expr| {
        let Node::Column(name) = &expr.node else { return };
        let Some((column, owner)) = name.parts.split_last() else { return };
        let known = columns
            .iter()
            .any(|known| known.iter().any(|one| one.name.eq_ignore_ascii_case(&column.value)))
            || given.contains(&column.value.to_lowercase());
        // Where a row lies on one server says nothing about another's.
        let is_hidden = hidden.iter().any(|hidden| hidden.eq_ignore_ascii_case(&column.value));
        alone &= known || !owner.is_empty() && !is_hidden;
    });
    Ok(alone)
}
