//! Statements about a session's temporary tables: they go whole to the storage unit that these stand on, past all rooms.

use std::sync::Arc;

use pando_kernel::Temporaries;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Context, LogicTable, TableKind};
use pando_kernel::route::{Need, Route, Spread, Target, UnitName, Units};
use pando_kernel::temporary::is_temporary;
use pando_sql::Edits;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use crate::plan::about::writer_of;
use crate::plan::parse::parsed;
use crate::plan::route::routed;

const BESIDE: &str = "copy the rows that are needed into a table that stands with it";
const MERGED: &str =
    "use UPDATE … FROM and INSERT … SELECT, which read temporary tables for every shard";
const LIKE: &str = "use CREATE TEMPORARY TABLE … AS SELECT … with a condition that no row meets";

/// Where another table of a statement can be read whole.
enum Stands {
    /// In one of these units.
    In(Vec<UnitName>),
    /// Each of these units has a part of it.
    Split(Vec<UnitName>),
    /// Nowhere that is known: the server is to say so.
    Nowhere,
    Unread,
}

/// The session's temporary tables, where the statement is about one.
pub(in crate::plan) fn concerned<'a>(
    ctx: &Context<'a>,
    stmt: &Statement,
) -> Option<&'a Temporaries> {
    ctx.session.temporaries.as_deref().filter(|own| own.concern(stmt))
}

/// Routes a statement about temporary tables.
///
/// # Errors
/// `Refused` where they are gone, or where it names a table besides that their unit has not.
pub(in crate::plan) fn route(
    ctx: &Context<'_>,
    stmt: &Statement,
    own: &Temporaries,
) -> Result<Route> {
    let tables = visit::tables(&stmt.kind);
    let is_drop = matches!(&stmt.kind, Kind::Define(define) if define.action == DefineAction::Drop);
    let mut lost = tables.iter().filter(|table| own.is_lost(table.name) && !is_remade(stmt));
    if let Some(gone) = lost.next().filter(|_| !is_drop) {
        return Err(gone_with_connection(gone.name, &own.unit));
    }
    for name in others(ctx, stmt, Some(own)) {
        let mut rooms = ctx.database.features.iter().filter_map(|room| room.columns());
        if rooms.any(|shows| shows.concerns(&name.key())) {
            return Err(turned(name));
        }
        // The part that is written for a sharded table.
        if is_alike(stmt) && part_of(ctx, &name.key()).any(|unit| unit == own.unit) {
            continue;
        }
        match stands(ctx, &name.key())? {
            Stands::Unread => return Ok(Route::Needs(Need::Tables)),
            Stands::Nowhere => {}
            Stands::In(units) if units.contains(&own.unit) => {}
            Stands::In(units) => return Err(apart(stmt, name, &own.unit, units.first())),
            Stands::Split(units) if is_alike(stmt) && units.contains(&own.unit) => {}
            Stands::Split(_) => return Err(split(stmt, name, &own.unit)),
        }
    }
    Ok(Route::Units(Units::new(vec![Target::whole(Arc::clone(&own.unit))], Spread::Gather)))
}

/// What stands beside a temporary table goes to its connection as it is written.
fn turned(name: &ObjectName) -> Error {
    Error::unsupported(
        30001,
        format!(
            "table `{}`, of which columns are stored or told otherwise, stands beside a temporary table",
            name.key()
        ),
        "fill the temporary table with what you have read, or use a table with a name of its own",
    )
}

