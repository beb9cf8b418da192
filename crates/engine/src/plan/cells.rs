//! Cells that are told otherwise than they are stored: what the rooms say of a statement's columns.

use std::borrow::Cow;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::Position;
use pando_kernel::{CellMap, Feature};
use pando_sql::ast::{CopyDirection, Ident, Kind, ObjectName, Statement};

use super::about::changes_in_with;
use super::parse::parsed;
use super::special::temporary;

/// What all rooms turn of a statement's rows: of one column those first that are nearer to the storage units, as what
/// they tell is what the others turn.
///
/// # Errors
/// `Refused` where a room turns one column twice, and what the rooms say.
pub(super) fn shown(ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
    // Nobody but their own connection knows temporary tables.
    if matches!(stmt.kind, Kind::Define(_)) || temporary::concerned(ctx, stmt).is_some() {
        return Ok(Vec::new());
    }
    let Some(stmt) = rows_of(ctx, stmt)? else { return Ok(Vec::new()) };
    let mut cells: Vec<CellMap> = Vec::new();
    for feature in ctx.database.features.iter().rev() {
        let of_others = cells.len();
        for cell in feature.shown(ctx, &stmt)? {
            let own = cells.get(of_others..).unwrap_or_default();
            admit(&**feature, &stmt, own, &cell)?;
            cells.push(cell);
        }
    }
    Ok(cells)
}

fn admit(feature: &dyn Feature, stmt: &Statement, cells: &[CellMap], cell: &CellMap) -> Result<()> {
    if cells.iter().any(|other| other.at == cell.at) {
        return Err(turned_twice(feature.name()));
    }
    match &cell.at {
        Position::Index(_) => Ok(()),
        // Whether it is there shows only when the rows come, and a change has been made by then.
        Position::Name(_) if only_reads(&stmt.kind) => Ok(()),
        Position::Name(name) => Err(Error::unsupported(
            30001,
            format!("the place of column `{name}` among the rows of this change is not known"),
            "name the columns in RETURNING",
        )),
        Position::Derived(_) => Err(Error::internal("a derived column has no cells to be told")),
    }
}

fn only_reads(kind: &Kind) -> bool {
    matches!(kind, Kind::Select(_)) && !changes_in_with(kind)
}

/// A room turns the same column twice.
fn turned_twice(what: &str) -> Error {
    Error::unsupported(
        30001,
        format!("a column that `{what}` turns on its way to the client is turned already"),
        "let one rule only concern the column",
    )
}

/// The statement whose columns are told: of COPY TO the query that gives its rows; `None` where a COPY gives none to the client.
fn rows_of<'a>(ctx: &Context<'_>, stmt: &'a Statement) -> Result<Option<Cow<'a, Statement>>> {
    let Kind::Copy(copy) = &stmt.kind else { return Ok(Some(Cow::Borrowed(stmt))) };
    if copy.direction != CopyDirection::ToClient {
        return Ok(None);
    }
    if let Some(query) = &copy.query {
        let kind = Kind::Select(query.clone());
        return Ok(Some(Cow::Owned(Statement { kind, ..stmt.clone() })));
    }
    let Some(table) = &copy.table else { return Ok(Some(Cow::Borrowed(stmt))) };
    let text = table_query(table, copy.columns.as_deref(), &stmt.text);
    let query = parsed(ctx, &text)?;
    Ok(Some(Cow::Owned(query)))
}

/// The query of the rows that bulk data of a table holds.
pub(crate) fn table_query(table: &ObjectName, columns: Option<&[Ident]>, text: &str) -> String {
    let columns = match columns {
        Some(listed) => {
            listed.iter().map(|column| column.span.of(text)).collect::<Vec<_>>().join(", ")
        }
        None => "*".to_owned(),
    };
    format!("SELECT {columns} FROM {}", table.span.of(text))
}
