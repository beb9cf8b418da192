//! Finding out what planning asks for.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Catalog, Context, Names, Spellings};
use pando_kernel::route::{Need, UnitName};
use pando_kernel::runtime::{LONG, Runtime, aside};
use pando_kernel::views::{Taken, Views, Waits};
use pando_kernel::{Attribute, Effectful, Effects, LogicColumns, Triggers, Value};
use pando_sql::ast::{Kind, Statement};
use pando_sql::visit;

use crate::catalog::{Found, TableMap};
use crate::handle::Manner;
use crate::meant::key_in;
use crate::plan;
use crate::plan::{Planned, Purpose};
use crate::schemas::{Schemas, Standing};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{ask, release};
use crate::session::given::Given;
use crate::session::reply::logic_names::number_of;
use crate::session::run::oids::Patience;
use crate::session::run::{context, figures, meant, oids, planning};
use crate::session::transaction::temporary::look;

/// How often planning may ask for something to be found out before it answers.
pub(in crate::session) const MAX_NEEDS: usize = 64;

/// Reads from the storage units what planning needs.
///
/// # Errors
/// What the units say; nothing is remembered then.
pub(in crate::session) async fn find_out(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    need: Need,
) -> Result<()> {
    match need {
        Need::Tables => learn_tables(session, live).await,
        Need::Columns(table) => learn_columns(session, live, table).await,
        Need::Indexes => learn_indexes(session, live).await,
        Need::Names(units) => learn_names(session, live, units).await,
        Need::Triggers(units) => learn_triggers(session, live, units).await,
        Need::Aggregates => learn_aggregates(session, live).await,
        Need::Oids(unit) => oids::find_out_of(session, live, &unit, Patience::Long).await,
        Need::Effects(unit) => learn_effects(session, live, &unit).await.map(drop),
        Need::Figures(asked) => figures::find_out(session, live, asked).await,
    }?;
    session.place.hear_version();
    Ok(())
}

/// Asks planning, and finds out what it asks for, until it has all that it needs to know.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn find_out_until<T>(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: Option<&Given>,
    mut ask: impl FnMut(&Context<'_>) -> Result<std::result::Result<T, Need>>,
) -> Result<T> {
    for _ in 0..MAX_NEEDS {
        let catalog = Arc::clone(session.work.catalog(live));
        let (epoch, missed) = (catalog.epoch(), catalog.missed());
        match context::in_context(session, live, given, &mut ask) {
            Ok(Err(need)) => find_out(session, live, need).await?,
            Ok(Ok(answer)) if catalog.epoch() == epoch => return Ok(answer),
            // One half of it may rest on other columns than the other.
            Ok(Ok(_)) => {}
            Err(error) if unknown(&error) && catalog.forget_stale() => {}
            // What one half knew may have been forgotten before the other.
            Err(_) if catalog.epoch() != epoch || catalog.missed() != missed => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::internal("planning asks for ever more"))
}

/// Finds out of a text's one table what lifting numbers out of the text needs to know. The statement does well
/// without it.
pub(in crate::session) async fn look_at_table(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) {
    let is_one =
        matches!(stmt.kind, Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_));
    if !is_one || live.database.dialect.lifted(Value::Int(0)).is_none() {
        return;
    }
    let tables = visit::tables(&stmt.kind);
    let [only] = &tables[..] else { return };
    let [name] = &only.name.parts[..] else { return };
    let name = name.key();
    if session.work.catalog(live).columns(&name).is_none()
        && let Err(error) = learn_columns(session, live, name).await
    {
        tracing::debug!(%error, "a table's columns could not be read");
    }
}

async fn learn_indexes(session: &mut Session, live: &Arc<LiveDatabase>) -> Result<()> {
    let epoch = session.work.catalog(live).epoch();
    let mut indexes = HashMap::new();
    if let Some(query) = live.database.dialect.indexes_query() {
        for unit in &live.database.units {
            for row in ask::ask(session, live, unit, &query).await? {
                if let [Value::Text(index), Value::Text(table)] = &row[..] {
                    let table = live.database.dialect.syntax().table_key(table);
                    let owner = indexes.entry(index.to_lowercase()).or_insert(table.clone());
                    if *owner != table {
                        // Several tables have one of that name.
                        owner.clear();
                    }
                }
            }
        }
    }
    session.work.catalog(live).learn_indexes(epoch, indexes);
    Ok(())
}

