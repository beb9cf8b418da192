//! Prepared statements: parsed once, described when asked.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Description, Event};
use pando_kernel::feature::Catalog;
use pando_kernel::request::Prepared;
use pando_kernel::route::Need;
use pando_kernel::{Column, Columns, Native, NeutralCodec};
use pando_sql::ast::{Kind, Statement, Transaction};

use crate::session::Session;
use crate::session::errors::unknown_table;
use crate::session::given;
use crate::session::place::elsewhere;
use crate::session::reply::pull::finish;
use crate::session::run::describe::Described;
use crate::session::run::{describe, find_out, views};
use crate::session::statement::{
    administer, counters, into_table, into_variables, sequence_calls, set_for, shard_sequences,
};
use crate::session::steps::in_steps;

/// Parses one statement.
pub(in crate::session) fn make_prepared(
    session: &mut Session,
    sql: Arc<str>,
    declared: Vec<u32>,
) -> Result<Arc<Prepared>> {
    let statement = administer::read(session, &sql)?;
    prepared(session, sql, statement, declared)
}

/// The same of a part of a text that has been read, or of one that no client has written.
pub(in crate::session) fn make_own_prepared(
    session: &mut Session,
    sql: Arc<str>,
    declared: Vec<u32>,
) -> Result<Arc<Prepared>> {
    let statement = administer::read_inner(session, &sql)?;
    prepared(session, sql, statement, declared)
}

fn prepared(
    session: &mut Session,
    sql: Arc<str>,
    statement: Statement,
    declared: Vec<u32>,
) -> Result<Arc<Prepared>> {
    let ends = matches!(
        statement.kind,
        Kind::Transaction(
            Transaction::Commit { .. } | Transaction::Rollback { .. } | Transaction::RollbackTo(_)
        ) | Kind::Empty
    );
    if !ends {
        session.work.refuse_if_failed()?;
    }
    let reading = &session.place.engine().inner.reading;
    let share = reading.keep(session.memory.kept(), &sql, &statement)?;
    Ok(Arc::new(Prepared::new(sql, statement, declared).counted(share)))
}

/// What a prepared statement takes and returns.
pub(in crate::session) async fn describe_prepared(
    session: &mut Session,
    prepared: &Arc<Prepared>,
) -> Result<Description> {
    if let Some(known) = prepared.description.get() {
        return Ok(known.clone());
    }
    let description = match describe_afresh(session, prepared).await {
        Ok(description) => description,
        Err(error) => return Err(finish::fail_statement(session, error).await),
    };
    // The cursor of a FETCH may be declared later, or be another one by then.
    if matches!(prepared.statement.kind, Kind::Cursor(_)) {
        return Ok(description);
    }
    Ok(prepared.description.get_or_init(|| description).clone())
}

