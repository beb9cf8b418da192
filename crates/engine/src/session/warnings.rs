//! What the last statement was warned of. Storage units remember it per connection, and connections are shared: so it is read at once, when there is
//! any, and kept for the client who may ask for it.

use std::future::poll_fn;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::{Columns, Rows, Value};
use pando_pool::Connection;
use pando_sql::ast::{Kind, Statement};
use pando_transaction::drain;

use crate::execute::Channel;

use super::Session;

/// Rows of warnings kept, as many as servers keep unless told otherwise.
const MAX: usize = 64;
/// Bytes of a reply that are read away when it cannot be used.
const DRAIN_BYTES: usize = 1 << 16;

/// Rows as the unit gave them, under its own labels.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    labels: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Session {
    /// Answers SHOW WARNINGS and SHOW ERRORS; false for other statements. They do not change what they tell.
    pub(super) fn show_warnings(&mut self, stmt: &Statement) -> Result<bool> {
        let Kind::Show(show) = &stmt.kind else { return Ok(false) };
        let errors = match show.what.as_str() {
            "WARNINGS" => false,
            "ERRORS" => true,
            _ => return Ok(false),
        };
        let dialect = self.dialect();
        if dialect.as_ref().and_then(|own| own.presentation()?.warnings()).is_none() {
            return Ok(false);
        }
        let is_error = |row: &&Vec<Value>| matches!(row.first(), Some(Value::Text(level)) if level.eq_ignore_ascii_case("error"));
        let rows: Vec<Vec<Value>> =
            self.warnings.rows.iter().filter(|row| !errors || is_error(row)).cloned().collect();
        let labels: Vec<String> = match &self.warnings.labels[..] {
            [] => ["Level", "Code", "Message"].map(str::to_owned).into(),
            labels => labels.to_vec(),
        };
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        self.rows("SHOW", &labels, &rows)?;
        Ok(true)
    }

    /// Forgets what the statement before was warned of.
    pub(super) fn forget_warnings(&mut self) {
        self.warnings = Warnings::default();
    }

    /// Reads the warnings of finished statements off their connections.
    pub(super) async fn note_warnings(&mut self, channels: &mut [Channel], count: u16) {
        let dialect = self.dialect();
        let Some(query) = dialect.as_ref().and_then(|own| own.presentation()?.warnings()) else {
            return;
        };
        if count == 0 {
            return;
        }
        for channel in channels {
            let connection = &mut channel.connection;
            let condition = connection.condition();
            if !condition.usable || condition.outstanding > 0 {
                continue;
            }
            if let Err(error) = read(connection, query, &mut self.warnings).await {
                tracing::debug!(%error, "the warnings of a statement could not be read");
                let _ = drain(connection, DRAIN_BYTES).await;
            }
        }
    }

    /// The error of a failed statement is what it was warned of, too.
    pub(super) fn note_error(&mut self, error: &Error) {
        if let ErrorKind::Server(error) = error.kind() {
            let text = |text: &str| Value::Text(text.to_owned());
            let row = vec![text("Error"), Value::UInt(error.number.into()), text(&error.message)];
            self.warnings = Warnings { labels: Vec::new(), rows: vec![row] };
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only rows matter")]
async fn read(connection: &mut Connection, query: &str, into: &mut Warnings) -> Result<()> {
    connection.start(Execution::Text(query.into()))?;
    let mut columns: Option<Columns> = None;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await? {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(rows) => {
                if let Some(columns) = &columns {
                    into.labels = columns.list.iter().map(|column| column.name.clone()).collect();
                    into.rows.extend(decoded(columns, &rows)?);
                    into.rows.truncate(MAX);
                }
            }
            Event::Done => return Ok(()),
            _ => {}
        }
    }
}

/// Rows as values.
///
/// # Errors
/// What the codec says.
pub(super) fn decoded(columns: &Columns, rows: &Rows) -> Result<Vec<Vec<Value>>> {
    let mut list = Vec::new();
    let mut fields = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let row: Result<Vec<Value>> = columns
            .list
            .iter()
            .zip(&fields)
            .map(|(column, field)| {
                columns.codec.value(column, field.clone().and_then(|range| body.get(range)))
            })
            .collect();
        list.push(row?);
        Ok(())
    })?;
    Ok(list)
}
