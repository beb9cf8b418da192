//! A request that is the execution of a prepared statement.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::request::{Execute, Pipeline};

use crate::session::cursors::settle;
use crate::session::given::Given;
use crate::session::reply::pull::finish;
use crate::session::run::template;
use crate::session::settings::modes;
use crate::session::statement::prepare;
use crate::session::transaction::begin;
use crate::session::{Session, line};

/// Starts a prepared statement.
pub(in crate::session) async fn begin_execute(
    session: &mut Session,
    execute: Execute,
) -> Result<()> {
    session.outbox.ends_text();
    if execute.pipeline == Pipeline::More {
        begin::open_pipeline(session);
    }
    if let Some(cursor) = execute.cursor {
        Box::pin(settle::end_cursor(session, cursor)).await?;
    }
    if execute.prepared.has_open_types()
        && let Err(error) = Box::pin(prepare::learn_types(session, &execute.prepared)).await
    {
        return Err(Box::pin(finish::fail_statement(session, error)).await);
    }
    session.outbox.limit_rows(execute.limit, execute.cursor);
    let stmt = Arc::clone(&execute.prepared.statement);
    let mut given = Given::of(execute);
    if let Err(error) = modes::refuse_older_pipes(session, &stmt.text) {
        return Err(Box::pin(finish::fail_statement(session, error)).await);
    }
    let started = match template::recall(session, &stmt.text, &mut given) {
        Some(recalled) => line::run_recalled(session, &recalled, &stmt.text, &mut given).await,
        // Boxed, as all that is rare: every client's task is as large as the largest of what it may wait for.
        None => Box::pin(line::run(session, &stmt, given)).await,
    };
    match started {
        Ok(()) => Ok(()),
        Err(error) => Err(Box::pin(finish::fail_statement(session, error)).await),
    }
}
