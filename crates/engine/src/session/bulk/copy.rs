//! Bulk data from and to several storage units: each line of COPY FROM and LOAD DATA goes to the shard it belongs to, in batches that are
//! statements of their own; COPY TO sends one shard after the other, or writes merged rows as lines.

use std::collections::HashMap;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::{Completion, CopyForm, Event};
use pando_kernel::feature::{Catalog, Context, SessionView};
use pando_kernel::route::{Need, Route, Spread, UnitName};
use pando_kernel::{Columns, CopyInput, Format, Parameter, Value};
use pando_sql::ast::{CopyDirection, Ident, Kind, ObjectName, Query, Statement};
use pando_sql::{Placeholder, parse, visit};

use crate::clock::System;
use crate::copy_rows::{Encoder, Records, malformed};
use crate::execute::{Channel, sum};
use crate::plan::{self, Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::bulk::columns;
use crate::session::given::{Given, Run};
use crate::session::place::{admission, changed_rules, own_database};
use crate::session::reply::pieces::{Reply, Verb};
use crate::session::reply::{Outbox, warnings};
use crate::session::run::connect::Aim;
use crate::session::statement::prepare;
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{base, begin};
use crate::session::{Session, line};

/// Lines of one shard that are sent together, in bytes.
const BATCH: usize = 256 << 10;
/// How often a record may ask for something to be found out before it is placed.
const MAX_NEEDS: usize = 16;
/// Lines of all shards that wait, in bytes.
const WAITING: usize = 8 << 20;

/// Rows on their way from the client to several storage units.
#[derive(Debug)]
pub(in crate::session) struct CopyIn {
    live: Arc<LiveDatabase>,
    plan: Plan,
    records: Records,
    /// The columns' types, for the binary form.
    types: Option<Columns>,
    /// The INSERT that routes a line.
    insert: Statement,
    columns: Vec<String>,
    /// The server's own error for a wrong number of fields has a code of its own.
    is_copy: bool,
    view: SessionView,
    /// Unit and actual table to the plan's unit.
    places: HashMap<(Arc<str>, Arc<str>), usize>,
    logic: String,
    batches: Vec<BytesMut>,
    waiting: usize,
    rows_read: u64,
    /// Rows the storage units took.
    rows: u64,
    /// What they said of the batches so far, as of one.
    told: Completion,
    /// Units on which a savepoint stands for the statement, where one that fails leaves the client's transaction open.
    marked: Vec<UnitName>,
    verb: Verb,
}

impl CopyIn {
    /// No connection is held between batches.
    pub(in crate::session) fn into_channels(self) -> Vec<Channel> {
        Vec::new()
    }

    /// The plan's units a record belongs to: one, or all where rows are the same everywhere.
    fn places(&self, record: &[u8], catalog: &dyn Catalog) -> Result<Placed> {
        let values = self.records.fields(record, self.types.as_ref());
        let values = values.map_err(|error| self.unreadable(error))?;
        if values.len() != self.columns.len() {
            return Err(self.miscounted(values.len()));
        }
        let is_same = self.plan.spread == Spread::Same;
        // To MySQL a zero in a column it counts up is none; the rooms are told so, and look at no other column of such a table.
        let is_none = |value: &Value| {
            let counts = is_same && !self.is_copy;
            counts && matches!(value, Value::Text(text) if reads_as_zero(text))
        };
        let told = |value: Value| if is_none(&value) { Value::Null } else { value };
        let parameters = values.into_iter().map(told);
        let parameters: Vec<Parameter> = parameters.map(Parameter::made).collect();
        // No key is made for bulk data, so the process's own worker is not needed.
        let ctx = Context {
            database: &self.live.database,
            catalog,
            dialect: self.live.database.dialect.as_ref(),
            parameters: Some(&parameters),
            session: &self.view,
            source: &System::default(),
        };
        let mut route = Route::Unclaimed;
        for feature in &self.live.database.features {
            feature.route(&ctx, &self.insert, &mut route)?;
            if let Route::Needs(need) = route {
                return Ok(Placed::Needs(need));
            }
        }
        // The rooms have been asked all the same: a row may be one that each copy would complete by itself.
        if is_same {
            return Ok(Placed::At(0..self.plan.units.len()));
        }
        let units = route.units()?;
        if units.keys.is_some() {
            return Err(Error::unsupported(
                20030,
                format!("bulk data for `{}` must bring its generated key column", self.logic),
                "add the column to the data",
            ));
        }
        let target = units.targets.first().filter(|_| units.targets.len() == 1);
        let target = target.ok_or_else(|| Error::internal("a line goes to several shards"))?;
        let actual = target.actual(&self.logic).unwrap_or(&self.logic);
        let place = self.places.get(&(Arc::clone(&target.unit), Arc::from(actual)));
        place
            .map(|place| Placed::At(*place..*place + 1))
            .ok_or_else(|| Error::internal("a line goes to a shard the statement does not"))
    }
}

impl CopyIn {
    /// The error for a record with another number of fields than columns.
    fn miscounted(&self, fields: usize) -> Error {
        let (wanted, number) = (self.columns.len(), self.rows_read + 1);
        if !self.is_copy {
            let message =
                format!("line {number} of the bulk data has {fields} fields for {wanted} columns");
            return ErrorKind::Value(message).into();
        }
        let message = match (&self.records, self.columns.get(fields)) {
            (Records::Tuples(_), _) => format!("row field count is {fields}, expected {wanted}"),
            (Records::Lines(_), Some(column)) => format!("missing data for column \"{column}\""),
            (Records::Lines(_), None) => "extra data after last expected column".to_owned(),
        };
        malformed(message, Some(format!("COPY {}, line {number}", self.logic)))
    }

    /// The server's own code for text in another encoding.
    fn unreadable(&self, error: Error) -> Error {
        if !self.is_copy || !matches!(error.kind(), ErrorKind::Value(_)) {
            return error;
        }
        ErrorKind::Server(Box::new(ServerError {
            sqlstate: "22021".into(),
            message: "invalid byte sequence for encoding \"UTF8\"".into(),
            severity: "ERROR".into(),
            fields: vec![(b'W', format!("COPY {}, line {}", self.logic, self.rows_read + 1))],
            ..ServerError::default()
        }))
        .into()
    }
}

/// Whether a whole number that is read of a text may be zero.
fn reads_as_zero(text: &str) -> bool {
    text.trim().parse::<f64>().map_or(true, |number| number.is_nan() || number.abs() < 0.5)
}

/// Where a record goes.
enum Placed {
    At(Range<usize>),
    Needs(Need),
}

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
                    "LOAD DATA of a sharded table takes LOCAL files and no SET",
                    "use LOAD DATA LOCAL INFILE",
                ));
            }
            let columns = load.columns.as_deref();
            Ok(Some(Named { table: &load.table, columns, records: Records::of_load(load)? }))
        }
        _ => Ok(None),
    }
}

