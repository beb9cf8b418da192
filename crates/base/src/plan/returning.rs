//! Statements that tell their images themselves. In one snapshot (REPEATABLE READ) a sub-query of RETURNING sees a row as it was before the statement, and
//! a row that somebody else has changed since is an error, not an answer.
//! <https://www.postgresql.org/docs/current/sql-update.html>, <https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ>

use pando_kernel::error::Result;
use pando_sql::Span;
use pando_sql::ast::{ColumnAssignment, Delete, Insert, SelectItem, TableFactor, Update};

use super::{About, Told, Work};
use crate::concern::{deleted, refused, updated};

/// What the rows as they were are called.
const OLD: &str = "pando_old";

pub(super) fn insert(about: &About<'_>, insert: &Insert) -> Result<Work> {
    let owner = about.owner(&insert.table);
    let mut items = packed(&about.all_reads(&owner)?);
    let assignments = insert.on_conflict.as_ref().map_or(&[][..], |clause| &clause.assignments);
    let told = if assignments.is_empty() { Told::After } else { Told::AfterAndBefore };
    if told == Told::AfterAndBefore {
        if sets_key(about, assignments) {
            return Err(refused("ON CONFLICT … DO UPDATE of a primary key"));
        }
        items.push_str(&format!(", {}", old_row(about, &owner)?));
    }
    let mut work = with_images(about, insert.returning.as_ref(), insert.span.end, &items, told);
    if let Work::Returning { may_miss, .. } = &mut work {
        *may_miss = told == Told::AfterAndBefore;
    }
    Ok(work)
}

pub(super) fn delete(about: &About<'_>, delete: &Delete) -> Result<Work> {
    let owner = about.owner(deleted(delete)?);
    let items = packed(&about.all_reads(&owner)?);
    Ok(with_images(about, delete.returning.as_ref(), delete.span.end, &items, Told::Before))
}

pub(super) fn update(about: &About<'_>, update: &Update) -> Result<Work> {
    let owner = about.owner(updated(update)?);
    if sets_key(about, &update.assignments) {
        return update_of_key(about, update, &owner);
    }
    let items = format!("{}, {}", packed(&about.all_reads(&owner)?), old_row(about, &owner)?);
    let told = Told::AfterAndBefore;
    Ok(with_images(about, update.returning.as_ref(), update.span.end, &items, told))
}

/// Whether a column of the primary key is assigned.
pub(super) fn sets_key(about: &About<'_>, assignments: &[ColumnAssignment]) -> bool {
    let name = |one: &ColumnAssignment| one.column.parts.last().map(|part| part.value.clone());
    assignments.iter().filter_map(name).any(|name| about.table.is_key(&name))
}

/// `ROW(…)::text`, which every type's own output function writes.
pub(crate) fn packed(reads: &[String]) -> String {
    format!("ROW({})::text", reads.join(", "))
}

/// The row with the same key in the statement's snapshot.
fn old_row(about: &About<'_>, owner: &str) -> Result<String> {
    let reads = about.all_reads(OLD)?;
    Ok(format!(
        "(SELECT {} FROM {} AS {OLD} WHERE {})",
        packed(&reads),
        about.table.shape.path,
        same_key(about, owner, |name| about.column(OLD, name))
    ))
}

fn same_key(about: &About<'_>, owner: &str, old: impl Fn(&str) -> String) -> String {
    let columns = about.table.shape.key.iter().filter_map(|at| about.table.shape.columns.get(*at));
    let equal: Vec<String> = columns
        .map(|column| format!("{} = {}", old(&column.name), about.column(owner, &column.name)))
        .collect();
    equal.join(" AND ")
}

/// The statement with images behind what it returns, or at its `end` where it returns nothing.
fn with_images(
    about: &About<'_>,
    returning: Option<&(Vec<SelectItem>, Span)>,
    end: u32,
    items: &str,
    told: Told,
) -> Work {
    let (at, lead) = match returning {
        Some((_, span)) => (span.end, ", "),
        None => (end, " RETURNING "),
    };
    let whole = about.stmt.text.len() as u32;
    let mut writer = about.writer();
    writer.copy(Span::new(0, at)).add(lead).add(items).copy(Span::new(at, whole));
    let has_result = returning.is_some();
    Work::Returning { text: writer.finish(), told, has_result, may_miss: false }
}

/// The row as it was cannot be found by its new key: it is joined by its old one, as a table whose columns have names of their own.
fn update_of_key(about: &About<'_>, update: &Update, owner: &str) -> Result<Work> {
    let shape = &about.table.shape;
    let renamed = |name: &str| {
        let at = shape.columns.iter().position(|column| column.name == *name);
        format!("pando_{}", at.unwrap_or_default())
    };
    let columns: Vec<String> = shape
        .columns
        .iter()
        .map(|column| format!("{} AS {}", about.dialect.quote(&column.name), renamed(&column.name)))
        .collect();
    let old = format!("(SELECT {} FROM {}) AS {OLD}", columns.join(", "), shape.path);
    let joined = same_key(about, owner, |name| format!("{OLD}.{}", renamed(name)));
    let undo = crate::table::undo_of(about.dialect)?;
    let old_reads: Vec<String> = shape
        .columns
        .iter()
        .map(|column| undo.read(column.form, &format!("{OLD}.{}", renamed(&column.name))))
        .collect();
    let items = format!("{}, {}", packed(&about.all_reads(owner)?), packed(&old_reads));
    let set_end = update.assignments.last().map_or(0, |one| one.span.end);
    let from_end = update.from.last().map_or(set_end, end_of);
    let mut writer = about.writer();
    writer.copy(Span::new(0, from_end));
    writer.add(if update.from.is_empty() { " FROM " } else { ", " }).add(&old);
    match &update.filter {
        Some(filter) => {
            writer.add(" WHERE (").copy(filter.span).add(&format!(") AND {joined}"));
        }
        None => {
            writer.add(&format!(" WHERE {joined}"));
        }
    }
    writer.add(" RETURNING ");
    if let Some((list, _)) = &update.returning {
        for item in list {
            match item {
                SelectItem::Star(_) if update.from.is_empty() => {
                    writer.add(owner).add(".*");
                }
                SelectItem::Star(_) => {
                    return Err(refused("UPDATE … FROM of a primary key with RETURNING *"));
                }
                SelectItem::QualifiedStar(_, span) | SelectItem::Expr { span, .. } => {
                    writer.copy(*span);
                }
            }
            writer.add(", ");
        }
    }
    writer.add(&items);
    let has_result = update.returning.is_some();
    let told = Told::AfterAndBefore;
    Ok(Work::Returning { text: writer.finish(), told, has_result, may_miss: false })
}

fn end_of(factor: &TableFactor) -> u32 {
    match factor {
        TableFactor::Table(table) => table.span.end,
        TableFactor::Derived { span, .. } | TableFactor::Function { span, .. } => span.end,
        TableFactor::Join(join) => join.span.end,
    }
}
