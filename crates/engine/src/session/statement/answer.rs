//! The rows of a query, for the session itself.

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::{Column, Value};
use pando_sql::ast::Statement;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::pull::{finish, piece};
use crate::session::reply::warnings;
use crate::session::run::on_units;

/// Bytes of rows that are kept.
const MAX_BYTES: usize = 16 << 20;

/// Rows as values.
#[derive(Debug, Default)]
pub(in crate::session) struct Answer {
    /// What each has; empty where there is no answer.
    pub(in crate::session) columns: Vec<Column>,
    /// At most one more than was asked for.
    pub(in crate::session) rows: Vec<Vec<Value>>,
}

/// Runs a query as a client's, and takes as many of its rows as are needed to see that there are more than `most`.
///
/// # Errors
/// What planning refuses, and what the units say; `TooLarge` for rows of more bytes than are kept.
#[expect(clippy::wildcard_enum_match_arm, reason = "only rows matter")]
pub(in crate::session) async fn answer(
    session: &mut Session,
    stmt: &Statement,
    given: Given,
    most: usize,
) -> Result<Answer> {
    let given = Given { formats: Vec::new(), learns: false, ..given };
    let window = session.outbox.take_window();
    on_units::run_as_one(session, stmt, given).await?;
    let (mut answer, mut columns, mut bytes) = (Answer::default(), None, 0);
    while let Some(event) = piece::next_of_reply(session).await? {
        match event {
            Event::Columns(found) => {
                answer.columns = found.list.to_vec();
                columns = Some(found);
            }
            Event::Rows(rows) => {
                bytes += rows.bytes.len();
                if bytes > MAX_BYTES {
                    finish::abandon(session).await;
                    return Err(ErrorKind::TooLarge("the value of a variable".into()).into());
                }
                if let Some(columns) = columns.as_ref().filter(|_| answer.rows.len() <= most) {
                    answer.rows.extend(warnings::decoded(columns, &rows)?);
                    answer.rows.truncate(most + 1);
                }
            }
            _ => {}
        }
    }
    session.outbox.limit_again(window);
    Ok(answer)
}
