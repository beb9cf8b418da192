//! CREATE TABLE … LIKE in steps: how the other table is defined, then the new one.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_sql::ast::Statement;

use crate::plan::TableLike;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::command_tag;
use crate::session::reply::pieces::Verb;
use crate::session::reply::pull::finish;
use crate::session::steps::{frame, probe};

/// Runs the statement.
pub(in crate::session) async fn start_table_like(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    parts: &TableLike,
) -> Result<()> {
    let (facts, aside) = (Arc::clone(session.place.facts()), session.outbox.set_aside());
    let made = made(session, live, parts).await;
    session.place.knows_again(facts);
    session.outbox.take_up(aside);
    let made = made?;
    session.outbox.tell_all(made.notices);
    let verb = Verb { tag: command_tag::tag(&stmt.kind), ..Verb::default() };
    finish::conclude(session, made.completion, &verb).await
}

async fn made(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &TableLike,
) -> Result<frame::Answer> {
    let dialect = Arc::clone(&live.database.dialect);
    let own = probe::query_tables(dialect.as_ref())?.definitions();
    let definition = probe::definition(session, live, &parts.definition).await?;
    let body = own.alike(&definition).ok_or_else(|| no_table(&parts.other))?;
    let text: Arc<str> = format!("{} {body}", parts.head).into();
    frame::write_step(session, live, &text, &Given::default(), usize::MAX).await
}

fn no_table(name: &str) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number: 1347,
        sqlstate: "HY000".into(),
        message: format!("'{name}' is not BASE TABLE"),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}
