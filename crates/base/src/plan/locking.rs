//! SELECT … FOR UPDATE: the rows' keys come with them.

use pando_kernel::error::Result;
use pando_kernel::undo::Telling;
use pando_sql::Span;
use pando_sql::ast::{Distinct, Node, Query, QueryBody, SelectItem};
use pando_sql::visit;

use super::{About, Work, returning};
use crate::concern::{locked, refused};
use crate::lock::Keys;

pub(super) fn work(about: &About<'_>, query: &Query, telling: Telling) -> Result<Work> {
    let table = locked(query)?;
    let QueryBody::Select(select) = &query.body else {
        return Err(refused("FOR UPDATE of a set operation"));
    };
    let is_plain = matches!(select.distinct, Distinct::No)
        && select.group_by.is_empty()
        && select.having.is_none()
        && !aggregates(&select.items);
    if !is_plain {
        return Err(refused("FOR UPDATE of groups of rows"));
    }
    let reads = about.reads(&about.owner(table), &about.table.shape.key)?;
    let (items, more, keys) = match telling {
        Telling::Returning => (returning::packed(&reads), 1, Keys::Packed),
        Telling::Reading => (reads.join(", "), reads.len(), Keys::Columns),
    };
    let at = select.items_span.end;
    let lead = if select.items.is_empty() { " " } else { ", " };
    let mut writer = about.writer();
    let end = about.stmt.text.len() as u32;
    writer.copy(Span::new(0, at)).add(lead).add(&items).copy(Span::new(at, end));
    Ok(Work::Locking { text: writer.finish(), more, keys })
}

fn aggregates(items: &[SelectItem]) -> bool {
    let mut found = false;
    for item in items {
        if let SelectItem::Expr { expr, .. } = item {
            visit::exprs_in(expr, &mut |expr| {
                if let Node::Function(call) = &expr.node {
                    found |= call.is_aggregate();
                }
            });
        }
    }
    found
}
