//! The table a statement changes: it stays what it is, and the statement goes to its shards as any other.

use pando_sql::ast::{InsertSource, Kind, Statement, TableFactor, Update};
use pando_sql::{Fold, Span};

use super::columns::Columns;
use super::walk::Leaf;

/// Where the changed table is named; empty for statements that only read. `None` when it is not one table, or it is not known which.
#[expect(clippy::wildcard_enum_match_arm, reason = "other statements are not assembled")]
pub(super) fn named(
    stmt: &Statement,
    leaves: &[Leaf<'_>],
    columns: &Columns,
    fold: Fold,
) -> Option<Vec<Span>> {
    match &stmt.kind {
        Kind::Select(_) => Some(Vec::new()),
        Kind::Insert(insert) => match &insert.source {
            InsertSource::Values { .. } | InsertSource::Set(_) => {
                Some(vec![insert.table.name.span])
            }
            InsertSource::Query(_) | InsertSource::Default => None,
        },
        Kind::Delete(delete) => {
            let [target] = &delete.targets[..] else { return None };
            let mut spans = vec![target.name.span];
            let name = target.name.parts.last()?;
            let own = leaves.iter().filter(|leaf| leaf.select.is_none());
            let same = own.filter(|leaf| {
                label(leaf).is_some_and(|label| match fold {
                    Fold::Lower => label == name.value,
                    Fold::Keep => label.eq_ignore_ascii_case(&name.value),
                })
            });
            spans.extend(same.map(|leaf| leaf.table.name.span));
            Some(spans)
        }
        Kind::Update(update) => updated(update, leaves, columns),
        _ => None,
    }
}

fn label<'a>(leaf: &Leaf<'a>) -> Option<&'a str> {
    leaf.table.alias.as_ref().or(leaf.table.name.parts.last()).map(|label| label.value.as_str())
}

/// The one table whose columns are assigned.
fn updated(update: &Update, leaves: &[Leaf<'_>], columns: &Columns) -> Option<Vec<Span>> {
    if let [TableFactor::Table(table)] = &update.tables[..] {
        return Some(vec![table.name.span]);
    }
    let own: Vec<&Leaf<'_>> = leaves.iter().filter(|leaf| leaf.select.is_none()).collect();
    let mut found: Option<&Leaf<'_>> = None;
    for assignment in &update.assignments {
        let (column, owner) = assignment.column.parts.split_last()?;
        let fits = |leaf: &&&Leaf<'_>| match owner {
            [] => columns.has(&leaf.logic, &column.value),
            [.., owner] => {
                label(leaf).is_some_and(|label| label.eq_ignore_ascii_case(&owner.value))
            }
        };
        let mut fitting = own.iter().filter(fits);
        let (Some(leaf), None) = (fitting.next(), fitting.next()) else { return None };
        let known = *found.get_or_insert(leaf);
        if known.table.name.span != leaf.table.name.span {
            return None;
        }
    }
    found.map(|leaf| vec![leaf.table.name.span])
}
