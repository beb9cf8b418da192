//! What holds for every text: no panic, spans inside the text and on character boundaries, expressions that read the same alone.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::{Span, Syntax, TokenKind, parse, split, tokenize, visit};
use proptest::prelude::*;

fn is_inside(text: &str, span: Span) -> bool {
    let (start, end) = (span.start as usize, span.end as usize);
    start <= end && text.is_char_boundary(start) && text.is_char_boundary(end)
}

fn tokens_of(text: &str, syntax: &Syntax) -> Vec<(TokenKind, String)> {
    let tokens = tokenize(text, syntax).expect("a piece of a statement is cut into tokens");
    tokens.list.iter().map(|token| (token.kind, token.span.of(text).to_owned())).collect()
}

/// Everything that must hold for a text, whatever it is.
fn check(text: &str, syntax: &Syntax) {
    let _ = split(text, syntax).map(|pieces| {
        let mut end = 0;
        for piece in pieces {
            assert!(is_inside(text, piece) && piece.start >= end, "{text:?}");
            end = piece.end;
        }
    });
    if let Ok(tokens) = tokenize(text, syntax) {
        let mut end = 0;
        for token in &tokens.list {
            assert!(is_inside(text, token.span), "{text:?} {token:?}");
            assert!(token.span.start >= end && token.span.start < token.span.end, "{text:?}");
            end = token.span.end;
        }
    }
    let statement = match parse(text, syntax) {
        Ok(statement) => statement,
        Err(error) => {
            assert!(error.at as usize <= text.len(), "{text:?} {error}");
            return;
        }
    };
    visit::exprs(&statement.kind, &mut |expr| {
        let span = expr.span;
        assert!(is_inside(&statement.text, span), "{text:?} {expr:?}");
        let all = tokenize(&statement.text, syntax).expect("it was parsed");
        let inside: Vec<_> = all
            .list
            .iter()
            .filter(|token| token.span.start >= span.start && token.span.end <= span.end)
            .map(|token| (token.kind, token.span.of(&statement.text).to_owned()))
            .collect();
        let piece = span.of(&statement.text);
        // An executable comment may start inside an expression and end behind it.
        if !piece.contains("/*") && !piece.contains("*/") {
            assert_eq!(inside, tokens_of(piece, syntax), "{text:?} {piece:?}");
        }
        if let (Some(first), Some(last)) = (inside.first(), inside.last()) {
            assert!(piece.starts_with(&first.1) && piece.ends_with(&last.1), "{text:?} {piece:?}");
        }
    });
    for occurrence in visit::tables(&statement.kind) {
        assert!(is_inside(&statement.text, occurrence.name.span), "{text:?}");
        let shown = occurrence.name.span.of(&statement.text);
        let last = occurrence.name.parts.last().expect("names are not empty");
        assert!(shown.ends_with(last.span.of(&statement.text)), "{text:?} {shown:?}");
    }
    for owner in visit::column_owners(&statement.kind) {
        assert!(is_inside(&statement.text, owner.span), "{text:?}");
    }
}

fn check_both(text: &str) {
    check(text, &COMMAS);
    check(text, &COLONS);
}

/// Every statement of the corpora and the cases, whole and cut off at every character.
#[test]
fn known_statements_keep_the_properties_wherever_they_are_cut() {
    for (file, syntax) in
        [(include_str!("commas.corpus"), &COMMAS), (include_str!("colons.corpus"), &COLONS)]
    {
        for line in file.lines().filter(|line| !line.starts_with("== ")) {
            check(line, syntax);
            for (end, _) in line.char_indices().step_by(3) {
                check(&line[..end], syntax);
            }
        }
    }
    for file in [
        include_str!("expression.case"),
        include_str!("query.case"),
        include_str!("change.case"),
        include_str!("define.case"),
        include_str!("session.case"),
        include_str!("error.case"),
    ] {
        for line in file.lines().filter_map(|line| line.get(2..)) {
            check_both(line);
        }
    }
}

/// Pieces of SQL that meet in odd ways.
fn fragment() -> impl Strategy<Value = String> {
    let words = vec![
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "INSERT INTO",
        "VALUES",
        "UPDATE",
        "SET",
        "DELETE",
        "JOIN",
        "ON",
        "USING",
        "UNION ALL",
        "WITH",
        "AS",
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "LIKE",
        "IS NULL",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "EXISTS",
        "CREATE TABLE",
        "DROP",
        "ALTER TABLE",
        "INDEX",
        "BEGIN",
        "COMMIT",
        "SHOW",
        "COPY",
        "STDIN",
        "INTERVAL",
        "ARRAY",
        "CAST",
        "a",
        "b",
        "t.c",
        "`x y`",
        "\"Q\"",
        "'s'",
        "'it''s'",
        "E'\\n'",
        "$$d$$",
        "1",
        "2.5",
        "?",
        "$1",
        "@v",
        "@@g.x",
        "(",
        ")",
        ",",
        ";",
        ".",
        "*",
        "=",
        "+",
        "-",
        "||",
        "::",
        ":=",
        "->",
        "[",
        "]",
        "/* c */",
        "/*! x */",
        "-- c\n",
        "# c\n",
        "{",
        "}",
        "ä",
        "日本",
        "\\N",
        "DEFAULT",
        "ROW",
        "OVER",
    ];
    prop_oneof![
        8 => proptest::sample::select(words).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ]
}

proptest! {
    #[test]
    fn any_text_keeps_the_properties(text in any::<String>()) {
        check_both(&text);
    }

    #[test]
    fn any_row_of_fragments_keeps_the_properties(
        pieces in proptest::collection::vec(fragment(), 0..25),
        glue in proptest::sample::select(vec!["", " "]),
    ) {
        check_both(&pieces.join(glue));
        check_both(&format!("SELECT {}", pieces.join(" ")));
        check_both(&format!("CREATE TABLE t ({}", pieces.join(" ")));
    }

    #[test]
    fn the_digest_does_not_depend_on_literals_or_white_space(number in 0u32.., text in "[a-z]{0,9}") {
        let digest = |text: &str| tokenize(text, &COLONS).map(|tokens| tokens.digest);
        prop_assert_eq!(
            digest(&format!("SELECT a FROM t WHERE b={number} AND c  = '{text}'")),
            digest("SELECT  a /* x */ FROM t\nWHERE b = 5 AND c = 'y' -- z")
        );
    }
}
