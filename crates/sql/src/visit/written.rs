//! Which tables a statement changes.

use crate::ast::{
    CopyDirection, Delete, Ident, Kind, ObjectName, Query, Table, TableFactor, Update,
};

/// Keys of the tables the statement changes, defines or locks as a whole, aliases resolved; a table that it changes twice
/// may come twice. When it cannot be told which of several tables an
/// assignment belongs to, all of them.
pub fn written(kind: &Kind) -> Vec<String> {
    let mut out = Vec::new();
    collect(kind, &mut out);
    out
}

fn collect(kind: &Kind, out: &mut Vec<String>) {
    match kind {
        Kind::Select(query) => expressions(query, out),
        Kind::Insert(insert) => {
            insert.with.iter().for_each(|cte| collect(&cte.body, out));
            out.push(insert.table.name.key());
        }
        Kind::Update(update) => {
            update.with.iter().for_each(|cte| collect(&cte.body, out));
            updated(update, out);
        }
        Kind::Delete(delete) => {
            delete.with.iter().for_each(|cte| collect(&cte.body, out));
            deleted(delete, out);
        }
        Kind::Define(define) => {
            out.extend(define.names.iter().chain(&define.on).map(ObjectName::key));
        }
        Kind::Load(load) => out.push(load.table.key()),
        Kind::Copy(copy) if copy.direction != CopyDirection::ToClient => {
            out.extend(copy.table.as_ref().map(ObjectName::key));
        }
        Kind::Lock(tables) | Kind::Utility { tables, .. } => {
            out.extend(tables.iter().map(ObjectName::key));
        }
        Kind::Explain { inner, analyze: true, .. } => collect(inner, out),
        Kind::Explain { .. }
        | Kind::Copy(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty
        | Kind::Opaque => {}
    }
}

fn expressions(query: &Query, out: &mut Vec<String>) {
    query.with.iter().for_each(|cte| collect(&cte.body, out));
}

fn updated(update: &Update, out: &mut Vec<String>) {
    let mut tables = Vec::new();
    update.tables.iter().for_each(|factor| named(factor, &mut tables));
    if let [only] = tables[..] {
        out.push(only.name.key());
        return;
    }
    for assignment in &update.assignments {
        let parts = &assignment.column.parts;
        let owner = parts.len().checked_sub(2).and_then(|at| parts.get(at));
        match owner.and_then(|owner| known_as(&tables, owner)) {
            Some(table) => out.push(table.name.key()),
            None => out.extend(tables.iter().map(|table| table.name.key())),
        }
    }
}

fn deleted(delete: &Delete, out: &mut Vec<String>) {
    let mut tables = Vec::new();
    delete.from.iter().for_each(|factor| named(factor, &mut tables));
    for target in &delete.targets {
        let name = target.name.parts.last();
        let table = name.and_then(|name| known_as(&tables, name)).unwrap_or(target);
        out.push(table.name.key());
    }
}

fn named<'a>(factor: &'a TableFactor, out: &mut Vec<&'a Table>) {
    match factor {
        TableFactor::Table(table) => out.push(table),
        TableFactor::Join(join) => {
            named(&join.left, out);
            named(&join.right, out);
        }
        TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
    }
}

fn known_as<'a>(tables: &[&'a Table], name: &Ident) -> Option<&'a Table> {
    let fits = |table: &&&Table| {
        table.alias.as_ref().or(table.name.parts.last()).is_some_and(|own| own.is_alike(name))
    };
    tables.iter().find(fits).copied()
}