/// Asks those that take the units' writes: copies have no names of their own.
async fn learn_names(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    units: Vec<UnitName>,
) -> Result<()> {
    let epoch = session.work.catalog(live).epoch();
    let mut names = Names::new();
    if let Some(query) = live.database.dialect.names_query() {
        let writers: BTreeSet<UnitName> =
            units.iter().map(|unit| plan::writer_of(&live.database, Arc::clone(unit))).collect();
        for unit in &writers {
            let rows = ask::ask(session, live, unit, &query).await?;
            rows.iter().try_for_each(|row| read_name(row, &mut names))?;
        }
    }
    session.work.catalog(live).learn_names(epoch, units, names);
    Ok(())
}

/// Asks those that take the units' writes, and so sees what the session's own transaction has made there.
async fn learn_triggers(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    units: Vec<UnitName>,
) -> Result<()> {
    let epoch = session.work.catalog(live).epoch();
    let mut triggers = Triggers::default();
    if let Some(texts) = live.database.dialect.effects().and_then(Effects::triggers) {
        let writers: BTreeSet<UnitName> =
            units.iter().map(|unit| plan::writer_of(&live.database, Arc::clone(unit))).collect();
        for unit in &writers {
            let rows = ask::ask(session, live, unit, texts.triggers_query()).await?;
            let mut found = texts.read_triggers(&rows);
            let routines = rows.iter().filter_map(|row| match &row[..] {
                [Value::Text(kind), Value::Text(name), ..] if kind == "routine" => Some(name),
                _ => None,
            });
            found.stand =
                routines.map(|name| (name.to_lowercase(), vec![Arc::clone(unit)])).collect();
            triggers.add(found);
        }
    }
    session.work.catalog(live).learn_triggers(epoch, units, triggers);
    Ok(())
}

async fn learn_aggregates(session: &mut Session, live: &Arc<LiveDatabase>) -> Result<()> {
    let epoch = session.work.catalog(live).epoch();
    let mut aggregates = HashSet::new();
    if let Some(query) = live.database.dialect.aggregates_query() {
        for unit in &live.database.units {
            for row in ask::ask(session, live, unit, &query).await? {
                if let [Value::Text(name)] = &row[..] {
                    aggregates.insert(name.to_lowercase());
                }
            }
        }
    }
    session.work.catalog(live).learn_aggregates(epoch, aggregates);
    Ok(())
}

/// Whether something had to be learnt of the effects of what was planned: it is to be planned anew then.
pub(in crate::session) async fn learns_of_effects(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    planned: &Planned,
) -> Result<bool> {
    let Planned::Run(plan) = planned else { return Ok(false) };
    match context::in_context(session, live, None, |ctx| plan::unknown_effects(ctx, plan)) {
        Some(unit) => learn_effects(session, live, &unit).await,
        None => Ok(false),
    }
}

/// Reads which names of a unit may have effects on connections. Never asked on a connection of a transaction, whose
/// settings may be anything; where there is no other the statement does without, and its connection is taken for
/// one on which anything was done. Returns whether it was read.
pub(in crate::session) async fn learn_effects(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
) -> Result<bool> {
    let Some(effects) = live.database.dialect.effects() else { return Ok(false) };
    let catalog = Arc::clone(session.work.catalog(live));
    let (epoch, pool) = (catalog.epoch(), live.pool(unit)?);
    let idle = session.place.take_idle(pool)?;
    let taken = match idle {
        Some(idle) => Some(idle),
        None if ask::holds_connections(session) => None,
        None => Some(session.place.take(pool).await?),
    };
    let Some(mut connection) = taken else { return Ok(false) };
    // Before it is asked: whoever defines something meanwhile is not told of.
    let number = pool.definitions();
    let read = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => {
            let runtime = &**session.place.runtime();
            read_effects(&mut connection, effects, runtime).await
        }
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    let is_learnt = catalog.learn_effects(epoch, Arc::clone(unit), read?);
    // What a transaction knows for itself alone tells others nothing.
    let is_everybodys = Arc::ptr_eq(&catalog, &live.catalog);
    if let Some(number) = number.filter(|_| is_learnt && is_everybodys) {
        live.pool(unit)?.settle(number);
    }
    Ok(true)
}

