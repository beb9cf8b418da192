//! Fields of bulk data that rooms turn: under which names the client knows them, and by which columns' types they are
//! read and written.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::route::UnitName;
use pando_kernel::transfer::Transfer;
use pando_kernel::{Columns, Value};
use pando_sql::ast::{Ident, Kind, ObjectName, Statement};
use pando_sql::parse;

use crate::copy_rows::{FieldChanges, Records, Retell};
use crate::plan::{Plan, table_query};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::bulk::columns::computed_columns;
use crate::session::connections::ask;
use crate::session::given::{Given, Run};
use crate::session::reply::turned_rows::{told_fields, turned_columns};
use crate::session::run::describe::Stored;
use crate::session::run::{describe, entry};

/// Lines that a client sends, some of whose fields go as others.
#[derive(Debug)]
pub(in crate::session) struct Incoming {
    /// The plan, whose statements list their columns.
    pub(in crate::session) plan: Plan,
    /// What becomes of the fields.
    pub(in crate::session) changes: FieldChanges,
    /// The columns as the client knows them, where it sends values of their types.
    pub(in crate::session) types: Option<Columns>,
}

/// The table of a statement with bulk data, and the columns it lists.
#[derive(Debug, Clone, Copy)]
struct Listing<'a> {
    table: &'a ObjectName,
    columns: Option<&'a [Ident]>,
    /// Where a list would stand.
    at: u32,
}

impl<'a> Listing<'a> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
    fn of(stmt: &'a Statement) -> Result<Self> {
        let missing = || Error::internal("bulk data of no table");
        let (table, columns, at) = match &stmt.kind {
            Kind::Copy(copy) => (copy.table.as_ref(), copy.columns.as_deref(), copy.columns_at),
            Kind::Load(load) => (Some(&load.table), load.columns.as_deref(), load.columns_at),
            _ => (None, None, 0),
        };
        Ok(Self { table: table.ok_or_else(missing)?, columns, at })
    }

    fn query(self, text: &str) -> String {
        table_query(self.table, self.columns, text)
    }
}

/// What becomes of the fields of lines that the client sends.
///
/// # Errors
/// `Refused` for a form, or a table without a column list, whose fields cannot be turned.
pub(in crate::session) async fn incoming(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: Plan,
    bulk: Bulk<'_>,
) -> Result<Incoming> {
    let Bulk { stmt, records } = bulk;
    records.check_writable()?;
    find_letters(session, live, &plan, Bulk { stmt, records }).await?;
    let listing = Listing::of(stmt)?;
    if listing.columns.is_none() {
        refuse_computed(session, live, &plan, listing.table).await?;
    }
    let is_binary = matches!(records, Records::Tuples(_));
    let told = match listing.columns {
        Some(_) if !is_binary => None,
        Some(_) | None => {
            let query = listing.query(&stmt.text);
            let Stored { plan, columns } = describe::stored_columns(session, live, &query).await?;
            Some(turned_columns(&plan, columns, live.database.dialect.as_ref())?)
        }
    };
    let names = match (listing.columns, &told) {
        (Some(listed), _) => listed.iter().map(|column| column.value.clone()).collect(),
        (None, told) => {
            let told = told.iter().flat_map(|told| told.list.iter());
            told.map(|column| column.name.clone()).collect()
        }
    };
    let changes = FieldChanges::stored(&plan.fields, names);
    if changes.beyond().is_some() {
        return Err(Error::internal("a field is turned that no line has"));
    }
    let into = listed_on_units(session, live, plan, changes.go()).await?;
    Ok(match told.filter(|_| is_binary) {
        None => Incoming { plan: into.plan, changes, types: None },
        Some(types) => {
            let stored = match into.columns {
                Some(stored) => stored,
                None => first_unit_columns(session, live, &into.plan).await?,
            };
            let changes = changes.with_types(types.clone(), stored);
            Incoming { plan: into.plan, changes, types: Some(types) }
        }
    })
}

/// A statement that brings lines, and how these are read.
#[derive(Debug)]
pub(in crate::session) struct Bulk<'a> {
    pub(in crate::session) stmt: &'a Statement,
    pub(in crate::session) records: &'a mut Records,
}

