//! Bulk data from and to several storage units: each line of COPY FROM and LOAD DATA goes to the shard it belongs to,
//! in batches that are statements of their own; COPY TO sends one shard after the other, or writes merged rows as
//! lines.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, CopyForm, Event};
use pando_kernel::feature::SessionView;
use pando_kernel::route::Spread;
use pando_kernel::{Columns, CopyInput, Format, Value};
use pando_sql::ast::{CopyDirection, Ident, Kind, ObjectName, Statement};
use pando_sql::{Placeholder, parse};

use crate::copy_rows::{FieldChanges, Records};
use crate::execute::{Channel, sum};
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::bulk::fields::{Bulk, Incoming};
use crate::session::bulk::{columns, fields, filling};
use crate::session::connections::{lend, release};
use crate::session::cursors::settle;
use crate::session::given::{Aim, Given};
use crate::session::place::changed_rules;
use crate::session::reply::copy_in::{CopyIn, LinePlace, Seat};
use crate::session::reply::pieces::{Reply, Verb};
use crate::session::reply::pull::{finish, piece};
use crate::session::reply::warnings;
use crate::session::run::{admission, find_out, leave, ready};
use crate::session::statement::prepare;
use crate::session::transaction::temporary::look;
use crate::session::transaction::{Opened, base, begin};

/// Lines of one shard that are sent together, in bytes.
const BATCH: usize = 256 << 10;
/// Lines of all shards that wait, in bytes.
const WAITING: usize = 8 << 20;

/// What a bulk statement names.
struct Named<'a> {
    table: &'a ObjectName,
    columns: Option<&'a [Ident]>,
    records: Records,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
fn named(stmt: &Statement) -> Result<Option<Named<'_>>> {
    match &stmt.kind {
        Kind::Copy(copy) if copy.direction == CopyDirection::FromClient => {
            let Some(table) = &copy.table else { return Ok(None) };
            let records = Records::of_copy(copy)?;
            Ok(Some(Named { table, columns: copy.columns.as_deref(), records }))
        }
        Kind::Load(load) => {
            if !load.local || !load.assignments.is_empty() {
                return Err(Error::unsupported(
                    20030,
                    "LOAD DATA of a sharded table, or one whose values are stored as others, takes LOCAL files and no SET",
                    "use LOAD DATA LOCAL INFILE",
                ));
            }
            let columns = load.columns.as_deref();
            Ok(Some(Named { table: &load.table, columns, records: Records::of_load(load)? }))
        }
        _ => Ok(None),
    }
}

/// What becomes of COPY FROM or LOAD DATA.
#[derive(Debug)]
pub(in crate::session) enum Start {
    /// Lines are waited for that go to several targets, or with other fields.
    Begun,
    /// Its one unit takes the lines as they are.
    OneUnit(Arc<LiveDatabase>, Box<Plan>),
    /// The statement goes the usual way.
    Elsewhere,
}