async fn learn_tables(session: &mut Session, live: &Arc<LiveDatabase>) -> Result<()> {
    let epoch = session.work.catalog(live).epoch();
    let query = live.database.dialect.tables_query();
    let syntax = live.database.dialect.syntax();
    let mut tables: TableMap = HashMap::new();
    let mut sequences: TableMap = HashMap::new();
    let mut spellings = Spellings::new();
    let mut standing: Vec<Standing> = Vec::new();
    for unit in &live.database.units {
        for row in ask::ask(session, live, unit, &query).await? {
            let Some(Value::Text(name)) = row.get(1) else { continue };
            let key = syntax.table_key(name);
            if let (Some(Value::Text(schema)), Some(rank)) = (row.first(), row.get(3)) {
                let rank = if let Value::Int(rank) = rank { Some(*rank) } else { None };
                standing.push(Standing { key: key.clone(), schema: schema.clone(), rank });
            }
            if let Some(known) = spellings.get_mut(&key) {
                known.insert(name.clone());
            } else if key != *name {
                // One that is spelled like the key may have come before.
                let plain = tables.contains_key(&key).then(|| key.clone());
                let both = plain.into_iter().chain([name.clone()]);
                spellings.insert(key.clone(), both.collect());
            }
            let is_sequence = matches!(row.get(2), Some(Value::Bool(true) | Value::Int(1)));
            if is_sequence {
                sequences.entry(key.clone()).or_default().push(Arc::clone(unit));
            }
            let units = tables.entry(key).or_default();
            // Of what is on every unit alike the first one counts.
            if units.is_empty() || !is_sequence {
                units.push(Arc::clone(unit));
            }
        }
    }
    for units in tables.values_mut().chain(sequences.values_mut()) {
        units.dedup();
    }
    let mut views = read_views(session, live).await?;
    let schemas = Schemas::of(&live.database, &standing);
    for (key, view) in &mut views {
        view.is_found =
            view.schema.is_none() || view.schema.as_deref() == schemas.found(key, schemas.path());
    }
    let found = Found { tables, sequences, spellings, views, schemas };
    session.work.catalog(live).learn_tables(epoch, found);
    Ok(())
}

/// The views over several actual tables, where there may be any.
async fn read_views(session: &mut Session, live: &Arc<LiveDatabase>) -> Result<Views> {
    let dialect = Arc::clone(&live.database.dialect);
    let Some(texts) = dialect.views().filter(|_| plan::are_possible(&live.database)) else {
        return Ok(Views::new());
    };
    let mut found: Vec<plan::Stored> = Vec::new();
    for unit in &live.database.units {
        let begin = found.len();
        let is_inside = session.work.transaction().units().contains(unit);
        let query = texts.query(if is_inside { Waits::AsSet } else { Waits::Briefly });
        let rows = match ask::ask(session, live, unit, &query).await {
            Err(error) if texts.is_being_changed(&error) => {
                // What is not committed is not seen yet: views are what they were.
                let before = session.work.catalog(live).latest_views();
                return before.map(|views| (*views).clone()).ok_or(error);
            }
            rows => rows?,
        };
        for row in rows {
            let [
                schema,
                Value::Text(name),
                place,
                Value::Text(text),
                checks,
                takes,
                home,
                filled @ ..,
            ] = &row[..]
            else {
                continue;
            };
            if *place != Value::Int(0) {
                let own = found.iter_mut().skip(begin).find(|view| view.name == *name);
                own.into_iter().for_each(|view| view.columns.push(text.clone()));
                continue;
            }
            let text_of = |value: &Value| {
                if let Value::Text(text) = value { Some(text.clone()) } else { None }
            };
            let is_strict = *takes == Value::Int(2);
            let holds = |value: &Value| matches!(value, Value::Bool(true) | Value::Int(1 | 2));
            found.push(plan::Stored {
                unit: Arc::clone(unit),
                schema: text_of(schema),
                name: name.clone(),
                definition: texts.written(text),
                columns: Vec::new(),
                changes: match (holds(takes), holds(checks)) {
                    (false, _) => Taken::Nothing,
                    (true, false) => Taken::Any,
                    (true, true) => Taken::Shown,
                },
                is_strict,
                is_materialized: filled.first().is_some_and(holds),
                home: text_of(home).unwrap_or_default(),
            });
        }
    }
    let length: usize = found.iter().map(|view| view.definition.len()).sum();
    if length > LONG {
        aside(&**session.place.runtime()).await;
    }
    Ok(plan::told(&live.database, found))
}

