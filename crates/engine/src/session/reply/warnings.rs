//! What the last statement was warned of. Storage units remember it per connection, and connections are shared: so it
//! is read at once, when there is any, and kept for the client who may ask for it.

use std::future::poll_fn;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::{Column, Columns, Kind as ValueKind, Rows, ServerError, Value};
use pando_pool::Connection;
use pando_sql::ast::{Kind, Statement};
use pando_transaction::drain;

use crate::execute::Channel;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::reply::warned::Warnings;
use crate::session::reply::{made, warned};

/// Rows of warnings kept, as many as servers keep unless told otherwise.
const MAX: usize = 64;
/// `ER_UNKNOWN_ERROR`: <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>
const UNKNOWN_ERROR: u64 = 1105;
/// Bytes of a reply that are read away when it cannot be used.
const DRAIN_BYTES: usize = 1 << 16;

/// Level, number and message: what a warning is about is told in logic names.
fn in_logic_names(live: &LiveDatabase, row: &mut [Value]) {
    let [.., number, Value::Text(message)] = row else { return };
    let number = if let Value::UInt(number) = number {
        u32::try_from(*number)
    } else if let Value::Int(number) = number {
        u32::try_from(*number)
    } else {
        return;
    };
    let Ok(number) = number else { return };
    let mut told =
        ServerError { number, message: std::mem::take(message), ..ServerError::default() };
    live.in_logic_names(&mut told);
    *message = told.message;
}

/// Answers SHOW WARNINGS and SHOW ERRORS; false for other statements. They do not change what they tell.
pub(in crate::session) fn show_warnings(session: &mut Session, stmt: &Statement) -> Result<bool> {
    let Kind::Show(show) = &stmt.kind else { return Ok(false) };
    let (counts, what) = match show.what.split_once(' ') {
        Some(("COUNT", what)) => (true, what),
        _ => (false, show.what.as_str()),
    };
    let errors = match what {
        "WARNINGS" => false,
        "ERRORS" => true,
        _ => return Ok(false),
    };
    let dialect = session.place.dialect();
    if dialect.as_ref().and_then(|own| own.presentation()?.warnings()).is_none() {
        return Ok(false);
    }
    if counts {
        let (label, count) = match errors {
            true => ("@@session.error_count", session.outbox.warnings.errors()),
            false => ("@@session.warning_count", session.outbox.warnings.count),
        };
        let list = vec![Column::computed(label, ValueKind::UInt)];
        made::typed_rows(session, "SHOW", list, &[vec![Value::UInt(count)]])?;
        return Ok(true);
    }
    let (skip, take) = limit(&stmt.text);
    let rows = session.outbox.warnings.rows.iter().filter(|row| !errors || warned::is_error(row));
    let rows: Vec<Vec<Value>> = rows.skip(skip).take(take).cloned().collect();
    let list = match &session.outbox.warnings.columns[..] {
        [] => vec![
            Column::computed("Level", ValueKind::Text),
            Column::computed("Code", ValueKind::UInt),
            Column::computed("Message", ValueKind::Text),
        ],
        known => known.to_vec(),
    };
    made::typed_rows(session, "SHOW", list, &rows)?;
    Ok(true)
}

/// DROP IF EXISTS of what only rooms know not to be a table: nothing is dropped, and that is noted. False for every
/// other refusal.
pub(in crate::session) fn drops_nothing(
    session: &mut Session,
    stmt: &Statement,
    refusal: &Error,
) -> bool {
    let (Kind::Define(define), ErrorKind::NothingToDrop { what, names }) =
        (&stmt.kind, refusal.kind())
    else {
        return false;
    };
    if !define.conditional {
        return false;
    }
    let told = session.place.in_logic_names(Error::new(refusal.kind().clone()));
    let mut noted = 0;
    if let ErrorKind::Server(server) = told.kind() {
        let number = Value::UInt(server.number.into());
        session.outbox.warnings.rows.push(vec![
            Value::Text("Note".into()),
            number,
            Value::Text(server.message.clone()),
        ]);
        session.outbox.warnings.count += 1;
        noted = 1;
    } else {
        for name in names {
            session.outbox.pending.push_back(Event::Notice(Box::new(ServerError {
                sqlstate: "00000".into(),
                message: format!("{what} \"{name}\" does not exist, skipping"),
                severity: "NOTICE".into(),
                ..ServerError::default()
            })));
        }
    }
    made::complete(session, if *what == "view" { "DROP VIEW" } else { "DROP TABLE" });
    if let Some(Event::Complete(done)) = session.outbox.pending.back_mut() {
        done.warnings = noted;
    }
    true
}

