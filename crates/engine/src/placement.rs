//! Whether rows are where a rule looks for them: each is looked for as a client's query would look.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Catalog, Context, DataNode, Database, LogicTable, SessionView};
use pando_kernel::route::{Route, UnitName};

use crate::clock::System;
use crate::plan::writer_of;

/// Rows of one actual table.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The actual table.
    pub node: &'a DataNode,
    /// The columns of the sharded table.
    pub columns: &'a Arc<Vec<TableColumn>>,
    /// The values of its sharding columns, in the rule's order.
    pub keys: &'a [Vec<Value>],
}

/// All that is known: one table's columns.
#[derive(Debug)]
struct OneTable {
    key: String,
    columns: Arc<Vec<TableColumn>>,
}

impl Catalog for OneTable {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        (self.key == table).then(|| Arc::clone(&self.columns))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }
}

/// The columns of an actual table that decide where its rows are, in the rule's order; `Err` names one that is missing.
///
/// # Errors
/// The name of the missing column.
pub fn key_columns<'c>(
    table: &LogicTable,
    columns: &'c [TableColumn],
) -> Result<Vec<&'c TableColumn>, String> {
    let find = |key: &String| {
        let own = columns.iter().find(|column| column.name.eq_ignore_ascii_case(key));
        own.ok_or_else(|| key.clone())
    };
    table.keys.iter().map(find).collect()
}

/// The first of the rows that its values do not lead to, in words. Rows with a NULL in a sharding column are looked for everywhere.
///
/// # Errors
/// What the rooms say to a query for the row.
pub fn misplaced(
    database: &Database,
    table: &LogicTable,
    rows: Rows<'_>,
) -> Result<Option<String>> {
    let dialect = database.dialect.as_ref();
    let key = dialect.syntax().table_key(&table.name);
    let catalog = OneTable { key, columns: Arc::clone(rows.columns) };
    let view = SessionView { describes: true, ..SessionView::default() };
    let source = System::default();
    let ctx = Context {
        database,
        catalog: &catalog,
        dialect,
        parameters: None,
        session: &view,
        source: &source,
    };
    let ctx = &ctx;
    for values in rows.keys {
        if values.iter().any(Value::is_null) {
            continue;
        }
        if !is_looked_for(ctx, table, rows.node, values)? {
            let pairs = table.keys.iter().zip(values);
            let pairs: Vec<String> = pairs
                .map(|(key, value)| format!("{key} = {}", ctx.dialect.literal(value)))
                .collect();
            let node = format!("{}.{}", rows.node.unit, rows.node.table);
            return Ok(Some(format!("`{node}` has a row with {}", pairs.join(" and "))));
        }
    }
    Ok(None)
}

fn is_looked_for(
    ctx: &Context<'_>,
    table: &LogicTable,
    node: &DataNode,
    values: &[Value],
) -> Result<bool> {
    let quote = |name: &str| ctx.dialect.quote(name);
    let name = ctx.dialect.syntax().table_key(&table.name);
    let pairs = table.keys.iter().zip(values);
    let conditions: Vec<String> = pairs
        .map(|(key, value)| {
            format!("{} = {}", quote(&key.to_lowercase()), ctx.dialect.literal(value))
        })
        .collect();
    let text = format!("SELECT 1 FROM {} WHERE {}", quote(&name), conditions.join(" AND "));
    let stmt = pando_sql::parse(&text, ctx.dialect.syntax())
        .map_err(|error| Error::internal(error.to_string()))?;
    let mut route = Route::Unclaimed;
    for room in &ctx.database.features {
        // A value that the rule knows no place for is looked for nowhere.
        if room.route(ctx, &stmt, &mut route).is_err() {
            return Ok(false);
        }
        if route != Route::Unclaimed {
            break;
        }
    }
    // A group is another word for the unit that takes its writes.
    let home = |unit: &UnitName| writer_of(ctx.database, UnitName::clone(unit));
    let own = home(&node.unit);
    let is_node = |unit: &UnitName, actual: Option<&str>| {
        home(unit) == own && node.table.eq_ignore_ascii_case(actual.unwrap_or(&table.name))
    };
    Ok(match route {
        Route::Units(units) => {
            let mut targets = units.targets.iter();
            targets.any(|target| is_node(&target.unit, target.actual(&name)))
        }
        // Nothing is known against it.
        Route::Unclaimed | Route::Needs(_) => true,
    })
}