/// The unit for a session's first temporary table: where the tables stand that the statement reads, else where new single tables go.
///
/// # Errors
/// `Refused` where no unit has what it is to be like.
pub(crate) fn unit_for(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<std::result::Result<UnitName, Need>> {
    let probe = parsed(ctx, "CREATE TABLE pando_temporary (id INT)")?;
    let home = match routed(ctx, &probe)? {
        Route::Needs(need) => return Ok(Err(need)),
        Route::Units(units) => units.targets.into_iter().next().map(|target| target.unit),
        Route::Unclaimed => ctx.database.units.first().cloned(),
    };
    let home = home.ok_or_else(|| Error::internal("a database without storage units"))?;
    let home = writer_of(ctx.database, home);
    let is_query = matches!(&stmt.kind, Kind::Define(define) if define.query.is_some());
    let mut fit: Option<Vec<UnitName>> = None;
    for name in others(ctx, stmt, None) {
        let units = match stands(ctx, &name.key())? {
            Stands::Unread => return Ok(Err(Need::Tables)),
            Stands::Nowhere => continue,
            // Its rows are brought to wherever it is.
            Stands::Split(_) if is_query => continue,
            Stands::Split(units) | Stands::In(units) => units,
        };
        let both = match &fit {
            None => units.clone(),
            Some(fit) => fit.iter().filter(|unit| units.contains(unit)).cloned().collect(),
        };
        if both.is_empty() && is_query {
            continue;
        }
        if both.is_empty() {
            let there = fit.as_ref().and_then(|fit| fit.first()).unwrap_or(&home);
            return Err(apart(stmt, name, there, units.first()));
        }
        fit = Some(both);
    }
    let other = fit.filter(|fit| !fit.contains(&home)).and_then(|fit| fit.into_iter().next());
    Ok(Ok(other.unwrap_or(home)))
}

/// A temporary table that is to be like others, without a row of theirs.
fn is_alike(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Define(define) if is_temporary(define) && define.query.is_none() && !define.referenced.is_empty())
}

/// A definition of a temporary table like a sharded one, with the name of the part that stands with it; `None` for any
/// other statement.
///
/// # Errors
/// What reading the text anew says.
pub(in crate::plan) fn alike(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Statement>> {
    let Kind::Define(define) = &stmt.kind else { return Ok(None) };
    let Some(own) = concerned(ctx, stmt).filter(|_| is_alike(stmt)) else { return Ok(None) };
    let mut edits = Edits::default();
    let syntax = ctx.dialect.syntax();
    let tables = || ctx.database.features.iter().flat_map(|feature| feature.tables());
    for name in define.referenced.iter().filter(|name| !own.is_one(name)) {
        let key = name.key();
        if part_of(ctx, &key).next().is_some() {
            return Err(ErrorKind::UnknownTable(key).into());
        }
        let is_it = |table: &LogicTable| {
            table.kind == TableKind::Sharded && syntax.table_key(&table.name) == key
        };
        let nodes = tables().filter(is_it).flat_map(|table| table.nodes);
        let mut own_nodes =
            nodes.filter(|node| writer_of(ctx.database, Arc::clone(&node.unit)) == own.unit);
        if let (Some(node), Some(last)) = (own_nodes.next(), name.parts.last()) {
            edits.replace(last.span, ctx.dialect.quote(&node.table));
        }
    }
    match edits.is_empty() {
        true => Ok(None),
        false => parsed(ctx, &edits.apply(&stmt.text)).map(Some),
    }
}

/// The names of tables that stand on storage units and are neither temporary nor the vendor's.
#[expect(clippy::wildcard_enum_match_arm, reason = "only definitions make names")]
fn others<'a>(
    ctx: &'a Context<'_>,
    stmt: &'a Statement,
    own: Option<&'a Temporaries>,
) -> impl Iterator<Item = &'a ObjectName> {
    let made = match &stmt.kind {
        Kind::Define(define) if is_temporary(define) || makes_view(define) => {
            define.names.as_slice()
        }
        Kind::Define(define) => define.renamed_to.as_slice(),
        _ => &[],
    };
    let is_vendors = |name: &ObjectName| {
        let key = name.key();
        key == "dual"
            || key.starts_with(pando_kernel::relation::PREFIX)
            || ctx.dialect.presentation().is_some_and(|shown| shown.holding(name).is_some())
    };
    let tables = visit::tables(&stmt.kind).into_iter().map(|table| table.name);
    tables.filter(move |name| {
        let is_made = made.iter().any(|own| own.span == name.span);
        !is_made && own.is_none_or(|own| !own.is_one(name)) && !is_vendors(name)
    })
}

