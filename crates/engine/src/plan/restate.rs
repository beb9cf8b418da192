//! What a statement says once the logical database's own name is taken out of it, and a SHOW is put as the question it is, or an INSERT's rows
//! are written out.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::presentation::{Presentation, Restated, tells_stored_columns};
use pando_sql::ast::{Ident, Insert, InsertSource, Kind, Statement};
use pando_sql::{Edits, Placeholder, Span, tokenize, visit};

use super::parse::parsed;
use super::routine_names;
use super::special::temporary;

/// The statement to be planned instead; `None` when it can stay.
///
/// # Errors
/// `Refused` for tables of another logical database, `UnknownDatabase`, and what the family says of a SHOW.
pub(super) fn restated(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Statement>> {
    let Some(presentation) = ctx.dialect.presentation() else { return Ok(None) };
    if let Kind::Show(show) = &stmt.kind
        && let Some(table) = &show.table
        && ctx.database.stored_names().iter().any(|own| own.table == table.key())
    {
        match presentation.restate_turned(&stmt.text, show, &ctx.session.facts)? {
            // The unit's answer would have the columns as they are stored.
            None => return Err(tells_stored_columns(&show.what)),
            Some(Restated::Text(text)) => return parsed(ctx, &text).map(Some),
            Some(Restated::AsItIs) => {}
        }
    }
    // The catalogue knows nothing of temporary tables.
    if let Kind::Show(show) = &stmt.kind
        && temporary::concerned(ctx, stmt).is_none()
        && let Some(text) = presentation.restate(&stmt.text, show, &ctx.session.facts)?
    {
        return parsed(ctx, &text).map(Some);
    }
    let mut edits = Edits::default();
    for table in visit::tables(&stmt.kind) {
        if let Some(other) = take_out(ctx, presentation, &table.name.parts, &mut edits) {
            return Err(elsewhere(ctx, &other.value));
        }
    }
    for owner in visit::column_owners(&stmt.kind) {
        take_out(ctx, presentation, owner.parts, &mut edits);
    }
    if let Kind::Insert(insert) = &stmt.kind {
        bare_columns(ctx, insert, &stmt.text, &mut edits);
    }
    if let Some(other) = routine_names::bare(ctx, presentation, stmt, &mut edits)? {
        return Err(elsewhere(ctx, &other.value));
    }
    let bare = match edits.is_empty() {
        true => None,
        false => Some(parsed(ctx, &edits.apply(&stmt.text))?),
    };
    match written_out(ctx, bare.as_ref().unwrap_or(stmt)) {
        Some(text) => parsed(ctx, &text).map(Some),
        None => Ok(bare),
    }
}

/// The names in front of the columns of an INSERT's list are taken out, where they say the table once more: Connector/J's
/// updatable rows are inserted so. Others stay, for the server to refuse.
fn bare_columns(ctx: &Context<'_>, insert: &Insert, text: &str, edits: &mut Edits) {
    let Some(table) = insert.table.name.parts.last() else { return };
    let is_table = |name: &str| name == table.value;
    let is_database = |name: &str| name.eq_ignore_ascii_case(&ctx.database.name);
    let syntax = ctx.dialect.syntax();
    let mut start = insert.columns_span.start + 1;
    for column in insert.columns.iter().flatten() {
        let before = Span::new(start, column.span.start);
        let first = before.of(text).trim_start_matches([',', ' ', '\t', '\r', '\n']);
        let before = Span::new(before.end - u32::try_from(first.len()).unwrap_or(0), before.end);
        start = column.span.end;
        if first.is_empty() {
            continue;
        }
        let Ok(tokens) = tokenize(first, syntax) else { continue };
        let names: Vec<_> = tokens.list.iter().filter_map(|token| token.name(first)).collect();
        let says_it = match &names[..] {
            [own] => is_table(own),
            [database, own] => is_database(database) && is_table(own),
            _ => false,
        };
        if says_it && tokens.list.len() == 2 * names.len() {
            edits.replace(before, "");
        }
    }
}

/// INSERT … SELECT from a VALUES list into a table that is not a single one: each row is to be looked at by itself.
fn written_out(ctx: &Context<'_>, stmt: &Statement) -> Option<String> {
    let Kind::Insert(insert) = &stmt.kind else { return None };
    let is_query = matches!(insert.source, InsertSource::Query(_));
    if !is_query || ctx.dialect.syntax().placeholder != Placeholder::Dollar {
        return None;
    }
    let name = &insert.table.name.parts.last()?.value;
    let mut tables = ctx.database.features.iter().flat_map(|feature| feature.tables());
    let known = tables.find(|table| table.name.eq_ignore_ascii_case(name))?;
    (known.nodes.len() > 1).then(|| pando_sql::as_values(insert, &stmt.text)).flatten()
}

/// Removes the current database's name in front of a table; gives back the name of another.
pub(super) fn take_out<'a>(
    ctx: &Context<'_>,
    presentation: &dyn Presentation,
    parts: &'a [Ident],
    edits: &mut Edits,
) -> Option<&'a Ident> {
    let database = presentation.database_part(parts)?;
    if !database.value.eq_ignore_ascii_case(&ctx.database.name) {
        return Some(database);
    }
    let at = parts.iter().position(|part| part.span == database.span)?;
    let next = parts.get(at + 1)?;
    edits.replace(Span::new(database.span.start, next.span.start), "");
    None
}

fn elsewhere(ctx: &Context<'_>, database: &str) -> Error {
    let known = ctx.session.facts.databases.iter();
    if known.into_iter().any(|known| known.eq_ignore_ascii_case(database)) {
        return Error::unsupported(
            30001,
            format!(
                "tables of `{database}` cannot be used while the database is `{}`",
                ctx.database.name
            ),
            format!("change to `{database}` first"),
        );
    }
    ErrorKind::UnknownDatabase(database.to_owned()).into()
}
