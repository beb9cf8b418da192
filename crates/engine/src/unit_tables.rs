//! Which actual tables stand on which storage unit now, for whoever checks a configuration against them.

use std::time::Duration;

use pando_kernel::Value;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::{BoxFuture, all, within};
use pando_pool::Connection;

use crate::house::Engine;
use crate::session::{answer, undress};
use crate::snapshot::LiveDatabase;

/// Time for one unit to answer, a connection included.
const LIMIT: Duration = Duration::from_secs(20);

/// A table or view that a storage unit has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTable {
    /// The unit.
    pub unit: UnitName,
    /// Its schema, where databases of the family have schemas.
    pub schema: Option<String>,
    /// Its actual name, as the server spells it.
    pub table: String,
}

impl Engine {
    /// The tables and views that are on the storage units of a database now: in the order of the units, and of the names within each. All units are
    /// asked at once, and each has 20 seconds.
    ///
    /// # Errors
    /// `Timeout` when a unit does not answer in time; what the unit or its pool says. One unit's error is that of all.
    ///
    /// # Cancel safety
    /// May be dropped at any await; connections under way are closed.
    pub async fn read_tables(&self, live: &LiveDatabase) -> Result<Vec<UnitTable>> {
        let query = live.database.dialect.tables_query();
        let asking = live.database.units.iter().map(|unit| {
            let asked = tables_of(live, unit, &query);
            let asked = async move {
                let answered = within(&*self.inner.runtime, LIMIT, asked).await;
                answered.unwrap_or_else(|| {
                    let seconds = LIMIT.as_secs();
                    let told =
                        format!("storage unit `{unit}` has not told its tables in {seconds} s");
                    Err(ErrorKind::Timeout(told).into())
                })
            };
            Box::pin(asked) as BoxFuture<'_, Result<Vec<UnitTable>>>
        });
        Ok(all(asking.collect()).await?.into_iter().flatten().collect())
    }
}

async fn tables_of(live: &LiveDatabase, unit: &UnitName, query: &str) -> Result<Vec<UnitTable>> {
    let mut connection: Connection = live.pool(unit)?.take().await?;
    if !connection.is_bare() {
        undress(&mut connection).await?;
    }
    let rows = answer(&mut connection, query).await?;
    let tables = rows.into_iter().filter_map(|row| match &row[..] {
        // What is no table, but a sequence.
        [_, _, Value::Bool(true), ..] => None,
        [schema, Value::Text(table), ..] => {
            let schema = if let Value::Text(schema) = schema { Some(schema.clone()) } else { None };
            Some(UnitTable { unit: UnitName::clone(unit), schema, table: table.clone() })
        }
        _ => None,
    });
    Ok(tables.collect())
}
