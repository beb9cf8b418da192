//! INSERT and REPLACE.

use pando_sql::Edits;

use super::words::Words;

pub(super) fn edit(words: Words<'_>, edits: &mut Edits) {
    let mut at = 1;
    while words.one_of(at, &["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY"]) {
        edits.replace(words.span(at, at + 1), "");
        at += 1;
    }
    if words.is(at, "IGNORE") {
        edits.replace(words.span(at, at + 1), "OR IGNORE");
        at += 1;
    }
    if !words.one_of(at, &["INTO", "OR"]) {
        edits.replace(words.before(at), "INTO ");
    }
    no_values(words, edits);
    for at in at..words.len() {
        if words.are(at, &["ON", "DUPLICATE", "KEY", "UPDATE"]) {
            on_duplicate(words, at, edits);
            return;
        }
        if words.are(at, &["OVERRIDING", "SYSTEM", "VALUE"])
            || words.are(at, &["OVERRIDING", "USER", "VALUE"])
        {
            edits.replace(words.span(at, at + 3), "");
        }
    }
}

/// `() VALUES ()` and `VALUES ()` are `DEFAULT VALUES`.
fn no_values(words: Words<'_>, edits: &mut Edits) {
    let end = words.len();
    let Some(at) = end.checked_sub(3) else { return };
    if !(words.one_of(at, &["VALUES", "VALUE"])
        && words.mark(at + 1, "(")
        && words.mark(at + 2, ")"))
    {
        return;
    }
    let listed = at >= 2 && words.mark(at - 2, "(") && words.mark(at - 1, ")");
    let from = if listed { at - 2 } else { at };
    edits.replace(words.span(from, end), "DEFAULT VALUES");
}

/// `ON DUPLICATE KEY UPDATE a = VALUES(a)` is `ON CONFLICT DO UPDATE SET a = excluded.a`.
fn on_duplicate(words: Words<'_>, at: usize, edits: &mut Edits) {
    edits.replace(words.span(at, at + 4), "ON CONFLICT DO UPDATE SET");
    for at in at + 4..words.len() {
        let group = words.is(at, "VALUES") && words.mark(at + 1, "(") && words.mark(at + 3, ")");
        if group && words.name(at + 2) {
            edits.replace(words.span(at, at + 4), format!("excluded.{}", words.text(at + 2)));
        }
    }
}
