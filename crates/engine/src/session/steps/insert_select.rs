//! INSERT … SELECT over units that do not stand together: all rows are read, then written in batches through the
//! planning of any INSERT.

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::{Description, Event};
use pando_kernel::request::Prepared;
use pando_kernel::row::Rows;
use pando_kernel::transfer::Field;
use pando_kernel::{Columns, Dialect, Native};
use pando_sql::ast::Statement;

use crate::plan::{InsertSelect, Planned, Purpose, taken, unread as syntax_error};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::{describe, planning};
use crate::session::statement::counters;
use crate::session::steps::frame;
use crate::session::steps::frame::{Batches, Stepped};

/// Runs the statement.
pub(in crate::session) async fn start_insert_select(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    parts: &InsertSelect,
) -> Result<()> {
    if parts.returns && session.outbox.is_limited() {
        return Err(Error::unsupported(
            20034,
            "the rows of INSERT … SELECT … RETURNING over several shards come at once",
            "execute it without a row limit",
        ));
    }
    target_is_fit(session, live, stmt, parts).await?;
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = insert_select_steps(session, live, given, parts).await;
    frame::end_steps(session, live, kept, stepped).await
}

/// Refuses what no row could change: clauses that the target's shards cannot keep, columns nobody gives.
pub(in crate::session) async fn target_is_fit(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    parts: &InsertSelect,
) -> Result<()> {
    let template = template(live, stmt, parts)?;
    let given = Given::default();
    let planned = Box::pin(planning::planned(session, live, &template, &given, Purpose::Describe));
    let planned = match planned.await {
        // Its rows will have numbers.
        Err(refusal) if counters::is_uncounted(&template, &refusal) => return Ok(()),
        planned => planned?,
    };
    match planned {
        Planned::Run(_) => Ok(()),
        Planned::Steps(found) => Err(found.refusal),
        Planned::Assembly(_) | Planned::Needs(_) => Err(Error::unsupported(
            20034,
            "a query behind the rows of INSERT … SELECT over several shards is not supported",
            "read it first",
        )),
    }
}

fn template(live: &LiveDatabase, stmt: &Statement, parts: &InsertSelect) -> Result<Statement> {
    let syntax = live.database.dialect.syntax();
    let text = parts.template(syntax.placeholder, stmt.parameters);
    pando_sql::parse(&text, syntax).map_err(syntax_error)
}

/// Reads the rows and writes them, in the transaction that is open.
pub(in crate::session) async fn insert_select_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &InsertSelect,
) -> Result<Stepped> {
    let limit = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let placeholder = dialect.syntax().placeholder;
    let reading = given.part(placeholder, &parts.query_parameters, Vec::new());
    let mut batches = Batches::default();
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        counted(parts, columns, dialect.as_ref())?;
        each_row(columns, rows, |fields| {
            let literals: Result<Vec<String>> = fields
                .iter()
                .enumerate()
                .map(|(at, field)| {
                    let constant = parts.constants.get(at).and_then(Option::as_deref);
                    literal(dialect.as_ref(), *field, parts.columns.get(at), constant)
                })
                .collect();
            batches.push(&literals?, limit)
        })
    };
    let told = frame::read_step(session, live, &parts.query, reading, &mut take).await?;
    if let Some(warning) = session.outbox.first_warning().filter(|_| !parts.ignores) {
        return Err(Error::unsupported(
            20034,
            format!("reading the rows of INSERT … SELECT was warned of: {warning}"),
            "change the query so that it is not, or write INSERT IGNORE",
        ));
    }
    let prepared = !parts.rest_parameters.is_empty() || parts.returns && given.prepared;
    let writing = match prepared {
        true => given.part(placeholder, &parts.rest_parameters, given.formats.clone()),
        false => Given::default(),
    };
    let texts = batches.list.iter().map(|batch| parts.insert(batch));
    let mut stepped = frame::write_steps(session, live, texts, &writing, limit).await?.after(told);
    if parts.returns && batches.list.is_empty() {
        let described = describe_template(session, live, parts, given).await?;
        stepped.told.extend(described.map(Event::Columns));
    }
    Ok(stepped)
}

async fn describe_template(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parts: &InsertSelect,
    given: &Given,
) -> Result<Option<Columns>> {
    let parameters = u32::try_from(given.parameters.len()).unwrap_or(u32::MAX - 1);
    let syntax = live.database.dialect.syntax();
    let text = parts.template(syntax.placeholder, parameters);
    let prepared = prepared(text, syntax, given.declared.to_vec())?;
    Ok(Box::pin(describe::describe_as_one(session, &prepared)).await?.columns)
}