/// The columns of a vendor's own relation that every unit has: MariaDB and MySQL, and their releases, each have
/// some of their own. A unit without the relation says so itself when it is asked.
async fn shared_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    query: &str,
) -> Result<Vec<TableColumn>> {
    let dialect = Arc::clone(&live.database.dialect);
    let mut shared: Option<Vec<TableColumn>> = None;
    let any = plan::any_unit_of(&live.database)?;
    let others = live.database.units.iter().filter(|unit| **unit != any);
    for unit in std::iter::once(&any).chain(others) {
        let rows = ask::ask(session, live, unit, query).await?;
        let columns: Result<Vec<_>> = rows.iter().map(|row| dialect.read_column(row)).collect();
        let columns = columns?;
        match &mut shared {
            None => shared = Some(columns),
            Some(_) if columns.is_empty() => {}
            Some(shared) => {
                shared.retain(|own| columns.iter().any(|other| other.name == own.name));
            }
        }
    }
    Ok(shared.unwrap_or_default())
}

/// What servers call a table that stands under its own name.
async fn spelled(session: &mut Session, live: &Arc<LiveDatabase>, key: &str) -> Result<String> {
    if live.database.dialect.syntax().exact_tables {
        return Ok(key.to_owned());
    }
    if session.work.catalog(live).spellings().is_none() {
        learn_tables(session, live).await?;
    }
    let spellings = session.work.catalog(live).spellings();
    let known = spellings.as_ref().and_then(|spellings| spellings.get(key));
    let mut known: Vec<&String> = known.into_iter().flatten().collect();
    known.sort_unstable();
    match &known[..] {
        [] => Ok(key.to_owned()),
        [only] => Ok((*only).clone()),
        [first, second, ..] => Err(Error::unsupported(
            20032,
            format!(
                "tables `{first}` and `{second}` differ by case only, and this statement needs the columns of one of them"
            ),
            "rename one of them",
        )),
    }
}

/// Asks the unit that a query of the table would go to: the rooms know which that is.
async fn learn_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: String,
) -> Result<()> {
    if session.temporary.own_columns().is_some_and(|own| own.hide(&table)) {
        return Box::pin(look::learn_own_columns(session, live, table)).await;
    }
    let hidden = session.temporary.shown(session.place.current());
    if hidden.is_some_and(|own| own.names.contains(&table)) {
        // What is learnt is everybody's, and about the table that it hides.
        return Err(look::unknown_columns(&table));
    }
    if let Some(schemas) = session.meant.schemas(&table).cloned() {
        return learn_meant(session, live, table, &schemas).await;
    }
    let dialect = Arc::clone(&live.database.dialect);
    if let Some((schema, relation)) = table.split_once('.')
        && dialect.presentation().is_some()
    {
        let query = dialect.columns_query(Some(schema), relation);
        let columns = shared_columns(session, live, &query).await?;
        let catalog = session.work.catalog(live);
        catalog.learn_columns(catalog.epoch(), table, columns, None);
        return Ok(());
    }
    // What is learnt is everybody's, whatever the session or its transaction has set.
    let renames = session.settings.renames(dialect.as_ref());
    if renames && session.work.catalog(live).schemas().is_none() {
        learn_tables(session, live).await?;
    }
    let schemas = session.work.catalog(live).schemas();
    let usual = schemas.as_ref().filter(|own| renames || own.has_beside(&table));
    let schema = usual.and_then(|own| own.usual(&table));
    let Read { columns, logic } = read_columns(session, live, &table, schema).await?;
    // Only now: finding the unit may itself have made the catalogue forget.
    let catalog = session.work.catalog(live);
    catalog.learn_columns(catalog.epoch(), table, columns, logic);
    Ok(())
}

/// Asks for the columns of a table that the statement under way means in other schemas than everybody does.
///
/// # Errors
/// `Refused` where it means several whose columns differ; what the units say.
async fn learn_meant(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: String,
    schemas: &BTreeSet<String>,
) -> Result<()> {
    let mut known: Option<Read> = None;
    for schema in schemas {
        let mut read = read_columns(session, live, &table, Some(schema)).await?;
        if schemas.len() > 1 {
            // Each has a number of its own, which is not told then.
            read.columns.iter_mut().for_each(|column| column.attribute = Attribute::default());
        }
        match &known {
            Some(known) if known.columns != read.columns => {
                return Err(meant::several(&table, schemas));
            }
            Some(_) | None => known = Some(read),
        }
    }
    let Some(Read { columns, logic }) = known else { return Ok(()) };
    let catalog = session.work.catalog(live);
    catalog.learn_columns(catalog.epoch(), key_in(&table, schemas), columns, logic);
    Ok(())
}

