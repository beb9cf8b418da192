//! Statements answered over rows read before: the rows come through the whole line like any other query's, and are written into the
//! statement as tables.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::relation::{Carried, Inline, PREFIX, RelationWriter, Relations};
use pando_kernel::row::Rows;
use pando_kernel::session::TransactionState;
use pando_kernel::{Column, Columns, Execution};
use pando_pool::{Connection, Left};
use pando_sql::ast::Statement;
use pando_sql::{Edits, Syntax};

use crate::execute::too_much;
use crate::handle::Manner;
use crate::plan::{Assembly, Plan, Planned, Purpose, Read, Typed, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::line::MAX_NEEDS;
use crate::session::run::connect::Started;
use crate::session::{Bound, Opened, Session};

impl Session {
    /// Reads the rows of an assembly and plans the statement over them. Every read is planned before the first is sent.
    ///
    /// # Errors
    /// `Refused` when a read has no plan of its own, `Memory` when the rows are too many, and what the units say.
    pub(in crate::session) async fn assemble(
        &mut self,
        live: &Arc<LiveDatabase>,
        assembly: &Assembly,
        bound: &Bound,
    ) -> Result<Plan> {
        let dialect = Arc::clone(&live.database.dialect);
        let relations = dialect.relations().ok_or_else(|| {
            Error::internal("an assembly in a language that has no way to write its tables")
        })?;
        relations.check(self.settings.variables.list())?;
        if assembly.changes() {
            self.refuse_in_base("a change of rows by those of other shards")?;
        }
        // The rows are read by the same transaction that changes others, and in one state where one is asked for.
        if assembly.reads.len() > 1 {
            self.know_level().await;
        }
        let as_one = assembly.changes() || assembly.reads.len() > 1 && self.asks_for_one_state();
        if as_one && self.work.transaction.state() == TransactionState::Idle {
            if self.work.autocommit {
                self.open_for_statement(Vec::new());
            } else {
                self.ready_all().await?;
                self.begin(Vec::new());
            }
        }
        if assembly.changes() {
            // What a change reads comes from where it writes: replicas may lag behind.
            self.work.transaction.wrote_if_open();
        }
        let mut reads = Vec::new();
        for read in &assembly.reads {
            let stmt =
                pando_sql::parse(&read.text, dialect.syntax()).map_err(crate::plan::unread)?;
            let planned =
                Box::pin(self.planned(live, &stmt, &Bound::default(), Purpose::Run)).await?;
            let Planned::Plan(plan) = planned else {
                return Err(Error::internal("reading one table needs an assembly"));
            };
            reads.push((stmt, *plan));
        }
        let (facts, window, queue) = (
            self.place.facts.clone(),
            self.outbox.window.take(),
            std::mem::take(&mut self.outbox.queue),
        );
        let opened = self.work.opened;
        if opened == Opened::Statement {
            // The end of a read is not the statement's.
            self.work.opened = Opened::Pipeline;
        }
        let tables = self.read_tables(live, (assembly, relations), reads).await;
        (self.place.facts, self.outbox.window, self.outbox.queue, self.work.opened) =
            (facts, window, queue, opened);
        let tables = tables?;
        for _ in 0..MAX_NEEDS {
            let planned = self
                .in_context(live, Some(bound), |ctx| assembly.finish(ctx, &tables, Purpose::Run));
            match planned? {
                Planned::Plan(plan) => return Ok(*plan),
                Planned::Needs(need) => Box::pin(self.find_out(live, need)).await?,
                Planned::Assembly(_) => return Err(Error::internal("an assembly of an assembly")),
            }
        }
        Err(Error::internal("planning asks for ever more"))
    }

    /// What an assembly sends where: its reads, and the statement over them with names for their rows.
    pub(in crate::session) async fn shown(
        &mut self,
        live: &Arc<LiveDatabase>,
        assembly: &Assembly,
        bound: &Bound,
    ) -> Result<Vec<Unit>> {
        let mut units = Vec::new();
        for read in &assembly.reads {
            let stmt = pando_sql::parse(&read.text, live.database.dialect.syntax())
                .map_err(crate::plan::unread)?;
            self.work.planning.shows_change = assembly.changes();
            let plan = Box::pin(self.planned(live, &stmt, &Bound::default(), Purpose::Run)).await;
            self.work.planning.shows_change = false;
            if let Planned::Plan(plan) = plan? {
                units.extend(plan.units);
            }
        }
        let named = |read: usize| Inline { before: Vec::new(), table: format!("{PREFIX}{read}") };
        let tables: Vec<Inline> = assembly.tables().map(named).collect();
        let rest =
            self.in_context(live, Some(bound), |ctx| assembly.finish(ctx, &tables, Purpose::Run));
        if let Planned::Plan(plan) = rest? {
            units.extend(plan.units);
        }
        Ok(units)
    }

    /// Runs the reads, and writes a table for each place that needs one.
    async fn read_tables(
        &mut self,
        live: &Arc<LiveDatabase>,
        (assembly, relations): (&Assembly, &dyn Relations),
        reads: Vec<(Statement, Plan)>,
    ) -> Result<Vec<Inline>> {
        let places: Vec<usize> = assembly.tables().collect();
        let mut tables: Vec<Option<Inline>> = places.iter().map(|_| None).collect();
        // What is written is held once more while it is sent.
        let mut budget = self.place.properties().memory_bytes / 2;
        for (number, (stmt, plan)) in reads.into_iter().enumerate() {
            let Some(read) = assembly.reads.get(number) else { continue };
            let own = |(place, read): (usize, &usize)| (*read == number).then_some(place);
            let own: Vec<usize> = places.iter().enumerate().filter_map(own).collect();
            let target = Target { relations, read, places: &own, budget };
            let written = self.read_table(live, (stmt, plan), target).await?;
            for (place, writer) in own.into_iter().zip(written) {
                budget = budget.saturating_sub(writer.size());
                if let Some(table) = tables.get_mut(place) {
                    *table = Some(writer.finish(assembly.stands()));
                }
            }
        }
        let missing = || Error::internal("a table of an assembly was not read");
        tables.into_iter().map(|table| table.ok_or_else(missing)).collect()
    }

    async fn read_table(
        &mut self,
        live: &Arc<LiveDatabase>,
        (stmt, plan): (Statement, Plan),
        target: Target<'_>,
    ) -> Result<Vec<Box<dyn RelationWriter>>> {
        let mut writers = Vec::new();
        let mut columns: Option<Columns> = None;
        Box::pin(self.start_plan(live, &stmt, &Arc::new(plan), &mut Bound::default())).await?;
        while let Some(event) = Box::pin(self.next_of_reply()).await? {
            match event {
                Event::Columns(described) => match target.writers(&described) {
                    Ok(begun) => {
                        writers = begun;
                        columns = Some(described);
                    }
                    Err(error) => {
                        self.abandon_reply().await;
                        return Err(error);
                    }
                },
                Event::Rows(rows) => {
                    let described =
                        columns.as_ref().ok_or_else(|| Error::internal("rows without columns"))?;
                    write(described, &rows, &mut writers)?;
                    if writers.iter().map(|writer| writer.size()).sum::<usize>() > target.budget {
                        self.abandon_reply().await;
                        return Err(too_much(self.place.properties().memory_bytes));
                    }
                }
                Event::Complete(_)
                | Event::Notice(_)
                | Event::Parameter { .. }
                | Event::Empty
                | Event::Suspended
                | Event::Described(_)
                | Event::CopyIn(_)
                | Event::CopyOut(_)
                | Event::CopyData(_)
                | Event::SendFile(_)
                | Event::Done => {}
            }
        }
        Ok(writers)
    }

    /// Starts a statement that stands on tables of its own, on a connection beside those of the transaction.
    pub(in crate::session) async fn start_apart(
        &mut self,
        live: &LiveDatabase,
        plan: &Plan,
        bound: &Bound,
    ) -> Result<Started> {
        let unit = plan.units.first().map(|unit| Arc::clone(&unit.target.unit));
        let unit = unit.ok_or_else(|| Error::internal("a plan without units"))?;
        let mut connection = self.place.take(live.pool(&unit)?).await?;
        self.place.handle.runs_on(&connection, Manner::Ask)?;
        let mut swallow = self.dress(live, &mut connection)?;
        for text in &self.settings.local {
            let text = of_session(text, live.database.dialect.syntax());
            connection.start(Execution::Text(text.into()))?;
            swallow += 1;
        }
        for text in &plan.before {
            connection.start(Execution::Text(Arc::clone(text)))?;
            swallow += 1;
        }
        let mut started = Started { channels: Vec::new(), jobs: Vec::new() };
        let given = self.give_jobs((connection, swallow), vec![0], (plan, bound), &mut started);
        for channel in &mut started.channels {
            channel.apart = true;
        }
        match given {
            Ok(()) => Ok(started),
            Err(error) => {
                self.release_channels(started.channels).await;
                Err(error)
            }
        }
    }

    /// Gives back what a reply holds that will not be read to its end.
    async fn abandon_reply(&mut self) {
        self.outbox.pending.clear();
        let reply = std::mem::take(&mut self.outbox.reply);
        self.abort_reply(reply).await;
    }
}

/// SET LOCAL as a SET for the session: a connection beside those of the transaction is in none, and is reset afterwards.
fn of_session(text: &str, syntax: &Syntax) -> String {
    let mut edits = Edits::default();
    if let Ok(tokens) = pando_sql::tokenize(text, syntax)
        && let Some(second) = tokens.list.get(1)
        && second.span.of(text).eq_ignore_ascii_case("local")
    {
        edits.replace(second.span, "SESSION");
    }
    edits.apply(text)
}

/// Where the rows of one read go.
struct Target<'a> {
    relations: &'a dyn Relations,
    read: &'a Read,
    /// The places that need them.
    places: &'a [usize],
    /// Bytes they may take.
    budget: usize,
}

