//! Logic names become actual ones (paper §VI.C, "rewrites identifiers").

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::Target;
use pando_sql::ast::{Ident, Kind, Node, Statement};
use pando_sql::visit::{Names, Refers};
use pando_sql::{Edits, Fold};

use crate::captured::captured;
use crate::rule::Rule;
use crate::{insert, named, row_trigger, view};

/// Edits a statement's text for one target.
pub(crate) fn rewrite(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    to: &Target,
    edits: &mut Edits,
) -> Result<()> {
    if to.tables.is_empty() {
        return Ok(());
    }
    let replace = |ident: &Ident, actual: &str, edits: &mut Edits| {
        edits.replace(ident.span, spelled(ctx, ident, actual));
    };
    let (names, rows) = names(ctx, stmt, to);
    let keeps_names = captured(rule, ctx, stmt, &names)? || keeps_names(ctx, stmt, &names, to);
    let is_row = |ident: &Ident| keeps_names || rows.contains(&&*ident.value);
    for occurrence in &names.tables {
        let bare = occurrence.table.filter(|table| table.alias.is_none());
        if let (Some(ident), Some(_)) = (occurrence.name.parts.last(), bare)
            && let Some(actual) = to.actual(&occurrence.name.key())
            && is_row(ident)
        {
            // Its name stays what its rows are called.
            let label = ident.span.of(&stmt.text);
            edits.replace(ident.span, format!("{} AS {label}", spelled(ctx, ident, actual)));
            continue;
        }
        if let Some(ident) = occurrence.name.parts.last()
            && let Some(actual) = to.actual(&occurrence.name.key())
        {
            replace(ident, actual, edits);
        }
    }
    for owner in &names.owners {
        if let Refers::Table(_) = owner.refers
            && let Some(ident) = owner.parts.last()
            && let Some(actual) = to.actual(&ident.key())
            && !is_row(ident)
        {
            replace(ident, actual, edits);
        }
    }
    named::rename(rule, ctx, &stmt.kind, to, edits);
    if let Kind::Define(define) = &stmt.kind {
        view::place(rule, define, to, edits);
        row_trigger::place(ctx, stmt, to, edits);
    }
    if let Kind::Insert(insert) = &stmt.kind {
        insert::list_columns(rule, ctx, insert, edits);
        insert::bare_columns(ctx, &stmt.text, insert, edits);
    }
    Ok(())
}

/// Whether tables are to be called by their logic names: EXPLAIN tells what they are called (PostgreSQL both names), and who puts an actual name in front of
/// a column means none of these tables, which the server only says if none of them is called so.
fn keeps_names(ctx: &Context<'_>, stmt: &Statement, names: &Names<'_>, to: &Target) -> bool {
    if let Kind::Explain { inner, .. } = &stmt.kind
        && ctx.dialect.syntax().fold == Fold::Keep
        && matches!(**inner, Kind::Select(_) | Kind::Update(_))
    {
        return true;
    }
    let is_actual = |ident: &Ident| to.tables.iter().any(|table| *table.actual == *ident.key());
    names.owners.iter().any(|owner| {
        matches!(owner.refers, Refers::Unknown) && owner.parts.last().is_some_and(is_actual)
    })
}

/// The statement's names, and those of the target's tables that stand alone where a value does: PostgreSQL means the table's row by that.
/// <https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-USAGE>
fn names<'a>(ctx: &Context<'_>, stmt: &'a Statement, to: &Target) -> (Names<'a>, Vec<&'a str>) {
    let has_rows = ctx.dialect.syntax().fold == Fold::Lower && matches!(stmt.kind, Kind::Select(_));
    let mut rows = Vec::new();
    let names = Names::of(&stmt.kind, &mut |expr| {
        if has_rows
            && let Node::Column(name) = &expr.node
            && let [single] = &name.parts[..]
            && to.actual(&single.key()).is_some()
            && !rows.contains(&&*single.value)
        {
            rows.push(&*single.value);
        }
    });
    (names, rows)
}

/// The actual name, quoted when the text quoted the logic one or the name needs it.
pub(crate) fn spelled(ctx: &Context<'_>, ident: &Ident, actual: &str) -> String {
    let plain = actual.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !actual.starts_with(|c: char| c.is_ascii_digit());
    if plain && !ident.quoted { actual.to_owned() } else { ctx.dialect.quote(actual) }
}
