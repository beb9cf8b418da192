//! UPDATE and DELETE where no statement tells its rows: they are read under lock, and the statement changes them by their keys, whatever its own condition
//! would say when it is asked again.

use pando_kernel::error::Result;
use pando_sql::ast::{
    ColumnAssignment, Cte, Delete, Expr, Limit, Node, OrderItem, Table, TableFactor, Update,
};
use pando_sql::{Span, visit};

use pando_kernel::undo::Form;

use super::{About, Work};
use crate::concern::{deleted, refused, updated};
use crate::table::undo_of;

/// Stands for a value in an expression that reads it.
const MARK: &str = "\u{0}";

/// What both statements have.
struct Parts<'a> {
    table: &'a Table,
    filter: Option<&'a Expr>,
    order_by: &'a [OrderItem],
    limit: Option<&'a Limit>,
}

pub(super) fn update(about: &About<'_>, update: &Update) -> Result<Work> {
    let table = updated(update)?;
    alone(&update.with, &update.from)?;
    let before_table = Span::new(0, table.span.start).of(&about.stmt.text).to_ascii_uppercase();
    let moved = moved(about, &update.assignments)?;
    if !moved.is_empty() && before_table.contains("IGNORE") {
        return Err(refused("UPDATE IGNORE of a primary key"));
    }
    let set_end = update.assignments.last().map_or(table.span.end, |one| one.span.end);
    let parts = Parts {
        table,
        filter: update.filter.as_ref(),
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
    };
    let head = about.writer().copy(Span::new(0, set_end)).finish();
    let mut tail = about.writer();
    order(&mut tail, parts.order_by);
    Ok(Work::Rows {
        before: before(about, &parts, &moved)?,
        change: (head, tail.finish()),
        owner: about.owner(table),
        moved: moved.iter().map(|(place, _)| *place).collect(),
        deletes: false,
    })
}

pub(super) fn delete(about: &About<'_>, delete: &Delete) -> Result<Work> {
    let table = deleted(delete)?;
    alone(&delete.with, &delete.from)?;
    let parts = Parts {
        table,
        filter: delete.filter.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
    };
    let head = about.writer().copy(Span::new(0, table.span.end)).finish();
    let mut tail = about.writer();
    order(&mut tail, parts.order_by);
    if let Some((_, span)) = &delete.returning {
        tail.add(" ").copy(*span);
    }
    Ok(Work::Rows {
        before: before(about, &parts, &[])?,
        change: (head, tail.finish()),
        owner: about.owner(table),
        moved: Vec::new(),
        deletes: true,
    })
}

fn alone(with: &[Cte], from: &[TableFactor]) -> Result<()> {
    if !with.is_empty() {
        return Err(refused("a change with WITH"));
    }
    if !from.is_empty() {
        return Err(refused("a change of rows that are joined with others"));
    }
    Ok(())
}

/// The query for the rows, under lock.
fn before(
    about: &About<'_>,
    parts: &Parts<'_>,
    values: &[(usize, Span)],
) -> Result<crate::text::Text> {
    let reads = about.all_reads(&about.owner(parts.table))?;
    let mut writer = about.writer();
    writer.add("SELECT ").add(&reads.join(", "));
    let undo = undo_of(about.dialect)?;
    for (place, value) in values {
        let at = about.table.shape.key.get(*place);
        let column = at.and_then(|at| about.table.shape.columns.get(*at));
        let form = column.map_or(Form::Plain, |column| column.form);
        // The reading expression around the new value, which may stand in it twice.
        let read = undo.read(form, MARK);
        let mut pieces = read.split(MARK);
        writer.add(", ").add(pieces.next().unwrap_or_default());
        for piece in pieces {
            writer.add("(").copy(*value).add(")").add(piece);
        }
    }
    writer.add(" FROM ").copy(parts.table.span);
    if let Some(filter) = parts.filter {
        writer.add(" WHERE ").copy(filter.span);
    }
    order(&mut writer, parts.order_by);
    if let Some(limit) = parts.limit {
        writer.add(" ").copy(limit.span);
    }
    Ok(writer.add(" FOR UPDATE").finish())
}

fn order(writer: &mut crate::text::Writer<'_>, items: &[OrderItem]) {
    if let (Some(first), Some(last)) = (items.first(), items.last()) {
        writer.add(" ORDER BY ").copy(first.span.to(last.span));
    }
}

/// Key columns that get new values: their places in the key, and the values.
fn moved(about: &About<'_>, assignments: &[ColumnAssignment]) -> Result<Vec<(usize, Span)>> {
    let mut moved = Vec::new();
    for (number, one) in assignments.iter().enumerate() {
        let name = one.column.parts.last().map(|part| part.value.as_str()).unwrap_or_default();
        if !about.table.is_key(name) {
            continue;
        }
        if matches!(one.value.node, Node::Default) {
            return Err(refused("UPDATE of a primary key to its default"));
        }
        // Assignments see those before them, which a query does not.
        let mut sees = false;
        visit::exprs_in(&one.value, &mut |expr| {
            if let Node::Column(column) = &expr.node {
                let own = column.parts.last().map(|part| part.value.to_lowercase());
                let earlier = assignments.get(..number).unwrap_or_default();
                sees |= earlier.iter().any(|one| {
                    one.column.parts.last().map(|part| part.value.to_lowercase()) == own
                });
            }
        });
        if sees {
            return Err(refused("UPDATE of a primary key from a value that it has set before"));
        }
        let at = about.table.place(name);
        let place = about.table.shape.key.iter().position(|key| Some(*key) == at);
        if let Some(place) = place {
            if moved.iter().any(|(known, _)| *known == place) {
                return Err(refused("UPDATE that sets a column twice"));
            }
            moved.push((place, one.value.span));
        }
    }
    Ok(moved)
}
