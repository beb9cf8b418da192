//! The first statement about a sharded or broadcast table looks whether the table's rows are where its rule looks for
//! them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::Value;
use pando_kernel::dialect::{Dialect, Equality, TableColumn};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Catalog, DataNode, LogicTable, TableKind};
use pando_kernel::route::{Need, UnitName};
use pando_kernel::runtime::within;
use pando_sql::ast::Statement;
use pando_sql::visit;

use crate::doubts::Verdict;
use crate::placement;
use crate::plan::writer_of;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::run::{find_out, meant};

/// Actual tables of one that are looked at.
const NODES: usize = 32;
/// Rows of each.
const ROWS: usize = 100;
/// Rows of each among which those are looked for whose text stands for itself nowhere.
const AMONG: usize = 5000;
/// Time for all of it: a storage unit that hangs keeps no statement that does not need it.
const LIMIT: Duration = Duration::from_secs(2);

/// Refuses a statement about a sharded table that has rows where its rule does not look for them, or stands before a
/// single table with rows.
///
/// # Errors
/// `Refused`, with what is where.
pub(in crate::session) async fn vouch(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<()> {
    if !live.doubts.are() {
        return Ok(());
    }
    let names: BTreeSet<String> = visit::tables(&stmt.kind)
        .iter()
        .filter_map(|occurrence| Some(occurrence.name.parts.last()?.key()))
        .collect();
    for name in names {
        let runtime = Arc::clone(&session.place.engine().inner.runtime);
        if matches!(live.doubts.about(&name, runtime.now()), Verdict::Fine) {
            continue;
        }
        let _turn = within(&*runtime, LIMIT, live.doubts.turn.lock()).await;
        // Who had the turn before has seen the same.
        let table = match live.doubts.about(&name, runtime.now()) {
            Verdict::Fine => continue,
            Verdict::Wrong(why) => return Err(unreachable_rows(&name, &why)),
            Verdict::Look(table) => table,
        };
        let looked = within(&*runtime, LIMIT, Box::pin(look(session, live, &table))).await;
        match looked {
            Some(Ok(None)) => live.doubts.settle(&table),
            Some(Ok(Some(why))) => {
                let why: Arc<str> = why.into();
                live.doubts.keep(&table, runtime.now(), Some(Arc::clone(&why)));
                return Err(unreachable_rows(&name, &why));
            }
            // Whatever keeps us from looking keeps the statement, too, where it concerns it.
            Some(Err(error)) => {
                tracing::debug!(%error, table = table.name, "a table's rows could not be looked at");
                live.doubts.keep(&table, runtime.now(), None);
            }
            None => live.doubts.keep(&table, runtime.now(), None),
        }
    }
    Ok(())
}

/// What is wrong with the places of a table's rows, if anything is.
async fn look(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &LogicTable,
) -> Result<Option<String>> {
    match table.kind {
        TableKind::Sharded => look_at_parts(session, live, table).await,
        TableKind::Broadcast => look_at_copies(session, live, table).await,
        TableKind::Single => Ok(None),
    }
}

/// A broadcast table has rows everywhere, or nowhere: that of one storage unit alone was there before its rule.
async fn look_at_copies(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &LogicTable,
) -> Result<Option<String>> {
    let dialect = Arc::clone(&live.database.dialect);
    let query = format!("SELECT 1 FROM {} LIMIT 1", dialect.quote(&table.name));
    let (mut full, mut empty) = (None, Vec::new());
    for node in &table.nodes {
        let unit = writer_of(&live.database, Arc::clone(&node.unit));
        if has_rows(session, live, &unit, &table.name, &query).await? {
            full = Some(unit);
        } else {
            empty.push(unit);
        }
    }
    let Some(full) = full else { return Ok(None) };
    for unit in empty {
        // Somebody's first rows may have been on their way.
        if !has_rows(session, live, &unit, &table.name, &query).await? {
            return Ok(Some(format!(
                "storage unit `{full}` has rows of it, and `{unit}` has none"
            )));
        }
    }
    Ok(None)
}

async fn has_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    table: &str,
    query: &str,
) -> Result<bool> {
    if session.work.catalog(live).tables().is_none() {
        find_out::find_out(session, live, Need::Tables).await?;
    }
    let tables = session.work.catalog(live).tables().unwrap_or_default();
    let key = live.database.dialect.syntax().table_key(table);
    let stands = tables.get(&key).is_some_and(|units| units.contains(unit));
    Ok(stands
        && is_named(session, live, unit, table).await?
        && !ask::ask(session, live, unit, query).await?.is_empty())
}

