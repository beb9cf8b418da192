//! An INSERT without a list of columns, into a table of which some are not as they are stored: it takes them as clients
//! see them, and what is stored stands in another order, or is more. So the list is written before any room sees it.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::insert::by_place;
use pando_kernel::route::Need;
use pando_sql::Edits;
use pando_sql::ast::{
    Insert, InsertSource, Kind, Query, QueryBody, SelectItem, Statement, TableFactor,
};

use super::parse::parsed;
use super::special::temporary;

/// The statement with its columns listed; `None` where it can stay. Databases without such tables are not looked into.
///
/// # Errors
/// What reading the text anew says.
pub(super) fn listed(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<std::result::Result<Option<Statement>, Need>> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(Ok(None)) };
    let is_concerned = insert.columns.is_none()
        && !matches!(insert.source, InsertSource::Set(_) | InsertSource::Default)
        && ctx.database.turns_columns()
        && temporary::concerned(ctx, stmt).is_none();
    if !is_concerned {
        return Ok(Ok(None));
    }
    let table = insert.table.name.key();
    let Some(known) = ctx.catalog.columns(&table) else { return Ok(Err(Need::Columns(table))) };
    if ctx.catalog.logic(&table).is_none() {
        return Ok(Ok(None));
    }
    let width = match width(ctx, insert) {
        Ok(Some(width)) => width,
        Ok(None) => return Ok(Ok(None)),
        Err(need) => return Ok(Err(need)),
    };
    let names: Vec<String> =
        by_place(ctx.dialect, &known, width).map(|name| ctx.dialect.quote(name)).collect();
    let mut edits = Edits::default();
    edits.replace(insert.columns_span, format!(" ({})", names.join(", ")));
    parsed(ctx, &edits.apply(&stmt.text)).map(|stmt| Ok(Some(stmt)))
}

/// How many values its rows have; `None` where it takes all defaults, or the number does not show.
fn width(ctx: &Context<'_>, insert: &Insert) -> std::result::Result<Option<usize>, Need> {
    match &insert.source {
        InsertSource::Values { rows, .. } => {
            let is_empty = rows.iter().any(|row| row.width() == 0);
            Ok(rows.iter().map(|row| row.width()).max().filter(|_| !is_empty))
        }
        InsertSource::Query(query) => of_query(ctx, query),
        InsertSource::Set(_) | InsertSource::Default => Ok(None),
    }
}

fn of_query(ctx: &Context<'_>, query: &Query) -> std::result::Result<Option<usize>, Need> {
    let mut body = &query.body;
    while let QueryBody::Set { left, .. } = body {
        body = &left.body;
    }
    let QueryBody::Select(select) = body else { return Ok(None) };
    let mut width = 0;
    for item in &select.items {
        width += match (item, &select.from[..]) {
            (SelectItem::Expr { .. }, _) => 1,
            (SelectItem::Star(_) | SelectItem::QualifiedStar(..), [TableFactor::Table(table)])
                if !query.with.iter().any(|cte| cte.name.key() == table.name.key()) =>
            {
                let key = table.name.key();
                match ctx.catalog.columns(&key) {
                    None => return Err(Need::Columns(key)),
                    Some(known) if known.is_empty() => return Ok(None),
                    Some(known) => known.len(),
                }
            }
            (SelectItem::Star(_) | SelectItem::QualifiedStar(..), _) => return Ok(None),
        };
    }
    Ok(Some(width))
}