/// Begins COPY FROM or LOAD DATA, where it is over several targets or rooms turn some of its fields.
#[expect(clippy::wildcard_enum_match_arm, reason = "only LOAD DATA asks for a file")]
pub(in crate::session) async fn start_bulk(
    session: &mut Session,
    stmt: &Statement,
) -> Result<Start> {
    let live = session.place.live()?;
    session.work.refuse_if_failed()?;
    admission::admit_change(session, &live, stmt).await?;
    base::refuse_in_base(session, "bulk data")?;
    if !session.work.is_idle() {
        session.work.gatherings_mut().forgoes();
    }
    Box::pin(look::look_at_temporaries(session, &live, stmt)).await?;
    settle::settle_cursors(session).await?;
    let plan = ready::single_plan(session, &live, stmt, &Given::default(), Purpose::Run).await?;
    changed_rules::refuse_moved(session, &live, stmt, Aim::Writes)?;
    if plan.units.len() == 1 && plan.fields.is_empty() {
        return Ok(Start::OneUnit(live, Box::new(plan)));
    }
    let Some(mut named) = named(stmt)? else { return Ok(Start::Elsewhere) };
    let logic = named.table.key();
    let Lines { plan, columns, changes, types } =
        lines(session, &live, stmt, &mut named, plan).await?;
    let insert = routing_insert(&live, &logic, &columns)?;
    let of = filling::Lines { stmt, insert, logic: &logic, columns: &columns, plan };
    let filling::Filled { plan, insert, column, filling, moving } =
        filling::filled(session, &live, of).await?;
    let places = plan.units.iter().enumerate().map(|(i, unit)| {
        let actual = unit.target.actual(&logic).unwrap_or(&logic);
        ((Arc::clone(&unit.target.unit), Arc::from(actual)), i)
    });
    let places = places.collect();
    // All batches are one transaction.
    begin::open_if_idle(session, Opened::Statement);
    session.work.transaction_mut().wrote_if_open();
    let format = match &named.records {
        Records::Lines(_) => Format::Text,
        Records::Tuples(_) => Format::Binary,
    };
    let types = match (types, format) {
        (None, Format::Binary) => bulk_types(session, &logic, &columns).await?,
        (types, _) => types,
    };
    let first = match (&column, format) {
        (Some(column), Format::Binary) => {
            bulk_types(session, &logic, std::slice::from_ref(column)).await?
        }
        _ => None,
    };
    session.outbox.tell(match &stmt.kind {
        Kind::Load(load) => Event::SendFile(load.file.clone()),
        _ => Event::CopyIn(CopyForm { format, columns: vec![format; columns.len()] }),
    });
    let (tag, defines) = (crate::session::reply::command_tag::tag(&stmt.kind), false);
    session.outbox.answers_with(Reply::CopyIn(Box::new(CopyIn {
        records: named.records,
        types,
        changes,
        filling,
        first,
        moving,
        insert,
        columns,
        is_copy: matches!(stmt.kind, Kind::Copy(_)),
        view: SessionView {
            keeps_zero: session.settings.keeps_zero(),
            environment: session.work.environment(),
            ..SessionView::default()
        },
        places,
        logic,
        batches: vec![BytesMut::new(); plan.units.len()],
        waiting: 0,
        rows_read: 0,
        rows: 0,
        told: Completion::default(),
        marked: Vec::new(),
        verb: Verb { tag, defines, ..Verb::default() },
        live,
        plan,
    })));
    Ok(Start::Begun)
}

/// What is known of a bulk statement's lines before the first has come.
struct Lines {
    plan: Plan,
    /// The columns as the client knows them.
    columns: Vec<String>,
    /// Those that rooms turn.
    changes: Option<FieldChanges>,
    /// As [`CopyIn::types`], if they had to be found out.
    types: Option<Columns>,
}

async fn lines(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    named: &mut Named<'_>,
    plan: Plan,
) -> Result<Lines> {
    if !plan.fields.is_empty() {
        let bulk = Bulk { stmt, records: &mut named.records };
        let Incoming { plan, changes, types } = fields::incoming(session, live, plan, bulk).await?;
        let columns = changes.names().to_vec();
        return Ok(Lines { plan, columns, changes: Some(changes), types });
    }
    let (columns, plan) = match named.columns {
        Some(listed) => (listed.iter().map(|column| column.value.clone()).collect(), plan),
        None => columns::list_columns(session, live, stmt, &named.table.key(), plan).await?,
    };
    Ok(Lines { plan, columns, changes: None, types: None })
}

/// Data from the client for the copy under way.
pub(in crate::session) async fn copy_input(session: &mut Session, input: CopyInput) -> Result<()> {
    if matches!(session.outbox.reply(), Reply::Pass(_)) {
        return piece::copy_pass(session, input).await;
    }
    let Reply::CopyIn(copy) = session.outbox.take_reply() else {
        return Err(Error::new(ErrorKind::Protocol("no copy is under way".into())));
    };
    let mut copy = copy;
    match take_lines(session, &mut copy, input).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            session.outbox.answers_with(Reply::CopyIn(copy));
            Ok(())
        }
        Err(error) => {
            Box::pin(undo_batches(session, &copy)).await;
            Err(finish::fail_statement(session, error).await)
        }
    }
}

