//! Which unit shows which table.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Database, LogicTable, TableKind};
use pando_kernel::presentation::{Asked, Presentation, Shown, ShownColumn};
use pando_kernel::route::{Need, UnitName};
use pando_sql::ast::{Literal, Node, Statement};
use pando_sql::visit;

/// Who shows a table.
pub(super) enum Shower {
    Unit(UnitName),
    Nobody,
    Unread,
}

/// A unit's place among its database's units.
pub(super) fn number_of(ctx: &Context<'_>, unit: &str) -> usize {
    ctx.database.units.iter().position(|known| &**known == unit).unwrap_or(0)
}

/// The unit that shows a table.
pub(super) fn shown_by(ctx: &Context<'_>, table: &str) -> Shower {
    if let Some(known) = tables(ctx.database).find(|known| known.name.eq_ignore_ascii_case(table)) {
        let node = known.nodes.first();
        return node.map_or(Shower::Nobody, |node| Shower::Unit(writer(ctx.database, &node.unit)));
    }
    match ctx.catalog.tables() {
        None => Shower::Unread,
        Some(tables) => {
            match tables.get(&ctx.dialect.syntax().table_key(table)).and_then(|units| units.first())
            {
                Some(unit) => Shower::Unit(Arc::clone(unit)),
                None => shown_beside(ctx, table),
            }
        }
    }
}

/// The unit that shows the table with whose name another one begins: servers name so what belongs to a table.
fn shown_beside(ctx: &Context<'_>, name: &str) -> Shower {
    let cuts = name.match_indices('_').filter_map(|(at, _)| name.get(..at));
    let owner = cuts
        .rev()
        .find_map(|own| tables(ctx.database).find(|known| known.name.eq_ignore_ascii_case(own)));
    let node = owner.as_ref().and_then(|known| known.nodes.first());
    node.map_or(Shower::Nobody, |node| Shower::Unit(writer(ctx.database, &node.unit)))
}

pub(in crate::plan) fn tables(database: &Database) -> impl Iterator<Item = LogicTable> {
    database.features.iter().flat_map(|feature| feature.tables())
}

/// The unit itself, or the one of a group that takes writes.
pub(super) fn writer(database: &Database, unit: &UnitName) -> UnitName {
    let mut groups = database.features.iter().flat_map(|feature| feature.groups().places);
    let group = groups.find(|group| group.name == *unit);
    group.and_then(|group| group.members.into_iter().next()).unwrap_or_else(|| Arc::clone(unit))
}

/// The one unit for a question.
pub(super) enum Chosen {
    Unit(UnitName),
    Needs(Need),
}

/// The one unit for a question that cannot be put to all: that of an object or a table it names; else the first, when it shows all tables.
///
/// # Errors
/// `Refused` when tables of other units would be missing from the answer.
pub(super) fn chosen(
    ctx: &Context<'_>,
    presentation: &dyn Presentation,
    stmt: &Statement,
) -> Result<Chosen> {
    let parameters = ctx.parameters.unwrap_or(&[]);
    if let Asked::Number(number) = presentation.asked(stmt, parameters)
        && let Some(unit) = ctx.database.units.get(number)
    {
        return Ok(Chosen::Unit(Arc::clone(unit)));
    }
    let mut texts: Vec<&str> = parameters
        .iter()
        .filter_map(|parameter| match &parameter.value {
            Value::Text(text) => Some(text.as_str()),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => None,
        })
        .collect();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Literal(Literal::Text(text)) = &expr.node {
            texts.push(text);
        }
    });
    for text in texts {
        match shown_by(ctx, text) {
            Shower::Unit(unit) => return Ok(Chosen::Unit(unit)),
            Shower::Nobody => {}
            Shower::Unread => return Ok(Chosen::Needs(Need::Tables)),
        }
    }
    let Some(first) = ctx.database.units.first() else {
        return Err(Error::internal("a question without storage units"));
    };
    let unknown = ctx.parameters.is_none() && stmt.parameters > 0;
    match others_show(ctx, first) {
        None => Ok(Chosen::Needs(Need::Tables)),
        Some(Some(table)) if !unknown => Err(Error::spans_shards(
            30001,
            format!(
                "this question about the catalogue can be put to one storage unit only, and table `{table}` stands in another"
            ),
            "ask for tables by name, or with a plain SELECT from the catalogue",
        )),
        Some(_) => Ok(Chosen::Unit(Arc::clone(first))),
    }
}

