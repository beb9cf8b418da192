//! Numbers that a storage unit has given to the rows of an INSERT: they are the session's current ones, and connections
//! are shared.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::route::UnitName;
use pando_kernel::sequences::{ColumnSequences, Sequences};
use pando_pool::Connection;

use crate::plan::left_numbers::Left;
use crate::snapshot::LiveDatabase;

use crate::session::Session;

/// What a unit counts for the rows of a statement.
#[derive(Debug, Clone)]
pub(in crate::session) struct Uncounted {
    pub(in crate::session) live: Arc<LiveDatabase>,
    /// Never empty.
    pub(in crate::session) left: Vec<Left>,
    pub(in crate::session) known: Known,
}

/// How it may be known what a unit has counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) enum Known {
    /// The connection is asked before it serves others.
    Read,
    /// The open transaction has the connection, which can be asked when it is wanted.
    Inside(UnitName),
}

/// Keeps what the connection was told for rows that it has written. Where it does not say, nothing is known.
pub(in crate::session) async fn keep(
    session: &mut Session,
    connection: &mut Connection,
    uncounted: &Uncounted,
) {
    let Uncounted { live, left, known } = uncounted;
    let database = &live.database.name;
    if let Known::Inside(unit) = known {
        for left in left {
            session.settings.sequence_values_mut().give_inside(database, &left.key, unit);
        }
        return;
    }
    let words = live.database.dialect.sequences().and_then(Sequences::of_columns);
    let Some(query) = words.map(|words| query(words, uncounted)) else { return };
    let Ok(rows) = pando_transaction::rows(&mut **connection, &query).await else { return };
    let [row] = &rows[..] else { return };
    let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
    let mut numbers = row.iter().map(number);
    let last = numbers.next().flatten();
    for (left, number) in left.iter().zip(numbers) {
        session.settings.sequence_values_mut().give(database, &left.key, number);
        session.settings.sequence_values_mut().is_last(database, &left.key, last);
    }
}

/// Asks for whichever number was last, and for those of the sequences.
fn query(words: &dyn ColumnSequences, uncounted: &Uncounted) -> String {
    let own = uncounted.left.iter().map(|left| match &left.named_by {
        Some(named_by) => words.current(Some(named_by)),
        None => "NULL".to_owned(),
    });
    let asked: Vec<String> = std::iter::once(words.current(None)).chain(own).collect();
    format!("SELECT {}", asked.join(", "))
}
