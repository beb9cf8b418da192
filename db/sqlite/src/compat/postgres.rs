//! What PostgreSQL's clients write, mostly about its catalogue: qualified functions and operators, regular expressions, arrays, functions in FROM.

use std::ops::Range;

use pando_sql::{Edits, TokenKind};

use super::expand;
use super::expression::{operand, reserved};
use super::words::Words;

pub(super) fn edit(words: Words<'_>, edits: &mut Edits) {
    expand::edit(words, edits);
    for at in 0..words.len() {
        match words.kind(at) {
            TokenKind::Word => word(words, at, edits),
            TokenKind::Operator => operator(words, at, words.text(at), at..at + 1, edits),
            TokenKind::Punctuation if words.mark(at, "[") => subscript(words, at, edits),
            TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
            | TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::Punctuation
            | TokenKind::End => {}
        }
    }
}

fn word(words: Words<'_>, at: usize, edits: &mut Edits) {
    let qualified = at > 0 && words.mark(at - 1, ".");
    if qualified_by_catalog(words, at) {
        edits.replace(words.span(at, at + 2), "");
    } else if words.is(at, "COLLATE") {
        collate(words, at, edits);
    } else if words.is(at, "OPERATOR") && words.mark(at + 1, "(") {
        let end = words.behind_group(at + 1);
        operator(words, at, words.text(end - 2), at..end, edits);
    } else if words.one_of(at, &["ANY", "SOME", "ALL"]) && words.mark(at + 1, "(") {
        quantified(words, at, edits);
    } else if words.is(at, "ARRAY") && words.mark(at + 1, "[") {
        let end = behind_brackets(words, at + 1);
        if !is_quantified(words, at) {
            edits.replace(words.span(at, at + 2), "pando_array(");
            edits.replace(words.span(end - 1, end), ")");
        }
    } else if words.is(at, "ARRAY") && words.mark(at + 1, "(") {
        let end = words.behind_group(at + 1);
        edits.replace(words.span(at, at + 2), "(WITH pando_a(v) AS (");
        edits.replace(words.span(end - 1, end), ") SELECT pando_gather(v) FROM pando_a)");
    } else if words.one_of(at, &["GENERATE_SERIES", "UNNEST", "PG_PARTITION_ANCESTORS"]) {
        table_function(words, at, edits);
    } else if words.is(at, "CURRENT_SCHEMA") && !qualified && !words.mark(at + 1, "(") {
        edits.replace(words.span(at, at + 1), "current_schema()");
    } else if words.is(at, "JSON_BUILD_OBJECT") && words.mark(at + 1, "(") {
        edits.replace(words.span(at, at + 1), "json_object");
    }
}

/// `pg_catalog.name`, where SQLite knows the name alone.
fn qualified_by_catalog(words: Words<'_>, at: usize) -> bool {
    words.is(at, "PG_CATALOG")
        && words.mark(at + 1, ".")
        && words.name(at + 2)
        && !words.is(at.wrapping_sub(1), "COLLATE")
}

/// The default collation and that of bytes are the one SQLite has.
fn collate(words: Words<'_>, at: usize, edits: &mut Edits) {
    let end = words.behind_name(at + 1);
    let name = words.bare(end - 1);
    if matches!(name.as_str(), "default" | "C" | "POSIX" | "ucs_basic") {
        edits.replace(words.span(at, end), "");
    }
}

fn operator(words: Words<'_>, at: usize, text: &str, written: Range<usize>, edits: &mut Edits) {
    let binary = at > 0 && ends_operand(words, at - 1);
    let new = match text {
        "~" if binary => " REGEXP ",
        "!~" => " NOT REGEXP ",
        "~*" => " REGEXP '(?i)' || ",
        "!~*" => " NOT REGEXP '(?i)' || ",
        "~~" | "~~*" => " LIKE ",
        "!~~" | "!~~*" => " NOT LIKE ",
        // Inside OPERATOR() what is left is SQLite's own.
        own if written.len() > 1 => own,
        _ => return,
    };
    edits.replace(words.span(written.start, written.end), new);
}

fn ends_operand(words: Words<'_>, at: usize) -> bool {
    match words.kind(at) {
        TokenKind::Word => !reserved(words, at),
        TokenKind::Operator => false,
        TokenKind::Punctuation => words.mark(at, ")") || words.mark(at, "]"),
        TokenKind::QuotedIdentifier
        | TokenKind::UnicodeIdentifier
        | TokenKind::Number
        | TokenKind::String
        | TokenKind::EscapeString
        | TokenKind::UnicodeString
        | TokenKind::NationalString
        | TokenKind::BitString
        | TokenKind::HexString
        | TokenKind::DollarString
        | TokenKind::Parameter
        | TokenKind::Variable => true,
        TokenKind::End => false,
    }
}

