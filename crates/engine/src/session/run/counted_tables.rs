//! The counters of tables that stand in several shards, and definitions that concern them.

use std::sync::Arc;

use pando_sql::ast::{Define, Kind, Statement};

use crate::counters::Counted;
use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::run::context;

/// The counter of a table that there is; `None` for one that stands in one place, or whose servers count by sequences.
pub(in crate::session) fn counter(
    session: &Session,
    live: &LiveDatabase,
    table: &str,
) -> Option<Arc<Counted>> {
    pando_kernel::counters::of(live.database.dialect.as_ref())?;
    live.counters.table(table, || {
        context::in_context(session, live, None, |ctx| plan::counted_rows::counted(ctx, table))
    })
}

/// The counters of tables that a definition makes, changes, empties or takes away.
pub(in crate::session) fn concerned(
    session: &Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Vec<Arc<Counted>> {
    let Kind::Define(define) = &stmt.kind else { return Vec::new() };
    let Define { names, renamed_to, .. } = &**define;
    names.iter().chain(renamed_to).filter_map(|name| counter(session, live, &name.key())).collect()
}
