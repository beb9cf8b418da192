//! Foreign keys between tables that are not bound, and whose rows always meet: each has one node, in the same unit, or
//! the same algorithm by the columns of the key takes both to the same place.

use pando_kernel::error::Result;
use pando_kernel::route::{Spread, Target, Units};
use pando_sql::ast::{Define, DefineAction, ObjectKind};

use super::foreign::{self, Key};
use super::words::Words;
use crate::asked::Asked;
use crate::binding::alike;
use crate::placed::sharded;
use crate::table::Table;

/// Where a definition goes whose tables are not all bound, but always meet by its foreign keys; `None` for any other.
///
/// # Errors
/// `Internal`.
pub(crate) fn units(asked: &Asked<'_>, define: &Define) -> Result<Option<Units>> {
    let is_alone = define.object == ObjectKind::Table && define.query.is_none();
    let makes = matches!(define.action, DefineAction::Create | DefineAction::Alter);
    let ([name], true, true) = (&define.names[..], is_alone, makes) else { return Ok(None) };
    let tables = sharded(asked.rule, &asked.stmt.kind);
    let Some(own) = asked.rule.table(&name.key()) else { return Ok(None) };
    if tables.iter().all(|table| asked.rule.are_bound(own, table)) {
        return Ok(None);
    }
    let Ok(tokens) = pando_sql::tokenize(&asked.stmt.text, asked.ctx.dialect.syntax()) else {
        return Ok(None);
    };
    let behind = tokens.list.iter().filter(|token| token.span.start >= name.span.end);
    let words: Vec<&str> = behind.map(|token| token.span.of(&asked.stmt.text)).collect();
    let words = match define.action == DefineAction::Create {
        true => Words(&words).in_parentheses().unwrap_or(Words(&[])),
        false => Words(&words),
    };
    let keys: Vec<Key<'_>> = words.elements().flat_map(foreign::keys).collect();
    // LIKE and INHERITS name tables, too.
    if keys.len() != define.referenced.len() {
        return Ok(None);
    }
    let mut others: Vec<(&Table, Vec<usize>)> = Vec::new();
    for table in tables {
        if table.logic() == own.logic() {
            continue;
        }
        let numbers = match asked.rule.are_bound(own, table) {
            true => alike(own, table).ok(),
            false => meeting(own, table, &keys),
        };
        let Some(numbers) = numbers else { return Ok(None) };
        others.push((table, numbers));
    }
    let mut targets = Vec::new();
    for (number, node) in own.nodes().iter().enumerate() {
        let mut names = vec![own.named_at(node)];
        for (table, numbers) in &others {
            let Some(place) = numbers.iter().position(|own| *own == number) else {
                return Ok(None);
            };
            names.push(table.named_at(table.node(place)?));
        }
        targets.push(Target { unit: node.unit.clone(), tables: names, rows: None });
    }
    Ok(Some(Units::new(targets, Spread::Same)))
}

/// For each node of the table that is referred to the number of the node where its rows are met; `None` where they may
/// not be.
fn meeting(own: &Table, other: &Table, keys: &[Key<'_>]) -> Option<Vec<usize>> {
    if let ([one], [another]) = (own.nodes(), other.nodes()) {
        return (one.unit == another.unit).then(|| vec![0]);
    }
    let numbers = alike(own, other).ok()?;
    let pairs = own.key_pairs(other);
    let joins = |key: &&Key<'_>| {
        let has = |(own, other): &(&str, &str)| {
            let mut both = key.columns.iter().zip(&key.parents);
            both.any(|(a, b)| a.eq_ignore_ascii_case(own) && b.eq_ignore_ascii_case(other))
        };
        pairs.iter().all(has)
    };
    let mut own_keys = keys.iter().filter(|key| other.logic().eq_ignore_ascii_case(key.parent));
    let are_placed = own.is_placed_by_keys() && other.is_placed_by_keys() && !pairs.is_empty();
    (are_placed && own_keys.all(|key| joins(&key))).then_some(numbers)
}
