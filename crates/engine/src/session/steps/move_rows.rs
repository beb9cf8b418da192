//! UPDATE of a sharding column: rows are read with their new values under lock, deleted, and inserted again through the
//! planning of any INSERT.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::feature::Catalog;
use pando_kernel::row::Rows;
use pando_kernel::transfer::{Field, Obstacle};
use pando_kernel::{Columns, Dialect, LogicColumns, Value};
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::{Change, MoveRows, MovedTable, Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::given::Given;
use crate::session::run::{find_out, meant, ready};
use crate::session::steps::frame;
use crate::session::steps::frame::{Batches, Stepped, changed_meanwhile};
use crate::session::steps::insert_select::{each_row, literal};

/// The rows with their new values.
#[derive(Debug, Default)]
struct Moved {
    batches: Batches,
    /// Rows of which a value is another now.
    changed: u64,
}

/// Runs the statement.
pub(in crate::session) async fn start_move_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    table: &MovedTable,
) -> Result<()> {
    let parts = parts_of(session, live, stmt, table).await?;
    if parts.returning.is_some() && session.outbox.is_limited() {
        return Err(Error::unsupported(
            20031,
            "the rows of RETURNING come at once where an UPDATE moves them to other shards",
            "execute it without a row limit",
        ));
    }
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = move_rows_steps(session, live, given, &parts).await;
    frame::end_steps(session, live, kept, stepped).await
}

/// The statement taken apart; refused where its rows cannot be moved. What stands in the way is asked each time: nobody tells when it changes.
pub(in crate::session) async fn parts_of(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    table: &MovedTable,
) -> Result<MoveRows> {
    let obstacles = obstacles(session, live, table).await?;
    find_out::find_out_until(session, live, None, |ctx| plan::move_rows(ctx, stmt, &obstacles))
        .await
}

/// What the table's first node tells about taking rows out and putting them in again.
async fn obstacles(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &MovedTable,
) -> Result<Vec<Obstacle>> {
    let syntax = live.database.dialect.syntax();
    let query = pando_sql::parse(&table.query, syntax).map_err(crate::plan::unread)?;
    let plan =
        ready::single_plan(session, live, &query, &Given::default(), Purpose::Describe).await?;
    obstacles_of(session, live, &plan, &table.logic).await
}

/// As [`obstacles`], of the table as a plan's first unit has it. Who takes writes is asked.
pub(in crate::session) async fn obstacles_of(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Plan,
    logic: &str,
) -> Result<Vec<Obstacle>> {
    let dialect = Arc::clone(&live.database.dialect);
    let Some(transfer) = dialect.transfer() else { return Ok(Vec::new()) };
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    let actual = unit.target.actual(logic).unwrap_or(logic);
    let writer = plan::writer_of(&live.database, Arc::clone(&unit.target.unit));
    let schema = meant::schema_of(session, live, logic)?;
    let query = transfer.obstacles_query(schema.as_deref(), actual);
    let rows = ask::ask(session, live, &writer, &query).await?;
    let found: Vec<Obstacle> =
        rows.iter().map(|row| transfer.read_obstacle(row)).collect::<Result<_>>()?;
    Ok(match session.work.catalog(live).logic(logic) {
        Some(logic) => found.into_iter().map(|one| told(one, &logic)).collect(),
        None => found,
    })
}

/// What a unit tells of a stored column, told of the one that clients see.
fn told(obstacle: Obstacle, logic: &LogicColumns) -> Obstacle {
    let name =
        |stored: String| logic.of_stored(&stored).map_or(stored, |one| one.column.name.clone());
    match obstacle {
        Obstacle::Computed(column) => Obstacle::Computed(name(column)),
        Obstacle::Always(column) => Obstacle::Always(name(column)),
        Obstacle::Stamped(column) => Obstacle::Stamped(name(column)),
        Obstacle::Referenced { .. } | Obstacle::View(_) | Obstacle::Trigger(_) => obstacle,
    }
}

