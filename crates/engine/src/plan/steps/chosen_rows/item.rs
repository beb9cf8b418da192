//! What is known of the items of a query before it is asked: which columns they show, and which columns of the changed table their values meet.

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{
    Expr, Node, ObjectName, QueryBody, Select, SelectItem, Statement, Table, TableFactor,
};

use super::place::{Found, Manner, parts, unwrapped};

/// What is known of an item.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    /// The column that it shows.
    pub(super) from: Option<TableColumn>,
    /// What its value meets.
    pub(super) goal: Option<Goal>,
}

/// The column that a value meets.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    pub(super) column: TableColumn,
    pub(super) manner: Manner,
}

impl Found<'_> {
    /// What is known of the query's items; `None` where their number is not known, or is another than its place takes.
    pub(super) fn items(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
    ) -> std::result::Result<Option<Vec<Item>>, Need> {
        let Some(width) = self.width else { return self.columns(ctx).map(Some) };
        let QueryBody::Select(select) = &self.query.body else { return Ok(None) };
        if select.items.len() != width {
            return Ok(None);
        }
        let mut items = Vec::new();
        for (at, item) in select.items.iter().enumerate() {
            let SelectItem::Expr { expr, .. } = item else { return Ok(None) };
            let from = shown(ctx, select, expr)?;
            let goal = match self.meets.get(at) {
                Some((name, manner)) => {
                    changed(ctx, stmt, name)?.map(|column| Goal { column, manner: *manner })
                }
                None => None,
            };
            items.push(Item { from, goal });
        }
        Ok(Some(items))
    }

    /// The same where any number will do: as far as they can be counted off.
    fn columns(&self, ctx: &Context<'_>) -> std::result::Result<Vec<Item>, Need> {
        let QueryBody::Select(select) = &self.query.body else { return Ok(Vec::new()) };
        let mut items = Vec::new();
        for item in &select.items {
            let SelectItem::Expr { expr, .. } = item else { return Ok(items) };
            let from = shown(ctx, select, expr)?;
            items.push(Item { from, goal: None });
        }
        Ok(items)
    }
}

/// The column of a SELECT's one table that an item is.
fn shown(
    ctx: &Context<'_>,
    select: &Select,
    expr: &Expr,
) -> std::result::Result<Option<TableColumn>, Need> {
    let Node::Column(name) = &unwrapped(expr).node else { return Ok(None) };
    let [TableFactor::Table(table)] = &select.from[..] else { return Ok(None) };
    column_of(ctx, table, name)
}

/// The column of the one table that is changed.
fn changed(
    ctx: &Context<'_>,
    stmt: &Statement,
    name: &ObjectName,
) -> std::result::Result<Option<TableColumn>, Need> {
    let Some(parts) = parts(stmt) else { return Ok(None) };
    let [table] = &parts.targets[..] else { return Ok(None) };
    let alone = parts.factors.iter().all(|factor| match factor {
        TableFactor::Table(own) => own.name.span == table.name.span,
        TableFactor::Derived { .. } | TableFactor::Join(_) | TableFactor::Function { .. } => false,
    });
    if name.parts.len() == 1 && !alone {
        return Ok(None);
    }
    column_of(ctx, table, name)
}

fn column_of(
    ctx: &Context<'_>,
    table: &Table,
    name: &ObjectName,
) -> std::result::Result<Option<TableColumn>, Need> {
    let (Some(own), Some((column, owner))) = (table.name.parts.last(), name.parts.split_last())
    else {
        return Ok(None);
    };
    let label = table.alias.as_ref().unwrap_or(own);
    let fits = match owner {
        [] => true,
        [owner] => owner.key() == label.key(),
        _ => false,
    };
    if !fits || table.columns.is_some() {
        return Ok(None);
    }
    let logic = own.key();
    let Some(known) = ctx.catalog.columns(&logic) else { return Err(Need::Columns(logic)) };
    let known = known.iter().find(|known| known.name.eq_ignore_ascii_case(&column.value));
    Ok(known.cloned())
}
