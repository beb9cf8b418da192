//! GROUP BY a primary key lets a select list name all other columns of its table; rows that stand as a table without a key do not. Where
//! the family's tables of rows have none, the other columns are added to the GROUP BY, which changes no group.

use pando_kernel::feature::Context;
use pando_kernel::relation::Carried;
use pando_sql::ast::{Expr, Literal, Node, Select, SelectItem, Statement};
use pando_sql::{Edits, Fold, Span};

use super::columns::Columns;
use super::filter::is_of;
use super::walk::Leaf;

/// Types that cannot be grouped by.
const UNGROUPED: &[&str] =
    &["json", "xml", "point", "box", "path", "polygon", "circle", "line", "lseg"];

pub(super) fn edits(
    ctx: &Context<'_>,
    stmt: &Statement,
    leaves: &[Leaf<'_>],
    columns: &Columns,
) -> Edits {
    let mut edits = Edits::default();
    // MySQL's temporary tables have their key.
    if ctx.dialect.syntax().fold != Fold::Lower {
        return edits;
    }
    for leaf in leaves {
        let Some(select) = leaf.select else { continue };
        let Some(last) = select.group_by.last().filter(|_| !select.grouping_sets) else { continue };
        let carried = columns.carried(&leaf.logic);
        let mut keys = carried.iter().filter(|one| one.is_key).peekable();
        let named = |name: &str| {
            let items = select.group_by.iter().map(|expr| meant(select, expr));
            items.into_iter().any(|expr| column_is(ctx, (leaf, columns), expr, name))
        };
        let told =
            |key: &Carried| columns.told_name(&leaf.logic, &key.column.name).is_some_and(named);
        if keys.peek().is_none() || !keys.all(told) {
            continue;
        }
        let Some(label) = leaf.table.alias.as_ref().or(leaf.table.name.parts.last()) else {
            continue;
        };
        let label = label.span.of(&stmt.text);
        let others = carried
            .iter()
            .filter(|one| !one.is_key && !UNGROUPED.contains(&one.column.type_name.as_str()));
        let text: String = others
            .map(|one| format!(", {label}.{}", ctx.dialect.quote(&one.column.name)))
            .collect();
        edits.replace(Span::at(last.span.end), text);
    }
    edits
}

/// The item of the select list that a number stands for.
fn meant<'a>(select: &'a Select, expr: &'a Expr) -> &'a Expr {
    let Node::Literal(Literal::Integer(number)) = &expr.node else { return expr };
    let at = usize::try_from(*number).ok().and_then(|number| number.checked_sub(1));
    match at.and_then(|at| select.items.get(at)) {
        Some(SelectItem::Expr { expr, .. }) => expr,
        Some(SelectItem::Star(_) | SelectItem::QualifiedStar(..)) | None => expr,
    }
}

fn column_is(
    ctx: &Context<'_>,
    (leaf, columns): (&Leaf<'_>, &Columns),
    expr: &Expr,
    name: &str,
) -> bool {
    let Node::Column(column) = &expr.node else { return false };
    let Some((last, owner)) = column.parts.split_last() else { return false };
    last.value == name && is_of(ctx, leaf, columns, (last, owner))
}
