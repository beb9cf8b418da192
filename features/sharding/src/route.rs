//! Routing: which actual tables a statement touches (paper §VI.B).

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, OwnNames};
use pando_kernel::route::{Need, Route, Spread, Target, Units};
use pando_sql::ast::{
    CopyDirection, Define, InnerKind, Kind, ObjectKind, ObjectName, Query, QueryBody, Select,
    Statement,
};

use crate::asked::Asked;
use crate::class::{Class, target};
use crate::found::{Found, spans_shards, unsupported};
use crate::join;
use crate::placed::{
    Deleted, deleted, everywhere, inner, listed, nested, place, sharded, single, updated,
};
use crate::proof::{self, Change, Why};
use crate::rule::Rule;
use crate::scope::{Scope, last, selects};
use crate::table::Table;
use crate::within::Within;
use crate::{altered, inner, insert, merge, named, row_trigger, trigger, twins};

/// Routes a statement that touches sharded tables; leaves others alone.
pub(crate) fn route(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    route: &mut Route,
) -> Result<()> {
    if *route != Route::Unclaimed {
        return Ok(());
    }
    if let Some(names) = named::alone(&stmt.kind)
        && let Some(found) = named_alone(rule, ctx, stmt, names)?
    {
        *route = match found {
            Found::Units(units) => Route::Units(units),
            Found::Needs(need) => Route::Needs(need),
        };
        return Ok(());
    }
    if let Some(need) = trigger::made(rule, ctx, stmt)? {
        *route = Route::Needs(need);
        return Ok(());
    }
    let asked = Asked::new(rule, ctx, stmt);
    if let Kind::Define(define) = &stmt.kind
        && asked.is_empty()
        && row_trigger::makes(define)
        && let Some(need) = row_trigger::is_free(rule, ctx, stmt)?
    {
        *route = Route::Needs(need);
        return Ok(());
    }
    if let Kind::Define(define) = &stmt.kind
        && let Some(need) = altered::keeps_types(&asked, define)?
    {
        *route = Route::Needs(need);
        return Ok(());
    }
    if asked.is_empty() {
        return Ok(());
    }
    if asked.names.renames_joins {
        return Err(Error::spans_shards(
            20030,
            "a list of names for the columns of a join, in which sharding columns may be called otherwise, is not supported",
            "leave the list out, or put a sub-query whose select list has these names in the place of the join",
        ));
    }
    let found = routed(&asked, &stmt.kind);
    // What was found without knowing the columns, an error too, says nothing yet.
    if let Some(need) = asked.need() {
        *route = Route::Needs(need);
        return Ok(());
    }
    if let Some(need) = twins::check(&asked)? {
        *route = Route::Needs(need);
        return Ok(());
    }
    *route = match found? {
        Found::Units(units) => named::unread(ctx, stmt, &units).unwrap_or(Route::Units(units)),
        Found::Needs(need) => Route::Needs(need),
    };
    Ok(())
}

fn routed(asked: &Asked<'_>, kind: &Kind) -> Result<Found> {
    let (rule, stmt) = (asked.rule, asked.stmt);
    match kind {
        Kind::Select(query) => {
            let units = select(asked, query)?;
            asked.all_placed(units)
        }
        Kind::Insert(insert) => match insert::route(asked, insert)? {
            Found::Units(units) => asked.all_placed(units),
            Found::Needs(need) => Ok(Found::Needs(need)),
        },
        Kind::Update(update) => {
            let scope = updated(update);
            let change = Change {
                targets: Vec::new(),
                labels: Vec::new(),
                factors: update.tables.iter().chain(&update.from).collect(),
                filter: update.filter.as_ref(),
                values: update.assignments.iter().map(|one| &one.value).collect(),
            };
            let units = changed(asked, &scope, &change)?;
            crate::update::keeps_its_shard(asked, update, &scope, &units)?;
            asked.all_placed(units)
        }
        Kind::Delete(delete) => {
            let Deleted { scope, targets, labels } = deleted(asked, delete);
            let change = Change {
                targets,
                labels,
                factors: delete.from.iter().collect(),
                filter: delete.filter.as_ref(),
                values: Vec::new(),
            };
            let units = changed(asked, &scope, &change)?;
            asked.all_placed(units)
        }
        Kind::Define(define) => defined(asked, define),
        Kind::Explain { inner, .. } => routed(asked, inner),
        Kind::Copy(copy) if copy.direction == CopyDirection::ServerFile => {
            Err(unsupported("COPY with a file on the server cannot be sharded"))
        }
        Kind::Copy(copy) => match &copy.query {
            Some(query) => {
                let units = select(asked, query)?;
                asked.all_placed(units)
            }
            None => everywhere(rule, stmt, Spread::Gather).map(Found::Units),
        },
        Kind::Load(_) => everywhere(rule, stmt, Spread::Gather).map(Found::Units),
        Kind::Show(_) => {
            let mut units = everywhere(rule, stmt, Spread::Gather)?;
            units.targets.truncate(1);
            Ok(Found::Units(units))
        }
        Kind::Utility { merge: Some(merge), .. } => merge::route(asked, merge),
        Kind::Utility { verb, .. } if !spreads(verb) => {
            Err(unsupported(format!("`{verb}` on a sharded table is not supported")))
        }
        Kind::Utility { .. } | Kind::Lock(_) => {
            everywhere(rule, stmt, Spread::Same).map(Found::Units)
        }
        Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty
        | Kind::Opaque => Err(unsupported("this statement cannot be sharded")),
    }
}

