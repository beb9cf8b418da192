//! Numbers that storage units give to rows without telling them.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::run::find_out;

/// Notes that a storage unit gives numbers to the rows of an INSERT: `currval` and `lastval` are about those then,
/// which nobody tells.
///
/// # Errors
/// What keeps the table's columns from being read.
pub(in crate::session) async fn note_uncounted(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<()> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(()) };
    if live.database.units.len() < 2
        || !live.database.dialect.error_fails_transaction()
        || !session.settings.sequence_values_mut().inserts()
        || session.temporary.concerns_temporaries()
    {
        return Ok(());
    }
    let left = find_out::find_out_until(session, live, None, |ctx| {
        Ok(plan::sequence_calls::left(ctx, insert, &stmt.text))
    });
    for key in Box::pin(left).await? {
        session.settings.sequence_values_mut().give(&live.database.name, &key, None);
    }
    Ok(())
}
