//! Statements on single tables go to the one place they stand in.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Context, DataNode};
use pando_kernel::route::{Need, Route, Spread, Target, UnitName, Units};
use pando_kernel::shortcut::{Always, Shortcut};
use pando_sql::ast::{DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::{Fold, visit};

use crate::named::{Named, index_alone, named, owners};
use crate::rule::Rule;

pub(crate) fn route(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    route: &mut Route,
) -> Result<()> {
    if let Route::Needs(_) = route {
        return Ok(());
    }
    let named = match index_alone(stmt) {
        Some(_) if !matches!(route, Route::Unclaimed) => return Ok(()),
        Some(names) => {
            let Some(indexes) = ctx.catalog.indexes() else {
                *route = Route::Needs(Need::Indexes);
                return Ok(());
            };
            owners(rule, names, &indexes)?
        }
        None => named(rule, stmt),
    };
    let Some(named) = named else { return Ok(()) };
    let place = match locate(rule, ctx, stmt, &named)? {
        Located::In(place) => {
            // With one storage unit nobody looked whether they are there, and what a new table refers to may be missing.
            if matches!(&stmt.kind, Kind::Define(define) if rule.only_place().is_some() || !define.referenced.is_empty())
            {
                is_no_part(ctx, &named, &place)?;
            }
            place
        }
        // The parts of a sharded table have indexes, too, and are no single tables.
        Located::Anywhere if index_alone(stmt).is_some() => return Ok(()),
        Located::Anywhere => match route {
            Route::Units(units) if units.targets.len() == 1 => return Ok(()),
            Route::Units(_) => return Err(made_of_parts(stmt, &named)),
            Route::Unclaimed | Route::Needs(_) => {
                let place = default_place(rule)?;
                is_no_part(ctx, &named, &place)?;
                place
            }
        },
        Located::Everywhere => match route {
            Route::Units(_) => return Ok(()),
            Route::Unclaimed | Route::Needs(_) => default_place(rule)?,
        },
        Located::Unread => {
            *route = Route::Needs(Need::Tables);
            return Ok(());
        }
    };
    match route {
        Route::Units(units) => beside(&named, &place, units),
        Route::Unclaimed | Route::Needs(_) => {
            *route = Route::Units(Units::new(vec![Target::whole(place)], Spread::Gather));
            Ok(())
        }
    }
}

/// A statement on single tables alone always goes to their place.
pub(crate) fn shortcut(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
    let Some(named) = named(rule, stmt) else { return Shortcut::Idle };
    let is_ours = |table: &visit::Occurrence<'_>| match &table.name.parts[..] {
        [name] => named.existing.contains(&name.key()),
        _ => false,
    };
    let alone = stmt.hints.is_empty()
        && stmt.hint_span.is_none()
        && visit::tables(&stmt.kind).iter().all(is_ours);
    match locate(rule, ctx, stmt, &named) {
        Ok(Located::In(place)) if alone => Shortcut::Pick(Arc::new(Always(place))),
        Ok(_) | Err(_) => Shortcut::None,
    }
}

enum Located {
    /// All of them stand here.
    In(UnitName),
    /// None of them exists yet.
    Anywhere,
    /// All of them are made up by whichever server is asked.
    Everywhere,
    /// It is not known yet which tables there are.
    Unread,
}

fn locate(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, named: &Named) -> Result<Located> {
    if let Some(only) = rule.only_place() {
        return Ok(Located::In(only.clone()));
    }
    let tables = ctx.catalog.tables();
    let mut place: Option<(&str, UnitName)> = None;
    let (mut missing, mut is_made_up) = (None, true);
    // A new table may exist after all: CREATE TABLE IF NOT EXISTS must find it where it stands.
    for (name, is_new) in all(named) {
        let found = match rule.configured(name) {
            Some(place) => Some(place.clone()),
            None => match &tables {
                Some(tables) => match tables.get(name).map(|units| rule.found(name, units)) {
                    Some(places) => one_of(name, places)?,
                    None => None,
                },
                None => return Ok(Located::Unread),
            },
        };
        match (found, &place) {
            (Some(here), None) => place = Some((name, here)),
            (Some(here), Some((first, there))) if here != *there => {
                let one = Found { table: first, place: there };
                return Err(apart(one, Found { table: name, place: &here }));
            }
            (Some(_), Some(_)) => {}
            (None, _) if is_new => is_made_up = false,
            (None, _) if ctx.dialect.syntax().fold == Fold::Keep && is_counted_out(name) => {}
            (None, _) => missing = missing.or(Some(name)),
        }
    }
    if let Some(name) = missing.filter(|_| !may_be_missing(stmt)) {
        // MySQL makes keys to tables that are not there yet when `foreign_key_checks` is off, as in every dump, and where a new table
        // goes they will go, too: the server there judges.
        let there = place.as_ref().map_or(rule.default_place(), |(_, place)| Some(place));
        if !is_referred_to(stmt, name) || there != rule.default_place() {
            return Err(ErrorKind::UnknownTable(name.to_owned()).into());
        }
    }
    let nowhere =
        if is_made_up && missing.is_none() { Located::Everywhere } else { Located::Anywhere };
    Ok(place.map_or(nowhere, |(_, place)| Located::In(place)))
}

