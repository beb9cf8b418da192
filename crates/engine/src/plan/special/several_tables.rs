//! DROP TABLE, TRUNCATE, GRANT, VACUUM and the like of several tables: each table is routed as if it stood alone, and each storage unit gets one statement that
//! names what it has of them. One, because PostgreSQL truncates tables that refer to each other only together.

use std::sync::Arc;

use pando_kernel::Timed;
use pando_kernel::effects::Leaves;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Route, Spread, Target};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::{Edits, Span};

use super::{catalogue, missing};
use crate::plan::{Plan, Planned, Purpose, Told, Unit, rewrite, route, writes};

/// What one storage unit has of the tables.
struct Share {
    target: Target,
    /// Their actual names as they are listed, in the statement's order.
    names: Vec<String>,
}

/// Plans such a statement; `None` when it is none, or names what no room knows.
///
/// # Errors
/// What the rooms refuse of one of its tables.
pub(in crate::plan) fn list(
    ctx: &Context<'_>,
    stmt: &Statement,
    purpose: Purpose,
) -> Result<Option<Planned>> {
    let Some(list) = listing(ctx, stmt) else { return Ok(None) };
    let mut shares: Vec<Share> = Vec::new();
    let mut missing: Vec<(String, &str)> = Vec::new();
    for (at, listed) in list.places.iter().enumerate() {
        let one = list.alone(stmt, at);
        let units = match route::routed(ctx, &one) {
            Ok(Route::Units(units)) => units,
            Ok(Route::Needs(need)) => return Ok(Some(Planned::Needs(need))),
            Ok(Route::Unclaimed) => return Ok(None),
            Err(error) => {
                // Of what DROP names all that is missing is told at once.
                let (ErrorKind::UnknownTable(key), true) = (error.kind(), list.drops()) else {
                    return Err(error);
                };
                missing.push((key.clone(), listed.of(&stmt.text)));
                continue;
            }
        };
        for target in units.targets {
            let name = named(ctx, &one, &target, *listed)?;
            add(&mut shares, target, name);
        }
    }
    if let Of::Definition(define) = list.of
        && !missing.is_empty()
        && !goes_on(ctx, define, &missing, &mut shares)
    {
        let keys: Vec<String> = missing.into_iter().map(|(key, _)| key).collect();
        if let Some(error) = missing::missing(define, &keys) {
            return Err(error.into());
        }
    }
    catalogue::unmixed(ctx, stmt)?;
    let place = |share: &Share| ctx.database.units.iter().position(|u| *u == share.target.unit);
    shares.sort_by_key(place);
    if purpose == Purpose::Describe {
        shares.truncate(1);
    }
    Ok(Some(Planned::Run(Box::new(plan(stmt, &list.places, shares)))))
}

/// A statement that lists several tables.
struct List<'a> {
    of: Of<'a>,
    /// Where each of them stands in the text.
    places: Vec<Span>,
}

enum Of<'a> {
    Definition(&'a Define),
    /// GRANT, VACUUM, LOCK, …
    Others(&'a [ObjectName]),
}

impl List<'_> {
    fn drops(&self) -> bool {
        matches!(self.of, Of::Definition(define) if define.action == DefineAction::Drop)
    }

    /// The statement as if it named this table only. Its text stays, so that all places in it do.
    fn alone(&self, stmt: &Statement, at: usize) -> Statement {
        let kind = match (&self.of, &stmt.kind) {
            (Of::Definition(define), _) => {
                let mut one = Define::clone(define);
                one.names = define.names.get(at).cloned().into_iter().collect();
                one.listed = define.listed.get(at).copied().into_iter().collect();
                Kind::Define(Box::new(one))
            }
            (Of::Others(names), Kind::Utility { verb, .. }) => Kind::Utility {
                verb: verb.clone(),
                tables: names.get(at).cloned().into_iter().collect(),
                index: None,
                merge: None,
            },
            (Of::Others(names), _) => Kind::Lock(names.get(at).cloned().into_iter().collect()),
        };
        Statement { kind, ..stmt.clone() }
    }
}

/// The list, when there is one.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn listing<'a>(ctx: &Context<'_>, stmt: &'a Statement) -> Option<List<'a>> {
    match &stmt.kind {
        Kind::Define(define) => defining(ctx, define),
        Kind::Utility { verb, tables, index: None, merge: None } => {
            others(ctx, stmt, verb.split(' ').next()?, tables)
        }
        Kind::Lock(tables) => others(ctx, stmt, "LOCK", tables),
        _ => None,
    }
}

