//! Whether a change gives the same rows wherever it runs. A broadcast table whose copies drift apart answers differently from one
//! statement to the next, and nothing ever says so: what could make them drift is refused.

use pando_kernel::Value;
use pando_kernel::clock::Behind;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Route};
use pando_kernel::row_trigger::body;
use pando_sql::ast::{
    DefineAction, Expr, Insert, InsertRow, InsertSource, Kind, Literal, Node, ObjectKind,
    QueryBody, Statement,
};
use pando_sql::{Fold, visit};

use crate::pinned::{Pinned, pinned};
use crate::rule::Rule;
use crate::{passed_over, trigger};

/// Functions and keywords whose value depends on when, where or how often they are evaluated. Lower case.
pub(crate) const VOLATILE: [&str; 44] = [
    "clock_timestamp",
    "connection_id",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "currval",
    "curtime",
    "found_rows",
    "gen_random_bytes",
    "gen_random_uuid",
    "inet_client_port",
    "inet_server_addr",
    "inet_server_port",
    "last_insert_id",
    "lastval",
    "localtime",
    "localtimestamp",
    "nextval",
    "now",
    "pg_backend_pid",
    "pg_current_xact_id",
    "rand",
    "random",
    "random_bytes",
    "row_count",
    "setval",
    "statement_timestamp",
    "sys_guid",
    "sysdate",
    "timeofday",
    "transaction_timestamp",
    "txid_current",
    "unix_timestamp",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuid_generate_v4",
    "uuid_short",
    "uuidv4",
    "uuidv7",
];

/// Checks a statement that changes a broadcast table; it will run on every copy. May need the table's columns: `route` then says so.
///
/// # Errors
/// `Refused` with the reason.
pub(crate) fn check(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    route: &mut Route,
) -> Result<()> {
    match &stmt.kind {
        Kind::Define(define) if define.object == ObjectKind::Trigger => {
            match trigger::defined(rule, ctx, stmt, define)? {
                Some(need) => *route = Route::Needs(need),
                None if define.action == DefineAction::Create => row_trigger(ctx, &stmt.text)?,
                None => {}
            }
            Ok(())
        }
        Kind::Insert(insert) => {
            steady(ctx, &stmt.kind)?;
            let limited = matches!(&insert.source, InsertSource::Query(q) if q.limit.is_some());
            if limited {
                return Err(limit("INSERT … SELECT"));
            }
            generated(ctx, insert, &stmt.text, route)
        }
        Kind::Update(update) => {
            if update.limit.is_some() {
                unlimited(ctx, stmt, "UPDATE", route)?;
            }
            steady(ctx, &stmt.kind)
        }
        Kind::Delete(delete) => {
            if delete.limit.is_some() {
                unlimited(ctx, stmt, "DELETE", route)?;
            }
            steady(ctx, &stmt.kind)
        }
        Kind::Select(query) => {
            // Described it may be whole; run, its first rows are locked one after the other.
            if query.limit.is_some() && !ctx.session.describes {
                unlimited(ctx, stmt, "SELECT … FOR UPDATE", route)?;
            } else if passed_over::is_meant(query, &stmt.text) && !ctx.session.describes {
                passed_over::row_by_row(ctx, stmt, route)?;
            }
            if query.with.iter().any(|cte| !matches!(*cte.body, Kind::Select(_))) {
                return steady(ctx, &stmt.kind);
            }
            Ok(())
        }
        // Whether a counted column is given shows with each row.
        Kind::Copy(_) | Kind::Load(_) => steady(ctx, &stmt.kind),
        Kind::Define(define) if define.query.is_some() => steadily(&stmt.kind, &volatile),
        Kind::Utility { verb, .. } if verb == "MERGE" => Err(Error::unsupported(
            30001,
            "what MERGE writes is not read, and may differ on each copy of a broadcast table",
            "use UPDATE and INSERT … ON CONFLICT",
        )),
        Kind::Utility { .. } => Ok(()),
        Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Explain { .. }
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty
        | Kind::Opaque => Ok(()),
    }
}