/// Asks for the types of a statement's parameters when it comes again without anybody knowing them: with them its units
/// may keep it prepared. Once only it is left to each unit, which prepares it for that execution.
///
/// # Errors
/// What a storage unit says, as it would to the execution.
pub(in crate::session) async fn learn_types(
    session: &mut Session,
    prepared: &Arc<Prepared>,
) -> Result<()> {
    let keeps = session.place.dialect().is_some_and(|dialect| dialect.prepares().keeps_types);
    if !keeps || !prepared.runs() {
        return Ok(());
    }
    match describe_afresh(session, prepared).await {
        Ok(found) => drop(prepared.hold(&found.parameters)),
        Err(error) if matches!(error.kind(), ErrorKind::Server(_)) => return Err(error),
        // The execution is refused as well, or can do without.
        Err(_) => drop(prepared.hold(&[])),
    }
    Ok(())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
async fn describe_afresh(session: &mut Session, prepared: &Arc<Prepared>) -> Result<Description> {
    let stmt = &prepared.statement;
    match &stmt.kind {
        Kind::Preview(_) => {
            let list = ["data_source_name", "actual_sql"]
                .map(|name| Column::computed(name, pando_kernel::Kind::Text));
            let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
            return Ok(Description { parameters: Vec::new(), columns: Some(columns) });
        }
        Kind::Execute { name, .. } => {
            let inner = Arc::clone(session.memory.named().get(&name.value)?);
            let columns = Box::pin(describe_prepared(session, &inner)).await?.columns;
            return Ok(Description { parameters: Vec::new(), columns });
        }
        Kind::SetFor(own) => {
            set_for::refuse_unless_fork(&*session.place.live()?, "STATEMENT")?;
            let inner = make_own_prepared(session, own.body.of(&stmt.text).into(), Vec::new())?;
            return Box::pin(describe_afresh(session, &inner)).await;
        }
        Kind::Cursor(cursor) => {
            let columns = match &**cursor {
                pando_sql::ast::Cursor::Fetch { name, moves: false, .. } => {
                    session.cursors.sql_cursor_columns(&name.value)
                }
                _ => None,
            };
            return Ok(Description { parameters: Vec::new(), columns });
        }
        Kind::Administration => {
            session.work.refuse_if_failed()?;
            let columns = administer::administration_columns(session, &stmt.text)?;
            return Ok(Description { parameters: Vec::new(), columns });
        }
        Kind::Set(_) => {
            let parameters = vec![Native::default(); stmt.parameters as usize];
            return Ok(Description { parameters, columns: None });
        }
        Kind::Transaction(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Deallocate(_)
        | Kind::Immediate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Copy(_)
        | Kind::Load(_)
        | Kind::Empty => return Ok(Description { parameters: Vec::new(), columns: None }),
        Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque if stmt.parameters == 0 => {
            return Ok(Description { parameters: Vec::new(), columns: None });
        }
        Kind::Select(_) if into_table::is_meant(stmt) => {
            let dialect = session.place.dialect();
            let other =
                dialect.map(|own| into_table::definition(own.as_ref(), stmt)).transpose()?;
            if let Some(other) = other.flatten() {
                let types = prepared.types().to_vec();
                let own = Prepared::new(Arc::clone(&other.text), (*other).clone(), types);
                return Box::pin(describe_afresh(session, &Arc::new(own))).await;
            }
        }
        Kind::Select(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Define(_)
        | Kind::Show(_)
        | Kind::Explain { .. }
        | Kind::Utility { .. }
        | Kind::Opaque => {}
    }
    session.work.refuse_if_failed()?;
    if let Some(query) = into_variables::query_of(session, stmt)? {
        let query = given::in_place_of(prepared, query);
        let Description { parameters, .. } = Box::pin(describe_afresh(session, &query)).await?;
        return Ok(Description { parameters, columns: None });
    }
    let away = elsewhere::leave(session, stmt)?;
    let result = describe_on_units(session, prepared).await;
    session.place.come_back(away);
    result
}

async fn describe_on_units(session: &mut Session, prepared: &Arc<Prepared>) -> Result<Description> {
    let expanded = views::describable(session, prepared).await?;
    let prepared = expanded.as_ref().unwrap_or(prepared);
    let counted = match prepared.statement.counts {
        true => {
            let live = session.place.live()?;
            Box::pin(sequence_calls::describable(session, &live, prepared)).await?
        }
        false => None,
    };
    let prepared = counted.as_ref().unwrap_or(prepared);
    let described = match describe::describe(session, prepared).await {
        Err(refusal) if counters::is_uncounted(&prepared.statement, &refusal) => {
            let live = session.place.live()?;
            let counted = counters::describable(session, &live, prepared, refusal);
            let counted = Box::pin(counted).await?;
            describe::describe(session, &counted).await?
        }
        Err(error) => match of_sequence(session, prepared, &error).await? {
            Some(renamed) => describe::describe(session, &renamed).await?,
            None => return Err(error),
        },
        Ok(described) => described,
    };
    match described {
        Described::Whole(description) => Ok(description),
        Described::InSteps(found) => {
            let live = session.place.live()?;
            in_steps::describe_in_steps(session, &live, prepared, *found).await
        }
    }
}

/// A query of a sequence that counts a column of a table in several shards, about the first shard's own.
async fn of_sequence(
    session: &mut Session,
    prepared: &Prepared,
    error: &Error,
) -> Result<Option<Arc<Prepared>>> {
    let Some(name) = shard_sequences::missed(&prepared.statement, error) else { return Ok(None) };
    let live = session.place.live()?;
    let renamed = shard_sequences::renamed(session, &live, &prepared.statement, name);
    let renamed = Box::pin(renamed).await?;
    Ok(renamed.map(|stmt| given::in_place_of(prepared, stmt)))
}

/// The columns of a logic table, as an empty result.
pub(in crate::session) async fn fields(session: &mut Session, table: &str) -> Result<()> {
    let live = session.place.live()?;
    let logic = table.to_lowercase();
    let is_temporary = session
        .temporary
        .shown(session.place.current())
        .is_some_and(|own| own.names.contains(&logic));
    if !is_temporary && session.work.catalog(&live).columns(&logic).is_none() {
        find_out::find_out(session, &live, Need::Columns(logic.clone())).await?;
    }
    if !is_temporary
        && session.work.catalog(&live).columns(&logic).is_none_or(|columns| columns.is_empty())
    {
        return Err(unknown_table(table));
    }
    let text = format!("SELECT * FROM {} WHERE 1 = 0", live.database.dialect.quote(table));
    let prepared = make_own_prepared(session, text.into(), Vec::new())?;
    let columns = describe_prepared(session, &prepared).await?.columns;
    session.outbox.tell_all(columns.map(Event::Columns));
    session.outbox.tell(Event::Complete(Completion::default()));
    Ok(())
}
