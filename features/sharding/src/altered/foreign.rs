//! Foreign keys by which a change of another table's rows gives a sharding column another value: no one would take the row to its new place.

use pando_kernel::error::{Error, Result};

use super::words::{Words, unquoted};
use crate::rule::Rule;
use crate::table::Table;

/// Refuses such a key among a column's or a table's constraints.
///
/// # Errors
/// `Refused` 20031.
pub(super) fn check(element: Words<'_>, tables: &[&Table], rule: &Rule) -> Result<()> {
    let mut rest = element;
    let mut columns: Vec<&str> = element.name().into_iter().collect();
    while let Some(at) = rest.find(&["references"]) {
        let before = rest.until(at);
        if let Some(list) = before.find(&["foreign", "key"]) {
            let list = before.from(list + 2);
            let list = list.find(&["("]).map_or(list, |at| list.from(at));
            columns = names(list);
        }
        rest = rest.from(at + 1);
        let own = rest.find(&["references"]).map_or(rest, |at| rest.until(at));
        for (place, column) in columns.iter().enumerate() {
            if tables.iter().any(|table| table.is_key(column)) {
                keeps(column, own, |name, parent| follows(rule, name, parent, place))?;
            }
        }
    }
    Ok(())
}

/// The key of one column: `t (a, b) … ON DELETE … ON UPDATE …`.
fn keeps(column: &str, key: Words<'_>, follows: impl Fn(&str, &[&str]) -> bool) -> Result<()> {
    let refused = |action: &str| {
        Err(Error::unsupported(
            20031,
            format!("a foreign key with {action} would change the sharding column `{column}`"),
            format!("leave {action} out"),
        ))
    };
    for event in ["delete", "update"] {
        let Some(at) = key.find(&["on", event]) else { continue };
        let action = key.from(at + 2);
        if action.is(0, "set") {
            let listed = action.from(2).in_parentheses().map(|_| names(action.from(2)));
            if listed.is_none_or(|list| list.iter().any(|one| one.eq_ignore_ascii_case(column))) {
                let to = action.word(1).unwrap_or_default().to_ascii_uppercase();
                return refused(&format!("ON {} SET {to}", event.to_ascii_uppercase()));
            }
        }
        if event == "update" && action.is(0, "cascade") {
            let open = key.find(&["("]).filter(|open| *open < at);
            let name = key.until(open.unwrap_or(at));
            // `schema.t`; what may follow a name without a list is no name of a table.
            let dotted = name.0.chunks(2).take_while(|part| part.get(1) == Some(&".")).count();
            let name = name.word(2 * dotted).map(unquoted).unwrap_or_default();
            let parent = open.map(|open| names(key.from(open))).unwrap_or_default();
            if !follows(name, &parent) {
                return refused("ON UPDATE CASCADE");
            }
        }
    }
    Ok(())
}

/// A foreign key as it is written.
pub(super) struct Key<'a> {
    pub(super) columns: Vec<&'a str>,
    /// The table that is referred to, without its schema.
    pub(super) parent: &'a str,
    /// Its columns; none where it is its primary key.
    pub(super) parents: Vec<&'a str>,
}

/// The foreign keys among a column's or a table's constraints.
pub(super) fn keys(element: Words<'_>) -> Vec<Key<'_>> {
    let added = if element.is(0, "add") { element.from(1).column() } else { element };
    let mut rest = added;
    let mut columns: Vec<&str> = rest.name().into_iter().collect();
    let mut found = Vec::new();
    while let Some(at) = rest.find(&["references"]) {
        let before = rest.until(at);
        if let Some(list) = before.find(&["foreign", "key"]) {
            let list = before.from(list + 2);
            columns = names(list.find(&["("]).map_or(list, |at| list.from(at)));
        }
        rest = rest.from(at + 1);
        let dotted = rest.0.chunks(2).take_while(|part| part.get(1) == Some(&".")).count();
        let parent = rest.word(2 * dotted).map(unquoted).unwrap_or_default();
        let parents = names(rest.from(2 * dotted + 1));
        found.push(Key { columns: columns.clone(), parent, parents });
    }
    found
}

/// Whether the column that is referred to decides itself where its rows are: an UPDATE that would change it is refused.
fn follows(rule: &Rule, name: &str, columns: &[&str], place: usize) -> bool {
    rule.table(&name.to_lowercase()).is_some_and(|parent| match columns.get(place) {
        Some(column) => parent.is_key(column),
        // Its primary key, whatever that is.
        None => false,
    })
}

fn names(list: Words<'_>) -> Vec<&str> {
    let inner = list.in_parentheses().unwrap_or(Words(&[]));
    inner.elements().filter_map(Words::name).collect()
}