/// Each copy has the trigger: it must write the same into all of them.
fn row_trigger(ctx: &Context<'_>, text: &str) -> Result<()> {
    let read = body(text, ctx.dialect.syntax(), ctx.dialect.effects());
    let refused = |what: &str| {
        Error::unsupported(
            30001,
            format!(
                "a trigger on a broadcast table that does more than to compute values of its row (there is {what}) \
                 is not supported: each copy would do it"
            ),
            "let the client do that in the same transaction",
        )
    };
    // Triggers of another kind call functions, which nobody reads.
    let Some(read) = read else { return Ok(()) };
    let own = read.map_err(|what| refused(&what))?;
    if let Some(name) = own.elsewhere(ctx) {
        return Err(refused(&format!("the table `{}`, which is no broadcast table", name.key())));
    }
    if own.is_limited {
        return Err(refused("a query with LIMIT"));
    }
    let is_told = |name: &str, behind| {
        ctx.dialect.clock().is_some_and(|clock| clock.asked(name, behind).is_some())
    };
    let differs =
        |name: &&String, behind| VOLATILE.contains(&name.as_str()) && !is_told(name, behind);
    let called = own.calls.iter().find(|name| differs(name, Behind::Empty));
    match called.or_else(|| own.words.iter().find(|name| differs(name, Behind::Nothing))) {
        Some(name) => Err(refused(&format!("`{name}`, which gives another value on each copy"))),
        None => Ok(()),
    }
}

/// LIMIT chooses nothing where the condition fits one row at most.
fn unlimited(ctx: &Context<'_>, stmt: &Statement, verb: &str, route: &mut Route) -> Result<()> {
    match pinned(ctx, stmt) {
        Pinned::Yes => Ok(()),
        Pinned::No => Err(limit(verb)),
        Pinned::Needs(need) => {
            *route = Route::Needs(need);
            Ok(())
        }
    }
}

fn limit(verb: &str) -> Error {
    Error::limited_change(
        20036,
        format!("{verb} with LIMIT may pick other rows on each copy of a broadcast table"),
        "choose the row by equality with its whole primary key",
    )
}

/// What time it is all copies are told, but in a definition, which may be kept for later.
fn steady(ctx: &Context<'_>, kind: &Kind) -> Result<()> {
    steadily(kind, &|expr| volatile(expr).filter(|name| !is_told(ctx, expr, name)))
}

fn is_told(ctx: &Context<'_>, expr: &Expr, name: &str) -> bool {
    let Node::Function(call) = &expr.node else { return false };
    // Words without parentheses are calls, too.
    let behind = match &call.arguments[..] {
        [] => [Behind::Empty, Behind::Nothing],
        [Expr { node: Node::Literal(Literal::Integer(digits)), .. }] => {
            [u8::try_from(*digits).map_or(Behind::More, Behind::Digits); 2]
        }
        _ => [Behind::More; 2],
    };
    let clock = ctx.dialect.clock();
    clock.is_some_and(|clock| behind.iter().any(|behind| clock.asked(name, *behind).is_some()))
}

fn steadily(kind: &Kind, volatile: &dyn Fn(&Expr) -> Option<String>) -> Result<()> {
    let mut found = None;
    visit::exprs(kind, &mut |expr| {
        if found.is_none() {
            found = volatile(expr);
        }
    });
    match found {
        None => Ok(()),
        Some(name) => Err(Error::spans_shards(
            30001,
            format!("`{name}` gives another value on each copy of a broadcast table"),
            "compute the value in the application and pass it as a literal or parameter",
        )),
    }
}

fn volatile(expr: &Expr) -> Option<String> {
    let name = match &expr.node {
        Node::Function(function) => function.name.parts.last()?.value.to_lowercase(),
        // `CURRENT_TIMESTAMP` and its kin stand without parentheses.
        Node::Column(name) => match name.parts.as_slice() {
            [only] if !only.quoted && only.value.contains('_') => only.value.to_lowercase(),
            [_, last] if last.value.eq_ignore_ascii_case("nextval") => "nextval".to_owned(),
            _ => return None,
        },
        Node::Variable(name) if !name.starts_with("@@") => return Some(name.clone()),
        Node::Variable(_)
        | Node::Literal(_)
        | Node::Parameter(_)
        | Node::Unary { .. }
        | Node::Binary { .. }
        | Node::Between { .. }
        | Node::InList { .. }
        | Node::InQuery { .. }
        | Node::Like { .. }
        | Node::IsNull { .. }
        | Node::Case { .. }
        | Node::Cast { .. }
        | Node::Collate { .. }
        | Node::Subquery(_)
        | Node::Exists(_)
        | Node::Row(_)
        | Node::Nested(_)
        | Node::Other(_)
        | Node::Default => return None,
    };
    // UNIX_TIMESTAMP(x) only converts.
    let converts = name == "unix_timestamp"
        && matches!(&expr.node, Node::Function(function) if !function.arguments.is_empty());
    (VOLATILE.binary_search(&name.as_str()).is_ok() && !converts).then_some(name)
}