/// The tables of such a statement where nothing but commas stands between them.
fn others<'a>(
    ctx: &Context<'_>,
    stmt: &'a Statement,
    verb: &str,
    tables: &'a [ObjectName],
) -> Option<List<'a>> {
    let between = |pair: &[ObjectName]| {
        let gap = pair.first()?.span.end as usize..pair.get(1)?.span.start as usize;
        Some(stmt.text.get(gap)?.trim() == ",")
    };
    let has_more = |last: &ObjectName| {
        let rest = stmt.text.get(last.span.end as usize..).unwrap_or_default();
        rest.trim_start().starts_with(['(', ',', '*'])
    };
    let is_list = tables.len() > 1
        && ctx.dialect.lists_tables_behind(verb)
        && tables.windows(2).all(|pair| between(pair) == Some(true))
        && !tables.last().is_some_and(has_more);
    let places = tables.iter().map(|table| table.span).collect();
    is_list.then_some(List { of: Of::Others(tables), places })
}

fn defining<'a>(ctx: &Context<'_>, define: &'a Define) -> Option<List<'a>> {
    // Where definitions commit, views are dropped as tables are: what is there, whatever is not.
    let is_view = define.object == ObjectKind::View
        && define.action == DefineAction::Drop
        && ctx.dialect.definitions_commit();
    let is_list = (define.object == ObjectKind::Table || is_view)
        && matches!(define.action, DefineAction::Drop | DefineAction::Truncate)
        && define.listed.len() > 1
        && !define.temporary
        && ctx.dialect.lists_tables(define.action);
    let places = define.listed.clone();
    is_list.then_some(List { of: Of::Definition(define), places })
}

/// Whether the tables that are there are dropped all the same: all that IF EXISTS finds, and on servers that drop first and say then what was missing. The
/// first of these says it of the missing ones, too, where no part of a table is called so.
fn goes_on(
    ctx: &Context<'_>,
    define: &Define,
    missing: &[(String, &str)],
    shares: &mut [Share],
) -> bool {
    let Some(first) = shares.first_mut() else { return false };
    if define.conditional {
        return true;
    }
    let version = ctx.session.facts.version.as_deref().unwrap_or_default();
    let known = ctx.catalog.tables();
    let is_nowhere = |key: &String| known.as_ref().is_some_and(|known| !known.contains_key(key));
    if !ctx.dialect.drops_the_others(version) || !missing.iter().all(|(key, _)| is_nowhere(key)) {
        return false;
    }
    first.names.extend(missing.iter().map(|(_, name)| (*name).to_owned()));
    true
}

/// What the list has to say for this table at a target.
fn named(ctx: &Context<'_>, one: &Statement, target: &Target, listed: Span) -> Result<String> {
    let mut edits = rewrite::edits(ctx, one, target)?;
    edits.replace(Span::new(0, listed.start), "");
    edits.replace(Span::new(listed.end, one.text.len() as u32), "");
    Ok(edits.apply(&one.text))
}

fn add(shares: &mut Vec<Share>, target: Target, name: String) {
    match shares.iter_mut().find(|share| share.target.unit == target.unit) {
        None => shares.push(Share { target, names: vec![name] }),
        Some(share) => {
            share.names.push(name);
            for table in target.tables {
                if !share.target.tables.contains(&table) {
                    share.target.tables.push(table);
                }
            }
        }
    }
}

fn plan(stmt: &Statement, places: &[Span], shares: Vec<Share>) -> Plan {
    let list = places.iter().copied().reduce(Span::to).unwrap_or_default();
    let unit = |share: Share| {
        let mut edits = Edits::default();
        if let Some(hint) = stmt.hint_span {
            edits.replace(hint, "");
        }
        edits.replace(list, share.names.join(", "));
        Unit {
            target: share.target,
            sql: Arc::from(edits.apply(&stmt.text)),
            parameters: Vec::new(),
            turns: Vec::new(),
            replaced: Vec::new(),
            attributes: Vec::new(),
        }
    };
    Plan {
        units: shares.into_iter().map(unit).collect(),
        spread: Spread::Same,
        merge: MergePlan::iterate(),
        keys: None,
        fields: Vec::new(),
        writes: writes(&stmt.kind),
        before: Vec::new(),
        timed: Timed::default(),
        asks_catalogue: false,
        leaves: Leaves::Nothing,
        judged: None,
        assigns: None,
        told: Told::default(),
        read_here: Vec::new(),
    }
}