/// A table that another unit than this shows, when there is one; `None` when it is not known yet.
fn others_show(ctx: &Context<'_>, unit: &UnitName) -> Option<Option<String>> {
    let elsewhere = |table: &LogicTable| {
        table.nodes.first().is_some_and(|node| writer(ctx.database, &node.unit) != *unit)
    };
    let known: Vec<LogicTable> = tables(ctx.database).collect();
    if let Some(table) = known.iter().find(|table| elsewhere(table)) {
        return Some(Some(table.name.clone()));
    }
    let mut names: HashSet<String> = HashSet::new();
    for table in &known {
        names.insert(table.name.to_lowercase());
        names.extend(table.nodes.iter().map(|node| node.table.to_lowercase()));
    }
    let (found, sequences) = (ctx.catalog.tables()?, ctx.catalog.sequences()?);
    // A counter of a part's own goes with the part: `t_1_id_seq`.
    let is_counter = |name: &str| {
        sequences.contains_key(name)
            && name.match_indices('_').any(|(at, _)| names.contains(&name[..at]))
    };
    let is_known = |name: &str| {
        let name = name.to_lowercase();
        names.contains(&name) || is_counter(&name)
    };
    let mut found = found.iter().filter(|(name, units)| !units.contains(unit) && !is_known(name));
    Some(found.next().map(|(name, _)| name.clone()))
}

/// The columns of a unit's tables that clients see under other names or not at all. Of a logic table the first node
/// stands for all.
pub(crate) fn columns_at(database: &Database, unit: &str) -> Vec<ShownColumn> {
    if !database.turns_columns() {
        return Vec::new();
    }
    let syntax = database.dialect.syntax();
    let tables: Vec<LogicTable> = tables(database).collect();
    let mut list = Vec::new();
    for own in database.stored_names() {
        let known = tables.iter().find(|table| syntax.table_key(&table.name) == own.table);
        let table: Arc<str> = match known {
            // It may stand on any unit.
            None => own.table.as_str().into(),
            Some(table) => match table.nodes.first() {
                Some(node) if *writer(database, &node.unit) == *unit => Arc::clone(&node.table),
                Some(_) | None => continue,
            },
        };
        list.push(ShownColumn {
            table,
            stored: own.stored.into(),
            logic: own.logic.map(Arc::from),
            declared: own.declared,
            keys_of: own.keys_of.map(Arc::from),
        });
    }
    list
}

/// A unit's parts of sharded tables. Of a table's parts one on one unit is not hidden: it stands for all.
pub(super) fn parts_at(database: &Database, unit: &str) -> Vec<Shown> {
    let sharded =
        tables(database).filter(|table| table.kind == TableKind::Sharded && table.nodes.len() > 1);
    let mut list = Vec::new();
    for table in sharded {
        let logic: Arc<str> = table.name.as_str().into();
        for (i, node) in table.nodes.iter().enumerate() {
            if *writer(database, &node.unit) == *unit {
                let (actual, logic) = (Arc::clone(&node.table), Arc::clone(&logic));
                list.push(Shown { actual, logic, hidden: i > 0 });
            }
        }
    }
    list
}

/// The tables of a unit that are not simply shown under their own names: of each logic table the first node stands for all, and what has a logic
/// table's name without being a part of it cannot be reached, so it is not shown.
pub(crate) fn shown_at(database: &Database, unit: &str) -> Vec<Shown> {
    let mut list = Vec::new();
    let mut writers: HashMap<UnitName, bool> = HashMap::new();
    for table in tables(database) {
        let logic: Arc<str> = table.name.as_str().into();
        let mut is_node = false;
        for (i, node) in table.nodes.iter().enumerate() {
            let is_here = match writers.get(&node.unit) {
                Some(known) => *known,
                None => {
                    let is_here = *writer(database, &node.unit) == *unit;
                    writers.insert(Arc::clone(&node.unit), is_here);
                    is_here
                }
            };
            if !is_here {
                continue;
            }
            let same = node.table.eq_ignore_ascii_case(&logic);
            is_node |= same;
            if i > 0 || !same {
                list.push(Shown {
                    actual: Arc::clone(&node.table),
                    logic: Arc::clone(&logic),
                    hidden: i > 0,
                });
            }
        }
        if !is_node {
            list.push(Shown { actual: Arc::clone(&logic), logic, hidden: true });
        }
    }
    list
}
