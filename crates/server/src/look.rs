//! A look at the tables of a database's storage units, and at their rows: before a change of its rules may leave them where nobody looks.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pando_config::Database;
use pando_engine::placement;
use pando_governor::{Found, MOST_COMPARED, MOST_COUNTED, MOST_PLACED};
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::feature::{DataNode, LogicTable};
use pando_kernel::runtime::{BoxFuture, SharedRuntime, all};
use pando_kernel::{Connector, Value, feature, route};

use crate::inquiry::{Inquiry, text};
use crate::place::Place;
use crate::wrong::configuration;

/// A database whose storage units can be asked, served or not.
pub(crate) struct Look<'l> {
    pub(crate) runtime: &'l SharedRuntime,
    pub(crate) database: feature::Database,
    units: Vec<(String, Arc<dyn Connector>)>,
}

impl<'l> Look<'l> {
    /// Connects nowhere yet.
    ///
    /// # Errors
    /// `Configuration` when its rooms cannot be built.
    pub(crate) fn at(
        database: &Database,
        place: Place<'_>,
        runtime: &'l SharedRuntime,
    ) -> Result<Self> {
        let built = place.build(database);
        let built = built.map_err(|errors| configuration(errors.to_string()))?;
        let units = built.units.into_iter();
        let units = units.map(|unit| (unit.name.to_string(), unit.connector)).collect();
        Ok(Self { runtime, database: built.database, units })
    }

