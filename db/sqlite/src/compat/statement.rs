//! Whole statements: those with another form here, and those with none.

use pando_kernel::Result;
use pando_kernel::dialect::CLIENT_LANGUAGE;
use pando_sql::Edits;

use super::words::Words;
use super::{Translation, Verb, table};
use crate::error::refuse;
use crate::tongue::Tongue;

/// A statement that becomes something else altogether.
pub(super) fn instead(words: Words<'_>) -> Result<Option<Translation>> {
    let other = |text: &str| Some(Translation::One(text.to_owned(), Verb::Other));
    Ok(match words.text(0).to_ascii_uppercase().as_str() {
        "SET" if words.is(1, CLIENT_LANGUAGE) => Some(Translation::Speak(tongue(words)?)),
        "SET" | "RESET" | "DISCARD" => Some(Translation::Nothing),
        "LOCK" | "UNLOCK" if words.one_of(1, &["TABLE", "TABLES"]) => Some(Translation::Nothing),
        "BEGIN" if words.one_of(1, &["IMMEDIATE", "DEFERRED", "EXCLUSIVE"]) => None,
        "BEGIN" => other(begin(words)),
        "START" if words.is(1, "TRANSACTION") => other(begin(words)),
        "COMMIT" | "END" if words.len() == 1 || plain_end(words) => other("COMMIT"),
        "ROLLBACK" | "ABORT" if words.len() == 1 || plain_end(words) => other("ROLLBACK"),
        "TRUNCATE" => Some(truncate(words)),
        "DROP" => drop_list(words),
        _ => None,
    })
}

/// `SET pando_client_language = 'mysql'`.
fn tongue(words: Words<'_>) -> Result<Tongue> {
    let door = words.text(3).trim_matches(['\'', '"']);
    Tongue::of(door).ok_or_else(|| refuse("22023", format!("language `{door}` is not known")))
}

fn plain_end(words: Words<'_>) -> bool {
    words.len() == 2 && words.one_of(1, &["WORK", "TRANSACTION"])
}

/// See the dialect's own BEGIN for why writers queue up front.
fn begin(words: Words<'_>) -> &'static str {
    let read_only = (1..words.len()).any(|at| words.are(at, &["READ", "ONLY"]));
    if read_only { "BEGIN DEFERRED" } else { "BEGIN IMMEDIATE" }
}

/// `TRUNCATE [TABLE] [ONLY] a, b [RESTART IDENTITY] [CASCADE]`.
fn truncate(words: Words<'_>) -> Translation {
    let mut at = 1 + usize::from(words.is(1, "TABLE"));
    at += usize::from(words.is(at, "ONLY"));
    let names = names(words, at).into_iter().map(|name| format!("DELETE FROM {name}"));
    one_or_several(names.collect(), Verb::Change)
}

/// `DROP TABLE a, b CASCADE`, `DROP INDEX i ON t`.
fn drop_list(words: Words<'_>) -> Option<Translation> {
    let mut at = 1 + usize::from(words.one_of(1, &["TEMPORARY", "TEMP"]));
    if !words.one_of(at, &["TABLE", "VIEW", "INDEX"]) {
        return None;
    }
    let what = words.text(at);
    at += 1 + usize::from(words.is(at + 1, "CONCURRENTLY"));
    let exists = words.are(at, &["IF", "EXISTS"]);
    at += if exists { 2 } else { 0 };
    let exists = if exists { " IF EXISTS" } else { "" };
    let texts = names(words, at).into_iter().map(|name| format!("DROP {what}{exists} {name}"));
    Some(one_or_several(texts.collect(), Verb::Define))
}

fn names<'a>(words: Words<'a>, mut at: usize) -> Vec<&'a str> {
    let mut names = Vec::new();
    loop {
        at += if words.is(at, "PUBLIC") && words.mark(at + 1, ".") { 2 } else { 0 };
        let end = words.behind_name(at);
        names.push(words.slice(at, end));
        if !words.mark(end, ",") {
            return names;
        }
        at = end + 1;
    }
}

fn one_or_several(mut texts: Vec<String>, verb: Verb) -> Translation {
    match texts.pop() {
        Some(only) if texts.is_empty() => Translation::One(only, verb),
        Some(last) => {
            texts.push(last);
            Translation::Several(texts)
        }
        None => Translation::Nothing,
    }
}

/// Changes inside a statement that keeps its form. `more` receives statements that must follow it.
pub(super) fn edit(words: Words<'_>, edits: &mut Edits, more: &mut Vec<String>) -> Result<()> {
    match words.text(0).to_ascii_uppercase().as_str() {
        "CREATE" => create(words, edits, more)?,
        "ALTER" => table::alter(words, edits)?,
        "ANALYZE" if words.is(1, "TABLE") => edits.replace(words.span(1, 2), ""),
        "EXPLAIN" if !words.is(1, "QUERY") => {
            edits.replace(words.span(0, 1), "EXPLAIN QUERY PLAN");
            let mut at = 1;
            while words.one_of(at, &["ANALYZE", "VERBOSE", "EXTENDED"]) {
                edits.replace(words.span(at, at + 1), "");
                at += 1;
            }
        }
        "UPDATE" if words.is(1, "IGNORE") => edits.replace(words.span(1, 2), "OR IGNORE"),
        "SELECT" => {
            let mut at = 1;
            while words.one_of(at, &["SQL_CALC_FOUND_ROWS", "SQL_NO_CACHE", "HIGH_PRIORITY"]) {
                edits.replace(words.span(at, at + 1), "");
                at += 1;
            }
        }
        _ => {}
    }
    Ok(())
}

fn create(words: Words<'_>, edits: &mut Edits, more: &mut Vec<String>) -> Result<()> {
    let mut at = 1;
    while words.one_of(at, &["TEMPORARY", "TEMP", "UNLOGGED", "GLOBAL", "LOCAL", "UNIQUE"]) {
        if words.one_of(at, &["UNLOGGED", "GLOBAL", "LOCAL"]) {
            edits.replace(words.span(at, at + 1), "");
        }
        at += 1;
    }
    if words.is(at, "TABLE") {
        return table::create(words, at + 1, edits, more);
    }
    if words.is(at, "INDEX") {
        table::create_index(words, at + 1, edits);
    }
    Ok(())
}
