//! Who waits for whom on a storage unit's server, as the server tells, and what locks of applications there are; and where instances tell each other of their waits.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::{Error, Result, ServerError};
use crate::locks::ServerFunction;
use crate::runtime::BoxFuture;
use crate::value::Value;

/// How a family's servers are asked about waits for locks.
pub trait Waits: Send + Sync + Debug {
    /// A query with one row, for [`Waits::read_server`].
    fn server_query(&self) -> &'static str;

    /// What a server says of itself.
    ///
    /// # Errors
    /// `Internal` when the row has another shape.
    fn read_server(&self, row: &[Value]) -> Result<Server>;

    /// The functions that take and free locks of applications, sorted by their names; none where there are no such locks.
    fn server_functions(&self) -> &'static [ServerFunction] {
        &[]
    }

    /// The error with which the family's servers end a deadlock's victim.
    fn deadlock(&self) -> ServerError;
}

/// One server process, with its own numbers for its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Names it: the same over each of its connections, and never another server's. Without control characters.
    pub name: Arc<str>,
    /// A query whose rows are (number of a waiting connection, number of one it waits for); the second is NULL where the server cannot tell.
    /// Numbers are those of [`crate::CancelToken::id`]; 0 is nobody's. At most [`MOST_WAITS`] rows.
    pub waits: &'static str,
    /// Why it cannot tell for whom its connections wait, when it cannot.
    pub untold: Option<String>,
}

/// Rows that one question about waits may bring.
pub const MOST_WAITS: usize = 4096;

/// A connection that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wait {
    /// Its number.
    pub waiter: u64,
    /// The number of one for which it waits, of perhaps several; `None` when the server cannot tell.
    pub blocker: Option<u64>,
}

impl Wait {
    /// Reads a row of [`Server::waits`].
    ///
    /// # Errors
    /// `Internal` when the row has another shape.
    pub fn read(row: &[Value]) -> Result<Self> {
        let number = |value: &Value| match value {
            Value::Int(number) => u64::try_from(*number).ok(),
            Value::UInt(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            Value::Null
            | Value::Bool(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => None,
        };
        let strange = || Error::internal("a row about waits has another shape than asked for");
        let [waiter, blocker] = row else { return Err(strange()) };
        let waiter = number(waiter).ok_or_else(strange)?;
        if *blocker == Value::Null {
            return Ok(Self { waiter, blocker: None });
        }
        let blocker = Some(number(blocker).ok_or_else(strange)?);
        Ok(Self { waiter, blocker })
    }
}

/// Where the instances of a cluster tell each other of transactions that wait.
pub trait Board: Send + Sync + Debug {
    /// This instance's name: no other has it.
    fn own(&self) -> Arc<str>;

    /// Puts what this instance tells in the place of what it told before; `None` takes it away. It goes with the instance at the latest.
    ///
    /// # Errors
    /// What keeps others from seeing it.
    ///
    /// # Cancel safety
    /// After dropping it others may see either.
    fn publish(&self, text: Option<String>) -> BoxFuture<'_, Result<()>>;

    /// What the other instances tell.
    ///
    /// # Errors
    /// What keeps this instance from seeing it.
    fn others(&self) -> BoxFuture<'_, Result<Vec<Notice>>>;
}

/// What another instance tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its name.
    pub instance: Arc<str>,
    /// Its words.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_about_waits_are_read_whatever_kind_of_number_they_have() {
        let wait = |waiter, blocker| Wait { waiter, blocker };
        for (row, expected) in [
            (vec![Value::Int(7), Value::UInt(8)], Some(wait(7, Some(8)))),
            (vec![Value::UInt(7), Value::Null], Some(wait(7, None))),
            (vec![Value::Text("7".into()), Value::Text("8".into())], Some(wait(7, Some(8)))),
            (vec![Value::Int(-7), Value::Int(8)], None),
            (vec![Value::Null, Value::Int(8)], None),
            (vec![Value::Int(7), Value::Bool(true)], None),
            (vec![Value::Int(7)], None),
        ] {
            assert_eq!(Wait::read(&row).ok(), expected, "{row:?}");
        }
    }
}