/// Takes back the batches of a statement that fails, in a transaction that goes on.
async fn undo_batches(session: &mut Session, copy: &CopyIn) {
    if session.work.transaction().state() != pando_kernel::session::TransactionState::Open {
        return;
    }
    let mut channels = Vec::new();
    for unit in &copy.marked {
        match lend::enlisted(session, &copy.live, unit, Aim::Reads).await {
            Ok((connection, swallow)) => channels.push(Channel::new(connection, swallow, 0)),
            Err(_) => session.work.transaction_mut().lose(),
        }
    }
    release::undo_statement(session, &mut channels).await;
    release::release_channels(session, channels).await;
}

/// True when the statement is over.
async fn take_lines(session: &mut Session, copy: &mut CopyIn, input: CopyInput) -> Result<bool> {
    let last = match input {
        CopyInput::Data(data) => {
            copy.records.push(&data);
            false
        }
        CopyInput::Done => true,
        CopyInput::Fail(reason) => {
            return Err(ErrorKind::Server(Box::new(pando_kernel::ServerError {
                sqlstate: "57014".into(),
                message: format!("COPY from stdin failed: {reason}"),
                severity: "ERROR".into(),
                ..Default::default()
            }))
            .into());
        }
    };
    while let Some(line) = copy.records.next(last)? {
        let counted = filling::counted(session, copy).await?;
        let mut line = line;
        let mut place = places(session, copy, &line, counted.as_ref()).await;
        let brings = match &place {
            Ok(place) => place.brings.clone(),
            // A key that is left to be counted has no place yet.
            Err(_) => filling::brought(copy, &line),
        };
        if let Some(numbered) = filling::moves(session, copy, &line, brings.as_ref()).await? {
            place = places(session, copy, &numbered, counted.as_ref()).await;
            line = numbered;
        }
        let place = place?;
        let line = copy.turned(line)?;
        let line = match counted.or(place.made) {
            Some(value) => copy.records.led(&line, &value, copy.first.as_ref())?,
            None => line,
        };
        copy.rows_read += 1;
        for place in place.units {
            copy.waiting += line.len();
            let batch = &mut copy.batches[place];
            batch.extend_from_slice(&line);
            if batch.len() >= BATCH {
                send_batch(session, copy, place).await?;
            }
        }
        if copy.waiting > WAITING {
            send_all(session, copy).await?;
        }
    }
    if !last {
        return Ok(false);
    }
    match copy.rows_read {
        // No storage unit has judged the statement's options and columns so far: one does.
        0 => send_batch(session, copy, 0).await?,
        _ => send_all(session, copy).await?,
    }
    filling::ends(session, copy);
    let mut done = std::mem::take(&mut copy.told);
    done.affected = Some(copy.rows);
    finish::conclude(session, done, &copy.verb).await.map(|()| true)
}

/// Where a record belongs; what routing must know is found out, as it may have been forgotten meanwhile.
async fn places(
    session: &mut Session,
    copy: &CopyIn,
    record: &[u8],
    counted: Option<&Value>,
) -> Result<LinePlace> {
    // Nearly every record is placed by what is known.
    let catalog = session.work.catalog(&copy.live).as_ref();
    let seat = Seat { catalog, source: &session.place.engine().inner.source };
    if let Ok(place) = copy.places(record, counted, seat)? {
        return Ok(place);
    }
    find_out::find_out_until(session, &copy.live, None, |ctx| {
        copy.places(record, counted, Seat { catalog: ctx.catalog, source: ctx.source })
    })
    .await
}

async fn send_all(session: &mut Session, copy: &mut CopyIn) -> Result<()> {
    for place in 0..copy.batches.len() {
        if !copy.batches[place].is_empty() {
            send_batch(session, copy, place).await?;
        }
    }
    Ok(())
}