/// Warns of what a statement does otherwise than it would on one server.
pub(in crate::session) fn note_caution(
    session: &mut Session,
    done: &mut Completion,
    caution: &str,
) {
    let dialect = session.place.dialect();
    if dialect.as_ref().and_then(|own| own.presentation()?.warnings()).is_none() {
        session.outbox.pending.push_back(Event::Notice(Box::new(ServerError {
            sqlstate: "00000".into(),
            message: caution.to_owned(),
            severity: "NOTICE".into(),
            ..ServerError::default()
        })));
        return;
    }
    session.outbox.warnings.rows.push(vec![
        Value::Text("Note".into()),
        Value::UInt(UNKNOWN_ERROR),
        Value::Text(caution.to_owned()),
    ]);
    session.outbox.warnings.count += 1;
    done.warnings = done.warnings.saturating_add(1);
}

/// Forgets what the statement before was warned of.
pub(in crate::session) fn forget_warnings(session: &mut Session) {
    let (count, errors) = (session.outbox.warnings.count, session.outbox.warnings.errors());
    session.outbox.noted = 0;
    let facts = session.place.facts_mut();
    facts.warning_count = count;
    facts.error_count = errors;
    if count > 0 {
        session.outbox.warnings = Warnings::default();
    }
}

/// Reads the warnings of finished statements off their connections.
pub(in crate::session) async fn note_warnings(
    session: &mut Session,
    channels: &mut [Channel],
    count: u16,
) {
    let dialect = session.place.dialect();
    let Some(query) = dialect.as_ref().and_then(|own| own.presentation()?.warnings()) else {
        return;
    };
    if count == 0 {
        return;
    }
    // A statement may be several on the units.
    session.outbox.warnings.count += u64::from(count);
    read_warnings(session, channels, query).await;
}

/// Reads the warnings of replies that are merged later, which is when they are counted.
pub(in crate::session) async fn read_ahead(session: &mut Session, channels: &mut [Channel]) {
    let dialect = session.place.dialect();
    let query = dialect.as_ref().and_then(|own| own.presentation()?.warnings());
    let are_warned =
        channels.iter().flat_map(|channel| &channel.completions).any(|done| done.warnings > 0);
    if let Some(query) = query.filter(|_| are_warned) {
        read_warnings(session, channels, query).await;
    }
}

async fn read_warnings(session: &mut Session, channels: &mut [Channel], query: &str) {
    for channel in channels {
        for (columns, rows) in channel.take_asked() {
            keep(&columns, &rows, &mut session.outbox.warnings);
        }
        let connection = &mut channel.connection;
        // A merge takes a reply's rows, and leaves its end.
        if drain(connection, DRAIN_BYTES).await.is_err() {
            continue;
        }
        let condition = connection.condition();
        if !condition.usable || condition.outstanding > 0 {
            continue;
        }
        if let Err(error) = read(connection, query, &mut session.outbox.warnings).await {
            tracing::debug!(%error, "the warnings of a statement could not be read");
            let _ = drain(connection, DRAIN_BYTES).await;
        }
    }
    if let Some(live) = session.place.current() {
        session.outbox.warnings.rows.iter_mut().for_each(|row| in_logic_names(live, row));
    }
}