/// A key that each copy's server counts up by itself drifts as soon as two sessions insert at once: all copies are told
/// the numbers.
fn generated(ctx: &Context<'_>, insert: &Insert, text: &str, route: &mut Route) -> Result<()> {
    let Some(table) = insert.table.name.parts.last() else { return Ok(()) };
    let table = table.key();
    let Some(columns) = ctx.catalog.columns(&table) else {
        *route = Route::Needs(Need::Columns(table));
        return Ok(());
    };
    if columns.is_empty() {
        return Err(ErrorKind::UnknownTable(table).into());
    }
    for (at, column) in columns.iter().enumerate().filter(|(_, column)| column.auto_increment) {
        let at = match &insert.columns {
            Some(list) => {
                list.iter().position(|name| name.value.eq_ignore_ascii_case(&column.name))
            }
            None => Some(at),
        };
        if counts_queried(ctx, insert, at) {
            return Err(Error::spans_shards(
                30001,
                format!(
                    "each copy of the broadcast table `{table}` would generate `{}` for the rows of a query by itself",
                    column.name
                ),
                "read the rows first, and insert them with VALUES",
            ));
        }
        if !is_given(ctx, insert, text, at, &column.name) {
            return Err(Error::uncounted(
                30001,
                format!(
                    "each copy of the broadcast table `{table}` would generate `{}` by itself",
                    column.name
                ),
                "give its value in the INSERT",
            ));
        }
    }
    Ok(())
}

/// Whether a query's rows leave the column at `at` of the column list to be counted. What they bring for it moves the
/// counter where servers count by tables, and only who reads them knows it.
fn counts_queried(ctx: &Context<'_>, insert: &Insert, at: Option<usize>) -> bool {
    let InsertSource::Query(query) = &insert.source else { return false };
    let is_of_rows = matches!(query.body, QueryBody::Select(_) | QueryBody::Set { .. });
    is_of_rows && (at.is_none() || pando_kernel::counters::of(ctx.dialect).is_some())
}

/// Whether every inserted row has a value for the column at `at` of the column list.
fn is_given(ctx: &Context<'_>, insert: &Insert, text: &str, at: Option<usize>, name: &str) -> bool {
    match &insert.source {
        InsertSource::Values { rows, .. } => at.is_some_and(|at| {
            let syntax = ctx.dialect.syntax();
            let value = |row: &InsertRow| {
                row.value(at, text, syntax).is_some_and(|value| is_value(ctx, &value))
            };
            rows.iter().all(value)
        }),
        InsertSource::Set(assignments) => assignments.iter().any(|assignment| {
            let column = assignment.column.parts.last();
            column.is_some_and(|column| column.value.eq_ignore_ascii_case(name))
                && is_value(ctx, &assignment.value)
        }),
        InsertSource::Query(query) => match &query.body {
            QueryBody::Values(rows) => at.is_some_and(|at| {
                rows.iter().all(|row| row.get(at).is_some_and(|value| is_value(ctx, value)))
            }),
            QueryBody::Select(_) | QueryBody::Set { .. } => at.is_some(),
        },
        InsertSource::Default => false,
    }
}

/// MySQL counts up at 0, too, unless it is told not to.
fn keeps_zero(ctx: &Context<'_>) -> bool {
    ctx.dialect.syntax().fold == Fold::Lower || ctx.session.keeps_zero
}

fn is_value(ctx: &Context<'_>, value: &Expr) -> bool {
    match &value.node {
        Node::Default => ctx.dialect.syntax().fold == Fold::Keep && ctx.session.keeps_zero,
        Node::Literal(Literal::Null) => false,
        Node::Literal(Literal::Integer(0)) => keeps_zero(ctx),
        Node::Parameter(index) => ctx.parameter(*index).is_none_or(|value| match value {
            Value::Null => false,
            Value::Int(0) | Value::UInt(0) => keeps_zero(ctx),
            Value::Text(text) => text.trim() != "0" || keeps_zero(ctx),
            Value::Bool(_)
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => true,
        }),
        Node::Nested(inner) => is_value(ctx, inner),
        Node::Column(_)
        | Node::Literal(_)
        | Node::Variable(_)
        | Node::Unary { .. }
        | Node::Binary { .. }
        | Node::Between { .. }
        | Node::InList { .. }
        | Node::InQuery { .. }
        | Node::Like { .. }
        | Node::IsNull { .. }
        | Node::Function(_)
        | Node::Case { .. }
        | Node::Cast { .. }
        | Node::Collate { .. }
        | Node::Subquery(_)
        | Node::Exists(_)
        | Node::Row(_)
        | Node::Other(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_searching() {
        assert!(VOLATILE.is_sorted());
    }
}
