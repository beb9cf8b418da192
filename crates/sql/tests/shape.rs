//! Shapes: what they leave out, what they keep, and that the lexer agrees.
#![allow(clippy::expect_used, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::{Shape, Syntax, TokenKind, tokenize};
use proptest::prelude::*;

fn shape(text: &str, syntax: &Syntax) -> Option<Shape> {
    let mut shape = Shape::default();
    shape.read(text, syntax).then_some(shape)
}

fn slots(text: &str, syntax: &Syntax) -> Vec<String> {
    let shape = shape(text, syntax).expect("the text has a shape");
    shape.slots().iter().map(|slot| slot.span.of(text).to_owned()).collect()
}

fn same(a: &str, b: &str, syntax: &Syntax) -> bool {
    match (shape(a, syntax), shape(b, syntax)) {
        (Some(a), Some(b)) => a.key() == b.key(),
        _ => false,
    }
}

/// The lexer finds the same literals, and the shape stays when they are given other values.
fn agrees(text: &str, syntax: &Syntax) {
    let Some(found) = shape(text, syntax) else { return };
    let tokens = tokenize(text, syntax).expect("what has a shape can be read");
    let mut slots = found.slots().iter();
    let mut other = String::new();
    let mut done = 0;
    for token in tokens.list.iter().filter(|token| token.kind.is_literal()) {
        let is_slot = slots.clone().next().is_some_and(|slot| slot.span == token.span);
        assert!(is_slot || token.kind == TokenKind::Number, "{text:?} {token:?}");
        if !is_slot {
            continue;
        }
        let slot = slots.next().expect("it was seen");
        assert_eq!(slot.kind, token.kind, "{text:?}");
        other.push_str(&text[done..token.span.start as usize]);
        let written = token.span.of(text);
        other.push_str(match (token.kind == TokenKind::Number, written.contains('.')) {
            (true, true) => "7.25",
            (true, false) => "77",
            (false, _) => "'it''s'",
        });
        done = token.span.end as usize;
    }
    assert!(slots.next().is_none(), "{text:?}");
    other.push_str(&text[done..]);
    assert!(same(text, &other, syntax), "{text:?} {other:?}");
    let kinds = |text: &str| -> Vec<TokenKind> {
        let tokens = tokenize(text, syntax).expect("it differs in literals only");
        tokens.list.iter().map(|token| token.kind).collect()
    };
    assert_eq!(kinds(text), kinds(&other), "{text:?} {other:?}");
}

#[test]
fn literals_are_left_out() {
    let text = "select c from t where id = 12 and n = 1.5 and s = 'it''s' and x in (1, 2)";
    assert_eq!(slots(text, &COLONS), ["12", "1.5", "'it''s'", "1", "2"]);
    assert_eq!(slots(text, &COMMAS), ["12", "1.5", "'it''s'", "1", "2"]);
    assert!(same("select 1 from t", " select 22 from t ; ", &COLONS));
}

#[test]
fn what_says_what_the_statement_means_is_kept() {
    for (a, b) in [
        ("select 1", "select 1.5"),
        ("select 1", "select '1'"),
        ("select a from t order by 1", "select a from t order by 2"),
        ("select a from t limit 1", "select a from t limit 2"),
        ("select $1", "select $2"),
        ("select a", "select b"),
    ] {
        assert!(!same(a, b, &COLONS), "{a} {b}");
    }
}

#[test]
fn what_needs_the_lexer_has_no_shape() {
    for text in [
        "",
        " ; ",
        "select 1; select 2",
        "select 1 -- c",
        "select /* c */ 1",
        "select e'x'",
        "select $$x$$",
        "select 'a' 'b'",
        "select 1e5",
        "select 1.",
        "select .5",
        "select 0x1f",
        "select u&\"x\"",
        "select 'open",
        "select \"open",
        "select \u{1}",
        "select $0",
        "select $70000",
    ] {
        assert!(shape(text, &COLONS).is_none(), "{text}");
    }
    for text in ["select 'a\\'b'", "select \"a\"", "select @a", "select 1 # c", "select _utf8'x'"] {
        assert!(shape(text, &COMMAS).is_none(), "{text}");
    }
    assert!(shape(&format!("select '{}'", "x".repeat(10_000)), &COLONS).is_none());
    assert!(shape(&format!("select {}1", "1, ".repeat(100)), &COLONS).is_none());
}

#[test]
fn the_corpora_agree_with_the_lexer() {
    for (text, syntax) in
        [(include_str!("colons.corpus"), COLONS), (include_str!("commas.corpus"), COMMAS)]
    {
        text.lines().for_each(|line| agrees(line, &syntax));
    }
}

fn piece() -> impl Strategy<Value = String> {
    let fixed: &'static [&'static str] = &[
        "select", "from", "t", "t.a", "where", "=", "'", "''", "\"", "`", "\\", "1", "0", "9.5",
        "0x1", ".", "..", "-", "--", "/*", "*/", "#", "$1", "$", "$0", "$9999", "?", "@", ":",
        "::", ";", "(", ")", ",", "order by", "limit", "e'", "b'1'", "n", "u&'", "date", "\n", " ",
        "é", "1e3", "_", "&", "[1]", "it", "\u{1}", "\u{2}", "\0",
    ];
    prop_oneof![
        8 => proptest::sample::select(fixed).prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
        1 => "'[a-z ]{0,4}'",
        1 => "[0-9]{1,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn random_texts_agree_with_the_lexer(
        pieces in proptest::collection::vec(piece(), 0..14),
        between in proptest::sample::select(&["", " "][..]),
    ) {
        let text = pieces.join(between);
        agrees(&text, &COLONS);
        agrees(&text, &COMMAS);
    }
}