/// What was read of a table.
struct Read {
    columns: Vec<TableColumn>,
    logic: Option<LogicColumns>,
}

/// Asks for the columns of a table in this schema, or where its connection looks first.
async fn read_columns(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &str,
    schema: Option<&str>,
) -> Result<Read> {
    let dialect = Arc::clone(&live.database.dialect);
    let text = format!("SELECT 1 FROM {}", dialect.quote(table));
    let stmt = pando_sql::parse(&text, dialect.syntax()).map_err(crate::plan::unread)?;
    // A room that turns columns could not say anything of them yet.
    let given = Given { is_about_stored: true, ..Given::default() };
    // Without forgetting what was learnt of other tables: a statement may need the columns of several.
    let planned = planning::sought_by(session, live, Some(&given), |ctx| {
        match plan::plan(ctx, &stmt, Purpose::Describe).map(Planned::known) {
            // Reading them would begin here again, and so on until the stack is full; those of the vendor's own
            // relations, which stand under their schemas' names, are read without any planning.
            Ok(Err(Need::Columns(needed))) if !needed.contains('.') => Err(Error::internal(
                format!("a room needs the columns of `{needed}` to say where table `{table}` is"),
            )),
            known => known,
        }
    });
    let unit = match Box::pin(planned).await {
        Ok(Planned::Run(plan)) => plan.units.into_iter().next(),
        Ok(Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_)) => {
            return Err(Error::internal("a table's query is planned as no single query is"));
        }
        Err(error) if matches!(error.kind(), ErrorKind::UnknownTable(_)) => None,
        Err(error) => return Err(error),
    };
    let Some(unit) = unit else { return Ok(Read { columns: Vec::new(), logic: None }) };
    let actual = match unit.target.actual(table) {
        Some(actual) => actual.to_owned(),
        None => spelled(session, live, table).await?,
    };
    let query = dialect.columns_query(schema, &actual);
    let writer = plan::writer_of(&live.database, Arc::clone(&unit.target.unit));
    let rows = match ask::ask(session, live, &writer, &query).await {
        // Nobody defines anything while it is away.
        Err(error) if writer != unit.target.unit && is_away(&error) => {
            ask::ask(session, live, &unit.target.unit, &query).await?
        }
        asked => asked?,
    };
    let columns: Result<Vec<_>> = rows.iter().map(|row| dialect.read_column(row)).collect();
    let mut columns = columns?;
    if let Some(presentation) = dialect.presentation() {
        let unit = number_of(&live.database, &unit.target.unit);
        let own = columns.iter_mut().map(|column| &mut column.attribute);
        for own in own.filter(|own| own.relation != 0) {
            own.relation = presentation.relation_number(own.relation, unit);
        }
    }
    let logic = live.database.logic_columns(table, &columns)?;
    Ok(Read { columns, logic })
}

/// A row of the dialect's query for names.
fn read_name(row: &[Value], names: &mut Names) -> Result<()> {
    let [Value::Text(table), Value::Text(name), Value::Text(kind)] = row else {
        return Err(Error::internal("a row of names has another shape"));
    };
    let own = names.entry(table.to_lowercase()).or_default();
    let of_kind = match kind.as_str() {
        "index" => &mut own.indexes,
        "trigger" => &mut own.triggers,
        _ => &mut own.constraints,
    };
    of_kind.insert(name.to_lowercase());
    Ok(())
}

fn is_away(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable { .. })
}

/// What of a unit may have effects on connections, asked on a connection that is as after login.
pub(crate) async fn read_effects(
    connection: &mut pando_pool::Connection,
    effects: &dyn Effects,
    runtime: &dyn Runtime,
) -> Result<Effectful> {
    if !connection.is_bare() {
        ask::undress(connection).await?;
    }
    let rows = ask::answer(connection, effects.query()).await?;
    let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
    if rows.iter().flatten().map(length).sum::<usize>() > LONG {
        // Sources of hundreds of routines take milliseconds to judge.
        aside(runtime).await;
    }
    Ok(effects.read(&rows))
}

fn unknown(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::UnknownTable(_) | ErrorKind::NothingToDrop { .. })
}