/// Verbs that do the same to every actual table, and whose first answer tells enough.
fn spreads(verb: &str) -> bool {
    let first = verb.split(' ').next().unwrap_or("");
    matches!(
        first,
        "ANALYZE"
            | "ANALYSE"
            | "CHECK"
            | "CHECKSUM"
            | "CLUSTER"
            | "GRANT"
            | "OPTIMIZE"
            | "REFRESH"
            | "REINDEX"
            | "REPAIR"
            | "REVOKE"
            | "VACUUM"
    )
}

/// SELECT: everything on one shard, or what is proven to go whole to each of several, or a product of tables that are joined otherwise.
fn select(asked: &Asked<'_>, query: &Query) -> Result<Units> {
    let top = match &query.body {
        QueryBody::Select(select) => Some(&**select),
        QueryBody::Set { .. } | QueryBody::Values(_) => None,
    };
    let mut is_top = false;
    let mut placed = Vec::new();
    for select in scopes(&asked.stmt.kind, query) {
        let scope = Scope::new(&select.from, select.filter.as_ref());
        if let Some(one) = place(asked, &scope)? {
            is_top = top.is_some_and(|top| std::ptr::eq(top, select));
            placed.push(one);
        }
    }
    let within = Within::of(asked)?;
    if !within.is_empty() {
        return within.with(asked, placed);
    }
    if placed.is_empty() {
        return Err(spans_shards(
            20030,
            "the sharded tables of this statement could not be found in a FROM",
        ));
    }
    if let Ok(units) = single(placed.iter()) {
        return Ok(units);
    }
    let doubt = match proof::query(asked, query) {
        Ok(units) => return Ok(units),
        Err(Why::Error(error)) => return Err(error),
        Err(Why::Doubt(doubt)) => doubt,
    };
    match &placed[..] {
        [one] if is_top && one.classes.len() > 1 => {
            join::product(one).map(|targets| Units::new(targets, Spread::Gather))
        }
        _ => Err(spans_shards(20030, about(asked, doubt))),
    }
}

/// A doubt, with the tables that it may be about where there are several.
fn about(asked: &Asked<'_>, doubt: &str) -> String {
    let tables = sharded(asked.rule, &asked.stmt.kind);
    if tables.len() < 2 { doubt.to_owned() } else { format!("{doubt} ({})", listed(&tables)) }
}

/// Every SELECT core of a statement.
fn scopes<'a>(kind: &'a Kind, query: &'a Query) -> Vec<&'a Select> {
    let mut found = Vec::new();
    selects(query, &mut found);
    nested(kind, &mut found);
    found
}

/// UPDATE and DELETE: everything on one shard, or what is proven to go whole to each of several.
fn changed(asked: &Asked<'_>, scope: &Scope<'_>, change: &Change<'_>) -> Result<Units> {
    let mut all = Vec::new();
    all.extend(place(asked, scope)?);
    all.extend(inner(asked)?);
    let within = Within::of(asked)?;
    if !within.is_empty() {
        return within.with(asked, all);
    }
    if let Ok(units) = single(all.iter()) {
        return Ok(units);
    }
    match proof::change(asked, change) {
        Ok(units) => Ok(units),
        Err(Why::Error(error)) => Err(error),
        Err(Why::Doubt(doubt)) => {
            let code = if all.len() > 1 { 20030 } else { 20035 };
            Err(spans_shards(code, about(asked, doubt)))
        }
    }
}

