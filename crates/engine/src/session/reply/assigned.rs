//! User variables that a statement has set: they are the session's, and connections are shared.

use pando_kernel::Value;
use pando_kernel::dialect::Dialect;
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
    let kept = kept(connection, dialect.as_ref(), names).await?;
    session.settings.are_set(names.iter().cloned().zip(kept).collect())
}

/// What variables have been set to on a connection, one text for each, as the session keeps it.
///
/// # Errors
/// What the storage unit says.
pub(in crate::session) async fn kept(
    connection: &mut Connection,
    dialect: &dyn Dialect,
    names: &[String],
) -> Result<Vec<String>> {
    let mut answer = Warnings::default();
    let item = |name: &String| Some(format!("{name}, {}", dialect.collation_of(name)?));
    let items = names.iter().map(item).collect::<Option<Vec<_>>>();
    let items = items.ok_or_else(|| Error::internal("variables of a server that has none"))?;
    let query = format!("SELECT {}", items.join(", "));
    warnings::read(connection, &query, &mut answer).await?;
    let row = answer.rows.first().filter(|row| row.len() == 2 * names.len());
    let row = row.ok_or_else(|| Error::internal("variables without values"))?;
    let texts = row.chunks(2).map(|pair| match pair {
        [value, Value::Text(collation)] => {
            dialect.kept_value(value, dialect.literal(value), collation)
        }
        [value, ..] => dialect.literal(value),
        [] => String::new(),
    });
    Ok(texts.collect())
}