impl Outbox {
    /// A piece of a query's reply, told as COPY TO.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other pieces are the same in both")]
    pub(in crate::session) fn encode(&mut self, event: Event) -> Result<Event> {
        let Some(encoder) = &mut self.encoder else { return Ok(event) };
        match event {
            Event::Columns(columns) => {
                let (form, head) = encoder.begin(columns)?;
                if let Some(head) = head {
                    self.pending.push_front(Event::CopyData(head));
                }
                Ok(Event::CopyOut(form))
            }
            Event::Rows(rows) => {
                let mut lines = encoder.rows(&rows)?.into_iter();
                let first = lines.next().unwrap_or_default();
                lines.rev().for_each(|line| self.pending.push_front(Event::CopyData(line)));
                Ok(Event::CopyData(first))
            }
            Event::Complete(mut done) => {
                let tail = encoder.end();
                self.encoder = None;
                done.tag = "COPY".into();
                match tail {
                    None => Ok(Event::Complete(done)),
                    Some(tail) => {
                        self.pending.push_front(Event::Complete(done));
                        Ok(Event::CopyData(tail))
                    }
                }
            }
            other => Ok(other),
        }
    }
}

/// COPY FROM and LOAD DATA over several targets. False when the statement goes the usual way.
#[expect(clippy::wildcard_enum_match_arm, reason = "only LOAD DATA asks for a file")]
pub(in crate::session) async fn start_bulk(
    session: &mut Session,
    stmt: &Statement,
) -> Result<bool> {
    let live = session.place.live()?;
    session.work.refuse_if_failed(false)?;
    admission::admit_change(session, &live, stmt)?;
    base::refuse_in_base(session, "bulk data")?;
    session.settle_cursors().await?;
    let plan = session.plan(&live, stmt, &Given::default(), Purpose::Run).await?;
    changed_rules::refuse_moved(session, &live, stmt, true)?;
    if plan.units.len() == 1 {
        line::run_plan(
            session,
            Run { live: &live, stmt, plan: &Arc::new(plan) },
            &mut Given::default(),
        )
        .await?;
        return Ok(true);
    }
    let Some(named) = named(stmt)? else { return Ok(false) };
    let logic = named.table.key();
    let (columns, plan) = match named.columns {
        Some(listed) => (listed.iter().map(|column| column.value.clone()).collect(), plan),
        None => columns::list_columns(session, &live, stmt, &logic, plan).await?,
    };
    let insert = routing_insert(&live, &logic, &columns)?;
    let places = plan.units.iter().enumerate().map(|(i, unit)| {
        let actual = unit.target.actual(&logic).unwrap_or(&logic);
        ((Arc::clone(&unit.target.unit), Arc::from(actual)), i)
    });
    let places = places.collect();
    // All batches are one transaction.
    begin::open_if_idle(session, Opened::Statement);
    session.work.transaction.wrote_if_open();
    let (format, types) = match &named.records {
        Records::Lines(_) => (Format::Text, None),
        Records::Tuples(_) => (Format::Binary, bulk_types(session, &logic, &columns).await?),
    };
    session.outbox.pending.push_back(match &stmt.kind {
        Kind::Load(load) => Event::SendFile(load.file.clone()),
        _ => Event::CopyIn(CopyForm { format, columns: vec![format; columns.len()] }),
    });
    let (tag, defines) = (crate::session::reply::command_tag::tag(&stmt.kind), false);
    session.outbox.reply = Reply::CopyIn(Box::new(CopyIn {
        records: named.records,
        types,
        insert,
        columns,
        is_copy: matches!(stmt.kind, Kind::Copy(_)),
        view: SessionView::default(),
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
    }));
    Ok(true)
}

