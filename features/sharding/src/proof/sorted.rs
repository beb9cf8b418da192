//! The order in which a query gets its rows from the one inside it. The standard promises none, but servers keep it: MySQL says so of a derived table that is
//! alone in FROM, PostgreSQL does so, and pagination is built upon it.
//! <https://dev.mysql.com/doc/refman/8.0/en/derived-table-optimization.html>

use pando_sql::ast::{Cte, Expr, Function, Kind, Query, QueryBody, Select, TableFactor};

use super::query::{calls, items};

/// Whether the rows of the outermost query come in an order that a query inside it gave them, and that it neither changes nor hides.
pub(super) fn inside(query: &Query) -> bool {
    passes_on(query, &mut Vec::new())
}

/// `seen` are the common table expressions in scope, innermost last.
fn passes_on<'q>(query: &'q Query, seen: &mut Vec<&'q Cte>) -> bool {
    let QueryBody::Select(select) = &query.body else { return false };
    if !query.order_by.is_empty() || counts(select) {
        return false;
    }
    let before = seen.len();
    seen.extend(&query.with);
    let passes = match &select.from[..] {
        [TableFactor::Derived { query, .. }] => sorts(query, seen),
        [TableFactor::Table(table)] => match &table.name.parts[..] {
            [name] => {
                let is = |cte: &&Cte| cte.name.value.eq_ignore_ascii_case(&name.value);
                let at = seen.iter().rposition(is);
                // A query in WITH knows those before it: it cannot come back to itself.
                at.is_some_and(|at| {
                    let mut known = seen[..at].to_vec();
                    matches!(&*seen[at].body, Kind::Select(query) if sorts(query, &mut known))
                })
            }
            _ => false,
        },
        _ => false,
    };
    seen.truncate(before);
    passes
}

fn sorts<'q>(query: &'q Query, seen: &mut Vec<&'q Cte>) -> bool {
    !query.order_by.is_empty() || passes_on(query, seen)
}

/// Whether the rows of a SELECT are groups, whose order is their own.
fn counts(select: &Select) -> bool {
    let one = |call: &&Function| call.over.is_none() && call.is_aggregate();
    let has = |expr: &Expr| calls(expr).iter().any(one);
    !select.group_by.is_empty() || items(select).any(has)
}
