//! What a statement means by its names of tables, before it is planned.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Catalog;
use pando_kernel::route::Need;
use pando_kernel::views::Views;
use pando_sql::ast::{ObjectName, Statement};
use pando_sql::visit;

use crate::meant::{InSchemas, Looked};
use crate::plan;
use crate::schemas::Schemas;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::given::Given;
use crate::session::run::{apart, find_out};

/// Looks whether a statement means other tables by their names than everybody does.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn look_at_names(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &mut Given,
) -> Result<()> {
    look(session, live, stmt).await?;
    given.learns &= session.meant.is_usual();
    Ok(())
}

/// As [`look_at_names`], of a statement that nothing is remembered of.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn look(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<()> {
    session.meant.begins();
    let dialect = &live.database.dialect;
    let Some(first) = dialect.default_schema().filter(|_| live.has_units()) else { return Ok(()) };
    let renames = session.settings.renames(dialect.as_ref());
    if !renames && !stmt.text.contains('.') || session.work.refuse_if_failed().is_err() {
        return Ok(());
    }
    let tables = visit::tables(&stmt.kind);
    let names: Vec<&ObjectName> = tables.iter().map(|table| table.name).collect();
    let is_elsewhere = |name: &&&ObjectName| schema(name).is_some_and(|own| own != first);
    let says_schema = names.iter().any(|name| schema(name).is_some());
    if !renames && !says_schema {
        return Ok(());
    }
    session.work.keep_own_up(live);
    if session.work.catalog(live).schemas().is_none() {
        let found = Box::pin(find_out::find_out(session, live, Need::Tables)).await;
        // Where no other schema is named, a storage unit that is away is no matter of the statement's.
        if found.is_err() && !renames && !names.iter().any(|name| is_elsewhere(&name)) {
            return Ok(());
        }
        found?;
    }
    let catalog = session.work.catalog(live);
    let (Some(schemas), Some(views)) = (catalog.schemas(), catalog.views()) else { return Ok(()) };
    let may_differ =
        |name: &&ObjectName| schemas.has_beside(&name.key()) || views.contains_key(&name.key());
    let names: Vec<&ObjectName> = names.into_iter().filter(may_differ).collect();
    let is_plain = |name: &&ObjectName| schema(name).is_none();
    let path: Arc<[String]> = match renames && names.iter().any(is_plain) {
        true => looked(session, live, &schemas).await?,
        false => schemas.path().into(),
    };
    let temporaries = session.temporary.shown(session.place.current());
    let names = names
        .into_iter()
        .filter(|name| !temporaries.as_ref().is_some_and(|own| own.is_one(name)))
        .collect::<Vec<_>>();
    let meant = meant(&schemas, &names, &path);
    let views = meant_views(&schemas, &views, &names, &path);
    session.meant.means(meant, views);
    Ok(())
}

/// The schema that a name says.
fn schema(name: &ObjectName) -> Option<&str> {
    match &name.parts[..] {
        [.., schema, _] => Some(&schema.value),
        [] | [_] => None,
    }
}

fn meant(
    schemas: &Schemas,
    names: &[&ObjectName],
    path: &[String],
) -> HashMap<String, BTreeSet<String>> {
    let mut meant: HashMap<String, BTreeSet<String>> = HashMap::new();
    for name in names {
        let key = name.key();
        let own = schema(name).or_else(|| schemas.found(&key, path)).map(str::to_owned);
        if schemas.has_beside(&key)
            && let Some(own) = own
        {
            meant.entry(key).or_default().insert(own);
        }
    }
    let is_usual = |key: &str, own: &BTreeSet<String>| {
        own.len() == 1 && own.first().map(String::as_str) == schemas.usual(key)
    };
    meant.retain(|key, own| !is_usual(key, own));
    meant
}

