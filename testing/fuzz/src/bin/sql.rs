//! Texts to statements in both languages: splitting, tokens, literals, the tree, its visitors and edits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_sql::{Edits, Span, Syntax, literal, parse, split, tokenize, visit};

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let syntax =
        if first & 1 == 0 { &pando_mysql::dialect::SYNTAX } else { &pando_postgres::dialect::SYNTAX };
    check(text, syntax);
});

fn inside(text: &str, span: Span) {
    let (start, end) = (span.start as usize, span.end as usize);
    assert!(start <= end && text.is_char_boundary(start) && text.is_char_boundary(end), "{span:?}");
}

fn check(text: &str, syntax: &Syntax) {
    if let Ok(pieces) = split(text, syntax) {
        let mut end = 0;
        for piece in pieces {
            inside(text, piece);
            assert!(piece.start >= end, "pieces overlap");
            end = piece.end;
        }
    }
    if let Ok(tokens) = tokenize(text, syntax) {
        let mut end = 0;
        for token in &tokens.list {
            inside(text, token.span);
            assert!(token.span.start >= end, "tokens overlap");
            end = token.span.end;
            let _ = literal(text, token, syntax);
        }
        for slot in tokens.slots() {
            inside(text, slot);
        }
    }
    let statement = match parse(text, syntax) {
        Ok(statement) => statement,
        Err(error) => return assert!(error.at as usize <= text.len(), "{error}"),
    };
    visit::exprs(&statement.kind, &mut |expr| inside(&statement.text, expr.span));
    let mut edits = Edits::default();
    for occurrence in visit::tables(&statement.kind) {
        inside(&statement.text, occurrence.name.span);
        let last = occurrence.name.parts.last().expect("names are not empty");
        if !edits.covers(last.span) {
            edits.replace(last.span, last.span.of(&statement.text).to_owned());
        }
    }
    for owner in visit::column_owners(&statement.kind) {
        inside(&statement.text, owner.span);
    }
    assert_eq!(edits.apply(&statement.text), &*statement.text, "writing a name anew changed it");
}
