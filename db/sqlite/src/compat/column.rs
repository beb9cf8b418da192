//! One column of a table's definition.

use pando_kernel::Result;
use pando_sql::{Edits, TokenKind};

use super::table::Key;
use super::unsupported;
use super::words::Words;

const SERIALS: [&str; 6] = ["SERIAL", "BIGSERIAL", "SMALLSERIAL", "SERIAL2", "SERIAL4", "SERIAL8"];

/// Whether the server is to generate the column's values.
pub(super) fn is_automatic(words: Words<'_>, from: usize, to: usize) -> bool {
    words.one_of(from + 1, &SERIALS)
        || (from..to).any(|at| {
            words.one_of(at, &["AUTO_INCREMENT", "AUTOINCREMENT"]) || identity(words, at).is_some()
        })
}

/// One past `GENERATED ALWAYS | BY DEFAULT AS IDENTITY [(…)]`.
fn identity(words: Words<'_>, at: usize) -> Option<usize> {
    let end = if words.are(at, &["GENERATED", "ALWAYS", "AS", "IDENTITY"]) {
        at + 4
    } else if words.are(at, &["GENERATED", "BY", "DEFAULT", "AS", "IDENTITY"]) {
        at + 5
    } else {
        return None;
    };
    Some(if words.mark(end, "(") { words.behind_group(end) } else { end })
}

/// `key` is the table's own one-column primary key.
pub(super) fn edit(
    words: Words<'_>,
    from: usize,
    to: usize,
    key: Option<&Key>,
    edits: &mut Edits,
) -> Result<()> {
    let constraints = if is_automatic(words, from, to) {
        automatic(words, from, to, key, edits)?
    } else {
        ordinary_type(words, from, to, edits)
    };
    let mut at = constraints;
    while at < to {
        at = constraint(words, at, to, edits)?;
    }
    Ok(())
}

/// An automatic column is `INTEGER PRIMARY KEY AUTOINCREMENT`, which is the only one SQLite has. Returns where its constraints start.
fn automatic(
    words: Words<'_>,
    from: usize,
    to: usize,
    key: Option<&Key>,
    edits: &mut Edits,
) -> Result<usize> {
    let name = words.bare(from);
    let constraints = behind_type(words, from + 1, to);
    let kind = words.span(from + 1, constraints);
    if let Some(at) = (constraints..to).find(|&at| words.are(at, &["PRIMARY", "KEY"])) {
        edits.replace(kind, "INTEGER");
        let native = (at..to).any(|at| words.is(at, "AUTOINCREMENT"));
        if !native {
            edits.replace(words.after(at + 1), " AUTOINCREMENT");
        }
        return Ok(constraints);
    }
    if key.is_some_and(|key| key.column.eq_ignore_ascii_case(&name)) {
        edits.replace(kind, "INTEGER PRIMARY KEY AUTOINCREMENT");
        return Ok(constraints);
    }
    Err(unsupported(format!(
        "column `{name}` generates its values, which SQLite does only for a column that is the whole primary key"
    )))
}

/// Words that end a column's type.
fn starts_constraint(words: Words<'_>, at: usize) -> bool {
    words.one_of(
        at,
        &[
            "NOT",
            "NULL",
            "DEFAULT",
            "PRIMARY",
            "UNIQUE",
            "CHECK",
            "REFERENCES",
            "CONSTRAINT",
            "COLLATE",
            "GENERATED",
            "AS",
            "COMMENT",
            "AUTO_INCREMENT",
            "AUTOINCREMENT",
            "ON",
            "KEY",
            "CHARSET",
            "INVISIBLE",
            "VISIBLE",
        ],
    ) || words.are(at, &["CHARACTER", "SET"])
}

fn behind_type(words: Words<'_>, mut at: usize, to: usize) -> usize {
    while at < to && !starts_constraint(words, at) {
        at = if words.mark(at, "(") { words.behind_group(at) } else { at + 1 };
    }
    at.min(to)
}