/// Keeps what a connection was asked between two statements.
fn keep(columns: &Columns, rows: &Rows, warnings: &mut Warnings) {
    match decoded(columns, rows) {
        Ok(list) => {
            warnings.columns = columns.list.to_vec();
            warnings.rows.extend(list);
            warnings.rows.truncate(MAX);
        }
        Err(error) => tracing::debug!(%error, "the warnings of a statement could not be read"),
    }
}

/// How many rows the query before on this connection would have had without its LIMIT.
pub(in crate::session) async fn found_rows(
    session: &mut Session,
    connection: &mut Connection,
) -> Result<u64> {
    let dialect = session.place.dialect();
    let query = dialect.as_ref().and_then(|own| own.presentation()?.found_rows());
    let query = query.ok_or_else(|| Error::internal("nobody counts rows without a LIMIT"))?;
    let found = number_of(connection, query).await?;
    found.ok_or_else(|| Error::internal("a storage unit counts in other words than numbers"))
}

/// Notes a warning of Pando's own.
pub(in crate::session) fn note(session: &mut Session, number: u32, message: &str) {
    session.outbox.warnings.rows.push(vec![
        Value::Text("Warning".into()),
        Value::UInt(number.into()),
        Value::Text(message.to_owned()),
    ]);
    session.outbox.warnings.count += 1;
}

/// Warns the client of what a room says of its statement.
pub(in crate::session) fn warn(session: &mut Session, message: &str) {
    let dialect = session.place.dialect();
    if dialect.as_ref().and_then(|own| own.presentation()?.warnings()).is_none() {
        session.outbox.warn("01000", message);
        return;
    }
    note(session, u32::try_from(UNKNOWN_ERROR).unwrap_or(u32::MAX), message);
    session.outbox.noted = session.outbox.noted.saturating_add(1);
}

/// The error of a failed statement is what it was warned of, too.
pub(in crate::session) fn note_error(session: &mut Session, error: &Error) {
    let dialect = session.place.dialect();
    let told = dialect.as_ref().and_then(|own| own.presentation()?.error_told(error.kind()));
    if let Some((number, message)) = told {
        let level = Value::Text("Error".to_owned());
        let row = vec![level, Value::UInt(number.into()), Value::Text(message)];
        session.outbox.warnings = Warnings { columns: Vec::new(), rows: vec![row], count: 1 };
    }
}

/// `LIMIT [skip,] take` at the end of a SHOW.
fn limit(text: &str) -> (usize, usize) {
    let words: Vec<&str> =
        text.split([' ', '\t', '\r', '\n', ',']).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|word| word.eq_ignore_ascii_case("limit"));
    let numbers = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    let numbers: Vec<usize> = numbers.iter().map_while(|word| word.parse().ok()).collect();
    match numbers[..] {
        [take] => (0, take),
        [skip, take, ..] => (skip, take),
        [] => (0, usize::MAX),
    }
}

/// The one number of a question about the statement before it on this connection.
pub(in crate::session) async fn number_of(
    connection: &mut Connection,
    query: &str,
) -> Result<Option<u64>> {
    let mut answer = Warnings::default();
    read(connection, query, &mut answer).await?;
    Ok(match answer.rows.first().and_then(|row| row.first()) {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        Some(Value::UInt(n)) => Some(*n),
        _ => None,
    })
}

/// What a connection says of the statement before.
///
/// # Errors
/// What its storage unit says.
#[expect(clippy::wildcard_enum_match_arm, reason = "only rows matter")]
pub(super) async fn read(
    connection: &mut Connection,
    query: &str,
    into: &mut Warnings,
) -> Result<()> {
    connection.start(Execution::Text(query.into()))?;
    let mut columns: Option<Columns> = None;
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await? {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(rows) => {
                if let Some(columns) = &columns {
                    into.columns = columns.list.to_vec();
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
pub(in crate::session) fn decoded(columns: &Columns, rows: &Rows) -> Result<Vec<Vec<Value>>> {
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
