//! Where names stand in code that no tree is made of.

use std::collections::HashSet;

use pando_sql::Item;

/// Words behind which tables are named, up to one of [`EXPRESSION`].
const TABLES: [&str; 9] =
    ["delete", "from", "into", "join", "references", "table", "tables", "update", "using"];

/// Words behind which expressions stand.
const EXPRESSION: &[&str] = &[
    "all",
    "and",
    "any",
    "between",
    "by",
    "case",
    "distinct",
    "div",
    "else",
    "elseif",
    "elsif",
    "having",
    "if",
    "ilike",
    "in",
    "is",
    "like",
    "limit",
    "mod",
    "not",
    "offset",
    "on",
    "or",
    "perform",
    "regexp",
    "return",
    "returning",
    "rlike",
    "select",
    "set",
    "some",
    "then",
    "until",
    "value",
    "values",
    "when",
    "where",
    "while",
    "xor",
];

/// For each item of a text whether a dotted name there surely stands in an expression. Only what is known to stand so does.
pub fn column_places(items: &[Item<'_>]) -> Vec<bool> {
    let mut names_tables = vec![false];
    let mut places = Vec::with_capacity(items.len());
    let mut before: Option<&Item<'_>> = None;
    let creates = items.iter().any(|item| item.is_word("create"));
    for item in items {
        let open = names_tables.last().copied().unwrap_or(false);
        let is_place =
            |before: &Item<'_>| precedes(before) && !(creates && is_part_of_create(before));
        places.push(!open && before.is_some_and(is_place));
        match item {
            Item::Mark("(") => {
                // The columns of INSERT and the arguments of a call are no tables.
                let called = matches!(before, Some(Item::Name(name)) if !TABLES.iter().any(|word| name.is_word(word)));
                names_tables.push(open && !called);
            }
            Item::Mark(")") if names_tables.len() > 1 => {
                names_tables.pop();
            }
            Item::Mark(";") => names_tables = vec![false],
            Item::Name(_) => {
                if let Some(word) = item.word()
                    && let Some(last) = names_tables.last_mut()
                {
                    if TABLES.contains(&word.as_str()) {
                        *last = true;
                    } else if word != "on" && EXPRESSION.binary_search(&word.as_str()).is_ok() {
                        *last = false;
                    } else if word == "on" {
                        // `JOIN t ON a.b = c.d`; CREATE INDEX i ON t names a table.
                        *last = !open || creates;
                    }
                }
            }
            Item::Mark(_)
            | Item::Text(..)
            | Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Unreadable => {}
        }
        before = Some(item);
    }
    places
}

/// `LIKE` and `ON` name tables in CREATE.
fn is_part_of_create(item: &Item<'_>) -> bool {
    item.is_word("like") || item.is_word("on")
}

/// Whether an expression may follow, and no table.
fn precedes(before: &Item<'_>) -> bool {
    match before {
        Item::Mark(mark) => !matches!(*mark, ";" | ")"),
        Item::Name(_) => {
            before.word().is_some_and(|word| EXPRESSION.binary_search(&word.as_str()).is_ok())
        }
        Item::Text(..) | Item::Variable(_) | Item::Number | Item::Parameter | Item::Unreadable => {
            false
        }
    }
}

/// What a text names by a single word, and the last parts of its other names: the tables and aliases of columns are among these. In lower case.
pub fn labels(items: &[Item<'_>]) -> HashSet<String> {
    let names = items.iter().filter_map(Item::name);
    names.map(|name| name.last().to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(EXPRESSION.is_sorted());
    }
}
