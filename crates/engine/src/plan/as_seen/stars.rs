//! The columns that `*` and `t.*` stand for.

use pando_sql::ast::{
    InsertSource, JoinConstraint, Kind, ObjectName, Select, SelectItem, Statement, Table,
    TableFactor,
};
use pando_sql::visit;
use pando_sql::{Edits, Span};

use super::{Known, Tables};
use crate::plan::assemble::walk;

/// Writes out the stars over tables of which some columns are not as they are stored.
pub(super) fn write(tables: &Tables<'_>, stmt: &Statement, edits: &mut Edits) -> Known<()> {
    let own = visit::tables(&stmt.kind);
    let is_own = |table: &Table| {
        let is_it = own.iter().any(|found| found.name.span == table.name.span);
        is_it && table.columns.is_none() && tables.has(&table.name.key())
    };
    for select in selects(stmt) {
        let Some(sources) = sources(stmt, select, &is_own) else { continue };
        if sources.iter().any(|source| source.key.is_some()) {
            for item in &select.items {
                star(tables, stmt, item, &sources, edits)?;
            }
        }
    }
    returned(tables, stmt, edits)
}

/// All SELECT cores of a statement, each once.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: others hold no query of their own")]
fn selects(stmt: &Statement) -> Vec<&Select> {
    let mut all = Vec::new();
    for root in walk::roots(stmt) {
        walk::selects(root.query, &mut all);
    }
    let mut kind = &stmt.kind;
    while let Kind::Explain { inner, .. } = kind {
        kind = inner;
    }
    let further = match kind {
        Kind::Select(query) => Some(&**query),
        Kind::Copy(copy) => copy.query.as_deref(),
        Kind::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => Some(&**query),
            InsertSource::Values { .. } | InsertSource::Set(_) | InsertSource::Default => None,
        },
        _ => None,
    };
    further.into_iter().for_each(|query| walk::selects(query, &mut all));
    all.sort_by_key(|select| select.keyword.start);
    all.dedup_by_key(|select| select.keyword.start);
    all
}

/// What gives rows in a FROM.
struct Source {
    /// What stands in front of its columns.
    label: String,
    /// The table's key, where its columns are to be written out.
    key: Option<String>,
}

/// The sources of a FROM, in their order; `None` where the columns of `*` are not theirs in that order, or one has no
/// name.
fn sources(
    stmt: &Statement,
    select: &Select,
    is_own: &dyn Fn(&Table) -> bool,
) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    let mut left: Vec<&TableFactor> = select.from.iter().rev().collect();
    while let Some(factor) = left.pop() {
        let (label, key) = match factor {
            TableFactor::Table(table) => {
                let label = table.alias.as_ref().or(table.name.parts.last())?;
                (label.span, is_own(table).then(|| table.name.key()))
            }
            TableFactor::Derived { alias, .. } => (alias.as_ref()?.span, None),
            TableFactor::Join(join) => {
                match &join.constraint {
                    JoinConstraint::On(_) | JoinConstraint::None => {}
                    JoinConstraint::Natural | JoinConstraint::Using(..) => return None,
                }
                left.extend([&join.right, &join.left]);
                continue;
            }
            TableFactor::Function { .. } => return None,
        };
        sources.push(Source { label: label.of(&stmt.text).to_owned(), key });
    }
    Some(sources)
}

fn star(
    tables: &Tables<'_>,
    stmt: &Statement,
    item: &SelectItem,
    sources: &[Source],
    edits: &mut Edits,
) -> Known<()> {
    let (span, of): (Span, Option<&ObjectName>) = match item {
        SelectItem::Star(span) => (*span, None),
        SelectItem::QualifiedStar(name, span) => (*span, Some(name)),
        SelectItem::Expr { .. } => return Ok(()),
    };
    // TABLE t has one that is not written.
    if !span.of(&stmt.text).ends_with('*') {
        return Ok(());
    }
    let label = of.and_then(|name| name.parts.last()).map(|last| last.span.of(&stmt.text));
    let is_meant = |source: &&Source| label.is_none_or(|label| same(label, &source.label));
    let meant: Vec<&Source> = sources.iter().filter(is_meant).collect();
    if meant.iter().all(|source| source.key.is_none()) {
        return Ok(());
    }
    let mut written = Vec::new();
    for Source { label, key } in meant {
        let columns = key.as_deref().map(|key| tables.columns(key)).transpose()?;
        match columns.filter(|columns| !columns.is_empty()) {
            None => written.push(format!("{label}.*")),
            Some(columns) => {
                written.extend(columns.iter().map(|column| format!("{label}.{column}")));
            }
        }
    }
    edits.replace(span, written.join(", "));
    Ok(())
}

/// Whether two names are one, for all that their letters tell.
fn same(one: &str, other: &str) -> bool {
    let bare = |name: &str| name.trim_matches(['"', '`']).to_lowercase();
    bare(one) == bare(other)
}

/// `*` in RETURNING of a change that concerns one table only.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: others return nothing")]
fn returned(tables: &Tables<'_>, stmt: &Statement, edits: &mut Edits) -> Known<()> {
    let (table, returning): (&Table, _) = match &stmt.kind {
        Kind::Insert(insert) => (&insert.table, &insert.returning),
        Kind::Update(update) => match (&update.tables[..], &update.from[..]) {
            ([TableFactor::Table(table)], []) => (table, &update.returning),
            _ => return Ok(()),
        },
        Kind::Delete(delete) => match (&delete.targets[..], &delete.from[..]) {
            ([table], []) => (table, &delete.returning),
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    let (Some((items, _)), true) = (returning, tables.has(&table.name.key())) else {
        return Ok(());
    };
    for item in items {
        if let SelectItem::Star(span) = item {
            let columns = tables.columns(&table.name.key())?;
            if !columns.is_empty() {
                edits.replace(*span, columns.join(", "));
            }
        }
    }
    Ok(())
}
