//! UNIQUE without the sharding columns, of a table in several shards: it holds on each shard alone, and whoever defines
//! it is told.

use pando_kernel::feature::{Context, LogicTable, TableKind};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, Statement};
use pando_sql::{Dotted, Item, reading};

use super::catalogue::tables;

/// Words behind UNIQUE that stand between it and a list.
const BEFORE_LISTS: [&str; 12] = [
    "btree",
    "concurrently",
    "distinct",
    "exists",
    "hash",
    "if",
    "index",
    "key",
    "not",
    "nulls",
    "on",
    "using",
];
/// Words behind the UNIQUE of a single column.
const BEHIND_COLUMNS: [&str; 12] = [
    "auto_increment",
    "check",
    "collate",
    "comment",
    "constraint",
    "default",
    "generated",
    "invisible",
    "null",
    "primary",
    "references",
    "visible",
];

/// What is said of the first such UNIQUE of a definition; `None` where there is none.
pub(crate) fn told(ctx: &Context<'_>, stmt: &Statement) -> Option<String> {
    let Kind::Define(define) = &stmt.kind else { return None };
    let table = of_table(ctx, define)?;
    let items = reading(&stmt.text, ctx.dialect.syntax(), None).ok()?;
    let is_key = |column: &&String| table.keys.iter().any(|key| key.eq_ignore_ascii_case(column));
    let holds = |columns: &Vec<String>| columns.iter().filter(is_key).count() >= table.keys.len();
    let columns = uniques(&items).into_iter().find(|columns| !holds(columns))?;
    Some(format!(
        "UNIQUE ({}) holds on each shard of `{}` alone: it has not all sharding columns ({}) in it",
        columns.join(", "),
        table.name,
        table.keys.join(", ")
    ))
}

/// The table in several shards that is made, or changed.
fn of_table(ctx: &Context<'_>, define: &Define) -> Option<LogicTable> {
    let changes = matches!(define.action, DefineAction::Create | DefineAction::Alter);
    let name = match (define.object == ObjectKind::Table, define.object == ObjectKind::Index) {
        (true, _) => define.names.first(),
        (_, true) => define.on.as_ref(),
        (false, false) => None,
    };
    let key = name.filter(|_| changes && !define.temporary)?.key();
    let syntax = ctx.dialect.syntax();
    let is_it = |table: &LogicTable| {
        table.kind == TableKind::Sharded
            && table.nodes.len() > 1
            && !table.keys.is_empty()
            && syntax.table_key(&table.name) == key
    };
    tables(ctx.database).find(is_it)
}

/// The columns of each UNIQUE. What is no plain column is none.
fn uniques(items: &[Item<'_>]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut column = None;
    for (at, item) in items.iter().enumerate() {
        let begins = matches!(item, Item::Mark("(" | ","));
        if begins && let Some(Item::Name(name)) = items.get(at + 1) {
            column = Some(name);
        }
        if item.is_word("add") {
            let words = ["column", "exists", "if", "not"];
            let names = items.iter().skip(at + 1).map_while(Item::name);
            column = names.into_iter().find(|name| !is_one(name, &words));
        }
        if item.is_word("unique") {
            let rest = items.get(at + 1..).unwrap_or_default();
            let single = || column.map(|name| name.last().to_owned()).into_iter().collect();
            found.push(list_behind(rest).map_or_else(single, listed));
        }
    }
    found
}

/// What stands in the parentheses behind a UNIQUE of a table; `None` where it is a single column's.
fn list_behind<'a, 'b>(rest: &'b [Item<'a>]) -> Option<&'b [Item<'a>]> {
    let mut names = 0;
    for (at, item) in rest.iter().enumerate() {
        match item {
            Item::Mark("(") => return rest.get(at + 1..),
            Item::Name(name) if is_one(name, &BEHIND_COLUMNS) => return None,
            Item::Name(name) if is_one(name, &BEFORE_LISTS) => {}
            // The constraint's or the index's name, the table's, ONLY.
            Item::Name(_) if names < 3 => names += 1,
            Item::Name(_)
            | Item::Mark(_)
            | Item::Text(..)
            | Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Unreadable => return None,
        }
    }
    None
}

fn is_one(name: &Dotted<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| name.is_word(word))
}

/// The columns of a list up to its end.
fn listed(list: &[Item<'_>]) -> Vec<String> {
    let (mut depth, mut is_first, mut columns) = (1_usize, true, Vec::new());
    for (at, item) in list.iter().enumerate() {
        let is_call = matches!(list.get(at + 1), Some(Item::Mark("(")));
        let has_length = matches!(list.get(at + 2), Some(Item::Number));
        match item {
            Item::Mark("(") => depth += 1,
            Item::Mark(")") => depth -= 1,
            Item::Name(name) if is_first && depth == 1 && (!is_call || has_length) => {
                columns.push(name.last().to_owned());
            }
            Item::Name(_)
            | Item::Mark(_)
            | Item::Text(..)
            | Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Unreadable => {}
        }
        if depth == 0 {
            break;
        }
        is_first = depth == 1 && *item == Item::Mark(",");
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_each_unique_are_read() {
        let check = |text: &str, expected: &[&[&str]]| {
            let items = reading(text, &pando_fake::STANDARD, None).unwrap();
            assert_eq!(uniques(&items), expected, "{text}");
        };
        check("CREATE TABLE t (id int PRIMARY KEY, email text UNIQUE, n int)", &[&["email"]]);
        check(
            "CREATE TABLE t (id int, email text NOT NULL UNIQUE CHECK (email > 'a'))",
            &[&["email"]],
        );
        check(
            "CREATE TABLE t (id int, a int, UNIQUE KEY k (a, id), CONSTRAINT c UNIQUE (a))",
            &[&["a", "id"], &["a"]],
        );
        check(
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON ONLY s.t USING btree (lower(a), b)",
            &[&["b"]],
        );
        check("CREATE UNIQUE INDEX i ON t (a(10), b DESC)", &[&["a", "b"]]);
        check("ALTER TABLE t ADD CONSTRAINT c UNIQUE NULLS NOT DISTINCT (a)", &[&["a"]]);
        check("ALTER TABLE t ADD COLUMN a int UNIQUE", &[&["a"]]);
        check("CREATE TABLE t (id int, \"unique\" int)", &[]);
    }
}
