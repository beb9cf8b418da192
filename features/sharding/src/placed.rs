//! Scopes → the nodes of their sharded tables.

use std::collections::HashMap;

use pando_kernel::error::{Error, Result};
use pando_kernel::route::{Spread, Target, Units};
use pando_sql::ast::{Delete, Kind, Node, Select, Statement, Table as Named, Update};
use pando_sql::{Span, visit};

use crate::asked::Asked;
use crate::class::{Class, Placed, target};
use crate::domain::Domain;
use crate::found::spans_shards;
use crate::join::{self, Classes};
use crate::rule::Rule;
use crate::scope::{Key, Scope, inside, selects};
use crate::table::Table;

/// What a DELETE reads and changes.
pub(crate) struct Deleted<'a> {
    pub(crate) scope: Scope<'a>,
    /// Targets that stand outside FROM.
    pub(crate) targets: Vec<&'a Named>,
    /// Where targets are named that stand in FROM.
    pub(crate) labels: Vec<Span>,
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

/// The scopes of every query inside a statement that changes rows: in WITH, in FROM, in expressions.
pub(crate) fn inner<'r>(asked: &Asked<'r>) -> Result<Vec<Placed<'r>>> {
    let mut found = Vec::new();
    inside(&asked.stmt.kind, &mut found);
    nested(&asked.stmt.kind, &mut found);
    let scopes = found.iter().map(|select| Scope::new(&select.from, select.filter.as_ref()));
    scopes.filter_map(|scope| place(asked, &scope).transpose()).collect()
}

/// The SELECT cores of sub-queries in expressions.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over syntax nodes: every other one says nothing about a shard"
)]
pub(crate) fn nested<'a>(kind: &'a Kind, found: &mut Vec<&'a Select>) {
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
        placed.push(class(asked, &tables, members, &deciding, &domains)?);
    }
    Ok(Some(Placed { classes: placed, has_outer: !scope.outers.is_empty() }))
}

fn class<'r>(
    asked: &Asked<'r>,
    tables: &[Option<&'r Table>],
    members: &[usize],
    deciding: &[usize],
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
        // No row can match, but the statement still has columns, and an aggregate its one row: any node answers for
        // all.
        nodes.push(0);
    }
    Ok(Class { tables: out, members: members.to_vec(), nodes })
}

/// The auditor DML_SHARDING_CONDITIONS: refuses a statement that says nothing about its sharding columns, unless a hint
/// switches it off.
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
    Err(Error::forbidden(
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
            return Err(spans_shards(
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

/// The tables' names, as messages show them.
pub(crate) fn listed(tables: &[&Table]) -> String {
    let names: Vec<String> = tables.iter().map(|table| format!("`{}`", table.logic())).collect();
    names.join(", ")
}

/// Every node of the tables a statement names.
pub(crate) fn everywhere(rule: &Rule, stmt: &Statement, spread: Spread) -> Result<Units> {
    let tables = sharded(rule, &stmt.kind);
    let Some(first) = tables.first() else {
        return Err(Error::internal("no sharded table to route"));
    };
    if !tables.iter().all(|table| rule.are_bound(first, table)) {
        return Err(Error::unsupported(
            20030,
            format!(
                "this statement names sharded tables that are not binding tables of each other ({})",
                listed(&tables)
            ),
            "write one statement for each table; where one refers to the other, make them binding tables, or let the foreign key name the sharding columns of both",
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
