//! Routines, triggers, events and sequences that are written with the logical database's name in front, which no
//! storage unit has: the name is left out. What stands inside a routine's code is the server's to read, and keeps its
//! names.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::guard::mentions;
use pando_kernel::presentation::Presentation;
use pando_sql::ast::{DefineAction, Ident, Kind, Node, ObjectKind, ObjectName, Statement};
use pando_sql::{Dotted, Edits, Item, Span, Syntax, alike, reading, tokenize, visit};

use super::parse::unread;
use super::restate::take_out;

/// Leaves out the database's name, and gives the name of another one that something is to be defined in.
///
/// # Errors
/// `Refused` for code that names the logical database: it would mean whatever database of a server has that name.
pub(super) fn bare<'a>(
    ctx: &Context<'_>,
    presentation: &dyn Presentation,
    stmt: &'a Statement,
    edits: &mut Edits,
) -> Result<Option<&'a Ident>> {
    if let Kind::Define(define) = &stmt.kind
        && stands_in_a_database(define.object)
    {
        for name in define.names.iter().chain(&define.renamed_to) {
            if let Some(other) = take_out(ctx, presentation, &name.parts, edits) {
                return Ok(Some(other));
            }
        }
    }
    // Most texts are done with here.
    let own = ctx.database.name.to_lowercase();
    if own.starts_with(|c: char| c.is_ascii_alphanumeric()) && !mentions(&stmt.text, &[&own]) {
        return Ok(None);
    }
    let mut called: Vec<&ObjectName> = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Function(call) = &expr.node {
            called.push(&call.name);
        }
    });
    for name in called {
        take_out(ctx, presentation, &name.parts, edits);
    }
    in_text(ctx, presentation, stmt, edits)?;
    Ok(None)
}

fn stands_in_a_database(object: ObjectKind) -> bool {
    match object {
        ObjectKind::Routine | ObjectKind::Trigger | ObjectKind::Sequence => true,
        ObjectKind::Table
        | ObjectKind::Index
        | ObjectKind::View
        | ObjectKind::Database
        | ObjectKind::Schema
        | ObjectKind::User
        | ObjectKind::Other => false,
    }
}

/// What the tree does not tell: whom CALL calls, and what code names.
fn in_text(
    ctx: &Context<'_>,
    presentation: &dyn Presentation,
    stmt: &Statement,
    edits: &mut Edits,
) -> Result<()> {
    let syntax = ctx.dialect.syntax();
    let items = || reading(&stmt.text, syntax, None).map_err(unread);
    if let Kind::Utility { verb, .. } = &stmt.kind
        && verb == "CALL"
        && let Some(called) = items()?.get(1).and_then(Item::name)
    {
        let parts = idents(called, &stmt.text, syntax)?;
        take_out(ctx, presentation, &parts, edits);
    }
    let Kind::Define(define) = &stmt.kind else { return Ok(()) };
    if define.action != DefineAction::Create || !stands_in_a_database(define.object) {
        return Ok(());
    }
    let heads: Vec<Span> = define.names.iter().chain(&define.on).map(|name| name.span).collect();
    for item in items()?.iter().filter_map(Item::name) {
        if !heads.contains(&item.span)
            && alike(&item.parts[0], &ctx.database.name)
            && presentation.database_part(&idents(item, &stmt.text, syntax)?).is_some()
        {
            return Err(code_names(&ctx.database.name));
        }
    }
    Ok(())
}

fn code_names(database: &str) -> Error {
    Error::unsupported(
        30001,
        format!("code that names the database `{database}`, which no storage unit is called"),
        "leave the database's name out",
    )
}

/// The parts of a name that stands in a text.
fn idents(name: &Dotted<'_>, text: &str, syntax: &Syntax) -> Result<Vec<Ident>> {
    let start = name.span.start;
    let tokens = tokenize(name.span.of(text), syntax).map_err(unread)?.list;
    // Every second one is a dot.
    let places = tokens.iter().step_by(2).map(|token| token.span);
    let parts = name.parts.iter().zip(places).map(|(part, place)| Ident {
        span: Span::new(start + place.start, start + place.end),
        value: part.to_string(),
        quoted: false,
        exact: false,
    });
    Ok(parts.collect())
}
