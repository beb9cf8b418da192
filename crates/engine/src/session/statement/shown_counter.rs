//! SHOW CREATE TABLE of a table whose column is counted for all its shards: it tells the number that comes next.

use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_kernel::route::Need;
use pando_sql::ast::{Show, Statement};

use crate::counters;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::run::counted_tables::counter;
use crate::session::run::find_out;
use crate::session::statement::answer::{Answer, answer};

/// Answers it; false for every other statement.
///
/// # Errors
/// What the storage units say.
pub(in crate::session) async fn show_created(
    session: &mut Session,
    stmt: &Statement,
    show: &Show,
) -> Result<bool> {
    let Some(table) = show.table.as_ref().filter(|_| show.what == "CREATE TABLE") else {
        return Ok(false);
    };
    let Some(live) = session.place.current().cloned() else { return Ok(false) };
    let Some(words) = pando_kernel::counters::of(live.database.dialect.as_ref()) else {
        return Ok(false);
    };
    if session.temporary.concerns_temporaries() {
        return Ok(false);
    }
    let key = table.key();
    let Some(counted) = counter(session, &live, &key) else { return Ok(false) };
    let columns = find_out::find_out_until(session, &live, None, |ctx| {
        Ok(ctx.catalog.columns(&key).ok_or_else(|| Need::Columns(key.clone())))
    });
    // What keeps them from being read is told by the statement itself.
    let counts = Box::pin(columns).await.is_ok_and(|all| all.iter().any(|one| one.auto_increment));
    if !counts {
        return Ok(false);
    }
    session.work.refuse_if_failed()?;
    let Answer { columns, mut rows } =
        Box::pin(answer(session, stmt, Given::of_client(), 1)).await?;
    let asked = counters::next(&live, &counted);
    let next = Box::pin(session.place.handle().taken(asked)).await?;
    for row in &mut rows {
        if let [_, Value::Text(text), ..] = &mut row[..] {
            *text = words.told(text, next);
        }
    }
    made::typed_rows(session, "SHOW", columns, &rows)?;
    Ok(true)
}
