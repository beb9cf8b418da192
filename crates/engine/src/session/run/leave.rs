//! What a plan may leave on its connections, and what these are told before it runs.

use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::catalog::Catalog as _;
use pando_kernel::effects::Leaves;
use pando_kernel::error::Result;
use pando_kernel::route::UnitName;
use pando_pool::{Connection, Left};

use crate::plan::Plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::tell_first::tell_first;
use crate::session::settings::Settings;

/// Queues what a plan wants to have run before on a connection, and notes whether that must be put in order before
/// it serves others. Returns how many replies belong to it.
pub(in crate::session) fn lay(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    plan: &Plan,
) -> Result<usize> {
    taint(session, live, connection, plan);
    if !plan.before.is_empty() {
        connection.spoil();
    }
    for text in &plan.before {
        // What runs under it must not run without it, nor without a transaction that could not begin.
        connection.start(Execution::Aside(Arc::clone(text)))?;
    }
    let key = key(session, live, connection.unit(), plan);
    if let Some(text) = &key {
        connection.start(Execution::Aside(text.as_str().into()))?;
    }
    let time = tell_first(session, live, connection, plan)?;
    Ok(plan.before.len() + usize::from(key.is_some()) + time)
}

/// What tells a connection which key this session has generated last, before a plan that may ask for it by a
/// function of a user's.
fn key(session: &Session, live: &LiveDatabase, unit: &UnitName, plan: &Plan) -> Option<String> {
    if plan.leaves == Leaves::Nothing {
        return None;
    }
    let effects = live.database.dialect.effects()?;
    let known = session.work.catalog(live).effectful(unit);
    let reads_key = known.is_none_or(|known| known.reads_key);
    reads_key.then(|| effects.key(session.place.facts().last_insert_id)).flatten()
}

/// Has a connection forget what a plan may leave on it when it goes back. What the plan rests on may hold no
/// longer, as somebody may have defined something since that was read: then it may leave anything.
pub(in crate::session) fn taint(
    session: &Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    plan: &Plan,
) {
    let holds = plan.judged.is_none_or(|epoch| {
        connection.relies_on_definitions() && epoch == session.work.catalog(live).epoch()
    });
    let least = if holds { Leaves::Nothing } else { Leaves::Anything };
    session.settings.taint(live, connection, plan.leaves.max(least));
}

impl Settings {
    /// Has a connection forget what is left on it when it goes back, and wear the session's variables again.
    pub(in crate::session) fn taint(
        &self,
        live: &LiveDatabase,
        connection: &mut Connection,
        leaves: Leaves,
    ) {
        let left = match leaves {
            Leaves::Nothing => return,
            Leaves::State => Left::State,
            Leaves::Anything => Left::Anything,
            Leaves::Definitions => Left::Definitions,
        };
        let (id, list) = (self.variables().id(), self.variables().list());
        let dress = || (id, live.database.dialect.set_statement(list).into());
        let is_worn = id != 0 && connection.session_state() == id;
        connection.taint(left, is_worn.then(dress));
    }
}
