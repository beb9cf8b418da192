//! Bulk data from and to several storage units: each line of COPY FROM and LOAD DATA goes to the shard it belongs to, in batches that are
//! statements of their own; COPY TO sends one shard after the other.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, CopyForm, Event};
use pando_kernel::feature::{Catalog, Context, SessionView};
use pando_kernel::route::{Need, Route};
use pando_kernel::{CopyInput, Format, Parameter};
use pando_sql::ast::{CopyDirection, Ident, Kind, ObjectName, Statement};
use pando_sql::{Placeholder, parse};

use crate::bulk::{Form, Lines};
use crate::execute::Channel;
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;
use crate::source::System;

use super::reply::{Reply, Verb};
use super::{Bound, Opened, Session};

/// Lines of one shard that are sent together, in bytes.
const BATCH: usize = 256 << 10;
/// Lines of all shards that wait, in bytes.
const WAITING: usize = 8 << 20;

/// Rows on their way from the client to several storage units.
#[derive(Debug)]
pub(super) struct CopyIn {
    live: Arc<LiveDatabase>,
    plan: Plan,
    lines: Lines,
    /// Lines every batch begins with, because the statement says that they are skipped.
    skipped: Bytes,
    /// The INSERT that routes a line.
    insert: Statement,
    columns: usize,
    view: SessionView,
    /// Unit and actual table to the plan's unit.
    places: HashMap<(Arc<str>, Arc<str>), usize>,
    logic: String,
    batches: Vec<BytesMut>,
    waiting: usize,
    rows: u64,
    verb: Verb,
}

impl CopyIn {
    /// No connection is held between batches.
    pub(super) fn into_channels(self) -> Vec<Channel> {
        Vec::new()
    }

    /// The plan's unit a line belongs to.
    fn place(&self, line: &[u8]) -> Result<usize> {
        let values = self.lines.fields(line)?;
        if values.len() != self.columns {
            return Err(ErrorKind::Value(format!(
                "line {} of the bulk data has {} fields for {} columns",
                self.rows + 1,
                values.len(),
                self.columns
            ))
            .into());
        }
        let parameters: Vec<Parameter> = values.into_iter().map(Parameter::made).collect();
        let ctx = Context {
            database: &self.live.database,
            catalog: self.live.catalog.as_ref(),
            dialect: self.live.database.dialect.as_ref(),
            parameters: Some(&parameters),
            session: &self.view,
            source: &System,
        };
        let mut route = Route::Unclaimed;
        for feature in &self.live.database.features {
            feature.route(&ctx, &self.insert, &mut route)?;
        }
        let units = route.units()?;
        if units.keys.is_some() {
            return Err(Error::refused(
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
            .copied()
            .ok_or_else(|| Error::internal("a line goes to a shard the statement does not"))
    }
}

/// What a bulk statement names.
struct Named<'a> {
    table: &'a ObjectName,
    columns: Option<&'a [Ident]>,
    form: Form,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
fn named(stmt: &Statement) -> Result<Option<Named<'_>>> {
    match &stmt.kind {
        Kind::Copy(copy) if copy.direction == CopyDirection::FromClient => {
            let Some(table) = &copy.table else { return Ok(None) };
            Ok(Some(Named { table, columns: copy.columns.as_deref(), form: Form::of_copy(copy)? }))
        }
        Kind::Load(load) => {
            if !load.local || !load.assignments.is_empty() {
                return Err(Error::refused(
                    20030,
                    "LOAD DATA of a sharded table takes LOCAL files and no SET",
                    "use LOAD DATA LOCAL INFILE",
                ));
            }
            let columns = load.columns.as_deref();
            Ok(Some(Named { table: &load.table, columns, form: Form::of_load(load)? }))
        }
        _ => Ok(None),
    }
}

impl Session {
    /// COPY FROM and LOAD DATA over several targets. False when the statement goes the usual way.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only LOAD DATA asks for a file")]
    pub(super) async fn start_bulk(&mut self, stmt: &Statement) -> Result<bool> {
        let live = self.live()?;
        self.refuse_if_failed(false)?;
        self.settle_cursors().await?;
        let plan = self.plan(&live, stmt, &Bound::default(), Purpose::Run).await?;
        if plan.units.len() == 1 {
            self.start_plan(&live, stmt, plan, &Bound::default()).await?;
            return Ok(true);
        }
        let Some(named) = named(stmt)? else { return Ok(false) };
        let logic = named.table.parts.last().map(|part| part.value.to_lowercase());
        let logic = logic.unwrap_or_default();
        let columns = self.bulk_columns(&live, &logic, named.columns).await?;
        let insert = routing_insert(&live, &logic, &columns)?;
        let places = plan.units.iter().enumerate().map(|(i, unit)| {
            let actual = unit.target.actual(&logic).unwrap_or(&logic);
            ((Arc::clone(&unit.target.unit), Arc::from(actual)), i)
        });
        let places = places.collect();
        self.bulk_transaction();
        let skipped =
            Bytes::from(named.form.line.repeat(usize::try_from(named.form.skip).unwrap_or(0)));
        let form = CopyForm { format: Format::Text, columns: vec![Format::Text; columns.len()] };
        self.pending.push_back(match &stmt.kind {
            Kind::Load(load) => Event::SendFile(load.file.clone()),
            _ => Event::CopyIn(form),
        });
        let (tag, defines) = (super::run::tag(&stmt.kind), false);
        self.reply = Reply::CopyIn(Box::new(CopyIn {
            lines: Lines::new(named.form),
            skipped,
            insert,
            columns: columns.len(),
            view: SessionView::default(),
            places,
            logic,
            batches: vec![BytesMut::new(); plan.units.len()],
            waiting: 0,
            rows: 0,
            verb: Verb { tag, defines, ..Verb::default() },
            live,
            plan,
        }));
        Ok(true)
    }

    /// All batches are one transaction.
    fn bulk_transaction(&mut self) {
        if self.transaction.state() == pando_kernel::session::TransactionState::Idle {
            if self.autocommit {
                let modes = self.modes_for(Vec::new());
                self.transaction.begin(modes);
                self.opened = Opened::Statement;
            } else {
                self.begin(Vec::new());
            }
        }
        self.transaction.wrote_if_open();
    }

    async fn bulk_columns(
        &mut self,
        live: &Arc<LiveDatabase>,
        logic: &str,
        listed: Option<&[Ident]>,
    ) -> Result<Vec<String>> {
        if let Some(listed) = listed {
            return Ok(listed.iter().map(|column| column.value.clone()).collect());
        }
        if live.catalog.columns(logic).is_none() {
            self.find_out(live, Need::Columns(logic.to_owned())).await?;
        }
        match live.catalog.columns(logic) {
            Some(columns) if !columns.is_empty() => {
                Ok(columns.iter().map(|column| column.name.clone()).collect())
            }
            _ => Err(super::needs::unknown_table(logic)),
        }
    }

    /// Data from the client for the copy under way.
    pub(super) async fn copy_input(&mut self, input: CopyInput) -> Result<()> {
        if matches!(self.reply, Reply::Pass(_)) {
            return self.copy_pass(input).await;
        }
        let Reply::CopyIn(copy) = std::mem::take(&mut self.reply) else {
            return Err(Error::new(ErrorKind::Protocol("no copy is under way".into())));
        };
        match self.take_lines(copy, input).await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.reply = Reply::Idle;
                Err(self.fail_statement(error).await)
            }
        }
    }

