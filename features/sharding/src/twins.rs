//! Names that differ by case only. Sharded tables and their columns are looked up without regard to case, so that a rule's `T_ORDER` finds `t_order`,
//! unless the language itself says that quoted tables are others. Which of two is meant could often be told, but not by everything that looks, and a
//! wrong guess is a wrong shard.

use std::collections::HashMap;

use pando_kernel::error::{Error, Result};
use pando_kernel::route::Need;
use pando_sql::ast::{Ident, Kind};
use pando_sql::visit::Names;

use crate::asked::Asked;
use crate::table::Table;

/// Refuses a statement about a sharded table that could mean something else.
pub(crate) fn check(asked: &Asked<'_>) -> Result<Option<Need>> {
    if asked.ctx.dialect.syntax().exact_tables {
        columns(asked)?;
        return Ok(None);
    }
    labels(&asked.names)?;
    tables(asked)
}

/// Two names of one statement: servers that tell tables apart by case tell these apart, too, and others do not.
fn labels(names: &Names<'_>) -> Result<()> {
    if names.labels.len() < 2 {
        return Ok(());
    }
    let mut known: HashMap<String, &Ident> = HashMap::new();
    for &label in &names.labels {
        let first = known.entry(label.key()).or_insert(label);
        if first.value != label.value {
            return Err(Error::unsupported(
                20032,
                format!("tables called `{}` and `{}` in one statement", first.value, label.value),
                "give them names that differ by more than case, or write the one name alike",
            ));
        }
    }
    Ok(())
}

/// A table of another kind, where servers tell tables apart by case.
fn tables(asked: &Asked<'_>) -> Result<Option<Need>> {
    let Asked { rule, ctx, .. } = asked;
    for occurrence in &asked.names.tables {
        let Some(name) = occurrence.name.parts.last() else { continue };
        let key = name.key();
        if key == name.value {
            continue;
        }
        let Some(table) = rule.table(&key) else { continue };
        let is_node = || table.nodes().iter().any(|node| *node.table == *name.value);
        if table.name() == name.value || is_node() {
            continue;
        }
        let Some(spellings) = ctx.catalog.spellings() else { return Ok(Some(Need::Tables)) };
        if spellings.get(&key).is_some_and(|known| known.contains(&name.value)) {
            return Err(Error::unsupported(
                20032,
                format!(
                    "table `{}` and the sharded table `{}` differ by case only",
                    name.value,
                    table.name()
                ),
                "rename one of them",
            ));
        }
    }
    Ok(None)
}

/// Columns of which either may be the sharding column: of the tables whose rows a statement is about, and of one that is to be made.
fn columns(asked: &Asked<'_>) -> Result<()> {
    let Asked { rule, ctx, stmt, .. } = asked;
    for table in &asked.names.tables {
        let Some(table) = rule.table(&table.name.key()) else { continue };
        if let Kind::Define(define) = &stmt.kind {
            let names = define.columns.iter().map(|column| &*column.name.value);
            key_is_alone(table, names)?;
        } else if let Some(columns) = ctx.catalog.columns(table.logic()) {
            key_is_alone(table, columns.iter().map(|column| &*column.name))?;
        }
    }
    Ok(())
}

fn key_is_alone<'a>(table: &Table, columns: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
    for key in table.keys() {
        let alike = |name: &&str| name.eq_ignore_ascii_case(key);
        let found: Vec<&str> = columns.clone().filter(alike).collect();
        if let [first, second, ..] = found[..] {
            return Err(Error::unsupported(
                20032,
                format!(
                    "columns `{first}` and `{second}` of the sharded table `{}` differ by case only, and one of them is its sharding column",
                    table.name()
                ),
                "rename one of them",
            ));
        }
    }
    Ok(())
}
