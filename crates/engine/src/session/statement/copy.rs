//! COPY and LOAD DATA as far as other statements run for them: on their one unit, or the query of COPY (query) TO.

use std::sync::Arc;

use pando_kernel::Format;
use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Kind, Query, Statement};
use pando_sql::{Span, parse, visit};

use crate::copy_rows::Encoder;
use crate::plan;
use crate::plan::Purpose;

use crate::session::Session;
use crate::session::bulk::copy;
use crate::session::bulk::copy::Start;
use crate::session::cursors::settle;
use crate::session::errors::server_error;
use crate::session::given::{Given, Run};
use crate::session::place::own_database;
use crate::session::run::{entry, on_units, ready};
use crate::session::statement::administer;
use crate::session::statement::instead::{Becomes, Instead};
use crate::session::transaction::temporary::look;

/// COPY TO of a query. Lines of several shards follow each other as they are where that is right; where rows must be
/// merged, or the query is about the catalogue, it runs as the query it is and its rows are written as lines here.
pub(in crate::session) async fn start_copy_of(
    session: &mut Session,
    stmt: &Statement,
    query: &Query,
) -> Result<bool> {
    let Kind::Copy(copy) = &stmt.kind else { return Ok(false) };
    session.work.refuse_if_failed()?;
    own_database::refuse_without_database(session, stmt)?;
    let live = session.place.live()?;
    let presentation = live.database.dialect.presentation();
    let is_catalogue = visit::tables(&stmt.kind)
        .iter()
        .any(|table| presentation.is_some_and(|own| own.holding(table.name).is_some()));
    if !is_catalogue {
        Box::pin(look::look_at_temporaries(session, &live, stmt)).await?;
        settle::settle_cursors(session).await?;
        match ready::single_plan(session, &live, stmt, &Given::default(), Purpose::Run).await {
            // What is told otherwise than it is stored is not to be had as lines.
            Ok(plan) if !plan.merge.cells.is_empty() => {}
            Ok(plan) => {
                entry::run_plan(
                    session,
                    Run { live: &live, stmt, plan: &Arc::new(plan) },
                    &mut Given::of_client(),
                )
                .await?;
                return Ok(true);
            }
            Err(error) if plan::is_for_assembly(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let encoder = Encoder::new(copy)?;
    let inner = query.span.of(&stmt.text);
    let inner = parse(inner, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    let formats = vec![encoder.format()];
    let prepared = encoder.format() == Format::Binary;
    let given = Given { formats, prepared, ..Given::of_client() };
    Box::pin(on_units::run_as_one(session, &inner, given)).await?;
    session.outbox.encodes_with(encoder);
    Ok(true)
}

/// The statement of COPY (INSERT, UPDATE or DELETE … RETURNING …) TO, whose rows are written as lines here.
/// <https://www.postgresql.org/docs/current/sql-copy.html>
pub(in crate::session) fn copy_of_change(
    session: &mut Session,
    stmt: &Statement,
    change: Span,
) -> Result<Instead> {
    let Kind::Copy(copy) = &stmt.kind else { return Err(Error::internal("a COPY is another")) };
    session.work.refuse_if_failed()?;
    let encoder = Encoder::new(copy)?;
    let text: Arc<str> =
        Span::new(change.start + 1, change.end.saturating_sub(1)).of(&stmt.text).into();
    let inner = administer::read_inner(session, &text)?;
    if !returns(&inner.kind) {
        return Err(server_error(0, "0A000", "COPY query must have a RETURNING clause"));
    }
    let formats = vec![encoder.format()];
    let prepared = encoder.format() == Format::Binary;
    let given = Given { formats, prepared, ..Given::of_client() };
    Ok(Instead {
        stmt: Arc::new(inner),
        given,
        settings: Vec::new(),
        reply: Becomes::Lines(encoder),
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only three statements return what they change")]
fn returns(kind: &Kind) -> bool {
    match kind {
        Kind::Insert(insert) => insert.returning.is_some(),
        Kind::Update(update) => update.returning.is_some(),
        Kind::Delete(delete) => delete.returning.is_some(),
        _ => false,
    }
}

/// COPY FROM and LOAD DATA. False when the statement goes the usual way.
pub(in crate::session) async fn start_bulk(
    session: &mut Session,
    stmt: &Statement,
) -> Result<bool> {
    match copy::start_bulk(session, stmt).await? {
        Start::Begun => Ok(true),
        Start::Elsewhere => Ok(false),
        Start::OneUnit(live, plan) => {
            let plan = Arc::from(plan);
            let run = Run { live: &live, stmt, plan: &plan };
            entry::run_plan(session, run, &mut Given::default()).await?;
            Ok(true)
        }
    }
}
