//! A statement that runs in steps: begun, described, shown.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Description;
use pando_kernel::request::Prepared;
use pando_sql::ast::{Kind, Statement};

use crate::plan::{InSteps, Planned, Purpose, Steps, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::{admission, assembly, describe, planning};
use crate::session::steps::{
    chosen_rows, first_rows, frame, insert_select, locked_rows, move_rows, refill, server_calls,
    table_like, table_of_query,
};
use crate::session::transaction::base;

/// Runs a statement in steps: all that can be known without its rows is asked before the first of them is read.
pub(in crate::session) async fn start_in_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    steps: Steps,
) -> Result<()> {
    let steps = match steps {
        Steps::ServerCalls(parts) => {
            return server_calls::start_server_calls(session, live, given, &parts).await;
        }
        Steps::LockedRows(parts) => {
            return locked_rows::start_locked_rows(session, live, stmt, given, parts).await;
        }
        others @ (Steps::InsertSelect(_)
        | Steps::MoveRows(_)
        | Steps::ChosenRows(_)
        | Steps::TableOfQuery(_)
        | Steps::TableLike(_)
        | Steps::Refill(_)
        | Steps::FirstRows(_)) => others,
    };
    admission::admit_change(session, live, stmt).await?;
    base::refuse_in_base(session, "a statement that runs in several steps")?;
    frame::refuse_cut_reads(session, live)?;
    session.work.runs_in_parts();
    match steps {
        Steps::InsertSelect(parts) => {
            insert_select::start_insert_select(session, live, stmt, given, &parts).await
        }
        Steps::MoveRows(table) => {
            move_rows::start_move_rows(session, live, stmt, given, &table).await
        }
        Steps::ChosenRows(parts) => {
            chosen_rows::start_chosen_rows(session, live, stmt, given, &parts).await
        }
        Steps::FirstRows(parts) => {
            first_rows::start_first_rows(session, live, stmt, given, &parts).await
        }
        Steps::TableOfQuery(parts) => {
            table_of_query::start_table_of_query(session, live, stmt, &parts).await
        }
        Steps::Refill(parts) => refill::start_refill(session, live, stmt, &parts).await,
        Steps::TableLike(parts) => table_like::start_table_like(session, live, stmt, &parts).await,
        Steps::ServerCalls(_) | Steps::LockedRows(_) => {
            Err(Error::internal("locks are taken before"))
        }
    }
}

/// What a prepared statement takes and returns that will run in steps.
pub(in crate::session) async fn describe_in_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    prepared: &Arc<Prepared>,
    found: InSteps,
) -> Result<Description> {
    match found.steps {
        Steps::InsertSelect(parts) => {
            insert_select::describe_insert_select(session, live, prepared, &parts).await
        }
        Steps::ChosenRows(parts) => {
            chosen_rows::describe_chosen_rows(session, live, prepared, &parts).await
        }
        Steps::TableOfQuery(_) | Steps::TableLike(_) | Steps::Refill(_)
            if prepared.statement.parameters == 0 =>
        {
            Ok(Description { parameters: Vec::new(), columns: None })
        }
        Steps::MoveRows(_)
            if prepared.statement.parameters == 0 && !returns(&prepared.statement.kind) =>
        {
            Ok(Description { parameters: Vec::new(), columns: None })
        }
        Steps::TableOfQuery(parts) => {
            let syntax = live.database.dialect.syntax();
            let declared = prepared.declared.to_vec();
            let query = insert_select::prepared(Arc::clone(&parts.query), syntax, declared)?;
            let described = Box::pin(describe::describe_as_one(session, &query)).await?;
            Ok(Description { columns: None, ..described })
        }
        // With parameters it is described as it would run on one shard.
        Steps::MoveRows(_)
        | Steps::FirstRows(_)
        | Steps::ServerCalls(_)
        | Steps::LockedRows(_)
        | Steps::Refill(_)
        | Steps::TableLike(_) => Err(found.refusal),
    }
}

fn returns(kind: &Kind) -> bool {
    matches!(kind, Kind::Update(update) if update.returning.is_some())
}

/// What PREVIEW shows of a statement that runs in steps: all that can be told before its rows are read.
pub(in crate::session) async fn shown_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    steps: Steps,
) -> Result<Vec<Unit>> {
    let mut units = Vec::new();
    let texts = match steps {
        Steps::InsertSelect(parts) => vec![(parts.query, parts.query_parameters)],
        Steps::MoveRows(table) => {
            frame::refuse_cut_reads(session, live)?;
            let parts = move_rows::parts_of(session, live, stmt, &table).await?;
            let all = (0..stmt.parameters).collect();
            vec![(parts.read, all), (parts.delete, parts.delete_parameters)]
        }
        Steps::ChosenRows(parts) => {
            let reads = parts.choices.into_iter();
            reads.map(|choice| (choice.read, choice.read_parameters)).collect()
        }
        Steps::FirstRows(parts) => vec![(parts.read, parts.read_parameters)],
        Steps::TableOfQuery(parts) => vec![(parts.query, Vec::new())],
        Steps::TableLike(parts) => vec![(parts.definition.into(), Vec::new())],
        Steps::Refill(parts) => vec![(refill::query(session, live, &parts).await?, Vec::new())],
        Steps::ServerCalls(parts) => {
            units = server_calls::shown_calls(live, given, &parts)?;
            Vec::new()
        }
        Steps::LockedRows(parts) => {
            let text = format!("{}{}", parts.candidates, locked_rows::first_page(given, &parts)?);
            vec![(text.into(), parts.candidate_parameters)]
        }
    };
    let syntax = live.database.dialect.syntax();
    for (text, parameters) in texts {
        let step = pando_sql::parse(&text, syntax).map_err(crate::plan::unread)?;
        let mut own = given.part(syntax.placeholder, &parameters, Vec::new());
        own.prepared = given.prepared;
        match Box::pin(planning::planned(session, live, &step, &own, Purpose::Run)).await? {
            Planned::Run(plan) => units.extend(plan.units),
            Planned::Assembly(assembly) => {
                units.extend(Box::pin(assembly::shown(session, live, &assembly, &own)).await?);
            }
            Planned::Steps(found) => return Err(found.refusal),
            Planned::Needs(_) => {
                return Err(Error::internal("planning asks for what is known"));
            }
        }
    }
    Ok(units)
}
