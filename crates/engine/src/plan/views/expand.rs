//! Views' queries in the places where a statement names the views.

use pando_kernel::error::{Error, Result};
use pando_kernel::views::LogicView;
use pando_sql::ast::{Define, Kind, ObjectKind, Statement, Table};
use pando_sql::visit::{self, Refers};
use pando_sql::{Edits, Span};

use super::known::Known;
use super::names;
use super::narrow::{self, Seen};
use crate::plan::labels;

/// Bytes that a statement may have with the queries of its views.
pub(super) const MOST: usize = 1 << 20;

/// What stands in a view's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// Its query over tables.
    Whole,
    /// Its query over tables and further views.
    Own,
}

/// A view, and what of it stands in its place.
#[derive(Clone, Copy)]
struct Shown<'a> {
    view: &'a LogicView,
    by: Query,
}

/// The text with views' queries in their places; `None` where it names no view, or is about one as it stands.
///
/// # Errors
/// `Refused` where a view cannot stand so, or is too large.
pub(super) fn expanded(known: &Known<'_>, stmt: &Statement, by: Query) -> Result<Option<String>> {
    if !reads(&stmt.kind) {
        return Ok(None);
    }
    let mut edits = Edits::default();
    let mut places: Vec<Span> = Vec::new();
    for found in visit::tables(&stmt.kind) {
        let Some(view) = known.view(found.name) else { continue };
        let Some(table) = found.table else {
            return Err(Error::unsupported(
                20032,
                format!("view `{}` cannot be used here", found.name.key()),
                "write a query over the view",
            ));
        };
        put(known, stmt, table, Shown { view, by }, &mut edits)?;
        places.push(table.name.span);
    }
    if places.is_empty() {
        return Ok(None);
    }
    unqualify(stmt, &places, &mut edits)?;
    labels::keep(known.ctx, stmt, &labels::labelled(known.ctx, stmt), &mut edits);
    let text = edits.apply(&stmt.text);
    if text.len() > MOST {
        return Err(Error::unsupported(
            20032,
            format!("with the queries of its views this statement has more than {MOST} bytes"),
            "make a table of what the innermost view shows",
        ));
    }
    Ok(Some(text))
}

/// Whether a statement reads the rows of what it names: others are about the views themselves.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn reads(kind: &Kind) -> bool {
    match kind {
        Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_) => true,
        Kind::Explain { inner, .. } => reads(inner),
        Kind::Copy(copy) => copy.query.is_some(),
        Kind::Utility { merge, .. } => merge.is_some(),
        Kind::Define(define) => makes_table(define),
        _ => false,
    }
}

fn makes_table(define: &Define) -> bool {
    define.query.is_some() && define.object == ObjectKind::Table
}

/// Puts a view's query in the place of its name.
fn put(
    known: &Known<'_>,
    stmt: &Statement,
    table: &Table,
    shown: Shown<'_>,
    edits: &mut Edits,
) -> Result<()> {
    let Shown { view, by } = shown;
    let query = match by {
        Query::Whole => view.query.as_ref().map_err(Error::from)?,
        Query::Own => &view.own,
    };
    let is_list = |extra: &Span| table.columns == Some(*extra);
    if !table.extras.iter().all(is_list) {
        return Err(Error::unsupported(
            20032,
            format!("what stands beside view `{}` cannot be said of its query", table.name.key()),
            "leave out ONLY, index hints and TABLESAMPLE",
        ));
    }
    let called = match (&table.alias, table.name.parts.last()) {
        (None, Some(last)) => format!(" AS {}", last.span.of(&stmt.text)),
        (Some(_), _) | (None, None) => String::new(),
    };
    let columns = match table.columns {
        None if !view.columns.is_empty() => {
            let quoted = view.columns.iter().map(|name| known.ctx.dialect.quote(name));
            format!(" ({})", quoted.collect::<Vec<_>>().join(", "))
        }
        None | Some(_) => String::new(),
    };
    let query = narrowed(known, stmt, table, shown, edits).unwrap_or_else(|| query.to_string());
    match &table.alias {
        None => edits.replace(table.name.span, format!("({query}){called}{columns}")),
        Some(alias) => {
            edits.replace(table.name.span, format!("({query})"));
            if !columns.is_empty() {
                edits.replace(Span::at(alias.span.end), columns);
            }
        }
    }
    // TABLE v is SELECT * FROM v.
    let before = stmt.text.get(..table.name.span.start as usize).unwrap_or_default().trim_end();
    let word = before.len().checked_sub("TABLE".len());
    if let Some(at) = word
        && before.get(at..).is_some_and(|word| word.eq_ignore_ascii_case("TABLE"))
        && let (Ok(from), Ok(to)) = (u32::try_from(at), u32::try_from(before.len()))
    {
        edits.replace(Span::new(from, to), "SELECT * FROM");
    }
    Ok(())
}

/// The query with the statement's condition in it, where it may stand there.
fn narrowed(
    known: &Known<'_>,
    stmt: &Statement,
    table: &Table,
    shown: Shown<'_>,
    edits: &mut Edits,
) -> Option<String> {
    let Shown { view, by: Query::Whole } = shown else { return None };
    let syntax = known.ctx.dialect.syntax();
    let query = view.query.as_ref().ok().filter(|_| view.columns.is_empty())?;
    let query = pando_sql::parse(query, syntax).ok()?;
    narrow::narrowed(stmt, table, &Seen { query: &query, fold: syntax.fold }, edits)
}

/// Takes what stands in front of the views' names out of the names of their columns.
fn unqualify(stmt: &Statement, places: &[Span], edits: &mut Edits) -> Result<()> {
    for owner in visit::column_owners(&stmt.kind) {
        let ([_, .., last], Refers::Table(name)) = (owner.parts, owner.refers) else { continue };
        if !places.contains(&name.span) || edits.covers(owner.span) {
            continue;
        }
        if names::is_called(stmt, last, &[name.span]) {
            return Err(Error::unsupported(
                20032,
                format!(
                    "columns of view `{}` are written with what stands in front of its name, and its name alone means something else here, too",
                    last.value
                ),
                "give the view an alias, and write its columns with that",
            ));
        }
        edits.replace(Span::new(owner.span.start, last.span.start), "");
    }
    Ok(())
}
