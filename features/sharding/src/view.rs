//! Views over sharded tables. One that is itself configured as a sharded table, bound to those it is made of, is made
//! on each data node over that node's tables. Any other is made on one storage unit, over one node of each table: so
//! its server knows its columns and what it hangs on, and the engine reads it by its query, over all nodes.

use pando_kernel::error::{Error, Result};
use pando_kernel::route::{Need, Place, Spread, Target, UnitName, Units};
use pando_kernel::{Effects, Value};
use pando_sql::ast::{
    Define, DefineAction, Expr, Ident, Node, ObjectKind, ObjectName, QueryBody, Select, SelectItem,
};
use pando_sql::{Edits, Span, visit};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::found::Found;
use crate::literal;
use crate::placed::{everywhere, sharded};
use crate::proof::{self, Why};
use crate::rule::Rule;
use crate::table::Table;

/// CREATE, ALTER and DROP VIEW: every node.
///
/// # Errors
/// `Refused` 20009 when the view is not bound to its tables, 20032 when its rows are not proven to lie as configured.
pub(crate) fn defined(asked: &Asked<'_>, define: &Define) -> Result<Found> {
    let rule = asked.rule;
    if let (Some(query), Some(name)) = (&define.query, define.names.first()) {
        let view = rule.table(&name.key());
        if view.is_some() && placeholder(define).is_some() {
            return everywhere(rule, asked.stmt, Spread::Same).map(Found::Units);
        }
        let tables = sharded(rule, &asked.stmt.kind);
        let Some(view) = view else {
            if define.temporary || define.materialized && !is_refilled(asked) {
                return Err(unbound(name, &tables));
            }
            if define.materialized && !asked.ctx.session.keeps_time {
                return Err(Error::spans_shards(
                    20032,
                    format!("each shard has a part of the rows of `{}`", name.key()),
                    "execute the statement by itself",
                ));
            }
            return at_home(asked, define, name, &tables);
        };
        if !tables.iter().all(|table| rule.are_bound(view, table)) {
            return Err(unbound(name, &tables));
        }
        let labels = &define.view_columns[..];
        proof::view(asked, view, name.span, query, labels).map_err(|why| unproven(name, why))?;
    } else if !define.names.iter().all(|name| rule.table(&name.key()).is_some()) {
        return Err(Error::unsupported(
            20030,
            "sharded views and others cannot be defined in one statement",
            "write one statement for each view",
        ));
    }
    everywhere(rule, asked.stmt, Spread::Same).map(Found::Units)
}

/// Whether servers can be given the rows of materialized views.
fn is_refilled(asked: &Asked<'_>) -> bool {
    let texts = asked.ctx.dialect.views();
    texts.is_some_and(|texts| texts.refill().is_some()) && !asked.ctx.database.turns_columns()
}

/// A view that no rule speaks of: on one storage unit that has a node of each of its sharded tables, and all others.
fn at_home(
    asked: &Asked<'_>,
    define: &Define,
    name: &ObjectName,
    tables: &[&Table],
) -> Result<Found> {
    let rule = asked.rule;
    if asked.ctx.database.turns_columns() {
        return Err(unbound(name, tables));
    }
    let presentation = asked.ctx.dialect.presentation();
    if presentation.is_some_and(|shown| shown.holding(name).is_some()) {
        return Err(Error::unsupported(
            20032,
            format!("view `{}` is called as the server's own relations are", name.key()),
            "call it otherwise",
        ));
    }
    let others: Vec<String> = visit::tables(&asked.stmt.kind)
        .iter()
        .map(|table| table.name.key())
        .filter(|key| rule.table(key).is_none() && *key != name.key())
        .collect();
    let Some(known) = asked.ctx.catalog.tables() else { return Ok(Found::Needs(Need::Tables)) };
    // A group is another word for the unit that takes its writes.
    let groups: Vec<Place> =
        asked.ctx.database.features.iter().flat_map(|room| room.groups().places).collect();
    let stands = |unit: &UnitName, key: &String| {
        let group = groups.iter().find(|group| group.name == *unit);
        let members = group.map_or(std::slice::from_ref(unit), |group| &group.members);
        known.get(key).is_none_or(|units| members.iter().any(|member| units.contains(member)))
    };
    let has_all = |unit: &UnitName| {
        tables.iter().all(|table| table.nodes().iter().any(|node| node.unit == *unit))
            && others.iter().all(|key| stands(unit, key))
    };
    let nodes = tables.first().map_or(&[][..], |table| table.nodes());
    let mut homes: Vec<&UnitName> = nodes.iter().map(|node| &node.unit).collect();
    homes.retain(|unit| has_all(unit));
    // Where it stands already it stays.
    let own =
        homes.iter().find(|unit| known.contains_key(&name.key()) && stands(unit, &name.key()));
    let Some(home) = own.or(homes.first()) else {
        return Err(Error::spans_shards(
            20032,
            format!("no storage unit has a part of every table of view `{}`", name.key()),
            "let them share a storage unit, or make the view over fewer tables",
        ));
    };
    has_no_actual_name(asked, name, tables)?;
    if let Some(need) = is_read_by_none(asked, name, define)? {
        return Ok(Found::Needs(need));
    }
    let named = |table: &&Table| {
        let node = table.nodes().iter().find(|node| node.unit == **home)?;
        Some(table.named_at(node))
    };
    let target = Target {
        unit: UnitName::clone(home),
        tables: tables.iter().filter_map(named).collect(),
        rows: None,
    };
    Ok(Found::Units(Units::new(vec![target], Spread::Gather)))
}

