//! Whether a replica may answer a statement.

use pando_sql::ast::{Copy, CopyDirection, Kind, Node, Query, QueryBody, Statement};
use pando_sql::visit;

/// Functions that change something, or that speak of what this session did on its primary. Lower case.
const OF_THE_PRIMARY: [&str; 24] = [
    "currval",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "lastval",
    "lo_create",
    "lo_creat",
    "lo_from_bytea",
    "lo_import",
    "lo_put",
    "lo_unlink",
    "nextval",
    "pg_current_wal_lsn",
    "pg_current_xact_id",
    "pg_notify",
    "pg_snapshot_xmin",
    "release_all_locks",
    "release_lock",
    "row_count",
    "setval",
    "txid_current",
    "uuid_short",
    "found_rows",
];

/// True when the statement changes nothing, takes no locks and asks nothing that only the primary knows.
pub(crate) fn only_reads(stmt: &Statement) -> bool {
    let to_primary = stmt
        .hints
        .iter()
        .any(|(key, value)| key == "WRITE_ROUTE_ONLY" && value.trim().eq_ignore_ascii_case("true"));
    !to_primary && kind_reads(&stmt.kind) && !asks_primary(&stmt.kind)
}

/// True when the statement may define or change something that no table names: a function, a user, a sequence.
pub(crate) fn may_define(kind: &Kind) -> bool {
    match kind {
        Kind::Define(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Load(_)
        | Kind::Lock(_)
        | Kind::Utility { .. }
        | Kind::Opaque => true,
        Kind::Copy(copy) => !copy_reads(copy),
        Kind::Explain { inner, analyze, .. } => *analyze && may_define(inner),
        Kind::Select(_)
        | Kind::Cursor(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty => false,
    }
}

fn kind_reads(kind: &Kind) -> bool {
    match kind {
        Kind::Select(query) => query_reads(query),
        // A plan may be shown by any replica; with ANALYZE the statement really runs.
        Kind::Explain { inner, analyze, .. } => kind_reads(inner) || !*analyze,
        Kind::Copy(copy) => copy_reads(copy),
        // A cursor is read on, statement by statement, where it was declared: it stays with the transaction's primary.
        Kind::Cursor(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Load(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => false,
    }
}

fn query_reads(query: &Query) -> bool {
    let body = match &query.body {
        QueryBody::Select(select) => select.into.is_none(),
        QueryBody::Set { left, right, .. } => query_reads(left) && query_reads(right),
        QueryBody::Values(_) => true,
    };
    body && query.lock.is_none() && query.with.iter().all(|cte| kind_reads(&cte.body))
}

fn copy_reads(copy: &Copy) -> bool {
    copy.direction == CopyDirection::ToClient && copy.query.as_deref().is_none_or(query_reads)
}

/// True when it asks for something that only the primary knows, or changes something by a function.
pub(crate) fn asks_primary(kind: &Kind) -> bool {
    let mut found = false;
    visit::exprs(kind, &mut |expr| {
        if let Node::Function(function) = &expr.node
            && let Some(name) = function.name.parts.last()
        {
            let name = name.value.to_lowercase();
            found |= OF_THE_PRIMARY.contains(&name.as_str()) || name.starts_with("pg_advisory_");
        }
        if let Node::Variable(name) = &expr.node {
            found |= name.to_lowercase().contains("last_insert_id");
        }
    });
    found
}