/// Rewrites a type SQLite's grammar cannot read: nothing may stand behind its parentheses, and only numbers inside.
fn ordinary_type(words: Words<'_>, from: usize, to: usize, edits: &mut Edits) -> usize {
    let (start, end) = (from + 1, behind_type(words, from + 1, to));
    if start >= end {
        return end;
    }
    let open = (start..end).find(|&at| words.mark(at, "("));
    if words.one_of(start, &["ENUM", "SET"]) && open.is_some() {
        edits.replace(words.span(start, end), "TEXT");
    } else if (start..end).any(|at| words.are(at, &["WITH", "TIME", "ZONE"])) {
        let text = if words.is(start, "TIME") { "TIMETZ" } else { "TIMESTAMPTZ" };
        edits.replace(words.span(start, end), text);
    } else if let Some(at) = (start..end).find(|&at| words.are(at, &["WITHOUT", "TIME", "ZONE"])) {
        edits.replace(words.span(at, at + 3), "");
    } else if let Some(open) = open.filter(|&open| words.behind_group(open) < end) {
        edits.replace(words.span(open, words.behind_group(open)), "");
    }
    end
}

/// Edits what starts at `at`; returns what is behind it.
fn constraint(words: Words<'_>, at: usize, to: usize, edits: &mut Edits) -> Result<usize> {
    let mut cut = |from: usize, to: usize| {
        edits.replace(words.span(from, to), "");
        Ok(to)
    };
    if words.is(at, "COMMENT") && words.kind(at + 1).is_string() {
        return cut(at, at + 2);
    }
    if words.one_of(at, &["AUTO_INCREMENT", "INVISIBLE", "VISIBLE"]) {
        return cut(at, at + 1);
    }
    if let Some(end) = identity(words, at) {
        return cut(at, end);
    }
    if words.are(at, &["CHARACTER", "SET"]) {
        return cut(at, at + 3);
    }
    if words.is(at, "CHARSET") {
        return cut(at, at + 2);
    }
    if words.are(at, &["UNIQUE", "KEY"]) {
        return cut(at + 1, at + 2);
    }
    if words.is(at, "COLLATE") {
        collation(words, at, edits);
        return Ok(at + 2);
    }
    if words.are(at, &["ON", "UPDATE"])
        && !words.one_of(at + 2, &["CASCADE", "SET", "NO", "RESTRICT"])
    {
        return Err(unsupported("ON UPDATE CURRENT_TIMESTAMP is not supported by SQLite"));
    }
    if words.is(at, "DEFAULT") {
        return Ok(default(words, at + 1, to, edits));
    }
    Ok(if words.mark(at, "(") { words.behind_group(at) } else { at + 1 })
}

/// Other databases' collations: those that ignore case become SQLite's, which ignores that of ASCII letters; the others compare bytes.
fn collation(words: Words<'_>, at: usize, edits: &mut Edits) {
    let name = words.bare(at + 1).to_ascii_lowercase();
    match &*name {
        "nocase" | "binary" | "rtrim" => {}
        _ if name.ends_with("_ci") => edits.replace(words.span(at + 1, at + 2), "NOCASE"),
        _ => edits.replace(words.span(at, at + 2), ""),
    }
}

/// A default that is a call needs parentheses, and a cast of it means nothing here. `at` stands behind DEFAULT.
fn default(words: Words<'_>, at: usize, to: usize, edits: &mut Edits) -> usize {
    let signed = at + usize::from(words.mark(at, "-") || words.mark(at, "+"));
    let called = words.kind(at) == TokenKind::Word && words.mark(at + 1, "(");
    let keyword = words.one_of(at, &["CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"]);
    let mut end = if called {
        words.behind_group(at + 1)
    } else if words.mark(at, "(") {
        words.behind_group(at)
    } else {
        signed + 1
    };
    if called && !keyword {
        edits.replace(words.before(at), "(");
        edits.replace(words.after(end - 1), ")");
    }
    if words.mark(end, "::") {
        let typed = behind_type(words, end, to);
        edits.replace(words.span(end, typed), "");
        end = typed;
    }
    end
}