async fn move_rows_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &MoveRows,
) -> Result<Stepped> {
    let limit = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let placeholder = dialect.syntax().placeholder;
    let all: Vec<u32> = (0..).take(given.parameters.len()).collect();
    let mut moved = Moved::default();
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        if has_others(columns, parts) {
            return Err(changed_meanwhile());
        }
        each_row(columns, rows, |fields| {
            let (literals, differs) = row(dialect.as_ref(), parts, fields)?;
            moved.changed += u64::from(differs);
            moved.batches.push(&literals, limit)
        })
    };
    let reading = given.part(placeholder, &all, Vec::new());
    let mut told = frame::read_step(session, live, &parts.read, reading, &mut take).await?;
    if let Some(warning) = session.outbox.first_warning() {
        return Err(Error::unsupported(
            20031,
            format!("computing the new values was warned of: {warning}"),
            "change the expressions so that it is not",
        ));
    }
    if moved.batches.rows > 0 {
        let mut deleting = given.part(placeholder, &parts.delete_parameters, Vec::new());
        deleting.prepared = !parts.delete_parameters.is_empty();
        let deleted = frame::write_step(session, live, &parts.delete, &deleting, limit).await?;
        told.extend(deleted.notices);
        if deleted.completion.affected != Some(moved.batches.rows) {
            return Err(changed_meanwhile());
        }
    }
    let clause = parts.returning.as_ref().map_or("", |returning| &returning.clause);
    let returned = match &parts.returning {
        Some(_) => {
            let own = given.part(placeholder, &[], given.formats.clone());
            Given { prepared: given.prepared, ..own }
        }
        None => Given::default(),
    };
    if let Some(returning) = &parts.returning {
        let mut take = |columns: &Columns, _: Option<&Rows>| {
            told.push(Event::Columns(columns.clone()));
            Ok(())
        };
        frame::read_step(session, live, &returning.none, returned.clone(), &mut take).await?;
    }
    let mut held = 0;
    for batch in &moved.batches.list {
        let text: Arc<str> = format!("{}{batch}{clause}", parts.head).into();
        let inserted = frame::write_step(session, live, &text, &returned, limit - held).await?;
        held += inserted.rows.iter().map(|rows| rows.bytes.len()).sum::<usize>().min(limit - held);
        told.extend(inserted.rows.into_iter().map(Event::Rows));
        if inserted.has_keys {
            return Err(Error::unsupported(
                20031,
                "UPDATE cannot have a sharding column generated anew",
                "give it a value",
            ));
        }
        told.extend(inserted.notices);
    }
    let rows = moved.batches.rows;
    let completion = match dialect.error_fails_transaction() {
        true => Completion { affected: Some(rows), ..Completion::default() },
        false => Completion {
            affected: Some(moved.changed),
            matched: Some(rows),
            ..Completion::default()
        },
    };
    Ok(Stepped { told, completion, key: 0 })
}

/// Whether the table, now that its rows are locked, has columns that were not known when the statement was taken apart:
/// the moved rows would lack them.
fn has_others(read: &Columns, parts: &MoveRows) -> bool {
    let own = read.list.iter().skip(parts.known_from);
    let is_known = |name: &str| parts.known.iter().any(|known| known == name);
    own.into_iter().any(|column| !is_known(&column.name))
}

/// The literals of a row's new values, and whether any is another than before.
fn row(
    dialect: &dyn Dialect,
    parts: &MoveRows,
    fields: &[Option<Field<'_>>],
) -> Result<(Vec<String>, bool)> {
    let field = |at: usize| {
        fields.get(at).copied().ok_or_else(|| Error::internal("a moved row lacks a value"))
    };
    if let Some(at) = parts.survives
        && number(&value(field(at)?)?) == number(&Value::Int(0))
    {
        return Err(Error::unsupported(
            20031,
            "a time that came twice, as the clocks were turned back, cannot travel between shards",
            "set `time_zone` to '+00:00' in this session",
        ));
    }
    let mut literals = Vec::with_capacity(parts.columns.len());
    for (at, column) in parts.columns.iter().enumerate() {
        literals.push(literal(dialect, field(at)?, Some(column), None)?);
    }
    let mut differs = false;
    for (at, change) in &parts.changes {
        let new = match change {
            Change::Default => {
                differs = true;
                "DEFAULT".to_owned()
            }
            Change::Item { at: item, constant } => {
                let new = field(*item)?;
                differs |= !same(field(*at)?, new)?;
                literal(dialect, new, parts.columns.get(*at), constant.as_deref())?
            }
            Change::Stamp(_) => continue,
        };
        if let Some(slot) = literals.get_mut(*at) {
            *slot = new;
        }
    }
    if differs {
        for (at, change) in &parts.changes {
            if let (Change::Stamp(item), Some(slot)) = (change, literals.get_mut(*at)) {
                *slot = literal(dialect, field(*item)?, parts.columns.get(*at), None)?;
            }
        }
    }
    Ok((literals, differs))
}

/// Whether two fields are the same value, whatever their types.
fn same(old: Option<Field<'_>>, new: Option<Field<'_>>) -> Result<bool> {
    let (old, new) = (value(old)?, value(new)?);
    if old == new {
        return Ok(true);
    }
    Ok(match (number(&old), number(&new)) {
        (Some(old), Some(new)) => old == new,
        _ => false,
    })
}

fn value(field: Option<Field<'_>>) -> Result<Value> {
    field.map_or(Ok(Value::Null), |field| field.codec.value(field.column, Some(field.bytes)))
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bytes(_) => None,
        Value::Bool(flag) => Some(Value::Decimal(i32::from(*flag).into())),
        Value::Int(number) => Some(Value::Decimal((*number).into())),
        Value::UInt(number) => Some(Value::Decimal((*number).into())),
        Value::Float(number) => Value::decimal(&number.to_string()),
        Value::Decimal(_) => Some(value.clone()),
        Value::Text(text) => Value::decimal(text.trim()),
    }
}
