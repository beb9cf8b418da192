//! ALTER SEQUENCE … OWNED BY a table of another storage unit: the sequence goes there first, as it stands. It is
//! dropped behind, where it was, with the statement itself. One that is given to a table in several shards becomes a
//! sequence of each of them, as `serial` makes them.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{DataNode, TableKind};
use pando_kernel::route::UnitName;
use pando_sql::Edits;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};

use crate::plan::{self, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::given::Given;
use crate::session::reply::pull::piece;
use crate::session::run::{admission, find_out, on_units, ready};

/// Whether a statement gives a sequence to a table.
pub(in crate::session) fn gives_away(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Define(define) if define.action == DefineAction::Alter
        && define.object == ObjectKind::Sequence && define.on.is_some())
}

/// Makes the sequence where its table is, unless it is there. Returns what is left to run in the statement's place;
/// `None` where that is the statement.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn bring(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Statement>> {
    let Kind::Define(define) = &stmt.kind else { return Ok(None) };
    let (Some(name), Some(words)) = (define.names.first(), live.database.dialect.sequences())
    else {
        return Ok(None);
    };
    if live.database.units.len() < 2 {
        return Ok(None);
    }
    session.work.refuse_if_failed()?;
    let key = name.key();
    let known = find_out::find_out_until(session, live, Some(given), |ctx| {
        Ok(plan::sequence_calls::standing(ctx, &key))
    })
    .await?;
    let Some(home) = known.first() else { return Ok(None) };
    if let Some(shards) = shards(live, define, &key)? {
        if given.awaits_admission {
            admission::admit_change(session, live, stmt).await?;
        }
        return spread(session, live, stmt, Shared { name, home, shards }).await.map(Some);
    }
    let plan = Box::pin(ready::single_plan(session, live, stmt, given, Purpose::Run)).await?;
    let Some(to) = plan.units.first().map(|unit| Arc::clone(&unit.target.unit)) else {
        return Ok(None);
    };
    let written = name.span.of(&stmt.text);
    let Some(query) = words.definition(written).filter(|_| !known.contains(&to)) else {
        return Ok(None);
    };
    for row in ask::ask_dressed(session, live, home, &query).await? {
        let [Value::Text(text)] = &row[..] else { continue };
        let made = parsed(live, text)?;
        run_at(session, made, &to).await?;
    }
    Ok(None)
}

/// A sequence that is to count for a table in several shards.
struct Shared<'a> {
    name: &'a ObjectName,
    home: &'a UnitName,
    shards: Vec<Shard>,
}

/// An actual table, and its sequence's name.
struct Shard {
    unit: UnitName,
    table: String,
    sequence: String,
}

/// The shards of the table that a sequence is given to; `None` of one that does not stand in several.
///
/// # Errors
/// `Refused` for a sequence that would not be found again by its name.
fn shards(live: &LiveDatabase, define: &Define, key: &str) -> Result<Option<Vec<Shard>>> {
    let Some(on) = &define.on else { return Ok(None) };
    let syntax = live.database.dialect.syntax();
    let mut tables = live.database.features.iter().flat_map(|feature| feature.tables());
    let table = tables.find(|table| syntax.table_key(&table.name) == on.key());
    let Some(table) = table.filter(|table| table.kind == TableKind::Sharded) else {
        return Ok(None);
    };
    let rest = key.strip_prefix(&on.key()).filter(|rest| rest.starts_with('_'));
    let Some(rest) = rest.filter(|rest| rest.ends_with("_seq")) else {
        return Err(Error::unsupported(
            30001,
            format!(
                "sequence `{key}` is to count for table `{}`, which stands in several shards: it is found by the name that servers give it",
                on.key()
            ),
            "rename it to table_column_seq first: ALTER SEQUENCE … RENAME TO …",
        ));
    };
    let shard = |node: &DataNode| Shard {
        unit: Arc::clone(&node.unit),
        table: syntax.table_key(&node.table),
        sequence: syntax.table_key(&format!("{}{rest}", node.table)),
    };
    Ok(Some(table.nodes.iter().map(shard).collect()))
}

/// Makes a sequence for each shard, as the shared one stands, and drops that. Returns the statement for the last shard,
/// which is the client's answer.
async fn spread(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    shared: Shared<'_>,
) -> Result<Statement> {
    let Shared { name, home, shards } = shared;
    let Some(words) = live.database.dialect.sequences() else {
        return Err(Error::internal("a family without sequences"));
    };
    let written = name.span.of(&stmt.text);
    let query = words.definition(written).unwrap_or_default();
    let rows = ask::ask_dressed(session, live, home, &query).await?;
    let is_kept = shards.iter().any(|shard| shard.unit == *home && shard.sequence == name.key());
    let mut last = None;
    for shard in &shards {
        let is_there = shard.unit == *home && shard.sequence == name.key();
        for row in rows.iter().filter(|_| !is_there) {
            let [Value::Text(text)] = &row[..] else { continue };
            let made = renamed(live, &parsed(live, text)?, shard)?;
            run_at(session, made, &shard.unit).await?;
        }
        let owned = renamed(live, stmt, shard)?;
        if let Some((earlier, unit)) = last.replace((owned, Arc::clone(&shard.unit))) {
            run_at(session, earlier, &unit).await?;
        }
    }
    if !is_kept {
        let drop = parsed(live, &format!("DROP SEQUENCE {written}"))?;
        run_at(session, drop, home).await?;
    }
    let (mut owned, unit) = last.ok_or_else(|| Error::internal("a table without shards"))?;
    owned.hints.push(("DATA_SOURCE_NAME".to_owned(), unit.to_string()));
    Ok(owned)
}

/// A definition of the sequence, of a shard's own.
fn renamed(live: &LiveDatabase, stmt: &Statement, shard: &Shard) -> Result<Statement> {
    let Kind::Define(define) = &stmt.kind else {
        return Err(Error::internal("a sequence is defined by another statement"));
    };
    let mut edits = Edits::default();
    let dialect = &live.database.dialect;
    let last = |name: &ObjectName| name.parts.last().map(|part| part.span);
    if let Some(at) = define.names.first().and_then(last) {
        edits.replace(at, dialect.quote(&shard.sequence));
    }
    if let Some(at) = define.on.as_ref().and_then(last) {
        edits.replace(at, dialect.quote(&shard.table));
    }
    parsed(live, &edits.apply(&stmt.text))
}

fn parsed(live: &LiveDatabase, text: &str) -> Result<Statement> {
    pando_sql::parse(text, live.database.dialect.syntax()).map_err(plan::unread)
}

/// Runs a definition of Pando's own on one unit; the client hears of its own statement only.
async fn run_at(session: &mut Session, stmt: Statement, unit: &UnitName) -> Result<()> {
    let mut stmt = stmt;
    stmt.hints.push(("DATA_SOURCE_NAME".to_owned(), unit.to_string()));
    Box::pin(on_units::run_as_one(session, &stmt, Given::default())).await?;
    while Box::pin(piece::next_of_reply(session)).await?.is_some() {}
    Ok(())
}