impl Target<'_> {
    fn writers(&self, answer: &Columns) -> Result<Vec<Box<dyn RelationWriter>>> {
        let settle = |(typed, column): (&Typed, &Column)| typed.settled(self.relations, column);
        let columns: Vec<Carried> =
            self.read.columns.iter().zip(answer.list.iter()).map(settle).collect::<Result<_>>()?;
        Ok(self.places.iter().map(|place| self.relations.begin(*place, &columns)).collect())
    }
}

/// Writes rows that came as text.
fn write(columns: &Columns, rows: &Rows, writers: &mut [Box<dyn RelationWriter>]) -> Result<()> {
    let mut fields = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let texts: Vec<Option<&str>> = fields
            .iter()
            .map(|field| field.clone().map(|range| text(body.get(range))).transpose())
            .collect::<Result<_>>()?;
        for writer in &mut *writers {
            writer.row(&texts);
        }
        Ok(())
    })
}

fn text(bytes: Option<&[u8]>) -> Result<&str> {
    let bytes = bytes.ok_or_else(|| Error::protocol("a field leaves its row"))?;
    std::str::from_utf8(bytes).map_err(|_| {
        ErrorKind::Value("a value that is no UTF-8 cannot travel between storage units".into())
            .into()
    })
}

/// Puts a connection back to how it was, tables of its own included, before it serves others.
pub(in crate::session) fn put_back(connection: Connection) {
    let mut connection = connection;
    connection.taint(Left::Anything, None);
}
