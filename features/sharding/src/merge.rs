//! MERGE of one row of constants that is found by its sharding key: it goes to the shard of that key, where the row is changed or put.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{
    BinaryOp, Distinct, Expr, Ident, Merge, MergeThen, Node, ObjectName, Query, QueryBody,
    SelectItem, TableFactor,
};
use pando_sql::{Span, visit};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::found::{Found, unsupported};
use crate::insert::{self, Row, Rows};
use crate::kept::Finds;
use crate::literal::{self, unwrapped};
use crate::scope::{conjuncts, last};
use crate::table::Table;

/// The source's one row: its name, and its columns with what stands in them.
struct Source<'a> {
    label: String,
    columns: Vec<(String, &'a Expr)>,
}

/// Routes a MERGE into a sharded table.
pub(crate) fn route(asked: &Asked<'_>, merge: &Merge) -> Result<Found> {
    let target = &merge.target;
    asked.mark(target.name.span);
    let names_others = visit::tables(&asked.stmt.kind).len() != 1;
    let table = asked.rule.table(&target.name.key()).filter(|_| !names_others);
    let table = table.ok_or_else(|| doubt("whose source or conditions read tables"))?;
    let own = target.alias.as_ref().map_or_else(|| target.name.key(), Ident::key);
    let source = source(&asked.stmt.text, &merge.source);
    let source = source.filter(|source| target.extras.is_empty() && source.label != own);
    let source = source.ok_or_else(|| doubt("whose source is more than one row of constants"))?;
    let parts = conjuncts(&merge.on);
    let mut met: Vec<(&String, &(String, &Expr))> = Vec::new();
    for key in table.keys() {
        let found = parts.iter().find_map(|part| equated(part, &own, key, &source));
        met.push((key, found.ok_or_else(|| doubt("that is not ON its sharding key"))?));
    }
    if met.is_empty() {
        return Err(doubt("that is not ON its sharding key"));
    }
    let mut rows = Vec::new();
    for when in &merge.whens {
        match &when.then {
            MergeThen::Update(list) if list.iter().any(|one| table.is_key(&last(&one.column))) => {
                return Err(doubt("that sets its sharding key"));
            }
            MergeThen::Insert { columns, values } => {
                let row = inserted(asked, table, columns.as_deref(), values.as_deref())?;
                let Some(row) = row else { return waiting(asked) };
                kept(&row, &met, &source)?;
                rows.push(row);
            }
            MergeThen::Update(_) | MergeThen::Delete | MergeThen::Nothing => {}
        }
    }
    if asked.ctx.parameters.is_none() && asked.stmt.parameters > 0 {
        return asked.all_placed(insert::first_node(table)?);
    }
    let node = found(asked, table, &met)?;
    for mut row in rows {
        // Other columns say nothing about the shard.
        for row in &mut row.rows {
            let Row::Listed(values) = row else { continue };
            for value in values {
                if let Some((_, given)) = named(value, &source) {
                    *value = given;
                }
            }
        }
        insert::has_no_key_to_make(asked, table, &row)?;
        if insert::node_of_first(asked, table, &row)? != node {
            return Err(doubt("whose row would be stored on another shard than it is looked for"));
        }
    }
    asked.all_placed(insert::at_node(table, node)?)
}

fn doubt(what: &str) -> Error {
    unsupported(format!("MERGE into a sharded table {what}"))
}

/// What must be read first.
fn waiting(asked: &Asked<'_>) -> Result<Found> {
    asked.need().map(Found::Needs).ok_or_else(|| doubt("of which the columns are not known"))
}

/// `(SELECT 1 AS id, 'a' AS v) s`, `(VALUES (1, 'a')) s (id, v)`.
fn source<'a>(text: &str, factor: &'a TableFactor) -> Option<Source<'a>> {
    let TableFactor::Derived { query, alias: Some(alias), lateral: false, span } = factor else {
        return None;
    };
    let given = Span::new(alias.span.end, span.end).of(text).trim();
    let given = (!given.is_empty()).then(|| listed(given));
    let own = items(query)?;
    let names: Vec<String> = match given {
        Some(given) => given.filter(|given| given.len() == own.len())?,
        None => own.iter().map(|(name, _)| name.clone()).collect::<Option<_>>()?,
    };
    let columns: Vec<(String, &Expr)> =
        names.into_iter().zip(own.into_iter().map(|(_, expr)| expr)).collect();
    let twice = |at: usize| columns[..at].iter().any(|(name, _)| *name == columns[at].0);
    let label = alias.key();
    (!(0..columns.len()).any(twice)).then_some(Source { label, columns })
}

/// Plain names in parentheses.
fn listed(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let plain = |name: &str| {
        let name = name.trim();
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (letters && !name.is_empty()).then(|| name.to_lowercase())
    };
    inner.split(',').map(plain).collect()
}

