//! The columns of bulk data that lists none. Rows are routed by those the catalogue knows, so the statement lists them:
//! a table altered meanwhile then stores no value elsewhere than it was routed by.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::route::Need;
use pando_kernel::transfer::Obstacle;
use pando_sql::ast::{Kind, Statement};
use pando_sql::parse;

use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::errors::unknown_table;
use crate::session::given::Given;
use crate::session::run::{find_out, meant, ready};
use crate::session::steps::move_rows;

/// The columns a bulk statement without a list means, and its plan with them listed.
#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
pub(in crate::session) async fn list_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    logic: &str,
    plan: Plan,
) -> Result<(Vec<String>, Plan)> {
    let mut columns = known_columns(session, live, logic).await?;
    let computed = computed_columns(session, live, logic, &plan).await?;
    let at = match &stmt.kind {
        Kind::Copy(copy) => {
            columns.retain(|column| !computed.contains(column));
            copy.columns_at
        }
        // LOAD DATA reads a field for a computed column, too, but does not take all of them listed.
        Kind::Load(load) if computed.is_empty() => load.columns_at,
        _ => return Ok((columns, plan)),
    };
    let dialect = &live.database.dialect;
    let names: Vec<String> = columns.iter().map(|column| dialect.quote(column)).collect();
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let (before, behind) = stmt
        .text
        .split_at_checked(at)
        .ok_or_else(|| Error::internal("a column list has no place"))?;
    let text = format!("{before} ({}){behind}", names.join(", "));
    let listing = parse(&text, dialect.syntax()).map_err(crate::plan::unread)?;
    let plan = ready::single_plan(session, live, &listing, &Given::default(), Purpose::Run).await?;
    Ok((columns, plan))
}

async fn known_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    logic: &str,
) -> Result<Vec<String>> {
    if meant::columns(session, live, logic).is_none() {
        find_out::find_out(session, live, Need::Columns(logic.to_owned())).await?;
    }
    match meant::columns(session, live, logic) {
        Some(columns) if !columns.is_empty() => {
            let listed = columns.iter().filter(|column| !column.invisible);
            Ok(listed.map(|column| column.name.clone()).collect())
        }
        _ => Err(unknown_table(logic)),
    }
}

/// The columns a server computes from others, as one of the table's units tells.
pub(in crate::session) async fn computed_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    logic: &str,
    plan: &Plan,
) -> Result<Vec<String>> {
    let mut computed = Vec::new();
    for obstacle in move_rows::obstacles_of(session, live, plan, logic).await? {
        if let Obstacle::Computed(column) = obstacle {
            computed.push(column);
        }
    }
    Ok(computed)
}
