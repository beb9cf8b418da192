//! Columns that a server counts, on tables that stand in several shards: the sequence of the first shard counts for all of them. It is the one that the
//! catalogue shows, it is made and dropped with the table, and RESTART means it.

use std::sync::Arc;

use pando_kernel::error::{Because, Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::request::Prepared;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::sequence_calls::Filled;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{self, Given};
use crate::session::run::{context, find_out};
use crate::session::statement::{numbered, sequence_calls};

/// Whether a statement is refused because each shard would count by itself.
pub(in crate::session) fn is_uncounted(stmt: &Statement, refusal: &Error) -> bool {
    refusal.refusal() == Some(Because::Uncounted) && matches!(stmt.kind, Kind::Insert(_))
}

/// The INSERT with numbers in the columns that its rows leave to be counted.
///
/// # Errors
/// `refusal` where nothing can count for all shards, and what the units say.
///
/// # Cancel safety
/// Numbers that were asked for are lost, as those of a statement that fails.
pub(in crate::session) async fn counted(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<(Statement, Given)> {
    if pando_kernel::counters::of(live.database.dialect.as_ref()).is_some() {
        return numbered::counted(session, live, stmt, given, refusal).await;
    }
    let mut columns = wanting(session, live, stmt).await?;
    for column in &mut columns {
        let counter = |ctx: &Context<'_>| plan::sequence_calls::counter(ctx, column);
        let counter = context::in_context(session, live, Some(given), counter);
        let count = column.rows.iter().filter(|is_wanted| **is_wanted).count();
        let Some(counter) = counter else { return Err(refusal) };
        column.numbers = sequence_calls::drawn(session, live, &counter, count).await?;
        if column.numbers.len() != count {
            // A default that asks another sequence.
            return Err(refusal);
        }
    }
    let stmt = filled(session, live, stmt, &columns).await?.ok_or(refusal)?;
    let given = given.for_another_text();
    Ok((stmt, given))
}

/// The same of a prepared one, for its description: with any numbers.
///
/// # Errors
/// `refusal` where the statement is not to be understood so.
pub(in crate::session) async fn describable(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    prepared: &Arc<Prepared>,
    refusal: Error,
) -> Result<Arc<Prepared>> {
    if pando_kernel::counters::of(live.database.dialect.as_ref()).is_some() {
        return numbered::describable(session, live, prepared, refusal).await;
    }
    let mut columns = wanting(session, live, &prepared.statement).await?;
    for column in &mut columns {
        column.numbers = vec![0; column.rows.len()];
    }
    let stmt = filled(session, live, &prepared.statement, &columns).await?.ok_or(refusal)?;
    Ok(given::in_place_of(prepared, stmt))
}

async fn wanting(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<Vec<Filled>> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(Vec::new()) };
    find_out::find_out_until(session, live, None, |ctx| {
        Ok(plan::sequence_calls::wanting(ctx, insert, &stmt.text))
    })
    .await
}

async fn filled(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    columns: &[Filled],
) -> Result<Option<Statement>> {
    let text = find_out::find_out_until(session, live, None, |ctx| {
        plan::sequence_calls::filled(ctx, stmt, columns)
    });
    let Some(text) = text.await? else { return Ok(None) };
    let parsed = pando_sql::parse(&text, live.database.dialect.syntax());
    parsed.map(Some).map_err(plan::unread)
}