/// The views where a name alone means another one, or none, than it does to everybody; else `None`.
fn meant_views(
    schemas: &Schemas,
    views: &Arc<Views>,
    names: &[&ObjectName],
    path: &[String],
) -> Option<Arc<Views>> {
    let mut changed: Option<Views> = None;
    for name in names.iter().filter(|name| schema(name).is_none()) {
        let key = name.key();
        let Some(view) = views.get(&key).filter(|view| view.schema.is_some()) else { continue };
        let is_meant = schemas.found(&key, path) == view.schema.as_deref();
        if is_meant != view.is_found
            && let Some(view) = changed.get_or_insert_with(|| (**views).clone()).get_mut(&key)
        {
            view.is_found = is_meant;
        }
    }
    changed.map(Arc::new)
}

/// The schemas that the session looks into, as a server says it.
async fn looked(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    schemas: &Schemas,
) -> Result<Arc<[String]>> {
    let (settings, epoch) = (session.settings.variables().id(), session.work.catalog(live).epoch());
    let is_local = !session.settings.local().is_empty();
    if let Some(known) = session.meant.looked(settings, epoch).filter(|_| !is_local) {
        return Ok(Arc::clone(&known.path));
    }
    let dialect = Arc::clone(&live.database.dialect);
    let Some(query) = dialect.names_by().path_query else { return Ok(schemas.path().into()) };
    let held = session.work.transaction().units().first().map(Arc::clone);
    let rows = match held {
        Some(unit) => ask::ask(session, live, &unit, query).await?,
        None => {
            let unit = plan::any_unit_of(&live.database)?;
            let own = session.settings.local().iter();
            let mut texts: Vec<String> =
                own.map(|text| apart::of_session(text, dialect.syntax())).collect();
            texts.push(query.to_owned());
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            ask::ask_in_turn(session, live, &unit, &texts).await?
        }
    };
    let name = |row: &Vec<Value>| match row.first() {
        Some(Value::Text(name)) => Ok(name.clone()),
        _ => Err(Error::internal("a row of the schemas looked into has another shape")),
    };
    let path: Arc<[String]> = rows.iter().map(name).collect::<Result<_>>()?;
    if !is_local {
        let is_usual = schemas.is_usual_path(&path);
        session.meant.looks(Looked { settings, epoch, path: Arc::clone(&path), is_usual });
    }
    Ok(path)
}

/// Whether names may mean other tables to the session than to everybody, as far as is known.
pub(in crate::session) fn may_mean_others(session: &Session, live: &LiveDatabase) -> bool {
    if live.catalog.means_one() || !session.settings.renames(live.database.dialect.as_ref()) {
        return false;
    }
    let (settings, epoch) = (session.settings.variables().id(), live.catalog.epoch());
    let is_local = !session.settings.local().is_empty();
    is_local || !session.meant.looked(settings, epoch).is_some_and(|known| known.is_usual)
}

/// The columns of a table as the statement under way means it; `None` when they were not read yet.
pub(in crate::session) fn columns(
    session: &Session,
    live: &LiveDatabase,
    table: &str,
) -> Option<Arc<Vec<TableColumn>>> {
    let others = session.work.catalog(live).as_ref();
    InSchemas { others, meant: &session.meant }.columns(table)
}

/// The schema of a table as the statement under way means it; `None` where its name alone means it on every connection.
///
/// # Errors
/// `Refused` where the statement means several.
pub(in crate::session) fn schema_of(
    session: &Session,
    live: &LiveDatabase,
    table: &str,
) -> Result<Option<String>> {
    if let Some(schemas) = session.meant.schemas(table) {
        return match schemas.len() {
            1 => Ok(schemas.first().cloned()),
            _ => Err(several(table, schemas)),
        };
    }
    let schemas = session.work.catalog(live).schemas();
    let renames = || session.settings.renames(live.database.dialect.as_ref());
    let own = schemas.as_ref().filter(|own| own.has_beside(table) || renames());
    Ok(own.and_then(|own| own.usual(table)).map(str::to_owned))
}

/// Several tables of one name, whose columns are not the same.
pub(in crate::session) fn several(table: &str, schemas: &BTreeSet<String>) -> Error {
    let names: Vec<String> = schemas.iter().map(|schema| format!("`{schema}.{table}`")).collect();
    Error::unsupported(
        20032,
        format!("the statement names {}, whose columns differ", names.join(" and ")),
        "rename one of them",
    )
}
