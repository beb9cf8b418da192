//! What a definition of a routine names that must be there when it is made: tables whose rows are types of its head or
//! of its variables, and tables that statements in SQL name. Other languages look for tables when they run.
//! <https://www.postgresql.org/docs/current/sql-createfunction.html>

use pando_sql::{Item, Span, Syntax, parse, reading, split, visit};

/// What a definition names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// In lower case; types among them.
    pub(super) tables: Vec<String>,
    /// The texts in SQL that the server reads when it is made.
    pub(super) code: Vec<String>,
}

/// Words behind which nothing of a head is a type.
const OPTIONS: [&str; 21] = [
    "language",
    "as",
    "immutable",
    "stable",
    "volatile",
    "strict",
    "set",
    "cost",
    "rows",
    "security",
    "parallel",
    "window",
    "leakproof",
    "called",
    "support",
    "transform",
    "external",
    "not",
    "begin",
    "return",
    "atomic",
];

/// What the definition names of a routine whose name stands here.
pub(super) fn named(syntax: &Syntax, text: &str, name: Span) -> Named {
    let Ok(items) = reading(text, syntax, None) else { return Named::default() };
    let behind = items.iter().position(|item| item.name().is_some_and(|own| own.span == name));
    let items = behind.and_then(|at| items.get(at + 1..)).unwrap_or(&[]);
    let mut found = Named::default();
    let head = items.get(..head_end(items)).unwrap_or(&[]);
    types(head, Types::OfHead, &mut found.tables);
    let language = items.windows(2).find(|pair| pair[0].is_word("language"));
    let language = language.and_then(|pair| match pair[1].text() {
        Some(language) => Some(language.to_lowercase()),
        None => pair[1].word(),
    });
    let body = items.windows(2).find(|pair| pair[0].is_word("as")).and_then(|pair| pair[1].text());
    match (language.as_deref(), body) {
        (Some("sql"), Some(body)) => found.code.push(body.to_owned()),
        (Some("plpgsql"), Some(body)) => {
            if let Ok(inner) = reading(body, syntax, None) {
                types(&inner, Types::OfVariables, &mut found.tables);
            }
        }
        (Some("sql") | None, None) => found.code.extend(unquoted(text, items)),
        _ => {}
    }
    for code in &found.code {
        statements(syntax, code, &mut found.tables);
    }
    found.tables.sort_unstable();
    found.tables.dedup();
    found
}

/// Where the options or the body begin.
fn head_end(items: &[Item<'_>]) -> usize {
    let mut depth = 0_i32;
    for (at, item) in items.iter().enumerate() {
        if *item == Item::Mark("(") {
            depth += 1;
        } else if *item == Item::Mark(")") {
            depth -= 1;
        } else if depth == 0 && item.word().is_some_and(|word| OPTIONS.contains(&word.as_str())) {
            return at;
        }
    }
    items.len()
}

/// Where types are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Types {
    OfHead,
    /// Between DECLARE and BEGIN.
    OfVariables,
}

/// Names that stand where a type stands.
fn types(items: &[Item<'_>], of: Types, found: &mut Vec<String>) {
    let mut is_within = of == Types::OfHead;
    for (at, item) in items.iter().enumerate() {
        if of == Types::OfVariables && (item.is_word("declare") || item.is_word("begin")) {
            is_within = item.is_word("declare");
            continue;
        }
        let Some(name) = item.name() else { continue };
        let is_next = |word: &str| items.get(at + 2).is_some_and(|next| next.is_word(word));
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        match items.get(at + 1) {
            Some(Item::Mark("%")) if is_next("rowtype") => found.push(name.last().to_lowercase()),
            Some(Item::Mark("%")) if is_next("type") => {
                let table = name.parts.len().checked_sub(2).and_then(|at| name.parts.get(at));
                found.extend(table.map(|table| table.to_lowercase()));
            }
            next if is_within => {
                let is_returned = of == Types::OfHead
                    && before.is_some_and(|word| word.is_word("returns") || word.is_word("setof"));
                let is_second =
                    of == Types::OfHead || before.is_some_and(|own| own.name().is_some());
                if is_returned || is_second && ends_type(next) {
                    found.push(name.last().to_lowercase());
                }
            }
            _ => {}
        }
    }
}

/// Whether this stands behind a type.
fn ends_type(next: Option<&Item<'_>>) -> bool {
    match next {
        Some(Item::Mark(mark)) => [",", ")", "[", "=", ":=", ";"].contains(mark),
        Some(item) => item.is_word("default") || item.is_word("not"),
        None => false,
    }
}

/// A body that is no string: `BEGIN ATOMIC … END` or `RETURN …`.
fn unquoted(text: &str, items: &[Item<'_>]) -> Option<String> {
    let end = |item: &Item<'_>| item.name().map(|name| name.span);
    let body = items.iter().find(|item| item.is_word("atomic") || item.is_word("return"))?;
    let rest = text.get(end(body)?.end as usize..)?;
    if body.is_word("return") {
        return Some(format!("SELECT {rest}"));
    }
    let close = items.iter().rev().find(|item| item.is_word("end")).and_then(end)?;
    text.get(end(body)?.end as usize..close.start as usize).map(str::to_owned)
}

/// The tables of statements, and what their casts name. What is not read here is for the server to judge.
fn statements(syntax: &Syntax, code: &str, found: &mut Vec<String>) {
    for piece in split(code, syntax).unwrap_or_default() {
        if let Ok(stmt) = parse(piece.of(code), syntax) {
            found.extend(
                visit::tables(&stmt.kind).iter().map(|table| table.name.key().to_lowercase()),
            );
        }
    }
    let items = reading(code, syntax, None).unwrap_or_default();
    let casts = items.windows(2).filter(|pair| pair[0] == Item::Mark("::"));
    found.extend(casts.filter_map(|pair| pair[1].name()).map(|name| name.last().to_lowercase()));
}