/// Data from the client for the copy under way.
pub(in crate::session) async fn copy_input(session: &mut Session, input: CopyInput) -> Result<()> {
    if matches!(session.outbox.reply, Reply::Pass(_)) {
        return session.copy_pass(input).await;
    }
    let Reply::CopyIn(copy) = std::mem::take(&mut session.outbox.reply) else {
        return Err(Error::new(ErrorKind::Protocol("no copy is under way".into())));
    };
    let mut copy = copy;
    match take_lines(session, &mut copy, input).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            session.outbox.reply = Reply::CopyIn(copy);
            Ok(())
        }
        Err(error) => {
            session.outbox.reply = Reply::Idle;
            Box::pin(undo_batches(session, &copy)).await;
            Err(session.fail_statement(error).await)
        }
    }
}

/// Takes back the batches of a statement that fails, in a transaction that goes on.
async fn undo_batches(session: &mut Session, copy: &CopyIn) {
    if session.work.transaction.state() != pando_kernel::session::TransactionState::Open {
        return;
    }
    let mut channels = Vec::new();
    for unit in &copy.marked {
        match session.enlisted(&copy.live, unit, Aim::Reads).await {
            Ok((connection, swallow)) => channels.push(Channel::new(connection, swallow, 0)),
            Err(_) => session.work.transaction.lose(),
        }
    }
    session.undo_statement(&mut channels).await;
    session.release_channels(channels).await;
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
        let places = places(session, copy, &line).await?;
        copy.rows_read += 1;
        for place in places {
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
    let mut done = std::mem::take(&mut copy.told);
    done.affected = Some(copy.rows);
    session.conclude(done, &copy.verb).await.map(|()| true)
}

/// The plan's units a record belongs to; what routing must know is found out, as it may have been forgotten meanwhile.
async fn places(session: &mut Session, copy: &CopyIn, record: &[u8]) -> Result<Range<usize>> {
    for _ in 0..MAX_NEEDS {
        match copy.places(record, session.work.catalog(&copy.live).as_ref())? {
            Placed::At(places) => return Ok(places),
            Placed::Needs(need) => session.find_out(&copy.live, need).await?,
        }
    }
    Err(Error::internal("routing asks for ever more"))
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
    let goes_on = session.work.opened == Opened::Client
        && !live.database.dialect.error_fails_transaction()
        && !copy.marked.contains(&unit.target.unit);
    let aim = if goes_on { Aim::WritesAsOne } else { Aim::Writes };
    let (mut connection, swallow) = session.enlisted(&live, &unit.target.unit, aim).await?;
    session.work.transaction.changes_on(&unit.target.unit);
    if goes_on {
        copy.marked.push(Arc::clone(&unit.target.unit));
    }
    session.taint(&live, &mut connection, &copy.plan);
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
    session.release_channel(channel).await;
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
    let prepared = prepare::make_prepared(session, text.into(), Vec::new())?;
    Ok(prepare::describe_prepared(session, &prepared).await?.columns)
}

/// COPY TO of a query. Lines of several shards follow each other as they are where that is right; where rows must be merged, or the query is about
/// the catalogue, it runs as the query it is and its rows are written as lines here.
pub(in crate::session) async fn start_copy_of(
    session: &mut Session,
    stmt: &Statement,
    query: &Query,
) -> Result<bool> {
    let Kind::Copy(copy) = &stmt.kind else { return Ok(false) };
    session.work.refuse_if_failed(false)?;
    own_database::refuse_without_database(session, stmt)?;
    let live = session.place.live()?;
    let presentation = live.database.dialect.presentation();
    let is_catalogue = visit::tables(&stmt.kind)
        .iter()
        .any(|table| presentation.is_some_and(|own| own.holding(table.name).is_some()));
    if !is_catalogue {
        session.settle_cursors().await?;
        match session.plan(&live, stmt, &Given::default(), Purpose::Run).await {
            // What is told otherwise than it is stored is not to be had as lines.
            Ok(plan) if !plan.merge.cells.is_empty() => {}
            Ok(plan) => {
                line::run_plan(
                    session,
                    Run { live: &live, stmt, plan: &Arc::new(plan) },
                    &mut Given::default(),
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
    let given = Given { formats, prepared, ..Given::default() };
    Box::pin(line::run_on_units(session, &inner, given)).await?;
    session.outbox.encoder = Some(Box::new(encoder));
    Ok(true)
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
fn routing_insert(live: &LiveDatabase, logic: &str, columns: &[String]) -> Result<Statement> {
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
