//! Routing: which actual tables a statement touches (paper §VI.B).

use std::collections::HashMap;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Route, Spread, Target, Units};
use pando_sql::ast::{
    CopyDirection, Define, Delete, InnerKind, Kind, Node, ObjectKind, ObjectName, Query, QueryBody,
    Select, Statement, Table as Named, Update,
};
use pando_sql::{Span, visit};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::join::{self, Classes};
use crate::proof::{self, Change, Why};
use crate::rule::Rule;
use crate::scope::{Key, Scope, inside, last, selects};
use crate::table::Table;
use crate::within::Within;
use crate::{altered, inner, insert, merge, named, twins};

/// What one scope says about its sharded tables.
pub(crate) struct Placed<'a> {
    /// Logic table and the indices of its nodes, binding tables with equal indices; one entry per class of tables joined on their keys.
    pub(crate) classes: Vec<Class<'a>>,
    /// Outer joins make a product of classes wrong.
    pub(crate) has_outer: bool,
}

/// Tables of one scope that always meet on the same node.
pub(crate) struct Class<'a> {
    /// Its tables; the first one's nodes are numbered.
    pub(crate) tables: Vec<&'a Table>,
    /// Which sources of the scope they are.
    pub(crate) members: Vec<usize>,
    /// Node numbers, ascending.
    pub(crate) nodes: Vec<usize>,
}

pub(crate) fn refused(code: u32, reason: impl Into<String>) -> Error {
    Error::refused(
        code,
        reason,
        "narrow it to one shard by an equality on the sharding key, or join the tables on their sharding keys as binding tables",
    )
}

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
        && let Some(found) = index_alone(rule, ctx, names)?
    {
        *route = match found {
            Found::Units(units) => Route::Units(units),
            Found::Needs(need) => Route::Needs(need),
        };
        return Ok(());
    }
    let asked = Asked::new(rule, ctx, stmt);
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
        return Err(Error::refused(
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

/// The outcome of routing.
pub(crate) enum Found {
    Units(Units),
    Needs(Need),
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
        Kind::Define(define) => defined(asked, define).map(Found::Units),
        Kind::Explain { inner, .. } => routed(asked, inner),
        Kind::Copy(copy) if copy.direction == CopyDirection::ServerFile => {
            Err(refused(20030, "COPY with a file on the server cannot be sharded"))
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
            Err(refused(20030, format!("`{verb}` on a sharded table is not supported")))
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
        | Kind::Administration
        | Kind::Empty
        | Kind::Opaque => Err(refused(20030, "this statement cannot be sharded")),
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

/// What a DELETE reads and changes.
pub(crate) struct Deleted<'a> {
    pub(crate) scope: Scope<'a>,
    /// Targets that stand outside FROM.
    targets: Vec<&'a Named>,
    /// Where targets are named that stand in FROM.
    labels: Vec<Span>,
}

/// The scope of an UPDATE.
pub(crate) fn updated(update: &Update) -> Scope<'_> {
    let mut scope = Scope::default();
    scope.factors(&update.tables);
    scope.factors(&update.from);
    scope.filter(update.filter.as_ref());
    scope
}

/// The scope of a DELETE, and its targets.
pub(crate) fn deleted<'a>(asked: &Asked<'_>, delete: &'a Delete) -> Deleted<'a> {
    let mut scope = Scope::default();
    let (mut targets, mut labels) = (Vec::new(), Vec::new());
    if delete.from.is_empty() {
        delete.targets.iter().for_each(|target| scope.target(target));
        targets.extend(&delete.targets);
    } else {
        let named = |label: &str, scope: &Scope<'_>| scope.sources.iter().any(|s| s.label == label);
        scope.factors(&delete.from);
        for target in &delete.targets {
            let label = target.alias.as_ref().unwrap_or_else(|| &target.name.parts[0]);
            if named(&label.key(), &scope) || named(&target.name.key(), &scope) {
                asked.mark(target.name.span);
                labels.push(target.name.span);
            } else {
                scope.target(target);
                targets.push(target);
            }
        }
    }
    scope.filter(delete.filter.as_ref());
    Deleted { scope, targets, labels }
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
        return Err(refused(
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
        _ => Err(refused(20030, doubt)),
    }
}

/// Every SELECT core of a statement.
fn scopes<'a>(kind: &'a Kind, query: &'a Query) -> Vec<&'a Select> {
    let mut found = Vec::new();
    selects(query, &mut found);
    nested(kind, &mut found);
    found
}

/// The SELECT cores of sub-queries in expressions.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over syntax nodes: every other one says nothing about a shard"
)]
fn nested<'a>(kind: &'a Kind, found: &mut Vec<&'a Select>) {
    visit::exprs(kind, &mut |expr| match &expr.node {
        Node::Subquery(query) | Node::Exists(query) | Node::InQuery { query, .. } => {
            let mut inner = Vec::new();
            selects(query, &mut inner);
            for select in inner {
                if !found.iter().any(|known| std::ptr::eq(*known, select)) {
                    found.push(select);
                }
            }
        }
        _ => {}
    });
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
            Err(refused(code, doubt))
        }
    }
}

