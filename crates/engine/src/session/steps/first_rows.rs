//! UPDATE and DELETE … ORDER BY … LIMIT over several shards: the first rows' keys are read under lock, then these rows are changed.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::error::{Error, Result};
use pando_kernel::row::Rows;
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::{Limited, unread as syntax_error};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{Given, MAX_NEEDS};
use crate::session::steps::frame;
use crate::session::steps::frame::{Batches, Stepped, changed_meanwhile};
use crate::session::steps::insert_select::{each_row, literal};

/// Runs the statement; the refusal stands where its rows cannot be named by a key.
pub(in crate::session) async fn start_limited(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<()> {
    let Some(parts) = limited_of(session, live, stmt).await? else { return Err(refusal) };
    if let Some(relations) = live.database.dialect.relations() {
        relations.check(session.settings.variables().list())?;
    }
    let read = pando_sql::parse(&parts.read, live.database.dialect.syntax());
    let read = read.map_err(syntax_error)?;
    let kept = frame::begin_steps(session, live).await?;
    let stepped = limited_steps(session, live, given, &parts, &read).await;
    frame::end_steps(
        session,
        live,
        kept,
        stepped,
        crate::session::reply::command_tag::tag(&stmt.kind),
    )
    .await
}

pub(in crate::session) async fn limited_of(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<Option<Limited>> {
    for _ in 0..MAX_NEEDS {
        match session.in_context(live, None, |ctx| plan::limited(ctx, stmt))? {
            Ok(parts) => return Ok(parts),
            Err(need) => session.find_out(live, need).await?,
        }
    }
    Err(Error::internal("planning asks for ever more"))
}

async fn limited_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &Limited,
    read: &Statement,
) -> Result<Stepped> {
    let limit = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let placeholder = dialect.syntax().placeholder;
    let mut keys = Batches::default();
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        each_row(columns, rows, |fields| {
            let literals = fields
                .iter()
                .zip(&parts.key)
                .map(|(field, column)| literal(dialect.as_ref(), *field, Some(column), None));
            keys.push(&literals.collect::<Result<Vec<String>>>()?, limit)
        })
    };
    let reading = given.part(placeholder, &parts.read_parameters, Vec::new());
    let mut told = frame::read_step(session, read, reading, &mut take).await?;
    let mut changing = given.part(placeholder, &parts.change_parameters, Vec::new());
    changing.prepared = !parts.change_parameters.is_empty();
    let mut completions = Vec::new();
    for batch in &keys.list {
        let text: Arc<str> = format!("{}{batch})", parts.head).into();
        let changed = frame::write_step(session, live, &text, &changing, limit).await?;
        told.extend(changed.notices);
        completions.push(changed.completion);
    }
    let mut completion = crate::execute::sum(completions.iter());
    completion.more = false;
    completion.affected.get_or_insert(0);
    // A key that stands on two shards, or rows that came meanwhile.
    if completion.matched.or(completion.affected) != Some(keys.rows) {
        return Err(changed_meanwhile());
    }
    Ok(Stepped { told, completion, key: 0 })
}