/// Sends the lines that wait for one shard as a statement of its own.
async fn send_batch(session: &mut Session, copy: &mut CopyIn, place: usize) -> Result<()> {
    let data = std::mem::take(&mut copy.batches[place]).freeze();
    copy.waiting = copy.waiting.saturating_sub(data.len());
    let live = Arc::clone(&copy.live);
    let Some(unit) = copy.plan.units.get(place) else { return Ok(()) };
    let goes_on = session.work.opened() == Opened::Client
        && !live.database.dialect.error_fails_transaction()
        && !copy.marked.contains(&unit.target.unit);
    let aim = if goes_on { Aim::WritesAsOne } else { Aim::Writes };
    let (mut connection, swallow) = lend::enlisted(session, &live, &unit.target.unit, aim).await?;
    session.work.transaction_mut().changes_on(&unit.target.unit);
    if goes_on {
        copy.marked.push(Arc::clone(&unit.target.unit));
    }
    leave::taint(session, &live, &mut connection, &copy.plan);
    let started = connection.start(Execution::Text(Arc::clone(&unit.sql)));
    let mut channel = Channel::new(connection, swallow, usize::from(started.is_ok()));
    let sent = match started {
        Ok(()) => {
            let (head, tail) = copy.records.frame();
            send(&mut channel, [head, data, tail]).await
        }
        Err(error) => Err(error),
    };
    let done = sum(channel.completions.iter());
    if copy.plan.spread == Spread::Gather || place == 0 {
        copy.rows += done.affected.unwrap_or(0);
        let said = std::slice::from_mut(&mut channel);
        session.outbox.pass_notices(said);
        warnings::note_warnings(session, said, done.warnings).await;
        copy.told = match copy.told.affected {
            Some(_) => sum([&copy.told, &done].into_iter()),
            None => done,
        };
    }
    release::release_channel(session, channel).await;
    sent
}

/// The types of a table's columns, as its storage unit tells them.
async fn bulk_types(
    session: &mut Session,
    logic: &str,
    columns: &[String],
) -> Result<Option<Columns>> {
    let dialect = session.place.live()?.database.dialect.clone();
    let names: Vec<String> = columns.iter().map(|column| dialect.quote(column)).collect();
    let text = format!("SELECT {} FROM {}", names.join(", "), dialect.quote(logic));
    let prepared = prepare::make_own_prepared(session, text.into(), Vec::new())?;
    Ok(prepare::describe_prepared(session, &prepared).await?.columns)
}

async fn send(channel: &mut Channel, data: [Bytes; 3]) -> Result<()> {
    match poll_fn(|cx| channel.poll_head(cx)).await? {
        Some(Event::CopyIn(_) | Event::SendFile(_)) => {}
        _ => return Err(Error::internal("a storage unit does not take bulk data")),
    }
    for part in data.into_iter().filter(|part| !part.is_empty()) {
        channel.connection.copy(CopyInput::Data(part))?;
    }
    channel.connection.copy(CopyInput::Done)?;
    while poll_fn(|cx| channel.poll_rows(cx)).await?.is_some() {}
    Ok(())
}

/// An INSERT with one parameter for each column: routing a line is routing this.
pub(in crate::session) fn routing_insert(
    live: &LiveDatabase,
    logic: &str,
    columns: &[String],
) -> Result<Statement> {
    let dialect = live.database.dialect.as_ref();
    let names: Vec<String> = columns.iter().map(|column| dialect.quote(column)).collect();
    let marks: Vec<String> = (1..=columns.len())
        .map(|n| match dialect.syntax().placeholder {
            Placeholder::Question => "?".to_owned(),
            Placeholder::Dollar => format!("${n}"),
        })
        .collect();
    let text = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        dialect.quote(logic),
        names.join(", "),
        marks.join(", ")
    );
    parse(&text, dialect.syntax()).map_err(crate::plan::unread)
}