/// A sharded table has its rows where its rule looks for them, and no single table stands behind it.
async fn look_at_parts(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &LogicTable,
) -> Result<Option<String>> {
    let dialect = Arc::clone(&live.database.dialect);
    let key = dialect.syntax().table_key(&table.name);
    if session.work.catalog(live).tables().is_none() {
        find_out::find_out(session, live, Need::Tables).await?;
    }
    let tables = session.work.catalog(live).tables().unwrap_or_default();
    let stands = |unit: &UnitName, name: &str| {
        let name = dialect.syntax().table_key(name);
        tables.get(&name).is_some_and(|units| units.contains(unit))
    };
    let home = |node: &DataNode| DataNode {
        unit: writer_of(&live.database, Arc::clone(&node.unit)),
        table: Arc::clone(&node.table),
    };
    let nodes: Vec<DataNode> = table.nodes.iter().map(home).collect();
    for unit in &live.database.units {
        let is_own =
            |node: &DataNode| node.unit == *unit && dialect.syntax().table_key(&node.table) == key;
        if !stands(unit, &key) || nodes.iter().any(is_own) {
            continue;
        }
        if !is_named(session, live, unit, &table.name).await? {
            continue;
        }
        let query = format!("SELECT 1 FROM {} LIMIT 1", dialect.quote(&table.name));
        if !ask::ask(session, live, unit, &query).await?.is_empty() {
            return Ok(Some(format!(
                "storage unit `{unit}` has a table `{}` with rows that is none of its actual tables",
                table.name
            )));
        }
    }
    let nodes = nodes.into_iter().filter(|node| stands(&node.unit, &node.table));
    let nodes: Vec<DataNode> = nodes.take(NODES).collect();
    if table.keys.is_empty() || nodes.is_empty() {
        return Ok(None);
    }
    if meant::columns(session, live, &key).is_none() {
        find_out::find_out(session, live, Need::Columns(key.clone())).await?;
    }
    let columns = meant::columns(session, live, &key).unwrap_or_default();
    let Ok(keys) = placement::key_columns(table, &columns) else { return Ok(None) };
    if let Some(logic) = session.work.catalog(live).logic(&key)
        && keys.iter().any(|column| logic.turns(&column.name))
    {
        // A rule leads to a row by its values, and these are not what is stored.
        return Ok(None);
    }
    let respelt = respelt(&*dialect, &keys);
    let keys: Vec<String> = keys.iter().map(|column| dialect.quote(&column.name)).collect();
    for node in &nodes {
        if !is_named(session, live, &node.unit, &node.table).await? {
            continue;
        }
        let from = dialect.quote(&node.table);
        let keys = keys.join(", ");
        let query = format!("SELECT {keys} FROM {from} LIMIT {ROWS}");
        let mut rows: Vec<Vec<Value>> = ask::ask(session, live, &node.unit, &query).await?;
        if let Some(respelt) = respelt.as_ref().filter(|_| rows.len() == ROWS) {
            let among = format!("(SELECT {keys} FROM {from} LIMIT {AMONG}) pando_rows");
            let query = format!("SELECT {keys} FROM {among} WHERE {respelt} LIMIT {ROWS}");
            rows.extend(ask::ask(session, live, &node.unit, &query).await?);
        }
        let rows = placement::Rows { node, columns: &columns, keys: &rows };
        if let Some(why) = placement::misplaced(&live.database, table, rows)? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// A condition for rows by which it can be told whether texts were placed as they are written, or by the one text that stands for all that are equal.
fn respelt(dialect: &dyn Dialect, keys: &[&TableColumn]) -> Option<String> {
    let one = |column: &&TableColumn| match dialect.equality(column) {
        Equality::Folded(folding) => Some(folding.by.respelt(&dialect.quote(&column.name))),
        Equality::Exact | Equality::Padded | Equality::Loose => None,
    };
    let all: Vec<String> = keys.iter().filter_map(one).collect();
    (!all.is_empty()).then(|| all.join(" OR "))
}

/// Whether a plain name means a table on a unit: it may stand in a schema that is not looked into, and an error would
/// fail the client's transaction.
async fn is_named(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &str,
    table: &str,
) -> Result<bool> {
    let dialect = Arc::clone(&live.database.dialect);
    if !dialect.error_fails_transaction() {
        return Ok(true);
    }
    Ok(!ask::ask(session, live, unit, &dialect.columns_query(None, table)).await?.is_empty())
}

fn unreachable_rows(table: &str, why: &str) -> Error {
    Error::unsupported(
        20045,
        format!("the rule of table `{table}` would not find rows that are there: {why}"),
        "give the table the rule that its rows were written by (`text-keys: bytes` where texts were told apart by case), or move them over with INSERT … SELECT as docs/bring-your-database.md shows",
    )
}
