//! Operators, casts and clauses that may stand in any statement.

use pando_sql::{Edits, Syntax, TokenKind};

use super::words::Words;

pub(super) fn edit(words: Words<'_>, syntax: &Syntax, edits: &mut Edits) {
    for at in 0..words.len() {
        match words.kind(at) {
            TokenKind::Operator => operator(words, at, syntax, edits),
            TokenKind::Word => clause(words, at, syntax, edits),
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
    // From right to left: of the casts in `a::text::int` the outermost is written first.
    for at in (0..words.len()).rev() {
        if words.mark(at, "::") && !edits.covers(words.span(at, at + 1)) {
            cast(words, at, edits);
        }
    }
}

fn operator(words: Words<'_>, at: usize, syntax: &Syntax, edits: &mut Edits) {
    let new = match words.text(at) {
        "<=>" => " IS ",
        "&&" => " AND ",
        "||" if !syntax.pipes_concatenate => " OR ",
        // Two whole numbers divide to a fraction in the language that has this OR, to a whole number in SQLite.
        "/" if !syntax.pipes_concatenate => " * 1.0 / ",
        _ => return,
    };
    edits.replace(words.span(at, at + 1), new);
}

/// In both doors' languages a backslash escapes inside a pattern unless another letter is said to; in SQLite nothing does.
fn pattern(words: Words<'_>, at: usize, edits: &mut Edits) {
    let alone = match words.kind(at + 1) {
        TokenKind::String | TokenKind::EscapeString => words.text(at + 1).contains('\\'),
        TokenKind::Parameter => true,
        TokenKind::Word
        | TokenKind::QuotedIdentifier
        | TokenKind::UnicodeIdentifier
        | TokenKind::Number
        | TokenKind::UnicodeString
        | TokenKind::NationalString
        | TokenKind::BitString
        | TokenKind::HexString
        | TokenKind::DollarString
        | TokenKind::Variable
        | TokenKind::Operator
        | TokenKind::Punctuation
        | TokenKind::End => false,
    };
    let mut end = at + 2;
    while words.mark(end, "::") {
        end = behind_type(words, end + 1);
    }
    let goes_on = words.is(end, "ESCAPE") || words.kind(end) == TokenKind::Operator;
    if alone && !goes_on {
        edits.replace(words.after(end - 1), " ESCAPE char(92)");
    }
}

fn clause(words: Words<'_>, at: usize, syntax: &Syntax, edits: &mut Edits) {
    if words.one_of(at, &["LIKE", "ILIKE"]) {
        if words.is(at, "ILIKE") {
            edits.replace(words.span(at, at + 1), "LIKE");
        }
        if syntax.backslash_escapes || syntax.dollar_strings {
            pattern(words, at, edits);
        }
    } else if words.is(at, "CONVERT") && words.mark(at + 1, "(") {
        convert(words, at, edits);
    } else if words.is(at, "TRIM") && words.mark(at + 1, "(") {
        trim(words, at, edits);
    } else if words.is(at, "RLIKE") {
        edits.replace(words.span(at, at + 1), "REGEXP");
    } else if words.is(at, "FOR") && words.one_of(at + 1, &["UPDATE", "SHARE", "NO", "KEY"]) {
        edits.replace(words.span(at, behind_lock(words, at)), "");
    } else if words.are(at, &["LOCK", "IN", "SHARE", "MODE"]) {
        edits.replace(words.span(at, at + 4), "");
    } else if words.are(at, &["LIMIT", "ALL"]) {
        edits.replace(words.span(at + 1, at + 2), "-1");
    } else if words.are(at, &["FROM", "DUAL"]) {
        edits.replace(words.span(at, at + 2), "");
    } else if words.is(at, "FETCH") && words.one_of(at + 1, &["FIRST", "NEXT"]) {
        fetch(words, at, edits);
    } else if words.one_of(at, &["USE", "FORCE", "IGNORE"])
        && words.one_of(at + 1, &["INDEX", "KEY"])
    {
        index_hint(words, at, edits);
    } else if words.is(at, "PUBLIC")
        && words.mark(at + 1, ".")
        && !words.mark(at.wrapping_sub(1), ".")
    {
        edits.replace(words.span(at, at + 2), "");
    } else if words.one_of(at, &["CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"])
        && words.mark(at + 1, "(")
    {
        edits.replace(words.span(at + 1, words.behind_group(at + 1)), "");
    }
}

/// `CONVERT(x, type)` is a cast, `CONVERT(x USING charset)` is `x`: all text is UTF-8.
fn convert(words: Words<'_>, at: usize, edits: &mut Edits) {
    let close = words.behind_group(at + 1) - 1;
    if let [_, to] = &words.parts(at + 2, close)[..] {
        edits.replace(words.span(at, at + 1), "CAST");
        edits.replace(words.span(to.0 - 1, to.0), " AS");
    } else if words.is(close - 2, "USING") {
        edits.replace(words.span(at, at + 1), "");
        edits.replace(words.span(close - 2, close), "");
    }
}

/// `TRIM(BOTH 'x' FROM y)`.
fn trim(words: Words<'_>, at: usize, edits: &mut Edits) {
    let (first, close) = (at + 2, words.behind_group(at + 1) - 1);
    let name = match words.text(first).to_ascii_uppercase().as_str() {
        "BOTH" => "trim",
        "LEADING" => "ltrim",
        "TRAILING" => "rtrim",
        _ => return,
    };
    if words.is(first + 1, "FROM") {
        edits.replace(words.span(at, first + 2), format!("{name}("));
    } else if words.is(first + 2, "FROM") {
        edits.replace(words.span(at, first + 3), format!("{name}("));
        edits.replace(words.before(close), format!(", {}", words.text(first + 1)));
    }
}

/// `FOR [NO KEY] UPDATE [OF a, b] [NOWAIT | SKIP LOCKED]`: a writing transaction holds the whole database here anyway.
fn behind_lock(words: Words<'_>, at: usize) -> usize {
    let mut end = at + 1;
    while words.one_of(end, &["NO", "KEY", "UPDATE", "SHARE", "NOWAIT", "SKIP", "LOCKED"]) {
        end += 1;
        if words.is(end, "OF") {
            end = words.behind_name(end + 1);
            while words.mark(end, ",") {
                end = words.behind_name(end + 1);
            }
        }
    }
    end
}

/// `[OFFSET n ROWS] FETCH FIRST [m] ROWS ONLY`.
fn fetch(words: Words<'_>, at: usize, edits: &mut Edits) {
    let counted = !words.one_of(at + 2, &["ROW", "ROWS"]);
    let rows = at + 2 + usize::from(counted);
    if !(words.one_of(rows, &["ROW", "ROWS"]) && words.is(rows + 1, "ONLY")) {
        return;
    }
    let count = if counted { words.text(at + 2) } else { "1" };
    let offset = at >= 3 && words.is(at - 3, "OFFSET") && words.one_of(at - 1, &["ROW", "ROWS"]);
    if offset {
        let skip = words.text(at - 2);
        edits.replace(words.span(at - 3, rows + 2), format!("LIMIT {count} OFFSET {skip}"));
    } else {
        edits.replace(words.span(at, rows + 2), format!("LIMIT {count}"));
    }
}

/// `USE INDEX [FOR JOIN | ORDER BY | GROUP BY] (a, b)` behind a table.
fn index_hint(words: Words<'_>, at: usize, edits: &mut Edits) {
    let mut open = at + 2;
    while words.one_of(open, &["FOR", "JOIN", "ORDER", "GROUP", "BY"]) {
        open += 1;
    }
    if words.mark(open, "(") {
        edits.replace(words.span(at, words.behind_group(open)), "");
    }
}

/// `operand::type`.
fn cast(words: Words<'_>, at: usize, edits: &mut Edits) {
    let end = behind_type(words, at + 1);
    let (before, behind) = conversion(words, at + 1, end);
    edits.replace(words.before(operand(words, at)), before);
    edits.replace(words.span(at, end), behind);
}

/// Where the operand of the cast at `at` starts.
pub(super) fn operand(words: Words<'_>, at: usize) -> usize {
    let mut start = at.saturating_sub(1);
    // Behind an earlier cast stands its type, not the operand.
    while let Some(earlier) = earlier_cast(words, start) {
        start = earlier.saturating_sub(1);
    }
    if words.mark(start, ")") {
        start = words.open_of(start);
        let called = start > 0 && words.name(start - 1) && !reserved(words, start - 1);
        start -= usize::from(called);
        if !called {
            return start;
        }
    }
    while start >= 2 && words.name(start) && words.mark(start - 1, ".") && words.name(start - 2) {
        start -= 2;
    }
    start
}

/// The `::` in front of the type whose last token stands at `last`.
fn earlier_cast(words: Words<'_>, last: usize) -> Option<usize> {
    let from = last.saturating_sub(8);
    (from..last).rev().find(|&at| words.mark(at, "::") && behind_type(words, at + 1) == last + 1)
}

/// Words that may stand in front of a parenthesis without being a function's name.
pub(super) fn reserved(words: Words<'_>, at: usize) -> bool {
    words.one_of(
        at,
        &[
            "IN",
            "AND",
            "OR",
            "NOT",
            "WHERE",
            "SELECT",
            "ON",
            "WHEN",
            "THEN",
            "ELSE",
            "FROM",
            "VALUES",
            "BY",
            "LIKE",
            "IS",
            "BETWEEN",
            "HAVING",
            "LIMIT",
            "OFFSET",
            "SET",
            "AS",
            "CASE",
            "RETURNING",
            "DISTINCT",
            "ALL",
            "EXISTS",
            "USING",
            "UNION",
            "EXCEPT",
            "INTERSECT",
        ],
    )
}

fn behind_type(words: Words<'_>, at: usize) -> usize {
    let mut end = words.behind_name(at);
    while words.one_of(end, &["VARYING", "PRECISION"]) {
        end += 1;
    }
    if words.mark(end, "(") {
        end = words.behind_group(end);
    }
    if words.one_of(end, &["WITH", "WITHOUT"]) && words.are(end + 1, &["TIME", "ZONE"]) {
        end += 3;
    }
    while words.mark(end, "[") && words.mark(end + 1, "]") {
        end += 2;
    }
    end
}

/// What stands in front of the operand and what behind it. SQLite's CAST knows storage classes; where the other databases round, check or name truth,
/// a function of ours does.
fn conversion(words: Words<'_>, from: usize, to: usize) -> (&'static str, String) {
    let last = words.behind_name(from) - 1;
    let name = words.bare(last).to_ascii_lowercase();
    if words.mark(to - 1, "]") {
        // An array is a text here.
        return ("CAST(", " AS TEXT)".to_owned());
    }
    let numbers =
        words.mark(last + 1, "(").then(|| words.parts(last + 2, words.behind_group(last + 1) - 1));
    let plain = |class: &str| ("CAST(", format!(" AS {class})"));
    match &*name {
        "int" | "integer" | "bigint" | "smallint" | "int2" | "int4" | "int8" | "oid" => {
            ("pando_integer(", ")".to_owned())
        }
        "bool" | "boolean" => ("pando_boolean(", ")".to_owned()),
        "float" | "float4" | "float8" | "real" | "double" => plain("REAL"),
        "numeric" | "decimal" => match numbers.as_deref() {
            Some([_, scale]) => {
                ("round(CAST(", format!(" AS NUMERIC), {})", words.slice(scale.0, scale.1)))
            }
            Some([_]) => ("round(CAST(", " AS NUMERIC))".to_owned()),
            _ => plain("NUMERIC"),
        },
        "varchar" | "char" | "bpchar" | "character" if to > from => match numbers.as_deref() {
            Some([length]) => {
                ("substr(CAST(", format!(" AS TEXT), 1, {})", words.slice(length.0, length.1)))
            }
            _ => plain("TEXT"),
        },
        "bytea" => plain("BLOB"),
        _ => plain("TEXT"),
    }
}
