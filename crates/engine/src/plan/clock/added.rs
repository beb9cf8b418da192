//! ALTER TABLE … ADD COLUMN … DEFAULT now(): the rows that are there get one time on all servers.

use pando_kernel::clock::{Clock, Timed};
use pando_kernel::feature::Context;
use pando_sql::ast::{Define, DefineAction, ObjectKind, Statement};
use pando_sql::{Edits, Span, Token, TokenKind, tokenize};

use super::words::{Word, found};

/// Words that end a default among the other properties of a column.
const ENDING: [&str; 12] = [
    "not",
    "null",
    "check",
    "unique",
    "primary",
    "references",
    "constraint",
    "generated",
    "collate",
    "deferrable",
    "initially",
    "add",
];

/// A new column, and what its default is written as.
struct Added {
    name: Span,
    default: Span,
}

/// Writes what new columns take for the rows that are there, where servers cannot be told the time: as that, and the
/// default itself behind it, for the rows that come. Result: what the connections are to be told.
pub(super) fn written(
    ctx: &Context<'_>,
    clock: &dyn Clock,
    stmt: &Statement,
    define: &Define,
    edits: &mut Edits,
) -> Timed {
    if define.action != DefineAction::Alter || define.object != ObjectKind::Table {
        return Timed::default();
    }
    let words = found(ctx, clock, &stmt.text);
    if words.is_empty() {
        return Timed::default();
    }
    if clock.by_servers().is_any() {
        return clock.by_servers();
    }
    let mut timed = Timed::default();
    let mut behind = String::new();
    for Added { name, default } in added(ctx, &stmt.text) {
        let inside =
            |word: &&Word| word.span.start >= default.start && word.span.end <= default.end;
        let mut is_timed = false;
        for word in words.iter().filter(inside) {
            let Some(written) = &word.asked.written else { continue };
            timed = timed.and(word.asked.timed);
            edits.replace(word.span, written.clone());
            is_timed = true;
        }
        if is_timed {
            let (name, default) = (name.of(&stmt.text), default.of(&stmt.text));
            behind.push_str(&format!(", ALTER COLUMN {name} SET DEFAULT {default}"));
        }
    }
    if !behind.is_empty() {
        let end = u32::try_from(stmt.text.trim_end().len()).unwrap_or(u32::MAX);
        edits.replace(Span::at(end), behind);
    }
    timed
}

/// The columns that are added, with their defaults. One that is made only where there is none may be there, with
/// another default.
fn added(ctx: &Context<'_>, text: &str) -> Vec<Added> {
    let Ok(tokens) = tokenize(text, ctx.dialect.syntax()) else { return Vec::new() };
    let tokens: Vec<&Token> =
        tokens.list.iter().filter(|token| token.kind != TokenKind::End).collect();
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for at in 0..=tokens.len() {
        let sign = tokens.get(at).map_or(",", |token| token.span.of(text));
        match sign {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                found.extend(added_by(text, &tokens[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// What one action of an ALTER TABLE adds.
fn added_by(text: &str, action: &[&Token]) -> Option<Added> {
    let is = |token: &Token, word: &str| {
        token.kind == TokenKind::Word && token.span.of(text).eq_ignore_ascii_case(word)
    };
    let add = action.iter().position(|token| is(token, "add"))?;
    let mut rest = &action[add + 1..];
    if is(rest.first()?, "column") {
        rest = &rest[1..];
    }
    if is(rest.first()?, "if") {
        return None;
    }
    let name = rest.first()?.span;
    let (mut depth, mut from, mut end) = (0_usize, None, None);
    for token in rest {
        match token.span.of(text) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if from.is_none() => {
                if is(token, "default") {
                    from = Some(token.span.end);
                }
                continue;
            }
            _ if ENDING.iter().any(|word| is(token, word)) => break,
            _ => {}
        }
        if from.is_some() {
            end = Some(token.span.end);
        }
    }
    Some(Added { name, default: Span::new(from?, end?) })
}
