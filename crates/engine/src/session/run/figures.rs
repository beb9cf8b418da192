//! Figures of tables that stand on several units, asked for one statement.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::presentation::{Figure, Figures};

use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::run::context;

/// Asks every unit of its parts.
///
/// # Errors
/// What the units say: a sum without one of them is none.
pub(in crate::session) async fn find_out(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    asked: Arc<str>,
) -> Result<()> {
    let questions =
        context::in_context(session, live, None, |ctx| plan::figures_questions(ctx, &asked));
    let mut rows = Vec::new();
    for question in questions {
        let told = ask::ask(session, live, &question.unit, &question.text).await?;
        rows.extend(told.into_iter().map(|row| Figure { unit: question.number, row }));
    }
    let figures = &mut session.place.facts_mut().figures;
    Arc::make_mut(figures).push(Figures { asked, rows });
    Ok(())
}

/// Forgets what was asked for the statement before.
pub(in crate::session) fn forget(session: &mut Session) {
    if !session.place.facts().figures.is_empty() {
        session.place.facts_mut().figures = Arc::default();
    }
}
