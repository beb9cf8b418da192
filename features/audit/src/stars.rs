//! Tables whose columns a `*` tells, whatever they are: in a statement's own lists, and in those it takes its rows from.

use pando_sql::ast::{
    Cte, InsertSource, Kind, ObjectName, Query, QueryBody, Select, SelectItem, TableFactor,
};

/// For each `*` the keys of its tables; none of what stands in a condition, as `EXISTS (SELECT * …)`.
pub(crate) fn tables(kind: &Kind) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    of_kind(kind, &mut found);
    found
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other statement tells columns")]
fn of_kind(kind: &Kind, found: &mut Vec<Vec<String>>) {
    match kind {
        Kind::Select(query) => of_query(query, found),
        Kind::Insert(insert) => {
            of_ctes(&insert.with, found);
            if let InsertSource::Query(query) = &insert.source {
                of_query(query, found);
            }
            returned(insert.returning.as_ref(), &[TableFactor::Table(insert.table.clone())], found);
        }
        Kind::Update(update) => {
            of_ctes(&update.with, found);
            returned(update.returning.as_ref(), &update.tables, found);
        }
        Kind::Delete(delete) => {
            of_ctes(&delete.with, found);
            let targets: Vec<TableFactor> =
                delete.targets.iter().cloned().map(TableFactor::Table).collect();
            returned(delete.returning.as_ref(), &targets, found);
        }
        Kind::Copy(copy) => copy.query.iter().for_each(|query| of_query(query, found)),
        Kind::Define(define) => define.query.iter().for_each(|query| of_query(query, found)),
        Kind::Explain { inner, .. } => of_kind(inner, found),
        _ => {}
    }
}

fn of_ctes(with: &[Cte], found: &mut Vec<Vec<String>>) {
    with.iter().for_each(|part| of_kind(&part.body, found));
}

fn of_query(query: &Query, found: &mut Vec<Vec<String>>) {
    of_ctes(&query.with, found);
    match &query.body {
        QueryBody::Select(select) => of_select(select, found),
        QueryBody::Set { left, right, .. } => {
            of_query(left, found);
            of_query(right, found);
        }
        QueryBody::Values(_) => {}
    }
}

fn of_select(select: &Select, found: &mut Vec<Vec<String>>) {
    of_items(&select.items, &select.from, found);
    select.from.iter().for_each(|factor| inside(factor, found));
}

fn of_items(items: &[SelectItem], from: &[TableFactor], found: &mut Vec<Vec<String>>) {
    for item in items {
        let mut tables = Vec::new();
        match item {
            SelectItem::Star(_) => from.iter().for_each(|one| named(one, None, &mut tables)),
            SelectItem::QualifiedStar(name, _) => {
                from.iter().for_each(|one| named(one, Some(name), &mut tables));
            }
            SelectItem::Expr { .. } => continue,
        }
        found.push(tables);
    }
}

type Returning<'a> = Option<&'a (Vec<SelectItem>, pando_sql::Span)>;

fn returned(returning: Returning<'_>, from: &[TableFactor], found: &mut Vec<Vec<String>>) {
    if let Some((items, _)) = returning {
        of_items(items, from, found);
    }
}

/// Queries in a FROM, whose rows are the statement's.
fn inside(factor: &TableFactor, found: &mut Vec<Vec<String>>) {
    match factor {
        TableFactor::Derived { query, .. } => of_query(query, found),
        TableFactor::Join(join) => {
            inside(&join.left, found);
            inside(&join.right, found);
        }
        TableFactor::Table(_) | TableFactor::Function { .. } => {}
    }
}

/// The tables of a factor that are called so, or all of them.
fn named(factor: &TableFactor, name: Option<&ObjectName>, tables: &mut Vec<String>) {
    match factor {
        TableFactor::Table(table) => {
            let label = table.alias.as_ref().or(table.name.parts.last()).map(|own| own.key());
            if name.is_none_or(|name| Some(name.key()) == label) {
                tables.push(table.name.key());
            }
        }
        TableFactor::Join(join) => {
            named(&join.left, name, tables);
            named(&join.right, name, tables);
        }
        TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
    }
}