/// Refuses a view that a routine reads already: that would run on a storage unit, and read the part of the rows that the
/// view has there. What has to be known first.
fn is_read_by_none(asked: &Asked<'_>, view: &ObjectName, define: &Define) -> Result<Option<Need>> {
    let texts = asked.ctx.dialect.effects().and_then(Effects::triggers);
    if define.materialized || texts.is_none() {
        return Ok(None);
    }
    let units = &asked.ctx.database.units;
    let Some(known) = asked.ctx.catalog.routines(units).triggers else {
        return Ok(Some(Need::Triggers(units.clone())));
    };
    let view = view.key();
    match known.reader_of(&view.to_lowercase()) {
        None => Ok(None),
        Some(routine) => Err(Error::unsupported(
            20032,
            format!(
                "routine `{routine}` may read view `{view}`, of which each storage unit has a part"
            ),
            "drop the routine and let the client read the view, or give the view another name",
        )),
    }
}

/// Refuses what is called as an actual table is: in the definition that its server tells nobody could tell the two
/// apart.
fn has_no_actual_name(asked: &Asked<'_>, view: &ObjectName, tables: &[&Table]) -> Result<()> {
    let is_actual = |label: &&Ident| {
        let mut nodes =
            tables.iter().flat_map(|table| table.nodes().iter().map(move |node| (table, node)));
        nodes.any(|(table, node)| {
            node.table.eq_ignore_ascii_case(&label.value)
                && !table.logic().eq_ignore_ascii_case(&label.value)
        })
    };
    match visit::labels(&asked.stmt.kind).into_iter().find(is_actual) {
        None => Ok(()),
        Some(label) => Err(Error::unsupported(
            20032,
            format!("`{}` in view `{}` is the name of an actual table", label.value, view.key()),
            "call it otherwise",
        )),
    }
}

/// The one row of constants that a dump shows in a view's place until its tables are there.
fn placeholder(define: &Define) -> Option<&Select> {
    let query = define.query.as_deref()?;
    let is_bare = query.with.is_empty() && query.order_by.is_empty() && query.limit.is_none();
    let QueryBody::Select(select) = &query.body else { return None };
    let goes_by_nothing = select.from.is_empty()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none();
    let are_constants = select.items.iter().all(|item| match item {
        SelectItem::Expr { expr, alias, .. } => alias.is_some() && constant(expr).is_some(),
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => false,
    });
    (is_bare && goes_by_nothing && are_constants && define.view_columns.is_empty())
        .then_some(select)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn constant(expr: &Expr) -> Option<Value> {
    match &literal::unwrapped(expr).node {
        Node::Literal(literal) => Value::of_literal(literal),
        Node::Cast { operand, .. } => constant(operand).filter(|value| *value == Value::Null),
        _ => None,
    }
}

/// The row of a placeholder is in the view once: on the node where its values belong. Elsewhere the view has none.
pub(crate) fn place(rule: &Rule, define: &Define, to: &Target, edits: &mut Edits) {
    let is_view = define.object == ObjectKind::View && define.action == DefineAction::Create;
    let (Some(query), Some(name)) =
        (define.query.as_deref().filter(|_| is_view), define.names.first())
    else {
        return;
    };
    let (Some(view), Some(select)) = (rule.table(&name.key()), placeholder(define)) else { return };
    let values: Vec<(String, Value)> = select
        .items
        .iter()
        .filter_map(|item| match item {
            SelectItem::Expr { expr, alias: Some(alias), .. } => {
                Some((alias.value.to_lowercase(), constant(expr)?))
            }
            SelectItem::Expr { alias: None, .. }
            | SelectItem::Star(_)
            | SelectItem::QualifiedStar(..) => None,
        })
        .collect();
    let domain = |key: &str| {
        let own = values.iter().find(|(name, value)| name == key && *value != Value::Null);
        own.map(|(_, value)| Domain::equal(value.clone())).unwrap_or_default()
    };
    let nodes = view.route_exactly(&domain, &[]).unwrap_or_default();
    let Some(home) = view.nodes().get(nodes.first().copied().unwrap_or(0)) else { return };
    let is_home = home.unit == to.unit && to.actual(view.logic()) == Some(&*home.table);
    if !is_home {
        edits.replace(Span::at(query.span.end), " LIMIT 0");
    }
}

fn unbound(view: &ObjectName, tables: &[&Table]) -> Error {
    let view = view.key();
    let others = tables
        .iter()
        .map(|table| table.name())
        .filter(|name| *name.to_lowercase() != *view.to_lowercase());
    let others: Vec<&str> = others.collect();
    Error::unsupported(
        20009,
        format!("view `{view}` is not bound to {}", others.join(", ")),
        format!(
            "configure `{view}` as a sharded table with the same algorithms and data nodes, and bind it to the tables it is made of"
        ),
    )
}

fn unproven(view: &ObjectName, why: Why) -> Error {
    match why {
        Why::Error(error) => error,
        Why::Doubt(reason) => Error::unsupported(
            20032,
            format!(
                "view `{}` would not show on each shard what belongs there: {reason}",
                view.key()
            ),
            "let it show the sharding key, and leave what compares rows of several shards to the queries that read it",
        ),
    }
}