/// Finds out what the bytes of a file mean to the units, where its statement does not say.
async fn find_letters(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Plan,
    bulk: Bulk<'_>,
) -> Result<()> {
    let Kind::Load(load) = &bulk.stmt.kind else { return Ok(()) };
    let dialect = Arc::clone(&live.database.dialect);
    let query = dialect.transfer().and_then(Transfer::letters_query);
    let Some(query) = query else { return Ok(()) };
    if load.options.iter().any(|(name, _)| name == "character set") {
        return Ok(());
    }
    let mut units: Vec<&UnitName> = plan.units.iter().map(|unit| &unit.target.unit).collect();
    units.sort_unstable();
    units.dedup();
    let mut known: Option<String> = None;
    for unit in units {
        let rows = ask::ask(session, live, unit, query).await?;
        let Some([Value::Text(charset)]) = rows.first().map(Vec::as_slice) else {
            return Err(Error::internal("a character set has no name"));
        };
        match &known {
            None => known = Some(charset.clone()),
            Some(known) if known == charset => {}
            Some(_) => {
                return Err(Error::unsupported(
                    30001,
                    "LOAD DATA without a character set into shards that would read it differently is not supported",
                    "add CHARACTER SET to the statement",
                ));
            }
        }
    }
    known.map_or(Ok(()), |charset| bulk.records.reads_as(&charset))
}

/// A plan whose statements list their columns, and these if they had to be read.
struct Listed {
    plan: Plan,
    columns: Option<Columns>,
}

/// Has every unit's statement list its columns: a table altered meanwhile then takes no field for another.
async fn listed_on_units(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: Plan,
    fields: usize,
) -> Result<Listed> {
    let (mut plan, mut columns) = (plan, None);
    let dialect = Arc::clone(&live.database.dialect);
    for at in 0..plan.units.len() {
        let Some(unit) = plan.units.get(at) else { break };
        let sql = Arc::clone(&unit.sql);
        let stmt = parse(&sql, dialect.syntax()).map_err(crate::plan::unread)?;
        let listing = Listing::of(&stmt)?;
        let count = match listing.columns {
            Some(listed) => listed.len(),
            None => {
                if columns.is_none() {
                    columns = Some(first_unit_columns(session, live, &plan).await?);
                }
                let own: &[_] = columns.as_ref().map_or(&[], |columns| &columns.list);
                let names: Vec<String> =
                    own.iter().map(|column| dialect.quote(&column.name)).collect();
                let place = usize::try_from(listing.at).unwrap_or(usize::MAX);
                let (before, behind) = sql
                    .split_at_checked(place)
                    .ok_or_else(|| Error::internal("a column list has no place"))?;
                let text = format!("{before} ({}){behind}", names.join(", "));
                if let Some(unit) = plan.units.get_mut(at) {
                    unit.sql = text.into();
                }
                names.len()
            }
        };
        if count != fields {
            return Err(Error::internal("a room lists other columns than it has fields for"));
        }
    }
    Ok(Listed { plan, columns })
}

/// The columns that the first unit's statement brings, as they are stored there.
async fn first_unit_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Plan,
) -> Result<Columns> {
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    let stmt = parse(&unit.sql, live.database.dialect.syntax()).map_err(crate::plan::unread)?;
    let query = Listing::of(&stmt)?.query(&stmt.text);
    describe::unit_columns(session, live, &unit.target.unit, &query.into()).await
}

/// COPY has no fields for columns that the server computes, and LOAD DATA has: which field is whose is then not told
/// by the table's order.
async fn refuse_computed(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Plan,
    table: &ObjectName,
) -> Result<()> {
    let logic = table.key();
    let computed = computed_columns(session, live, &logic, plan).await?;
    let Some(column) = computed.first() else { return Ok(()) };
    Err(Error::unsupported(
        30001,
        format!("bulk data of `{logic}`, which computes column `{column}`, must list its columns"),
        "list the columns that the lines hold",
    ))
}

/// Starts COPY TO whose plan says that values are told otherwise than they are stored.
///
/// # Errors
/// `Refused` for a form, or a table without a column list, whose fields cannot be turned; what the units say.
pub(in crate::session) async fn start_retold(
    session: &mut Session,
    run: Run<'_>,
    given: &mut Given,
) -> Result<()> {
    let retell = outgoing(session, run).await?;
    given.retells = retell.is_some();
    entry::run_plan(session, run, given).await?;
    session.work.note_unseen_writes(run.live, run.stmt, run.plan);
    session.outbox.retells_with(retell);
    Ok(())
}

/// How the lines of COPY TO are told; `None` where nobody looks into them.
async fn outgoing(session: &mut Session, run: Run<'_>) -> Result<Option<Retell>> {
    let Run { live, stmt, plan } = run;
    let Kind::Copy(copy) = &stmt.kind else { return Ok(None) };
    let Some(table) = &copy.table else { return Ok(None) };
    if copy.columns.is_none() {
        refuse_computed(session, live, plan, table).await?;
    }
    let query = Listing::of(stmt)?.query(&stmt.text);
    let Stored { plan: own, columns } = describe::stored_columns(session, live, &query).await?;
    Retell::new(copy, told_fields(&own, columns, live.database.dialect.as_ref())?).map(Some)
}