/// What a prepared INSERT … SELECT takes and returns: its query and its target are described one by one.
pub(in crate::session) async fn describe_insert_select(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    asked: &Arc<Prepared>,
    parts: &InsertSelect,
) -> Result<Description> {
    let stmt = Arc::clone(&asked.statement);
    frame::refuse_cut_reads(session, live)?;
    target_is_fit(session, live, &stmt, parts).await?;
    let syntax = live.database.dialect.syntax();
    let declared = |own: &[u32]| taken(syntax.placeholder, &asked.declared, own);
    let mut parameters = vec![Native::default(); stmt.parameters as usize];
    let placeholder = syntax.placeholder;
    let query = prepared(Arc::clone(&parts.query), syntax, declared(&parts.query_parameters))?;
    let read = Box::pin(describe::describe_as_one(session, &query)).await?;
    note(&mut parameters, placeholder, &parts.query_parameters, &read.parameters);
    let mut columns = None;
    if parts.returns || !parts.rest_parameters.is_empty() {
        let text = parts.template(syntax.placeholder, stmt.parameters);
        let written = prepared(text, syntax, declared(&parts.rest_parameters))?;
        let written = Box::pin(describe::describe_as_one(session, &written)).await?;
        if syntax.placeholder == pando_sql::Placeholder::Dollar {
            note(&mut parameters, placeholder, &parts.rest_parameters, &written.parameters);
        }
        columns = written.columns;
    }
    Ok(Description { parameters, columns })
}

impl Given {
    /// What a part of the statement takes. It always runs as a prepared one, whose rows keep their types.
    pub(in crate::session) fn part(
        &self,
        placeholder: pando_sql::Placeholder,
        own: &[u32],
        formats: Vec<pando_kernel::Format>,
    ) -> Self {
        Self {
            parameters: taken(placeholder, &self.parameters, own),
            declared: taken(placeholder, &self.declared, own).into(),
            formats,
            era: self.era,
            prepared: true,
            ..Self::default()
        }
    }
}

/// Notes the types of a part's parameters where the statement has them.
pub(in crate::session) fn note(
    parameters: &mut [Native],
    placeholder: pando_sql::Placeholder,
    own: &[u32],
    found: &[Native],
) {
    let numbered = (0..).zip(found);
    for (at, native) in numbered.filter(|(_, native)| **native != Native::default()) {
        let index = match placeholder {
            pando_sql::Placeholder::Dollar => at,
            pando_sql::Placeholder::Question => {
                own.get(at).map_or(usize::MAX, |index| *index as usize)
            }
        };
        if let Some(slot) = parameters.get_mut(index) {
            *slot = *native;
        }
    }
}

pub(in crate::session) fn prepared(
    text: Arc<str>,
    syntax: &pando_sql::Syntax,
    declared: Vec<u32>,
) -> Result<Arc<Prepared>> {
    let statement = pando_sql::parse(&text, syntax).map_err(syntax_error)?;
    Ok(Arc::new(Prepared::new(text, statement, declared)))
}

/// Calls `each` with the fields of every row; NULL is `None`.
pub(in crate::session) fn each_row(
    columns: &Columns,
    rows: Option<&Rows>,
    mut each: impl FnMut(&[Option<Field<'_>>]) -> Result<()>,
) -> Result<()> {
    let Some(rows) = rows else { return Ok(()) };
    let mut ranges = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut ranges)?;
        let fields: Result<Vec<Option<Field<'_>>>> = columns
            .list
            .iter()
            .zip(&ranges)
            .map(|(column, range)| {
                let Some(range) = range.clone() else { return Ok(None) };
                let bytes = body.get(range);
                let bytes = bytes.ok_or_else(|| Error::protocol("a field leaves its row"))?;
                Ok(Some(Field { column, codec: columns.codec.as_ref(), bytes }))
            })
            .collect();
        each(&fields?)
    })
}

/// The literal of a field; a constant stays as it was written, and is read as the column reads it.
pub(in crate::session) fn literal(
    dialect: &dyn Dialect,
    field: Option<Field<'_>>,
    to: Option<&TableColumn>,
    constant: Option<&str>,
) -> Result<String> {
    let Some(field) = field else { return Ok("NULL".to_owned()) };
    if let Some(constant) = constant {
        return Ok(constant.to_owned());
    }
    let transfer = dialect.transfer().ok_or_else(|| Error::internal("rows that cannot travel"))?;
    transfer.literal(&field, to)
}

/// Refuses a query with another number of columns than the INSERT takes, as a server does.
fn counted(parts: &InsertSelect, read: &Columns, dialect: &dyn Dialect) -> Result<()> {
    let (given, taken) = (read.list.len(), parts.columns.len());
    let fails = dialect.error_fails_transaction();
    let fits = given == taken || given < taken && fails && !parts.lists_columns;
    if fits {
        return Ok(());
    }
    let (sqlstate, message) = match (fails, given > taken) {
        (true, true) => ("42601", "INSERT has more expressions than target columns"),
        (true, false) => ("42601", "INSERT has more target columns than expressions"),
        (false, _) => ("21S01", "Column count doesn't match value count at row 1"),
    };
    Err(ErrorKind::Server(Box::new(ServerError {
        number: 1136,
        sqlstate: sqlstate.into(),
        message: message.into(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into())
}
