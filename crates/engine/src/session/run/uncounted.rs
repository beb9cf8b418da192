//! Numbers that storage units give to rows without telling them.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::error::Result;
use pando_sql::ast::Kind;

use crate::plan;

use crate::session::Session;
use crate::session::given::Run;
use crate::session::reply::counted_by_unit::{Known, Uncounted};
use crate::session::run::find_out;
use crate::session::transaction::Opened;

/// Notes that a storage unit gives numbers to the rows of an INSERT: `currval` and `lastval` are about those then.
///
/// # Errors
/// What keeps the table's columns from being read.
pub(in crate::session) async fn note_uncounted(
    session: &mut Session,
    run: Run<'_>,
) -> Result<Option<Box<Uncounted>>> {
    let Run { live, stmt, plan } = run;
    let Kind::Insert(insert) = &stmt.kind else { return Ok(None) };
    if !live.database.dialect.error_fails_transaction() || session.temporary.concerns_temporaries()
    {
        return Ok(None);
    }
    let was_told = session.settings.sequence_values_mut().inserts();
    let are_read = live.asked_numbers.are_read();
    if !was_told && !are_read {
        return Ok(None);
    }
    let left = find_out::find_out_until(session, live, None, |ctx| {
        Ok(plan::left_numbers::left(ctx, insert, &stmt.text))
    });
    let left = Box::pin(left).await?;
    if left.iter().any(|left| !left.is_found) {
        session.settings.sequence_values_mut().doubt(&live.database.name);
    }
    for left in &left {
        session.settings.sequence_values_mut().give(&live.database.name, &left.key, None);
    }
    let [unit] = &plan.units[..] else { return Ok(None) };
    let is_base = session.work.transaction().kind() == TransactionType::Base;
    let known = match session.work.opened() {
        _ if !are_read || left.is_empty() || is_base => return Ok(None),
        _ if session.work.is_idle() => Known::Read,
        Opened::Client => Known::Inside(Arc::clone(&unit.target.unit)),
        Opened::Statement | Opened::Steps | Opened::Pipeline => return Ok(None),
    };
    Ok(Some(Box::new(Uncounted { live: Arc::clone(live), left, known })))
}