    /// The tables that stand on the storage units now.
    ///
    /// # Errors
    /// As the units say; `Timeout`.
    pub(crate) async fn tables(&self) -> Result<Vec<Found>> {
        let asking = self.units.iter().map(|(unit, connector)| {
            let asked = async move {
                let mut inquiry = Inquiry::connect(unit, connector, self.runtime).await?;
                let rows = inquiry.rows(&connector.dialect().tables_query()).await?;
                let found = rows.iter().filter_map(|row| table(unit, row));
                Ok(found.collect::<Vec<Found>>())
            };
            Box::pin(asked) as BoxFuture<'_, Result<Vec<Found>>>
        });
        let mut found: Vec<Found> = all(asking.collect()).await?.into_iter().flatten().collect();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// How many rows a table has, up to [`MOST_COUNTED`] and one more.
    ///
    /// # Errors
    /// As the units say; 17012 when a transaction keeps the table.
    pub(crate) async fn rows(&self, table: &Found) -> Result<usize> {
        Ok(self.settled("1", table, MOST_COUNTED + 1).await?.len())
    }

    /// A row of an actual table that its sharded table's rule would not look for there.
    ///
    /// # Errors
    /// As [`Look::rows`].
    pub(crate) async fn misplaced(&self, table: &str, node: &Found) -> Result<Option<String>> {
        let Some(logic) = self.logic(table) else { return Ok(None) };
        if logic.keys.is_empty() {
            return Ok(None);
        }
        let stored = self.columns(node).await?;
        let key = self.database.dialect.syntax().table_key(table);
        let turned = self.database.logic_columns(&key, &stored)?;
        let is_turned = |key: &String| turned.as_ref().is_some_and(|turned| turned.turns(key));
        if logic.keys.iter().any(is_turned) {
            // A rule leads to a row by its values, and these are not what is stored.
            return Ok(None);
        }
        let columns = Arc::new(stored);
        let keys = match placement::key_columns(&logic, &columns) {
            Ok(keys) => keys,
            Err(missing) => {
                let text = format!("`{}.{}` has no column `{missing}`", node.unit, node.table);
                return Ok(Some(text));
            }
        };
        let keys: Vec<String> =
            keys.iter().map(|key| self.database.dialect.quote(&key.name)).collect();
        let rows = self.settled(&keys.join(", "), node, MOST_PLACED).await?;
        let own = DataNode { unit: node.unit.as_str().into(), table: node.table.as_str().into() };
        let rows = placement::Rows { node: &own, columns: &columns, keys: &rows };
        placement::misplaced(&self.database, &logic, rows)
    }

    /// Why tables have not the same rows.
    ///
    /// # Errors
    /// As [`Look::rows`].
    pub(crate) async fn differ(&self, tables: &[Found]) -> Result<Option<String>> {
        let mut first: Option<(&Found, Vec<u64>)> = None;
        let Some(example) = tables.first() else { return Ok(None) };
        let columns = self.columns(example).await?;
        let quoted = columns.iter().map(|column| self.database.dialect.quote(&column.name));
        let columns = quoted.collect::<Vec<_>>().join(", ");
        for table in tables {
            let rows = self.settled(&columns, table, MOST_COMPARED + 1).await?;
            if rows.len() > MOST_COMPARED {
                return Ok(Some(format!(
                    "`{}.{}` has more than {MOST_COMPARED} rows, which are too many to be compared",
                    table.unit, table.table
                )));
            }
            let mut rows: Vec<u64> = rows.iter().map(hashed).collect();
            rows.sort_unstable();
            match &first {
                None => first = Some((table, rows)),
                Some((_, known)) if *known == rows => {}
                Some((other, known)) => {
                    return Ok(Some(format!(
                        "`{}.{}` has {} rows, and `{}.{}` has other ones ({})",
                        other.unit,
                        other.table,
                        known.len(),
                        table.unit,
                        table.table,
                        rows.len()
                    )));
                }
            }
        }
        Ok(None)
    }

    /// The actual tables of a logic one, on the storage units that take writes: behind groups, and in the shadow as well.
    ///
    /// # Errors
    /// As the units say.
    pub(crate) async fn standing(&self, table: &str) -> Result<Vec<Found>> {
        let groups: Vec<feature::Groups> =
            self.database.features.iter().map(|room| room.groups()).collect();
        let leader = |place: &route::Place| place.members.first().map(ToString::to_string);
        let shadows: Vec<String> =
            groups.iter().flat_map(|group| &group.shadows).filter_map(leader).collect();
        let writer = |unit: &str| {
            let mut places = groups.iter().flat_map(|group| &group.places);
            let own = places.find(|place| *place.name == *unit);
            own.and_then(leader).unwrap_or_else(|| unit.to_owned())
        };
        let tables = self.database.features.iter().flat_map(|room| room.tables());
        let logic = tables.into_iter().find(|own| own.name.eq_ignore_ascii_case(table));
        let found = self.tables().await?;
        let followers = |unit: &str| {
            groups.iter().any(|group| group.followers.iter().any(|own| **own == *unit))
        };
        let is_own = |one: &Found| match &logic {
            None => one.table.eq_ignore_ascii_case(table) && !followers(&one.unit),
            Some(logic) => logic.nodes.iter().any(|node| {
                node.table.eq_ignore_ascii_case(&one.table)
                    && (writer(&node.unit) == one.unit || shadows.contains(&one.unit))
            }),
        };
        Ok(found.into_iter().filter(is_own).collect())
    }

    fn logic(&self, table: &str) -> Option<LogicTable> {
        let tables = self.database.features.iter().flat_map(|room| room.tables());
        let mut own = tables.filter(|own| own.name.eq_ignore_ascii_case(table));
        own.find(|own| own.kind == feature::TableKind::Sharded)
    }

    pub(crate) async fn columns(&self, table: &Found) -> Result<Vec<TableColumn>> {
        let dialect = &self.database.dialect;
        let query = dialect.columns_query(table.schema.as_deref(), &table.table);
        let rows = self.inquiry(&table.unit).await?.rows(&query).await?;
        rows.iter().map(|row| dialect.read_column(row)).collect()
    }

    /// A table's name as statements write it.
    pub(crate) fn named(&self, table: &Found) -> String {
        let dialect = &self.database.dialect;
        let name = dialect.quote(&table.table);
        match &table.schema {
            None => name,
            Some(schema) => format!("{}.{name}", dialect.quote(schema)),
        }
    }

    /// Rows that open transactions are not about to change.
    async fn settled(&self, columns: &str, table: &Found, most: usize) -> Result<Vec<Vec<Value>>> {
        let dialect = &self.database.dialect;
        let name = self.named(table);
        let mut inquiry = self.inquiry(&table.unit).await?;
        let mut rows = Vec::new();
        for query in dialect.settled_queries(columns, &name, most) {
            rows = inquiry.rows(&query).await.map_err(|error| in_use(table, &error))?;
        }
        Ok(rows)
    }

    pub(crate) async fn inquiry(&self, unit: &str) -> Result<Inquiry> {
        let own = self.units.iter().find(|(name, _)| name == unit);
        let (_, connector) =
            own.ok_or_else(|| Error::internal(format!("no storage unit is named `{unit}`")))?;
        Inquiry::connect(unit, connector, self.runtime).await
    }
}

/// Rows are told apart by 64 bits of their values: good enough for what nobody forges.
fn hashed(row: &Vec<Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{row:?}").hash(&mut hasher);
    hasher.finish()
}

/// A transaction that holds on to the table is the usual cause.
fn in_use(table: &Found, error: &Error) -> Error {
    let message = format!(
        "the rows of `{}.{}` cannot be counted: {error}; end the transactions that use the table and try again",
        table.unit, table.table
    );
    let (number, sqlstate, severity) = (17012, "55006".to_owned(), "ERROR".to_owned());
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate,
        message,
        severity,
        ..ServerError::default()
    }))
    .into()
}

/// A row of the tables query; nothing for what is no table, such as a sequence.
fn table(unit: &str, row: &[Value]) -> Option<Found> {
    if row.get(2) == Some(&Value::Bool(true)) {
        return None;
    }
    let schema = row.first().and_then(text);
    Some(Found { unit: unit.to_owned(), schema, table: row.get(1).and_then(text)? })
}
