//! The list of columns of an INSERT that has none: it takes them as clients see them, and what is stored stands in
//! another order, or is more.

use pando_kernel::insert::by_place;
use pando_kernel::route::Need;
use pando_sql::Edits;
use pando_sql::ast::{
    Insert, InsertSource, Kind, Query, QueryBody, SelectItem, Statement, TableFactor,
};

use super::{Known, Tables};

/// Writes the list, where it is missing.
pub(super) fn write(tables: &Tables<'_>, stmt: &Statement, edits: &mut Edits) -> Known<()> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(()) };
    let table = insert.table.name.key();
    if insert.columns.is_some() || !tables.has(&table) {
        return Ok(());
    }
    let (catalog, dialect) = (tables.ctx.catalog, tables.ctx.dialect);
    let Some(known) = catalog.columns(&table) else { return Err(Need::Columns(table)) };
    let Some(width) = width(tables, insert)? else { return Ok(()) };
    let names: Vec<String> =
        by_place(dialect, &known, width).map(|name| dialect.quote(name)).collect();
    if !names.is_empty() {
        edits.replace(insert.columns_span, format!(" ({})", names.join(", ")));
    }
    Ok(())
}

/// How many values its rows have; `None` where it takes all defaults, or the number does not show.
fn width(tables: &Tables<'_>, insert: &Insert) -> Known<Option<usize>> {
    match &insert.source {
        InsertSource::Values { rows, .. } => {
            let is_empty = rows.iter().any(|row| row.width() == 0);
            Ok(rows.iter().map(|row| row.width()).max().filter(|_| !is_empty))
        }
        InsertSource::Query(query) => of_query(tables, query),
        InsertSource::Set(_) | InsertSource::Default => Ok(None),
    }
}

fn of_query(tables: &Tables<'_>, query: &Query) -> Known<Option<usize>> {
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
                let known = tables.ctx.catalog.columns(&key).ok_or(Need::Columns(key))?;
                match known.len() {
                    0 => return Ok(None),
                    many => many,
                }
            }
            (SelectItem::Star(_) | SelectItem::QualifiedStar(..), _) => return Ok(None),
        };
    }
    Ok(Some(width))
}
