//! What the room changes of a statement that it lets through.

use std::collections::HashMap;

use pando_columns::{Given, Place, Reference, Rows, Star, StarPlace, Use, Uses, Value};
use pando_kernel::changes::{Changes, Turn};
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::ast::{CopyDirection, Expr, InsertSource, Kind, Node, Statement};
use pando_sql::{Span, visit};

use crate::turning::{LOGIC, STORED, refused};

/// Renames the column and turns the values that it meets.
pub(crate) fn write(
    ctx: &Context<'_>,
    stmt: &Statement,
    uses: &Uses,
    (changes, turn): (&mut Changes, &Turn),
) -> Result<()> {
    let mut constants: HashMap<Span, Expr> = HashMap::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if matches!(expr.node, Node::Literal(_) | Node::Parameter(_)) {
            constants.insert(expr.span, expr.clone());
        }
    });
    for one in &uses.columns {
        rename(stmt, one, changes);
        if let Place::InsertColumn { at, rows: Rows::Values(_) } = &one.place {
            inserted(ctx, stmt, *at, &mut |expr| changes.value(expr, turn))?;
        }
        if let Place::Field { at } = one.place
            && brings_lines(&stmt.kind)
        {
            changes.field(at, turn)?;
        }
        for value in met(&one.place) {
            let (Value::Literal(span) | Value::Parameter { span, .. }) = value;
            let expr = constants.get(&span).ok_or_else(|| refused("a value was not found"))?;
            changes.value(expr, turn)?;
        }
    }
    for star in uses.stars.iter().filter(|star| star.place == StarPlace::Inner) {
        changes.text().replace(star.span, spelled_out(ctx, stmt, star));
    }
    Ok(())
}

fn brings_lines(kind: &Kind) -> bool {
    match kind {
        Kind::Copy(copy) => copy.direction != CopyDirection::ToClient,
        kind => matches!(kind, Kind::Load(_)),
    }
}

fn rename(stmt: &Statement, one: &Use, changes: &mut Changes) {
    match one.by {
        Reference::Column | Reference::Proposed => {}
        Reference::Named | Reference::Ordinal | Reference::Query | Reference::Position => return,
    }
    changes.text().replace(one.span, STORED);
    if let Place::Item { expr, alias: None, .. }
    | Place::Returning { expr, alias: None, .. }
    | Place::InnerItem { expr, alias: None, .. }
    | Place::Stored { expr, alias: None, .. } = &one.place
    {
        let written = one.span.of(&stmt.text);
        changes.text().replace(Span::at(expr.end), format!(" AS {written}"));
    }
}

/// The values of an INSERT's rows for one column, but for DEFAULT.
fn inserted(
    ctx: &Context<'_>,
    stmt: &Statement,
    at: usize,
    see: &mut dyn FnMut(&Expr) -> Result<()>,
) -> Result<()> {
    let Kind::Insert(insert) = &stmt.kind else { return Err(refused("an INSERT in a statement")) };
    let InsertSource::Values { rows, .. } = &insert.source else { return Ok(()) };
    for row in rows {
        let value = row.value(at, &stmt.text, ctx.dialect.syntax());
        if let Some(expr) = value
            && !expr.span.of(&stmt.text).eq_ignore_ascii_case("DEFAULT")
        {
            see(&expr)?;
        }
    }
    Ok(())
}

/// The constants that a place holds, those of rows aside.
fn met(place: &Place) -> Vec<Value> {
    match place {
        Place::EqualTo(value) | Place::NotEqualTo(value) => vec![*value],
        Place::Assigned(Given::Value(value)) => vec![*value],
        Place::InList { values, .. } => values.clone(),
        Place::Assigned(Given::Default(_) | Given::Column(_) | Given::Expression(_))
        | Place::Item { .. }
        | Place::Returning { .. }
        | Place::InnerItem { .. }
        | Place::Stored { .. }
        | Place::EqualToColumn(_)
        | Place::NotEqualToColumn(_)
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::Like { .. }
        | Place::NullTest
        | Place::GroupKey
        | Place::OrderKey
        | Place::DistinctKey
        | Place::Aggregate { .. }
        | Place::InsertColumn { .. }
        | Place::AssignedTo { .. }
        | Place::ConflictTarget
        | Place::Field { .. }
        | Place::Definition(_)
        | Place::Inside { .. } => Vec::new(),
    }
}

/// The columns that a `*` of a sub-query stands for, under the names that are known outside.
fn spelled_out(ctx: &Context<'_>, stmt: &Statement, star: &Star) -> String {
    let columns = star.columns.iter().map(|one| {
        let owner = one.source.map_or(String::new(), |span| format!("{}.", span.of(&stmt.text)));
        let name = one.name.as_deref().unwrap_or_default();
        match one.of.is_some() && one.by == Reference::Column {
            true => format!("{owner}{STORED} AS {LOGIC}"),
            false => format!("{owner}{}", ctx.dialect.quote(name)),
        }
    });
    columns.collect::<Vec<_>>().join(", ")
}
