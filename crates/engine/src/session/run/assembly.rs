//! Statements answered over rows read before: the rows come through the whole line like any other query's, and are
//! written into the statement as tables.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::relation::{Carried, Inline, RelationWriter, Relations};
use pando_kernel::row::Rows;
use pando_kernel::{Column, Columns};
use pando_sql::ast::Statement;

use crate::execute::too_much;
use crate::plan::{Assembly, Plan, Planned, Purpose, Read, Typed, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::given::{Given, Run};
use crate::session::reply::pull::piece;
use crate::session::run::{context, entry, find_out, planning};
use crate::session::transaction::{Opened, base, begin, snapshot, units};

/// Reads the rows of an assembly and plans the statement over them. Every read is planned before the first is sent.
///
/// # Errors
/// `Refused` when a read has no plan of its own, `Memory` when the rows are too many, and what the units say.
pub(in crate::session) async fn assemble(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    assembly: &Assembly,
    given: &Given,
) -> Result<Plan> {
    let dialect = Arc::clone(&live.database.dialect);
    let relations = dialect.relations().ok_or_else(|| {
        Error::internal("an assembly in a language that has no way to write its tables")
    })?;
    relations.check(session.settings.variables().list())?;
    if assembly.changes() {
        base::refuse_in_base(session, "a change of rows by those of other shards")?;
    }
    // The rows are read by the same transaction that changes others, and in one state where one is asked for.
    if assembly.reads.len() > 1 {
        snapshot::know_level(session).await;
    }
    let as_one =
        assembly.changes() || assembly.reads.len() > 1 && snapshot::asks_for_one_state(session);
    if as_one && session.work.is_idle() {
        if !session.work.autocommit() {
            units::ready_all(session).await?;
        }
        begin::open_if_idle(session, Opened::Statement);
    }
    if assembly.changes() {
        // What a change reads comes from where it writes: replicas may lag behind.
        session.work.transaction_mut().wrote_if_open();
    }
    let mut reads = Vec::new();
    for read in &assembly.reads {
        let stmt = pando_sql::parse(&read.text, dialect.syntax()).map_err(crate::plan::unread)?;
        let reading = Given {
            sees_one_state: given.sees_one_state,
            is_about_stored: read.is_about_stored,
            ..Given::default()
        };
        let planned =
            Box::pin(planning::planned(session, live, &stmt, &reading, Purpose::Run)).await?;
        let Planned::Run(mut plan) = planned else {
            return Err(Error::internal("reading one table needs an assembly"));
        };
        // The statement over them compares what is stored, and what it gives is turned.
        plan.merge.cells.clear();
        reads.push((stmt, *plan));
    }
    let (facts, aside) = (Arc::clone(session.place.facts()), session.outbox.set_aside());
    // The end of a read is not the statement's.
    let opened = session.work.outlives_statements();
    let tables = read_tables(session, live, assembly, relations, reads).await;
    session.place.knows_again(facts);
    session.outbox.take_up(aside);
    session.work.is_opened_for(opened);
    let tables = tables?;
    let finished = find_out::find_out_until(session, live, Some(given), |ctx| {
        assembly.finish(ctx, &tables, Purpose::Run).map(Planned::known)
    });
    match Box::pin(finished).await? {
        Planned::Run(plan) => Ok(*plan),
        Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_) => {
            Err(Error::internal("an assembly of an assembly"))
        }
    }
}

/// What an assembly sends where: its reads, and the statement over them with names for their rows.
pub(in crate::session) async fn shown(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    assembly: &Assembly,
    given: &Given,
) -> Result<Vec<Unit>> {
    let mut units = Vec::new();
    for read in &assembly.reads {
        let stmt = pando_sql::parse(&read.text, live.database.dialect.syntax())
            .map_err(crate::plan::unread)?;
        let reading = Given {
            is_for_change: assembly.changes(),
            is_about_stored: read.is_about_stored,
            ..Given::default()
        };
        let plan = Box::pin(planning::planned(session, live, &stmt, &reading, Purpose::Run)).await;
        if let Planned::Run(plan) = plan? {
            units.extend(plan.units);
        }
    }
    let tables = assembly.unread();
    let rest = context::in_context(session, live, Some(given), |ctx| {
        assembly.finish(ctx, &tables, Purpose::Run)
    });
    if let Planned::Run(plan) = rest? {
        units.extend(plan.units);
    }
    Ok(units)
}

/// Runs the reads, and writes a table for each place that needs one.
async fn read_tables(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    assembly: &Assembly,
    relations: &dyn Relations,
    reads: Vec<(Statement, Plan)>,
) -> Result<Vec<Inline>> {
    let places: Vec<usize> = assembly.tables().collect();
    let mut tables: Vec<Option<Inline>> = places.iter().map(|_| None).collect();
    // What is written is held once more while it is sent.
    let mut budget = session.place.properties().memory_bytes / 2;
    for (number, (stmt, plan)) in reads.into_iter().enumerate() {
        let Some(read) = assembly.reads.get(number) else { continue };
        let own = |(place, read): (usize, &usize)| (*read == number).then_some(place);
        let own: Vec<usize> = places.iter().enumerate().filter_map(own).collect();
        let target = Target { relations, read, places: &own, budget };
        let written = read_table(session, live, stmt, plan, target).await?;
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
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: Statement,
    plan: Plan,
    target: Target<'_>,
) -> Result<Vec<Box<dyn RelationWriter>>> {
    let mut writers = Vec::new();
    let mut columns: Option<Columns> = None;
    Box::pin(entry::run_plan(
        session,
        Run { live, stmt: &stmt, plan: &Arc::new(plan) },
        &mut Given { is_about_stored: target.read.is_about_stored, ..Given::default() },
    ))
    .await?;
    while let Some(event) = Box::pin(piece::next_of_reply(session)).await? {
        match event {
            Event::Columns(described) => match target.writers(&described) {
                Ok(begun) => {
                    writers = begun;
                    columns = Some(described);
                }
                Err(error) => {
                    abandon_reply(session).await;
                    return Err(error);
                }
            },
            Event::Rows(rows) => {
                let described =
                    columns.as_ref().ok_or_else(|| Error::internal("rows without columns"))?;
                write(described, &rows, &mut writers)?;
                if writers.iter().map(|writer| writer.size()).sum::<usize>() > target.budget {
                    abandon_reply(session).await;
                    return Err(too_much(session.place.properties().memory_bytes));
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

/// Gives back what a reply holds that will not be read to its end.
async fn abandon_reply(session: &mut Session) {
    let reply = session.outbox.drop_reply();
    release::abort_reply(session, reply).await;
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