    async fn take_lines(&mut self, copy: Box<CopyIn>, input: CopyInput) -> Result<()> {
        let mut copy = copy;
        let last = match input {
            CopyInput::Data(data) => {
                copy.lines.push(&data);
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
        while let Some(line) = copy.lines.next(last)? {
            let place = copy.place(&line)?;
            copy.rows += 1;
            copy.waiting += line.len();
            let batch = &mut copy.batches[place];
            batch.extend_from_slice(&line);
            if batch.len() >= BATCH {
                self.send_batch(&mut copy, place).await?;
            } else if copy.waiting > WAITING {
                self.send_all(&mut copy).await?;
            }
        }
        if !last {
            self.reply = Reply::CopyIn(copy);
            return Ok(());
        }
        self.send_all(&mut copy).await?;
        let done = Completion { affected: Some(copy.rows), ..Completion::default() };
        self.conclude(done, &copy.verb).await
    }

    async fn send_all(&mut self, copy: &mut CopyIn) -> Result<()> {
        for place in 0..copy.batches.len() {
            if !copy.batches[place].is_empty() {
                self.send_batch(copy, place).await?;
            }
        }
        Ok(())
    }

    /// Sends the lines that wait for one shard as a statement of its own.
    async fn send_batch(&mut self, copy: &mut CopyIn, place: usize) -> Result<()> {
        let data = std::mem::take(&mut copy.batches[place]).freeze();
        copy.waiting = copy.waiting.saturating_sub(data.len());
        let live = Arc::clone(&copy.live);
        let Some(unit) = copy.plan.units.get(place) else { return Ok(()) };
        let (mut connection, swallow) = self.enlisted(&live, &unit.target.unit, false).await?;
        let started = connection.start(Execution::Text(Arc::clone(&unit.sql)));
        let mut channel = Channel::new(connection, swallow, usize::from(started.is_ok()));
        let sent = match started {
            Ok(()) => send(&mut channel, [copy.skipped.clone(), data]).await,
            Err(error) => Err(error),
        };
        self.release_channels(vec![channel]).await;
        sent
    }
}

async fn send(channel: &mut Channel, data: [Bytes; 2]) -> Result<()> {
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
    parse(&text, dialect.syntax()).map_err(super::run::syntax_error)
}
