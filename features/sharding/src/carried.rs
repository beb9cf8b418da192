//! INSERT … SELECT whose rows are written on the shards where the query finds them: each part of the statement runs on
//! its shard alone, ON DUPLICATE KEY UPDATE that names columns of the query included.

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::insert::by_place;
use pando_kernel::route::{Spread, Units};
use pando_sql::Fold;
use pando_sql::ast::{Expr, Insert, Query, QueryBody, SelectItem};

use crate::asked::Asked;
use crate::class::Placed;
use crate::insert::{Row, Rows, at_node, first_node, node_of_first};
use crate::placed::{inner, single};
use crate::proof::{self, Why};
use crate::table::Table;
use crate::{join, literal};

/// What is written: the table, and what the query's columns are assigned to.
struct Aim<'a> {
    table: &'a Table,
    columns: &'a [String],
}

/// The shards of such a statement; `None` where it is not certain that each row stays where it is found, or where the
/// rows must be seen before they are written.
pub(crate) fn route(
    asked: &Asked<'_>,
    table: &Table,
    insert: &Insert,
    query: &Query,
) -> Result<Option<Units>> {
    let view = asked.ctx.session;
    if !insert.with.is_empty() || view.notes_rows || !table.is_placed_by_keys() || turns(asked) {
        return Ok(None);
    }
    let Some(known) = asked.columns(table.logic()) else { return Ok(None) };
    let columns: Vec<String> = match &insert.columns {
        Some(listed) => listed.iter().map(|column| column.value.to_lowercase()).collect(),
        None => by_place(asked.ctx.dialect, &known, usize::MAX).map(str::to_lowercase).collect(),
    };
    if is_numbered(asked, table, &known, &columns) {
        return Ok(None);
    }
    // Asked in any case: they may be audited.
    let queries = inner(asked)?;
    if let Some(units) = constant(asked, &Aim { table, columns: &columns }, query, &queries)? {
        return Ok(Some(units));
    }
    let into = proof::Into { table, named: insert.table.name.span, columns: &columns };
    match proof::carried(asked, &into, query) {
        Ok(units) => Ok(keeps_types(asked, table).then_some(units)),
        Err(Why::Error(error)) => Err(error),
        Err(Why::Doubt(_)) => Ok(None),
    }
}

/// Whether a room has columns of the statement's tables stored otherwise than clients see them: it says of values that
/// are read first where they may go.
fn turns(asked: &Asked<'_>) -> bool {
    let mut shows = asked.ctx.database.features.iter().filter_map(|room| room.columns());
    let tables = &asked.names.tables;
    shows.any(|shows| tables.iter().any(|table| shows.concerns(&table.name.key())))
}

/// Whether rows may want a number or a key of their own, or tell a counter where it is to go on.
fn is_numbered(
    asked: &Asked<'_>,
    table: &Table,
    known: &[TableColumn],
    columns: &[String],
) -> bool {
    let syntax = asked.ctx.dialect.syntax();
    let is_given = |name: &str| columns.iter().any(|own| own.eq_ignore_ascii_case(name));
    let made = table.key_generator().map(|(column, _)| column);
    let may_be_made = made
        .is_some_and(|made| !is_given(made) || syntax.fold == Fold::Keep && !table.is_key(made));
    let is_counted = |column: &&TableColumn| column.auto_increment;
    let counted = known.iter().filter(is_counted);
    may_be_made
        || counted.into_iter().any(|column| syntax.fold == Fold::Keep || !is_given(&column.name))
}

/// The shard of rows that all have these constants for their sharding columns, where the query needs no other one.
fn constant(
    asked: &Asked<'_>,
    Aim { table, columns }: &Aim<'_>,
    query: &Query,
    queries: &[Placed<'_>],
) -> Result<Option<Units>> {
    let QueryBody::Select(select) = &query.body else { return Ok(None) };
    let value = |item: &'_ SelectItem| match item {
        SelectItem::Expr { .. } => true,
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => false,
    };
    if select.items.len() != columns.len() || !select.items.iter().all(value) {
        return Ok(None);
    }
    let items: Vec<&Expr> = proof::items(select).collect();
    let of = |key: &String| columns.iter().position(|own| own == key).map(|at| items[at]);
    let is_open = asked.ctx.parameters.is_none() && asked.stmt.parameters > 0;
    let given = |key: &String| {
        of(key).is_some_and(|item| {
            literal::value(asked, item).is_some_and(|value| !value.is_null())
                || is_open && literal::is_parameter(item)
        })
    };
    if table.keys().is_empty() || !table.keys().iter().all(given) {
        return Ok(None);
    }
    if is_open {
        return Ok(Some(first_node(table)?));
    }
    let rows = Rows { columns: columns.to_vec(), rows: vec![Row::Listed(items)] };
    let units = at_node(table, node_of_first(asked, table, &rows)?)?;
    if queries.is_empty() {
        return Ok(Some(units));
    }
    let Ok(own) = single(queries.iter()) else { return Ok(None) };
    let both = units.targets.into_iter().zip(own.targets).map(|(to, from)| join::united(to, from));
    let Ok(targets) = both.collect::<Result<Vec<_>>>() else { return Ok(None) };
    Ok(Some(Units::new(targets, Spread::Gather)))
}

/// Whether the sharding columns of all tables are of one type: no value is rounded, cut or padded on its way.
fn keeps_types(asked: &Asked<'_>, table: &Table) -> bool {
    let tables = crate::placed::sharded(asked.rule, &asked.stmt.kind);
    let type_of = |table: &Table, key: &str| {
        let columns = asked.columns(table.logic())?;
        let own = columns.iter().find(|column| column.name.eq_ignore_ascii_case(key))?;
        Some((own.type_name.clone(), own.collation.clone()))
    };
    let alike = |other: &&Table| {
        table.key_pairs(other).into_iter().all(|(own, theirs)| {
            let own = type_of(table, own);
            own.is_some() && own == type_of(other, theirs)
        })
    };
    tables.iter().all(alike)
}