/// What a query of exactly one row gives, with the names it gives.
fn items(query: &Query) -> Option<Vec<(Option<String>, &Expr)>> {
    let bare = query.with.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.lock.is_none();
    match &query.body {
        QueryBody::Values(rows) => match &rows[..] {
            [row] if bare => Some(row.iter().map(|expr| (None, expr)).collect()),
            _ => None,
        },
        QueryBody::Select(select) => {
            let plain = select.from.is_empty()
                && select.filter.is_none()
                && select.group_by.is_empty()
                && select.having.is_none()
                && select.into.is_none()
                && select.window.is_none()
                && matches!(select.distinct, Distinct::No);
            let item = |item: &'_ SelectItem| matches!(item, SelectItem::Expr { .. });
            if !bare || !plain || !select.items.iter().all(item) {
                return None;
            }
            let named = select.items.iter().filter_map(|item| match item {
                SelectItem::Expr { expr, alias, .. } => {
                    Some((alias.as_ref().map(|alias| alias.value.to_lowercase()), expr))
                }
                SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
            });
            Some(named.collect())
        }
        QueryBody::Set { .. } => None,
    }
}

/// The source's column that a condition says the key equals.
fn equated<'s, 'a>(
    part: &Expr,
    own: &str,
    key: &str,
    source: &'s Source<'a>,
) -> Option<&'s (String, &'a Expr)> {
    let Node::Binary { op: BinaryOp::Equal, left, right } = &unwrapped(part).node else {
        return None;
    };
    let is_key = |expr: &Expr| {
        let Node::Column(name) = &unwrapped(expr).node else { return false };
        owned(name, own) && last(name) == *key
    };
    match (is_key(left), is_key(right)) {
        (true, false) => named(right, source),
        (false, true) => named(left, source),
        _ => None,
    }
}

/// The source's column that an expression is.
fn named<'s, 'a>(expr: &Expr, source: &'s Source<'a>) -> Option<&'s (String, &'a Expr)> {
    let Node::Column(name) = &unwrapped(expr).node else { return None };
    let known = |one: &&(String, &Expr)| one.0 == last(name);
    source.columns.iter().find(known).filter(|_| owned(name, &source.label))
}

fn owned(name: &ObjectName, label: &str) -> bool {
    matches!(&name.parts[..], [owner, _] if owner.key() == label)
}

/// The row of an INSERT; `None` while the table's columns are not known.
fn inserted<'a>(
    asked: &Asked<'_>,
    table: &Table,
    columns: Option<&'a [pando_sql::ast::Ident]>,
    values: Option<&'a [Expr]>,
) -> Result<Option<Rows<'a>>> {
    let values = values.ok_or_else(|| doubt("that inserts DEFAULT VALUES"))?;
    let columns: Vec<String> = match columns {
        Some(columns) => columns.iter().map(|column| column.value.to_lowercase()).collect(),
        None => {
            let Some(known) = asked.columns(table.logic()) else { return Ok(None) };
            known.iter().take(values.len()).map(|column| column.name.to_lowercase()).collect()
        }
    };
    if columns.len() != values.len() {
        return Err(doubt("whose INSERT has another number of values than of columns"));
    }
    Ok(Some(Rows { columns, rows: vec![Row::Listed(values.iter().collect())] }))
}

/// Refuses an INSERT that gives the sharding key another value than the one it is looked for by.
fn kept(row: &Rows<'_>, met: &[(&String, &(String, &Expr))], source: &Source<'_>) -> Result<()> {
    for (key, (looked_for, _)) in met {
        let at = row.columns.iter().position(|column| column == *key);
        let value = at.and_then(|at| match row.rows.first()? {
            Row::Listed(values) => values.get(at).copied(),
            Row::Written(_) => None,
        });
        let same = value
            .and_then(|value| named(value, source))
            .is_some_and(|(name, _)| name == looked_for);
        if !same {
            return Err(doubt("that inserts another sharding key than it is ON"));
        }
    }
    Ok(())
}

/// The one node where a row with the key can be.
fn found(asked: &Asked<'_>, table: &Table, met: &[(&String, &(String, &Expr))]) -> Result<usize> {
    let mut domains = Vec::new();
    for (key, (_, expr)) in met {
        let value = literal::value(asked, expr).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| doubt("whose sharding key is no constant, or NULL"))?;
        match asked.keeper(table.logic(), key, |keeper| keeper.equal(value)) {
            Finds::Value(value) => domains.push(((*key).clone(), Domain::equal(value))),
            Finds::Nothing | Finds::Anything => {
                return Err(doubt("whose sharding key is of another type than the column"));
            }
        }
    }
    let of = |column: &str| {
        let found = domains.iter().find(|(key, _)| key == column);
        found.map(|(_, domain)| domain.clone()).unwrap_or_default()
    };
    match table.route(&of, &asked.stmt.hints)?[..] {
        [node] => Ok(node),
        _ => Err(doubt("whose sharding key does not decide for one shard")),
    }
}
