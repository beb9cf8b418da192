//! `setval` to what a query computes: over all shards first, and then at the sequence's home. Mappers reset their
//! counters so, to the largest key of a table.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Event;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Value};
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::computed_set::ComputedSet;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::pull::piece;
use crate::session::run::on_units;

/// The statement that sets the sequence to what has been computed; one without rows sets nothing.
///
/// # Errors
/// What planning refuses, what the units say, and `Refused` where there are several values.
pub(in crate::session) async fn computed(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    set: ComputedSet,
) -> Result<Statement> {
    let dialect = Arc::clone(&live.database.dialect);
    let stmt = pando_sql::parse(&set.query, dialect.syntax()).map_err(plan::unread)?;
    let given = Given { is_step: true, ..Given::default() };
    Box::pin(on_units::run_as_one(session, &stmt, given)).await?;
    let (mut columns, mut found, mut count) = (None, Vec::new(), 0_usize);
    while let Some(event) = Box::pin(piece::next_of_reply(session)).await? {
        if let Event::Columns(own) = event {
            columns = Some(own);
        } else if let (Event::Rows(rows), Some(columns)) = (event, &columns) {
            count += read(columns, &rows, &mut found)?;
        }
    }
    let values: Vec<String> = found.iter().map(|value| dialect.literal(value)).collect();
    let ComputedSet { head, tail, .. } = set;
    let text = match count {
        0 => format!("{head}NULL{tail} WHERE 1 = 0"),
        1 => format!("{head}{}{tail}", values.join(", ")),
        _ => {
            return Err(Error::unsupported(
                30001,
                "a sequence that is set for each of several rows is not supported",
                "set it once: SELECT setval('…', max(…)) FROM …",
            ));
        }
    };
    pando_sql::parse(&text, dialect.syntax()).map_err(plan::unread)
}

/// The values of the first row, and how many rows there are.
fn read(columns: &Columns, rows: &Rows, found: &mut Vec<Value>) -> Result<usize> {
    let (mut count, mut ranges) = (0, Vec::new());
    rows.for_each(columns, |body| {
        count += 1;
        if !found.is_empty() {
            return Ok(());
        }
        columns.codec.fields(&columns.list, body, &mut ranges)?;
        for (column, range) in columns.list.iter().zip(&ranges) {
            let raw = range.clone().and_then(|range| body.get(range));
            found.push(columns.codec.value(column, raw)?);
        }
        Ok(())
    })?;
    Ok(count)
}