/// The scopes of every query inside a statement that changes rows: in WITH, in FROM, in expressions.
pub(crate) fn inner<'r>(asked: &Asked<'r>) -> Result<Vec<Placed<'r>>> {
    let mut found = Vec::new();
    inside(&asked.stmt.kind, &mut found);
    nested(&asked.stmt.kind, &mut found);
    let scopes = found.iter().map(|select| Scope::new(&select.from, select.filter.as_ref()));
    scopes.filter_map(|scope| place(asked, &scope).transpose()).collect()
}

/// Finds the nodes of one scope's sharded tables; none when it has no such table.
pub(crate) fn place<'r>(asked: &Asked<'r>, scope: &Scope<'_>) -> Result<Option<Placed<'r>>> {
    let tables = asked.tables(scope);
    if tables.iter().all(Option::is_none) {
        return Ok(None);
    }
    let keys = |i: usize, column: &str| {
        tables.get(i).copied().flatten().is_some_and(|table| table.is_key(column))
    };
    let domains = scope.domains(asked, &keys);
    let classes = Classes::of(asked, scope, &tables, &keys);
    let mut placed = Vec::new();
    for members in classes.groups() {
        let deciding = join::deciding(scope, members);
        placed.push(class(asked, &tables, (members, &deciding), &domains)?);
    }
    Ok(Some(Placed { classes: placed, has_outer: !scope.outers.is_empty() }))
}

fn class<'r>(
    asked: &Asked<'r>,
    tables: &[Option<&'r Table>],
    (members, deciding): (&[usize], &[usize]),
    domains: &HashMap<Key, Domain>,
) -> Result<Class<'r>> {
    let mut out: Vec<&'r Table> = Vec::new();
    let mut nodes: Option<Vec<usize>> = None;
    let mut lead: Option<&'r Table> = None;
    for member in members {
        let Some(table) = tables.get(*member).copied().flatten() else { continue };
        let of =
            |column: &str| domains.get(&(*member, column.to_owned())).cloned().unwrap_or_default();
        // What is not known yet may turn out to be a condition, and what is only looked at reads nothing.
        if !asked.ctx.session.describes && !asked.needs() {
            audited(asked.stmt, table, &of)?;
        }
        let own = table.route(&of, &asked.stmt.hints)?;
        let first = *lead.get_or_insert(table);
        let own = first.counterparts(table, &own)?;
        if deciding.contains(member) {
            nodes = Some(match nodes {
                None => own,
                Some(known) => {
                    known.into_iter().filter(|node| own.binary_search(node).is_ok()).collect()
                }
            });
        }
        if !out.iter().any(|known| known.logic() == table.logic()) {
            out.push(table);
        }
    }
    // Both sides of a FULL JOIN may be filled: no condition decides.
    let all = || lead.map_or(0, |lead| lead.nodes().len());
    let mut nodes = nodes.unwrap_or_else(|| (0..all()).collect());
    if nodes.is_empty() {
        // No row can match, but the statement still has columns, and an aggregate its one row: any node answers for all.
        nodes.push(0);
    }
    Ok(Class { tables: out, members: members.to_vec(), nodes })
}

/// The auditor DML_SHARDING_CONDITIONS: refuses a statement that says nothing about its sharding columns, unless a hint switches it off.
fn audited(stmt: &Statement, table: &Table, of: &dyn Fn(&str) -> Domain) -> Result<()> {
    let Some(audit) = table.audit().filter(|audit| !audit.auditors.is_empty()) else {
        return Ok(());
    };
    if table.keys().iter().any(|key| of(key) != Domain::Any) {
        return Ok(());
    }
    let named = |key: &str| matches!(key, "DISABLE_AUDIT_NAMES" | "DISABLEAUDITNAMES");
    let off: Vec<&str> = stmt
        .hints
        .iter()
        .filter(|(key, _)| named(key))
        .flat_map(|(_, names)| names.split_whitespace())
        .collect();
    let all_off = audit.auditors.iter().all(|name| off.contains(&name.as_str()));
    if audit.allow_hint_disable && all_off {
        return Ok(());
    }
    let names = audit.auditors.join(" ");
    Err(Error::refused(
        20090,
        format!(
            "`{}` may not be read or changed without a condition on its sharding columns",
            table.logic()
        ),
        format!(
            "add one, or, where the rule says `allowHintDisable`, begin the statement with `/* SHARDINGSPHERE_HINT: DISABLE_AUDIT_NAMES={names} */`"
        ),
    ))
}

/// The one target all scopes are on.
pub(crate) fn single<'a, 'b: 'a>(placed: impl Iterator<Item = &'a Placed<'b>>) -> Result<Units> {
    let mut merged: Option<Target> = None;
    for class in placed.flat_map(|placed| &placed.classes) {
        let [node] = class.nodes[..] else {
            return Err(refused(
                20030,
                "sub-queries, UNION and WITH on sharded tables need every part on one and the same shard",
            ));
        };
        let one = target(class, node)?;
        merged = Some(match merged {
            None => one,
            Some(known) => join::united(known, one)?,
        });
    }
    let target = merged.ok_or_else(|| Error::internal("nothing to route"))?;
    Ok(Units::new(vec![target], Spread::Gather))
}