/// `seq_1_to_9` or `seq_1_to_9_step_2`: a table that MariaDB makes up where it is read. Servers that do not say that
/// there is none. <https://mariadb.com/kb/en/sequence-storage-engine/>
fn is_counted_out(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((from, rest)) = name.strip_prefix("seq_").and_then(|rest| rest.split_once("_to_"))
    else {
        return false;
    };
    let (to, step) = rest.split_once("_step_").unwrap_or((rest, "1"));
    [from, to, step].into_iter().all(is_number)
}

fn all(named: &Named) -> impl Iterator<Item = (&str, bool)> {
    let existing = named.existing.iter().map(|name| (name.as_str(), false));
    existing.chain(named.new.iter().map(|name| (name.as_str(), true)))
}

/// DROP … IF EXISTS succeeds without its table, and an index may belong to what is none.
fn may_be_missing(stmt: &Statement) -> bool {
    index_alone(stmt).is_some()
        || matches!(&stmt.kind, Kind::Define(define) if define.conditional && define.action != DefineAction::Create)
}

/// CREATE TABLE names it behind REFERENCES or the like, and nowhere else.
fn is_referred_to(stmt: &Statement, name: &str) -> bool {
    let Kind::Define(define) = &stmt.kind else { return false };
    let is_it = |named: &ObjectName| {
        named.parts.last().is_some_and(|last| last.value.eq_ignore_ascii_case(name))
    };
    define.action == DefineAction::Create
        && define.object == ObjectKind::Table
        && define.query.is_none()
        && define.referenced.iter().any(is_it)
}

/// A table that is nowhere is looked for, or made, where a part of a sharded one may have its name: that part is nobody's by that name.
fn is_no_part(ctx: &Context<'_>, named: &Named, place: &UnitName) -> Result<()> {
    let is_part = |name: &str| {
        ctx.database.features.iter().flat_map(|feature| feature.tables()).any(|table| {
            let key = |own: &str| ctx.dialect.syntax().table_key(own);
            let own = |node: &DataNode| node.unit == *place && key(&node.table) == name;
            !table.name.eq_ignore_ascii_case(name) && table.nodes.iter().any(own)
        })
    };
    match all(named).find(|(name, _)| is_part(name)) {
        None => Ok(()),
        Some((name, true)) => Err(ErrorKind::TableExists(name.to_owned()).into()),
        Some((name, false)) => Err(ErrorKind::UnknownTable(name.to_owned()).into()),
    }
}

fn one_of(name: &str, mut places: Vec<UnitName>) -> Result<Option<UnitName>> {
    if places.len() < 2 {
        return Ok(places.pop());
    }
    Err(Error::unsupported(
        10500,
        format!("table `{name}` stands in several storage units: `{}`", places.join("`, `")),
        format!("say which one is meant under `!SINGLE`, as `{}.{name}`", places[0]),
    ))
}

fn default_place(rule: &Rule) -> Result<UnitName> {
    rule.default_place().cloned().ok_or_else(|| {
        Error::unsupported(10101, "the database has no storage unit", "configure `dataSources`")
    })
}

/// The statement is claimed by another room: it stays right when it goes nowhere else than where the single tables stand.
fn beside(named: &Named, place: &UnitName, units: &Units) -> Result<()> {
    match units.targets.iter().find(|target| target.unit != *place) {
        None => Ok(()),
        Some(target) => {
            let name = named.existing.iter().chain(&named.new).next().map_or("", String::as_str);
            Err(Error::spans_shards(
                20101,
                format!(
                    "single table `{name}` stands in `{place}`, but the statement also goes to `{}`",
                    target.unit
                ),
                format!("make `{name}` a broadcast table, or narrow the statement to `{place}`"),
            ))
        }
    }
}

/// A table and where it stands.
struct Found<'a> {
    table: &'a str,
    place: &'a str,
}

fn apart(one: Found<'_>, other: Found<'_>) -> Error {
    let (Found { table: first, place: there }, Found { table: second, place: here }) = (one, other);
    Error::spans_shards(
        20101,
        format!("table `{first}` stands in `{there}` and table `{second}` in `{here}`"),
        "use them in separate statements, or move one of them",
    )
}

fn made_of_parts(stmt: &Statement, named: &Named) -> Error {
    let name = named.new.iter().chain(&named.existing).next().map_or("", String::as_str);
    // Without a query only a foreign key and the like name a table that is there.
    if matches!(&stmt.kind, Kind::Define(define) if define.query.is_none()) {
        let reason = format!(
            "single table `{name}` would refer to a table of several data nodes, and know one of them only"
        );
        let text = stmt.text.to_ascii_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.windows(2).any(|pair| pair == ["partition", "of"]) {
            return Error::unsupported(
                20101,
                format!("`{name}` would be a partition of one part of a sharded table only"),
                format!(
                    "configure `{name}` as a sharded table with the same algorithms and as many data nodes, bound to the other, or let the rule have more shards"
                ),
            );
        }
        if text.contains("references") {
            return Error::unsupported(
                20101,
                reason,
                format!(
                    "leave the foreign key out, or make `{name}` a sharded table bound to the other"
                ),
            );
        }
        return Error::unsupported(20101, reason, format!("write the columns of `{name}` out"));
    }
    Error::spans_shards(
        30001,
        format!(
            "`{name}` would be made once on each target of the statement, from a part of the rows"
        ),
        "narrow the statement to one shard by an equality on the sharding key",
    )
}
