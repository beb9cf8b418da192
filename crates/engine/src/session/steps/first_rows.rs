//! UPDATE and DELETE … ORDER BY … LIMIT over several shards: the first rows' keys are read under lock, then these rows
//! are changed.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::error::Result;
use pando_kernel::row::Rows;
use pando_sql::ast::Statement;

use crate::plan::FirstRows;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::steps::frame;
use crate::session::steps::frame::{Batches, Stepped, changed_meanwhile};
use crate::session::steps::insert_select::{each_row, literal};

/// Runs the statement.
pub(in crate::session) async fn start_first_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    parts: &FirstRows,
) -> Result<()> {
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = first_rows_steps(session, live, given, parts).await;
    frame::end_steps(session, live, kept, stepped).await
}

async fn first_rows_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &FirstRows,
) -> Result<Stepped> {
    let limit = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let placeholder = dialect.syntax().placeholder;
    let mut keys = Batches::default();
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        each_row(columns, rows, |fields| {
            let literals = fields
                .iter()
                .zip(&parts.key)
                .map(|(field, column)| literal(dialect.as_ref(), *field, Some(column), None));
            keys.push(&literals.collect::<Result<Vec<String>>>()?, limit)
        })
    };
    let reading = given.part(placeholder, &parts.read_parameters, Vec::new());
    let told = frame::read_step(session, live, &parts.read, reading, &mut take).await?;
    let mut changing = given.part(placeholder, &parts.change_parameters, Vec::new());
    changing.prepared = !parts.change_parameters.is_empty();
    let texts = keys.list.iter().map(|batch| format!("{}{batch})", parts.head).into());
    let changed = frame::write_steps(session, live, texts, &changing, limit).await?;
    // A key that stands on two shards, or rows that came meanwhile.
    if changed.completion.matched.or(changed.completion.affected) != Some(keys.rows) {
        return Err(changed_meanwhile());
    }
    Ok(changed.after(told))
}