/// The target of a class's node.
pub(crate) fn target(class: &Class<'_>, node: usize) -> Result<Target> {
    let first = class.tables.first().ok_or_else(|| Error::internal("a class without tables"))?;
    let unit = first.node(node)?.unit.clone();
    let mut names = Vec::new();
    for table in &class.tables {
        let actual = table.counterpart(first, node)?;
        names.push(table.named_at(actual));
    }
    Ok(Target { unit, tables: names, rows: None })
}

/// DROP, ALTER and REINDEX INDEX without a table: the index of a sharded table is known by its actual names. `None` when the index is none of ours.
fn index_alone(rule: &Rule, ctx: &Context<'_>, names: &[ObjectName]) -> Result<Option<Found>> {
    let all = &ctx.database.units;
    let Some(known) = ctx.catalog.names(all) else {
        return Ok(Some(Found::Needs(Need::Names(all.clone()))));
    };
    let has = |table: &Table, name: &str| {
        table.nodes().first().is_some_and(|node| {
            let own = table.named_at(node);
            inner::there(name, InnerKind::Index, &own, &known).is_some()
        })
    };
    // A part's own name is nobody's, and must not get through to the part.
    let has_part = |table: &Table, name: &String| {
        let parts = table.nodes().iter().filter_map(|node| known.get(&node.table.to_lowercase()));
        parts.into_iter().any(|own| own.indexes.contains(name))
    };
    let of = |name: &String| {
        let shown = rule.tables().find(|table| has(table, name));
        shown.or_else(|| rule.tables().find(|table| has_part(table, name)))
    };
    let mut owners: Vec<Option<&Table>> = Vec::new();
    for name in names.iter().map(last) {
        let owner = of(&name);
        // What nobody has is missing wherever the statement goes.
        if owner.is_some() || known.values().any(|own| own.indexes.contains(&name)) {
            owners.push(owner);
        }
    }
    let Some(table) = owners.iter().copied().flatten().next() else { return Ok(None) };
    if owners.iter().any(|owner| owner.is_none_or(|other| other.logic() != table.logic())) {
        return Err(Error::refused(
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
fn defined(asked: &Asked<'_>, define: &Define) -> Result<Units> {
    let (rule, stmt) = (asked.rule, asked.stmt);
    let forbidden = [
        (
            !define.renamed_to.is_empty(),
            "renaming a sharded table",
            "make a table of the new name with a rule of its own, and move the rows with INSERT … SELECT",
        ),
        (
            define.query.is_some() && define.object == ObjectKind::Table,
            "CREATE TABLE … AS SELECT",
            "write CREATE TABLE with the columns, then INSERT … SELECT",
        ),
        (
            define.object == ObjectKind::Routine,
            "a routine over a sharded table",
            "let the client send its statements one by one",
        ),
        (
            define.object == ObjectKind::Trigger,
            "a trigger on a sharded table",
            "let the client do its work in the same transaction, or make it on each actual table, on the storage units themselves",
        ),
        (define.temporary, "a temporary sharded table", "give it a name that no rule has"),
    ];
    if let Some((_, what, instead)) = forbidden.iter().find(|(holds, ..)| *holds) {
        return Err(Error::refused(20030, format!("{what} is not supported"), *instead));
    }
    altered::keeps_rows(asked, define)?;
    if define.object == ObjectKind::View {
        return crate::view::defined(asked, define);
    }
    let ours = |name: &ObjectName| rule.table(&name.key()).is_some();
    if define.names.iter().any(ours) && !define.names.iter().all(ours) {
        return Err(Error::refused(
            20030,
            "sharded tables and others cannot be defined in one statement",
            "write one statement for each table",
        ));
    }
    everywhere(rule, stmt, Spread::Same)
}

/// Every node of the tables a statement names.
pub(crate) fn everywhere(rule: &Rule, stmt: &Statement, spread: Spread) -> Result<Units> {
    let tables = sharded(rule, &stmt.kind);
    let Some(first) = tables.first() else {
        return Err(Error::internal("no sharded table to route"));
    };
    if !tables.iter().all(|table| rule.are_bound(first, table)) {
        return Err(Error::refused(
            20030,
            "this statement names sharded tables that are not binding tables of each other",
            "write one statement for each table; where one refers to the other, make them binding tables",
        ));
    }
    let nodes = (0..first.nodes().len()).collect();
    let class = Class { tables: tables.clone(), members: Vec::new(), nodes };
    let targets: Result<Vec<Target>> =
        class.nodes.iter().map(|node| target(&class, *node)).collect();
    Ok(Units::new(targets?, spread))
}

/// The sharded tables a statement names, each once.
pub(crate) fn sharded<'a>(rule: &'a Rule, kind: &Kind) -> Vec<&'a Table> {
    let mut tables: Vec<&Table> = Vec::new();
    for occurrence in visit::tables(kind) {
        if let Some(table) = rule.table(&occurrence.name.key())
            && !tables.iter().any(|known| known.logic() == table.logic())
        {
            tables.push(table);
        }
    }
    tables
}
