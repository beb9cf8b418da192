//! Runs copies on a mirror, one after the other, each within its time.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::backend::Execution;
use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::Result;
use pando_kernel::event::Event;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_pool::Connection;
use pando_transaction::finish;

use crate::variables::UNKNOWN;

use super::answer::{Answer, Listening};
use super::item::{Item, Manner};
use super::lane::{Course, Lane};

/// So long nothing is tried on a mirror that has not answered: what it is to run waits, and what has no room is dropped.
const PAUSE: Duration = Duration::from_millis(500);

/// Runs what waits in a lane until this worker, of this number, is not needed any more.
pub(super) async fn run(lane: Arc<Lane>, at: usize, runtime: SharedRuntime) {
    while let Some((item, course)) = lane.next(at).await {
        let mut answers = Vec::new();
        let copying = within(&*runtime, course.settings.time, copy(&item, &course, &mut answers));
        let copied = matches!(copying.await, Some(Ok(())));
        lane.settles(&item, &answers, &course.settings, runtime.wall());
        if !copied {
            runtime.sleep(PAUSE).await;
        }
    }
}

/// Runs a transaction's copy. `answers` are those of its first statements, as many as there were.
///
/// # Errors
/// What keeps the mirror from answering; what it says of a statement is an answer.
///
/// # Cancel safety
/// May be dropped at any await: its connection is put in order by its pool.
async fn copy(item: &Item, course: &Course, answers: &mut Vec<Answer>) -> Result<()> {
    let mut connection = course.pool.take().await?;
    dress(&mut connection, &item.manner).await?;
    if item.is_transaction {
        for text in &item.manner.begin {
            tell(&mut connection, text).await?;
        }
    }
    for copied in &item.statements {
        let answer = ask(&mut connection, copied.execution.clone()).await?;
        answers.push(answer);
    }
    if item.is_transaction {
        let verb =
            if item.is_committed { TransactionVerb::Commit } else { TransactionVerb::Rollback };
        if let Some(text) = item.manner.dialect.transaction(&verb) {
            tell(&mut connection, &text).await?;
        }
    }
    Ok(())
}

/// Brings a connection to the variables of the session whose statements are copied.
async fn dress(connection: &mut Connection, manner: &Manner) -> Result<()> {
    let (wanted, text) = (manner.dress.0, &manner.dress.1);
    let worn = connection.session_state();
    if worn == wanted {
        return Ok(());
    }
    connection.set_session_state(UNKNOWN);
    if worn != 0 || manner.dialect.prepares().with_settings {
        connection.start(Execution::Reset)?;
        finish(connection).await?;
        connection.set_told(None);
    }
    if let Some(text) = text {
        connection.start(Execution::Text(Arc::clone(text)))?;
        finish(connection).await?;
    }
    connection.set_session_state(wanted);
    Ok(())
}

async fn tell(connection: &mut Connection, text: &str) -> Result<()> {
    connection.start(Execution::Text(text.into()))?;
    finish(connection).await.map(drop)
}

/// What the mirror answers; its rows are forgotten as they come.
async fn ask(connection: &mut Connection, execution: Execution) -> Result<Answer> {
    let mut listening = Listening::default();
    connection.start(execution)?;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await {
            Ok(Event::Done) => return Ok(listening.ends()),
            Ok(event) => listening.hears(&event),
            Err(error) if connection.condition().usable && listening.hears_error(&error) => {
                return Ok(listening.ends());
            }
            Err(error) => return Err(error),
        }
    }
}
