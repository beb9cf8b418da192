//! ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE, where they answer with rows: every node of a table is asked,
//! and the answers are told of the logic table.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::presentation::Maintained;
use pando_kernel::{Column, Kind as ValueKind, Value};
use pando_sql::ast::{Kind, ObjectName, Statement};
use pando_sql::{Edits, Span};

use crate::execute::{Loaded, heads, load};
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::given::Given;
use crate::session::place::own_database;
use crate::session::reply::made;
use crate::session::reply::warnings::decoded;
use crate::session::run::{admission, connect, ready};
use crate::session::transaction::commit;

/// Rows with the columns their unit described; none where no unit was asked.
type Answer = (Vec<Column>, Vec<Vec<Value>>);

/// Runs such a statement table by table; false when it is another.
pub(in crate::session) async fn maintain(session: &mut Session, stmt: &Statement) -> Result<bool> {
    let Kind::Utility { verb, tables, .. } = &stmt.kind else { return Ok(false) };
    let dialect = session.place.dialect();
    let kind = dialect.as_ref().and_then(|own| own.presentation()?.maintained(verb));
    let (Some(kind), [first, .., last] | [first @ last]) = (kind, &tables[..]) else {
        return Ok(false);
    };
    if !stmt.hints.is_empty()
        || session.temporary.shown(session.place.current()).is_some_and(|own| own.concern(stmt))
    {
        return Ok(false);
    }
    session.work.refuse_if_failed()?;
    own_database::refuse_without_database(session, stmt)?;
    let live = session.place.live()?;
    admission::admit_by_table(session, &live, stmt).await?;
    let messages = matches!(kind, Maintained::Messages { .. });
    if messages && !session.work.is_idle() {
        commit::commit_implicitly(session).await?;
    }
    let list = Span::new(first.span.start, last.span.end);
    let (mut columns, mut rows) = (computed(&kind), Vec::new());
    for table in tables {
        let mut edits = Edits::default();
        edits.replace(list, table.span.of(&stmt.text));
        let (described, told) =
            maintain_one(session, &edits.apply(&stmt.text), table, &kind).await?;
        if !described.is_empty() {
            columns = described;
        }
        rows.extend(told);
    }
    made::typed_rows(session, "", columns, &rows)?;
    Ok(true)
}

async fn maintain_one(
    session: &mut Session,
    text: &str,
    table: &ObjectName,
    kind: &Maintained,
) -> Result<Answer> {
    let live = session.place.live()?;
    let stmt =
        pando_sql::parse(text, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    let own = table.parts.last().map_or("", |part| part.value.as_str());
    let name = format!("{}.{own}", live.database.name);
    match ready::single_plan(session, &live, &stmt, &Given::default(), Purpose::Run).await {
        Ok(plan) => {
            let (columns, rows) = asked(session, &live, &plan).await?;
            Ok((columns, told(rows, &name, kind, &plan)))
        }
        Err(error) if matches!(error.kind(), ErrorKind::UnknownTable(_)) => {
            Ok((Vec::new(), missing(&name, kind)))
        }
        Err(error) => Err(error),
    }
}

/// The rows of all units of a plan, in its order.
async fn asked(session: &mut Session, live: &Arc<LiveDatabase>, plan: &Plan) -> Result<Answer> {
    let started = connect::start_units(session, live, plan, &Given::default()).await?;
    let mut channels = started.channels;
    let limit = session.place.properties().memory_bytes;
    let loaded = match heads(&mut channels).await {
        Ok(heads) => load(&mut channels, heads, limit).await,
        Err(error) => Err(error),
    };
    release::release_channels(session, channels).await;
    let mut replies: Vec<(usize, Loaded)> = Vec::new();
    for (loaded, jobs) in loaded?.into_iter().zip(started.jobs) {
        replies.extend(jobs.into_iter().zip(loaded));
    }
    replies.sort_by_key(|(job, _)| *job);
    let (mut described, mut rows) = (Vec::new(), Vec::new());
    for (_, reply) in replies {
        let columns = reply.columns.ok_or_else(|| Error::internal("an answer without rows"))?;
        for chunk in &reply.rows {
            rows.extend(decoded(&columns, chunk)?);
        }
        described = columns.list.to_vec();
    }
    Ok((described, rows))
}

fn computed(kind: &Maintained) -> Vec<Column> {
    match kind {
        Maintained::Messages { labels, .. } => {
            labels.map(|label| Column::computed(label, ValueKind::Text)).into()
        }
        Maintained::Checksums { labels: [table, checksum] } => vec![
            Column::computed(*table, ValueKind::Text),
            Column::computed(*checksum, ValueKind::Int),
        ],
    }
}

/// What the nodes said, told of the logic table.
fn told(rows: Vec<Vec<Value>>, name: &str, kind: &Maintained, plan: &Plan) -> Vec<Vec<Value>> {
    let text = |text: &str| Value::Text(text.to_owned());
    match kind {
        Maintained::Messages { .. } => {
            let mut list: Vec<Vec<Value>> = Vec::new();
            for row in rows {
                let actual = row.first().map(shown).unwrap_or_default();
                let rest =
                    row.iter().skip(1).map(|field| text(&shown(field).replace(&actual, name)));
                let row: Vec<Value> = std::iter::once(text(name)).chain(rest).collect();
                if !list.contains(&row) {
                    list.push(row);
                }
            }
            list
        }
        Maintained::Checksums { .. } => {
            // Copies of a table are one table; parts of it are not.
            let copies = plan.units.iter().all(|unit| unit.target.tables.is_empty());
            let taken = if copies { 1 } else { rows.len() };
            let sums = rows.iter().take(taken).filter_map(|row| number(row.get(1)?));
            let sum = sums.reduce(|a, b| (a + b) % (1 << 32));
            vec![vec![text(name), sum.map_or(Value::Null, Value::UInt)]]
        }
    }
}

fn missing(name: &str, kind: &Maintained) -> Vec<Vec<Value>> {
    let text = |text: &str| Value::Text(text.to_owned());
    match kind {
        Maintained::Messages { missing, .. } => missing
            .iter()
            .map(|rest| {
                let rest = rest.iter().map(|field| text(&field.replace("{}", name)));
                std::iter::once(text(name)).chain(rest).collect()
            })
            .collect(),
        Maintained::Checksums { .. } => vec![vec![text(name), Value::Null]],
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Null => String::new(),
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Decimal(n) => n.to_plain_string(),
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => None,
    }
}
