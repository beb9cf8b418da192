//! ALTER SEQUENCE … OWNED BY a table of another storage unit: the sequence goes there first, as it stands. It is dropped behind, where it was, with the
//! statement itself.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_sql::ast::{DefineAction, Kind, ObjectKind, Statement};

use crate::plan::{self, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::given::Given;
use crate::session::reply::pull::piece;
use crate::session::run::{find_out, on_units, ready};

/// Whether a statement gives a sequence to a table.
pub(in crate::session) fn gives_away(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Define(define) if define.action == DefineAction::Alter
        && define.object == ObjectKind::Sequence && define.on.is_some())
}

/// Makes the sequence where its table is, unless it is there.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn bring(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
) -> Result<()> {
    let Kind::Define(define) = &stmt.kind else { return Ok(()) };
    let (Some(name), Some(words)) = (define.names.first(), live.database.dialect.sequences())
    else {
        return Ok(());
    };
    if live.database.units.len() < 2 {
        return Ok(());
    }
    session.work.refuse_if_failed()?;
    let key = name.key();
    let known = find_out::find_out_until(session, live, Some(given), |ctx| {
        Ok(plan::sequence_calls::standing(ctx, &key))
    })
    .await?;
    let Some(home) = known.first() else { return Ok(()) };
    let plan = Box::pin(ready::single_plan(session, live, stmt, given, Purpose::Run)).await?;
    let Some(to) = plan.units.first().map(|unit| Arc::clone(&unit.target.unit)) else {
        return Ok(());
    };
    let written = name.span.of(&stmt.text);
    let Some(query) = words.definition(written).filter(|_| !known.contains(&to)) else {
        return Ok(());
    };
    for row in ask::ask_dressed(session, live, home, &query).await? {
        let [Value::Text(text)] = &row[..] else { continue };
        let mut made =
            pando_sql::parse(text, live.database.dialect.syntax()).map_err(plan::unread)?;
        made.hints.push(("DATA_SOURCE_NAME".to_owned(), to.to_string()));
        Box::pin(on_units::run_as_one(session, &made, Given::default())).await?;
        // The client hears of its own statement only.
        while Box::pin(piece::next_of_reply(session)).await?.is_some() {}
    }
    Ok(())
}
