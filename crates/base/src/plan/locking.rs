//! SELECT … FOR UPDATE: the rows' keys come with them.

use pando_kernel::error::{Error, Result};
use pando_kernel::undo::Telling;
use pando_sql::Span;
use pando_sql::ast::{Distinct, Node, Query, QueryBody, SelectItem};
use pando_sql::visit;

use super::{About, Work, returning};
use crate::concern::{locked, refused};
use crate::lock::Keys;

pub(super) fn work(about: &About<'_>, query: &Query, telling: Telling) -> Result<Work> {
    let table = locked(query)?;
    if query.lock.as_ref().is_some_and(|lock| passes_over(lock.span.of(&about.stmt.text))) {
        return Err(Error::unsupported(
            30001,
            "rows that others hold are waited for in a BASE transaction, and not passed over by SKIP LOCKED",
            "run it outside, or in a LOCAL or XA transaction",
        ));
    }
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

fn passes_over(clause: &str) -> bool {
    clause.split_whitespace().any(|word| word.eq_ignore_ascii_case("skip"))
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
