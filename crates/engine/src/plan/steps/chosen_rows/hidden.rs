//! `WHERE ctid IN (SELECT ctid FROM t … LIMIT n)`: where a row lies on one server says nothing about another's, and its primary key says the same of all.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{
    Distinct, Expr, Ident, Node, ObjectName, QueryBody, SelectItem, Statement, TableFactor,
};
use pando_sql::{Edits, Span};

use super::place::{parts, unwrapped};
use crate::plan::assemble::conjuncts;
use crate::plan::parse::parsed;
use crate::plan::steps::Apart;

/// The column, where a family has it.
const PLACE: &str = "ctid";

/// The change with the primary key in the place of where its rows lie; `None` where it says nothing of that, or the table has no key.
///
/// # Errors
/// `TooComplex` for what is too long to be read again.
pub(super) fn by_key(ctx: &Context<'_>, stmt: &Statement) -> Result<Apart<Statement>> {
    let has_place = ctx.dialect.hidden_columns().contains(&PLACE);
    let Some(parts) = parts(stmt).filter(|_| has_place) else { return Ok(Ok(None)) };
    let ([target], Some(filter)) = (&parts.targets[..], parts.filter) else { return Ok(Ok(None)) };
    let mut narrowing = Vec::new();
    conjuncts(filter, &mut narrowing);
    let mut edits = Edits::default();
    for one in narrowing {
        let Some((outer, inner, table)) = chosen(one) else { continue };
        let same = |name: &ObjectName| name.parts.last().map(Ident::key);
        if same(table) != same(&target.name) {
            continue;
        }
        let Some(logic) = same(table) else { continue };
        let Some(known) = ctx.catalog.columns(&logic) else { return Ok(Err(Need::Columns(logic))) };
        let key = known.iter().filter(|column| column.primary_key);
        let key: Vec<String> = key.map(|column| ctx.dialect.quote(&column.name)).collect();
        if key.is_empty() {
            return Ok(Ok(None));
        }
        let named = |name: &ObjectName| {
            let owner = name.parts.split_last().map_or(&[][..], |(_, owner)| owner);
            let owner: String =
                owner.iter().map(|part| format!("{}.", part.span.of(&stmt.text))).collect();
            key.iter().map(|column| format!("{owner}{column}")).collect::<Vec<_>>().join(", ")
        };
        edits.replace(outer.span, format!("({})", named(outer.name)));
        edits.replace(inner.span, named(inner.name));
    }
    if edits.is_empty() {
        return Ok(Ok(None));
    }
    parsed(ctx, &edits.apply(&stmt.text)).map(|keyed| Ok(Some(keyed)))
}

/// A column that says where its row lies.
#[derive(Clone, Copy)]
struct Hidden<'a> {
    span: Span,
    name: &'a ObjectName,
}

/// The column that is compared with those of a query, that query's only item, and its only table.
fn chosen(expr: &Expr) -> Option<(Hidden<'_>, Hidden<'_>, &ObjectName)> {
    let Node::InQuery { operand, query, negated: false } = &unwrapped(expr).node else {
        return None;
    };
    let QueryBody::Select(select) = &query.body else { return None };
    let [SelectItem::Expr { expr: item, alias: None, .. }] = &select.items[..] else {
        return None;
    };
    let [TableFactor::Table(table)] = &select.from[..] else { return None };
    let is_plain = matches!(select.distinct, Distinct::No) && select.group_by.is_empty();
    Some((hidden(operand)?, hidden(item)?, is_plain.then_some(&table.name)?))
}

fn hidden(expr: &Expr) -> Option<Hidden<'_>> {
    let Node::Column(name) = &unwrapped(expr).node else { return None };
    let is_place = name.parts.last()?.value == PLACE;
    is_place.then_some(Hidden { span: expr.span, name })
}
