//! Prepared statements: parsed once, described when asked.

use std::future::poll_fn;
use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Description, Event};
use pando_kernel::feature::Catalog;
use pando_kernel::request::Prepared;
use pando_kernel::route::{Need, UnitName};
use pando_kernel::{Column, Columns, Native, NeutralCodec};
use pando_sql::ast::{Kind, Transaction};

use crate::execute::Channel;
use crate::plan;
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::errors::unknown_table;
use crate::session::given::{Aim, Given};
use crate::session::place::{elsewhere, own_database};
use crate::session::reply::logic_names::Origin;
use crate::session::reply::turned_rows::turned_columns;
use crate::session::run::template::moment;
use crate::session::statement::{administer, without_units};
use crate::session::steps::frame;
use crate::session::steps::planning::Ready;
use crate::session::transaction::temporary;

/// Parses one statement.
pub(in crate::session) fn make_prepared(
    session: &mut Session,
    sql: Arc<str>,
    declared: Vec<u32>,
) -> Result<Arc<Prepared>> {
    let statement = administer::read(session, &sql)?;
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
    let share = reading.keep(session.memory.kept(), (&sql, &statement))?;
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
        Err(error) => return Err(session.fail_statement(error).await),
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
    let keeps = session.place.dialect().is_some_and(|dialect| dialect.keeps_parameter_types());
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
        Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Deallocate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Copy(_)
        | Kind::Load(_)
        | Kind::Empty => return Ok(Description { parameters: Vec::new(), columns: None }),
        Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque if stmt.parameters == 0 => {
            return Ok(Description { parameters: Vec::new(), columns: None });
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
    let away = elsewhere::leave(session, stmt)?;
    let result = describe_on_unit(session, prepared).await;
    session.place.come_back(away);
    result
}

/// Lets a storage unit describe the statement as it would run on the first target.
pub(in crate::session) async fn describe_on_unit(
    session: &mut Session,
    prepared: &Arc<Prepared>,
) -> Result<Description> {
    own_database::refuse_without_database(session, &prepared.statement)?;
    let live = session.place.live()?;
    if !live.has_units() {
        return without_units::describe_alone(session, &prepared.statement);
    }
    session.settle_cursors().await?;
    let stmt = Arc::clone(&prepared.statement);
    Box::pin(temporary::look_at_temporaries(session, &live, &stmt)).await?;
    let plan = match session.ready(&live, &stmt, &Given::default(), Purpose::Describe).await? {
        Ready::Run(plan) => *plan,
        Ready::Steps(found) => {
            return frame::describe_in_steps(session, &live, prepared, *found).await;
        }
    };
    let plan = Arc::new(plan);
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    let known = prepared.types();
    let open = |at: &u32| known.get(*at as usize).copied().unwrap_or(0);
    let types = unit.parameters.iter().map(open).collect();
    let (sql, era) = (Arc::clone(&unit.sql), moment(&live).era());
    let asked = Execution::Describe { sql, types, era };
    let mut described = described_by(session, &live, &unit.target.unit, asked).await?;
    if let Some(mut columns) = described.columns.take() {
        Origin::of(&live, &plan).rename(&mut columns);
        described.columns = Some(turned_columns(&plan, columns)?);
    }
    let mut parameters = vec![Native::default(); stmt.parameters as usize];
    for (native, index) in described.parameters.iter().zip(&unit.parameters) {
        if let Some(slot) = parameters.get_mut(*index as usize) {
            *slot = *native;
        }
    }
    Ok(Description { parameters, columns: described.columns })
}

/// What a storage unit describes.
async fn described_by(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    asked: Execution,
) -> Result<Description> {
    let inside = !session.work.is_idle();
    let (mut connection, swallow) = if inside {
        session.enlisted(live, unit, Aim::Reads).await?
    } else {
        session.taken_from_pool(live, unit, Aim::Reads).await?
    };
    let started = connection.start(asked);
    let mut channel = Channel::new(connection, swallow, usize::from(started.is_ok()));
    let described = match started {
        Ok(()) => read_description(&mut channel).await,
        Err(error) => Err(error),
    };
    session.release_channel(channel).await;
    described
}

/// The columns of a query's rows as they are stored, and the plan that says how they are told.
///
/// # Errors
/// What the rooms refuse, and what a storage unit says.
pub(in crate::session) async fn stored_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    query: &str,
) -> Result<Stored> {
    let stmt = pando_sql::parse(query, live.database.dialect.syntax()).map_err(plan::unread)?;
    let plan = session.plan(live, &stmt, &Given::default(), Purpose::Describe).await?;
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    let columns = unit_columns(session, live, &unit.target.unit, &unit.sql).await?;
    Ok(Stored { plan, columns })
}

/// The columns of a query as they are stored.
#[derive(Debug)]
pub(in crate::session) struct Stored {
    /// How they are told.
    pub(in crate::session) plan: Plan,
    pub(in crate::session) columns: Columns,
}

/// The columns of a query of one storage unit.
///
/// # Errors
/// What the unit says.
pub(in crate::session) async fn unit_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    sql: &Arc<str>,
) -> Result<Columns> {
    let (sql, types, era) = (Arc::clone(sql), Vec::new().into(), moment(live).era());
    let asked = Execution::Describe { sql, types, era };
    let described = described_by(session, live, unit, asked).await?;
    described.columns.ok_or_else(|| Error::internal("a query without columns"))
}

/// The columns of a logic table, as an empty result.
pub(in crate::session) async fn fields(session: &mut Session, table: &str) -> Result<()> {
    let live = session.place.live()?;
    let logic = table.to_lowercase();
    let is_temporary =
        temporary::temporaries(session).is_some_and(|own| own.names.contains(&logic));
    if !is_temporary && session.work.catalog(&live).columns(&logic).is_none() {
        session.find_out(&live, Need::Columns(logic.clone())).await?;
    }
    if !is_temporary
        && session.work.catalog(&live).columns(&logic).is_none_or(|columns| columns.is_empty())
    {
        return Err(unknown_table(table));
    }
    let text = format!("SELECT * FROM {} WHERE 1 = 0", live.database.dialect.quote(table));
    let prepared = make_prepared(session, text.into(), Vec::new())?;
    let columns = describe_prepared(session, &prepared).await?.columns;
    session.outbox.tell_all(columns.map(Event::Columns));
    session.outbox.tell(Event::Complete(Completion::default()));
    Ok(())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only the description matters")]
async fn read_description(channel: &mut Channel) -> Result<Description> {
    let mut described = None;
    loop {
        match poll_fn(|cx| channel.poll_event(cx)).await? {
            Event::Described(description) => described = Some(description),
            Event::Done => break,
            _ => {}
        }
    }
    described.ok_or_else(|| Error::internal("a storage unit described nothing"))
}