/// Whether the ARRAY at `at` is all that stands in `= ANY (…)`.
fn is_quantified(words: Words<'_>, at: usize) -> bool {
    at >= 3 && words.mark(at - 1, "(") && comparison(words, at - 2).is_some()
}

/// What `x = ANY` and `x <> ALL` are in SQLite, for the word at `at`.
fn comparison(words: Words<'_>, at: usize) -> Option<&'static str> {
    let before = at.checked_sub(1)?;
    let equal = words.mark(before, "=");
    let differs = words.mark(before, "<>") || words.mark(before, "!=");
    match () {
        () if equal && words.one_of(at, &["ANY", "SOME"]) => Some("IN"),
        () if differs && words.is(at, "ALL") => Some("NOT IN"),
        () => None,
    }
}

/// `x = ANY (ARRAY[a, b])`, `x = ANY (SELECT …)`, `x = ANY (array)`.
fn quantified(words: Words<'_>, at: usize, edits: &mut Edits) {
    let Some(word) = comparison(words, at) else { return };
    let (open, end) = (at + 1, words.behind_group(at + 1));
    if words.is(open + 1, "ARRAY") && words.mark(open + 2, "[") {
        let close = behind_brackets(words, open + 2);
        edits.replace(words.span(at - 1, open + 3), format!("{word} ("));
        edits.replace(words.span(close - 1, end), ")");
    } else if words.one_of(open + 1, &["SELECT", "WITH", "VALUES"]) {
        edits.replace(words.span(at - 1, open), word);
    } else {
        let before = format!("{word} (SELECT value FROM json_each(pando_json(");
        edits.replace(words.span(at - 1, open + 1), before);
        edits.replace(words.span(end - 1, end), ")))");
    }
}

/// One past the bracket that closes the one at `at`.
fn behind_brackets(words: Words<'_>, at: usize) -> usize {
    let mut depth = 0_usize;
    for index in at..words.len() {
        if words.mark(index, "[") {
            depth += 1;
        } else if words.mark(index, "]") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return index + 1;
            }
        }
    }
    words.len()
}

/// `array[n]`.
fn subscript(words: Words<'_>, at: usize, edits: &mut Edits) {
    let behind_operand = at > 0
        && (words.mark(at - 1, ")") || (words.name(at - 1) && !words.is(at - 1, "ARRAY")))
        && !(at > 1 && words.mark(at - 2, "::"));
    let end = behind_brackets(words, at);
    if !behind_operand || end <= at + 2 {
        return;
    }
    edits.replace(words.before(operand(words, at)), "pando_item(");
    edits.replace(words.span(at, at + 1), ", ");
    edits.replace(words.span(end - 1, end), ")");
}

/// A function in FROM: `generate_series(1, 3) AS s(n)`.
fn table_function(words: Words<'_>, at: usize, edits: &mut Edits) {
    let qualified = at >= 2 && words.mark(at - 1, ".");
    let before = at.wrapping_sub(if qualified { 3 } else { 1 });
    let in_from = words.one_of(before, &["FROM", "JOIN"]) || words.mark(before, ",");
    if !in_from || !words.mark(at + 1, "(") {
        return;
    }
    let close = words.behind_group(at + 1);
    let ordinal = words.are(close, &["WITH", "ORDINALITY"]);
    let mut end = close + if ordinal { 2 } else { 0 };
    end += usize::from(words.is(end, "AS"));
    let function = words.text(at).to_ascii_lowercase();
    let mut alias = function.clone();
    let mut columns: Vec<String> = Vec::new();
    let words_of_joins =
        ["WHERE", "JOIN", "CROSS", "LEFT", "INNER", "ON", "ORDER", "GROUP", "LIMIT", "UNION"];
    if words.name(end) && !words.one_of(end, &words_of_joins) {
        alias = words.text(end).to_owned();
        end += 1;
        if words.mark(end, "(") {
            let list = words.behind_group(end);
            let parts = words.parts(end + 1, list - 1);
            columns.extend(parts.iter().map(|(from, _)| words.text(*from).to_owned()));
            end = list;
        }
    }
    let first = columns.first().unwrap_or(&alias);
    let second = match (ordinal, columns.get(1)) {
        (true, Some(name)) => format!(", key + 1 AS {name}"),
        (true, None) => ", key + 1 AS ordinality".to_owned(),
        (false, _) => String::new(),
    };
    let list = match function.as_str() {
        "generate_series" => "pando_series",
        "unnest" => "pando_json",
        _ => "pando_nothing",
    };
    let head = format!("(SELECT value AS {first}{second} FROM json_each({list}(");
    edits.replace(words.span(at, at + 2), head);
    edits.replace(words.span(close - 1, end), format!("))) AS {alias}"));
}
