//! A statement over tables of its own runs apart: on a connection beside those of the transaction.

use std::sync::Arc;

use pando_kernel::Execution;
use pando_kernel::error::{Error, Result};
use pando_sql::{Edits, Syntax};

use crate::handle::Manner;
use crate::plan::Plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::tell_first::tell_first;
use crate::session::connections::{dress, release};
use crate::session::given::{Given, Order};
use crate::session::run::jobs;
use crate::session::run::jobs::{Dressed, Started};

/// Starts a statement that stands on tables of its own, on a connection beside those of the transaction.
pub(in crate::session) async fn start_apart(
    session: &mut Session,
    live: &LiveDatabase,
    plan: &Plan,
    given: &Given,
) -> Result<Started> {
    let unit = plan.units.first().map(|unit| Arc::clone(&unit.target.unit));
    let unit = unit.ok_or_else(|| Error::internal("a plan without units"))?;
    let mut connection = session.place.take(live.pool(&unit)?).await?;
    session.place.handle().runs_on(&connection, Manner::Ask)?;
    let mut swallow = dress::dress(session, live, &mut connection)?;
    for text in session.settings.local() {
        let text = of_session(text, live.database.dialect.syntax());
        connection.start(Execution::Text(text.into()))?;
        swallow += 1;
    }
    for text in &plan.before {
        connection.start(Execution::Text(Arc::clone(text)))?;
        swallow += 1;
    }
    swallow += tell_first(session, live, &mut connection, plan)?;
    let mut started = Started { channels: Vec::new(), jobs: Vec::new() };
    let given = jobs::give_jobs(
        session,
        Dressed { connection, swallow },
        vec![0],
        Order { plan, given },
        &mut started,
    );
    for channel in &mut started.channels {
        channel.apart = true;
    }
    match given {
        Ok(()) => Ok(started),
        Err(error) => {
            release::release_channels(session, started.channels).await;
            Err(error)
        }
    }
}

/// SET LOCAL as a SET for the session: a connection beside those of the transaction is in none, and is reset
/// afterwards.
pub(in crate::session) fn of_session(text: &str, syntax: &Syntax) -> String {
    let mut edits = Edits::default();
    if let Ok(tokens) = pando_sql::tokenize(text, syntax)
        && let Some(second) = tokens.list.get(1)
        && second.span.of(text).eq_ignore_ascii_case("local")
    {
        edits.replace(second.span, "SESSION");
    }
    edits.apply(text)
}
