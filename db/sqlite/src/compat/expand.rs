//! `_pg_expandarray`, a function in a select list that gives several rows: SQLite has such functions in FROM only. JDBC's driver asks for primary keys and
//! indexes with it.

use pando_sql::Edits;

use super::words::Words;

/// Where a FROM ends.
const BEHIND_FROM: [&str; 12] = [
    "WHERE",
    "GROUP",
    "HAVING",
    "WINDOW",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "FOR",
];

pub(super) fn edit(words: Words<'_>, edits: &mut Edits) {
    let mut joined: Vec<(usize, &str)> = Vec::new();
    for at in 0..words.len() {
        if words.is(at, "_PG_EXPANDARRAY") && words.mark(at + 1, "(") {
            call(words, at, &mut joined, edits);
        }
    }
    if joined.is_empty() {
        return;
    }
    // The pair it makes is told by its element where it is handed on whole.
    for at in 0..words.len() {
        let pair = words.mark(at, "(") && words.name(at + 1) && words.mark(at + 2, ".");
        let field = words.mark(at + 4, ")") && words.mark(at + 5, ".") && words.is(at + 6, "X");
        if pair && field {
            edits.replace(words.span(at, at + 1), "");
            edits.replace(words.span(at + 4, at + 7), "");
        }
    }
}

/// `information_schema._pg_expandarray(a)` or `(information_schema._pg_expandarray(a)).n`.
fn call<'a>(words: Words<'a>, at: usize, joined: &mut Vec<(usize, &'a str)>, edits: &mut Edits) {
    let mut from = if at >= 2 && words.mark(at - 1, ".") { at - 2 } else { at };
    let mut to = words.behind_group(at + 1);
    let argument = words.slice(at + 2, to - 1);
    let mut field = "value";
    let enclosed = from > 0 && words.mark(from - 1, "(") && words.mark(to, ")");
    if enclosed && words.mark(to + 1, ".") && words.one_of(to + 2, &["N", "X"]) {
        field = if words.is(to + 2, "N") { "key + 1" } else { "value" };
        (from, to) = (from - 1, to + 3);
    }
    let Some(end) = from_end(words, to) else { return };
    let known = joined.iter().position(|known| *known == (end, argument));
    let number = known.unwrap_or(joined.len());
    if known.is_none() {
        let join = format!(" CROSS JOIN json_each(pando_json({argument})) AS pando_e{number} ");
        edits.replace(words.before(end), join);
        joined.push((end, argument));
    }
    edits.replace(words.span(from, to), format!("(pando_e{number}.{field})"));
}

/// The token in front of which the FROM of the SELECT ends whose list `at` stands in.
fn from_end(words: Words<'_>, at: usize) -> Option<usize> {
    let (mut depth, mut inside) = (0_usize, false);
    for index in at..words.len() {
        if words.mark(index, "(") {
            depth += 1;
        } else if words.mark(index, ")") {
            let Some(less) = depth.checked_sub(1) else { return inside.then_some(index) };
            depth = less;
        } else if depth == 0 && words.is(index, "FROM") {
            inside = true;
        } else if depth == 0 && inside && words.one_of(index, &BEHIND_FROM) {
            return Some(index);
        }
    }
    inside.then_some(words.len())
}