/// A view over temporary tables is a temporary one, whatever its definition says.
fn makes_view(define: &Define) -> bool {
    define.object == ObjectKind::View && define.action == DefineAction::Create
}

/// The units where a table of this key is a part of a sharded one.
fn part_of<'a>(ctx: &'a Context<'_>, key: &'a str) -> impl Iterator<Item = UnitName> + 'a {
    let syntax = ctx.dialect.syntax();
    let tables = ctx.database.features.iter().flat_map(|feature| feature.tables());
    let sharded = tables.filter(move |table| {
        table.kind == TableKind::Sharded && syntax.table_key(&table.name) != key
    });
    let nodes = sharded.flat_map(|table| table.nodes);
    let own = nodes.filter(move |node| syntax.table_key(&node.table) == key);
    own.map(|node| writer_of(ctx.database, node.unit))
}

fn stands(ctx: &Context<'_>, key: &str) -> Result<Stands> {
    let tables = ctx.database.features.iter().flat_map(|feature| feature.tables());
    let tables: Vec<LogicTable> = tables.collect();
    let is_called = |table: &&LogicTable| ctx.dialect.syntax().table_key(&table.name) == key;
    if let Some(known) = tables.iter().find(is_called) {
        let units = known.nodes.iter().map(|node| writer_of(ctx.database, node.unit.clone()));
        let units = units.collect();
        return Ok(match known.kind {
            TableKind::Sharded => Stands::Split(units),
            TableKind::Broadcast | TableKind::Single => Stands::In(units),
        });
    }
    let Some(found) = ctx.catalog.tables() else { return Ok(Stands::Unread) };
    let mut units: Vec<UnitName> = Vec::new();
    for unit in found.get(key).into_iter().flatten() {
        let is_part = tables
            .iter()
            .flat_map(|table| &table.nodes)
            .any(|node| node.unit == *unit && ctx.dialect.syntax().table_key(&node.table) == key);
        let writer = writer_of(ctx.database, Arc::clone(unit));
        if !is_part && !units.contains(&writer) {
            units.push(writer);
        }
    }
    match &units[..] {
        [] if found.contains_key(key) => Err(ErrorKind::UnknownTable(key.to_owned()).into()),
        [] => Ok(Stands::Nowhere),
        [_] => Ok(Stands::In(units)),
        [_, ..] => Err(Error::unsupported(
            10500,
            format!("table `{key}` stands in several storage units: `{}`", units.join("`, `")),
            format!("say which one is meant under `!SINGLE`, as `{}.{key}`", units[0]),
        )),
    }
}

/// Whether a statement makes its table anew, whatever there was.
fn is_remade(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Define(define) if define.action == DefineAction::Create && is_temporary(define))
}

fn text_of(name: &ObjectName) -> &str {
    name.parts.last().map_or("", |part| part.value.as_str())
}

fn gone_with_connection(name: &ObjectName, unit: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "temporary table `{}` is gone: its connection to storage unit `{unit}` was lost",
            text_of(name)
        ),
        "make it again, or drop it",
    )
}

fn apart(stmt: &Statement, name: &ObjectName, unit: &str, other: Option<&UnitName>) -> Error {
    let other = other.map_or("", |unit| unit);
    Error::spans_shards(
        20101,
        format!(
            "the session's temporary tables stand in `{unit}`, and table `{}` in `{other}`",
            text_of(name)
        ),
        instead(stmt),
    )
}

/// What is done instead.
#[expect(clippy::wildcard_enum_match_arm, reason = "two statements have ways of their own")]
fn instead(stmt: &Statement) -> &'static str {
    match &stmt.kind {
        Kind::Utility { verb, .. } if verb == "MERGE" => MERGED,
        _ if is_alike(stmt) => LIKE,
        _ => BESIDE,
    }
}

fn split(stmt: &Statement, name: &ObjectName, unit: &str) -> Error {
    Error::spans_shards(
        20101,
        format!(
            "the session's temporary tables stand in `{unit}`, and table `{}` has parts elsewhere",
            text_of(name)
        ),
        instead(stmt),
    )
}
