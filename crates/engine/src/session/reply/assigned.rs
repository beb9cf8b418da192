//! User variables that a statement has set: they are the session's, and connections are shared.

use pando_kernel::error::{Error, Result};
use pando_pool::Connection;

use crate::session::Session;
use crate::session::reply::warned::Warnings;
use crate::session::reply::warnings;

/// Reads variables off the connection on which they were set.
///
/// # Errors
/// What the storage unit says; `TooLarge` when the session has too many.
pub(in crate::session) async fn read_back(
    session: &mut Session,
    connection: &mut Connection,
    names: &[String],
) -> Result<()> {
    let Some(dialect) = session.place.dialect() else { return Ok(()) };
    let mut answer = Warnings::default();
    warnings::read(connection, &format!("SELECT {}", names.join(", ")), &mut answer).await?;
    let row = answer.rows.first().filter(|row| row.len() == names.len());
    let row = row.ok_or_else(|| Error::internal("variables without values"))?;
    let list = names.iter().zip(row).map(|(name, value)| (name.clone(), dialect.literal(value)));
    session.settings.are_set(list.collect())
}