/// DROP, ALTER and REINDEX INDEX and DROP TRIGGER without a table: what a sharded table has is known by its actual names.
/// `None` when the index or trigger is none of ours.
fn named_alone(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    names: &[ObjectName],
) -> Result<Option<Found>> {
    let is_trigger = matches!(&stmt.kind, Kind::Define(define) if named::drops_trigger(define));
    let all = &ctx.database.units;
    let Some(known) = ctx.catalog.names(all) else {
        return Ok(Some(Found::Needs(Need::Names(all.clone()))));
    };
    let has = |table: &Table, name: &str| {
        table.nodes().first().is_some_and(|node| {
            let own = table.named_at(node);
            match is_trigger {
                true => row_trigger::there(name, &own, &known).is_some(),
                false => inner::there(name, InnerKind::Index, &own, &known).is_some(),
            }
        })
    };
    // A part's own name is nobody's, and must not get through to the part.
    let has_part = |table: &Table, name: &String| {
        let parts = table.nodes().iter().filter_map(|node| known.get(&node.table.to_lowercase()));
        let own = |own: &OwnNames| {
            if is_trigger { own.triggers.contains(name) } else { own.indexes.contains(name) }
        };
        parts.into_iter().any(own)
    };
    let of = |name: &String| {
        let shown = rule.tables().find(|table| has(table, name));
        shown.or_else(|| rule.tables().find(|table| has_part(table, name)))
    };
    let mut owners: Vec<Option<&Table>> = Vec::new();
    for name in names.iter().map(last) {
        let owner = of(&name);
        // What nobody has is missing wherever the statement goes.
        if owner.is_some() || known.values().any(|own| !is_trigger && own.indexes.contains(&name)) {
            owners.push(owner);
        }
    }
    let Some(table) = owners.iter().copied().flatten().next() else { return Ok(None) };
    if owners.iter().any(|owner| owner.is_none_or(|other| other.logic() != table.logic())) {
        return Err(Error::unsupported(
            20030,
            "indexes of several tables cannot be changed in one statement",
            "write one statement for each index",
        ));
    }
    let nodes = (0..table.nodes().len()).collect();
    let class = Class { tables: vec![table], members: Vec::new(), nodes };
    let targets: Result<Vec<Target>> =
        class.nodes.iter().map(|node| target(&class, *node)).collect();
    Ok(Some(Found::Units(Units::new(targets?, Spread::Same))))
}

/// DDL: every node of the named tables, which must be one binding group when there are several.
fn defined(asked: &Asked<'_>, define: &Define) -> Result<Found> {
    let (rule, stmt) = (asked.rule, asked.stmt);
    let forbidden = [
        (
            !define.renamed_to.is_empty() && define.object != ObjectKind::Trigger,
            "renaming a sharded table",
            "make a table of the new name with a rule of its own, and move the rows with INSERT … SELECT",
        ),
        (
            define.object == ObjectKind::Routine,
            "a routine over a sharded table",
            "let the client send its statements one by one",
        ),
        (define.temporary, "a temporary sharded table", "give it a name that no rule has"),
    ];
    if let Some((_, what, instead)) = forbidden.iter().find(|(holds, ..)| *holds) {
        return Err(Error::unsupported(20030, format!("{what} is not supported"), *instead));
    }
    if row_trigger::makes(define)
        && let Some(need) = row_trigger::check(asked, define)?
    {
        return Ok(Found::Needs(need));
    }
    if define.query.is_some() && define.object == ObjectKind::Table {
        // Its rows go where the rule says, or come from several parts.
        return Err(Error::spans_shards(
            20030,
            "CREATE TABLE … AS SELECT is not supported",
            "write CREATE TABLE with the columns, then INSERT … SELECT",
        ));
    }
    if define.object == ObjectKind::Trigger
        && let Some(found) = trigger::defined(asked, define)?
    {
        return Ok(found);
    }
    altered::keeps_rows(asked, define)?;
    crate::narrow::check(asked, define)?;
    if define.object == ObjectKind::View {
        return crate::view::defined(asked, define);
    }
    let ours = |name: &ObjectName| rule.table(&name.key()).is_some();
    if define.names.iter().any(ours) && !define.names.iter().all(ours) {
        return Err(Error::unsupported(
            20030,
            "sharded tables and others cannot be defined in one statement",
            "write one statement for each table",
        ));
    }
    if let Some(units) = altered::meeting_units(asked, define)? {
        return Ok(Found::Units(units));
    }
    everywhere(rule, stmt, Spread::Same).map(Found::Units)
}
