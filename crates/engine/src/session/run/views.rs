//! Statements that name views over sharded tables, as statements over these tables.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::request::Prepared;
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::Expanded;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::cursors::settle;
use crate::session::given::{self, Given};
use crate::session::run::{context, find_out, meant};

/// The text over tables of a statement that names such views; `None` for all others.
///
/// # Errors
/// `Refused` for what cannot be done with such a view, and what the units say.
pub(in crate::session) async fn expanded(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Arc<str>>> {
    let Some(live) = session.place.current().cloned().filter(|live| live.has_units()) else {
        return Ok(None);
    };
    if given.is_about_stored || session.work.refuse_if_failed().is_err() {
        return Ok(None);
    }
    session.work.keep_own_up(&live);
    // Most statements end here, without a future of their own.
    match context::in_context(session, &live, Some(given), |ctx| plan::expanded(ctx, stmt))? {
        Ok(Expanded::Stays | Expanded::ForServer) => Ok(None),
        Ok(Expanded::Written(text)) => Ok(Some(text.into())),
        Err(_) => Box::pin(found(session, &live, stmt, given)).await,
    }
}

async fn found(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Arc<str>>> {
    settle::settle_cursors(session).await?;
    let ask = |ctx: &Context<'_>| plan::expanded(ctx, stmt);
    match find_out::find_out_until(session, live, Some(given), ask).await? {
        Expanded::Stays | Expanded::ForServer => Ok(None),
        Expanded::Written(text) => Ok(Some(text.into())),
    }
}

/// A prepared statement over tables in the place of one that names such views.
///
/// # Errors
/// As [`expanded`].
pub(in crate::session) async fn describable(
    session: &mut Session,
    prepared: &Arc<Prepared>,
) -> Result<Option<Arc<Prepared>>> {
    let given = Given::default();
    if let Some(live) = session.place.current().cloned() {
        Box::pin(meant::look(session, &live, &prepared.statement)).await?;
    }
    let Some(text) = expanded(session, &prepared.statement, &given).await? else { return Ok(None) };
    let stmt = read(session, &text, &prepared.statement)?;
    Ok(Some(given::in_place_of(prepared, stmt)))
}

/// The statement of a text that stands for another.
///
/// # Errors
/// When the text cannot be read.
pub(in crate::session) fn read(
    session: &Session,
    text: &Arc<str>,
    other: &Statement,
) -> Result<Statement> {
    let live = session.place.live()?;
    let mut stmt = pando_sql::parse(text, live.database.dialect.syntax()).map_err(plan::unread)?;
    stmt.hints.clone_from(&other.hints);
    Ok(stmt)
}

/// The error of such a statement, as its client's own statement has it.
pub(in crate::session) fn of_view(session: &Session, stmt: &Statement, error: Error) -> Error {
    match session.place.current().cloned() {
        Some(live) => {
            context::in_context(session, &live, None, |ctx| plan::of_view(ctx, stmt, error))
        }
        None => error,
    }
}
