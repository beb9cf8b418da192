//! Walks over a statement's tree: the tables it names and those it changes, its expressions, and the table names used in front of columns.

mod scope;
mod walk;
mod written;

use crate::ast::{Expr, Ident, Kind, Node, ObjectName, SelectItem, Table};
use crate::span::Span;
use walk::{Found, Walk};
pub use written::written;

/// A place where a statement names a table.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'a> {
    /// The name as written there.
    pub name: &'a ObjectName,
    /// The factor or target it stands in, which knows the alias; `None` in definitions and utility statements.
    pub table: Option<&'a Table>,
}

/// A name in front of a column or of `.*`, and after `FOR UPDATE OF`.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The parts in front of the column: `t`, or `schema`, `t`. Never empty.
    pub parts: &'a [Ident],
    /// From the first part to the last one.
    pub span: Span,
    /// What the name stands for in the innermost scope that knows it.
    pub refers: Refers<'a>,
}

/// What a qualifier stands for.
#[derive(Debug, Clone, Copy)]
pub enum Refers<'a> {
    /// A table of FROM or a target, by the table's own name: it changes when the table is renamed.
    Table(&'a ObjectName),
    /// An alias, a derived table or a common table expression: it stays.
    Alias,
    /// Nothing in scope has this name (`excluded`, `new`, a schema's function, …).
    Unknown,
}

/// The names in a statement, by one walk where several kinds of them are asked for. Each list is in walking order.
#[derive(Debug, Default)]
pub struct Names<'a> {
    /// As [`tables`] gives them.
    pub tables: Vec<Occurrence<'a>>,
    /// As [`labels`] gives them.
    pub labels: Vec<&'a Ident>,
    /// Common table expressions, which are among the labels, too.
    pub ctes: Vec<&'a Ident>,
    /// As [`column_owners`] gives them.
    pub owners: Vec<Owner<'a>>,
    /// As [`renames_joins`] tells.
    pub renames_joins: bool,
}

impl<'a> Names<'a> {
    /// Collects them; `see` is called for every expression, as [`exprs`] does.
    pub fn of(kind: &'a Kind, see: &mut dyn FnMut(&'a Expr)) -> Self {
        let mut all = Self::default();
        Walk::new(&mut |found| match found {
            Found::Table(occurrence) => {
                all.tables.push(occurrence);
                all.labels.extend(label(occurrence));
            }
            Found::Label(label) => all.labels.push(label),
            Found::Cte(label) => {
                all.labels.push(label);
                all.ctes.push(label);
            }
            Found::Owner(owner) => all.owners.push(owner),
            Found::Join(join) => all.renames_joins |= join.columns.is_some(),
            Found::Expr(expr) => see(expr),
            Found::Item(_) => {}
        })
        .kind(kind);
        all
    }
}

/// What the rows of a table are called where it is named.
fn label<'a>(place: Occurrence<'a>) -> Option<&'a Ident> {
    let alias = place.table.and_then(|table| table.alias.as_ref());
    alias.or(place.name.parts.last())
}

/// Every place where the statement names a table, in walking order. Names of common table expressions are left out where they are in scope, and so
/// are targets of a multi-table DELETE that are aliases.
pub fn tables(kind: &Kind) -> Vec<Occurrence<'_>> {
    let mut list = Vec::new();
    Walk::new(&mut |found| {
        if let Found::Table(occurrence) = found {
            list.push(occurrence);
        }
    })
    .kind(kind);
    list
}

/// What the statement calls its tables, derived tables and common table expressions: aliases, and names of what has none.
pub fn labels(kind: &Kind) -> Vec<&Ident> {
    let mut list = Vec::new();
    Walk::new(&mut |found| match found {
        Found::Label(label) | Found::Cte(label) => list.push(label),
        Found::Table(occurrence) => list.extend(label(occurrence)),
        Found::Expr(_) | Found::Owner(_) | Found::Join(_) | Found::Item(_) => {}
    })
    .kind(kind);
    list
}

/// Calls `see` for every expression, outer ones first, those of sub-queries included.
pub fn exprs<'a>(kind: &'a Kind, see: &mut dyn FnMut(&'a Expr)) {
    Walk::new(&mut |found| {
        if let Found::Expr(expr) = found {
            see(expr);
        }
    })
    .kind(kind);
}

/// Calls `see` for every item of a select list or of RETURNING, those of sub-queries included.
pub fn items<'a>(kind: &'a Kind, see: &mut dyn FnMut(&'a SelectItem)) {
    Walk::new(&mut |found| {
        if let Found::Item(item) = found {
            see(item);
        }
    })
    .kind(kind);
}

/// Whether the statement may read a column of such a name: by it, by a star, or by a whole row.
pub fn may_read_column(kind: &Kind, is_meant: impl Fn(&str) -> bool) -> bool {
    let rows: Vec<&str> = labels(kind).into_iter().map(|label| label.value.as_str()).collect();
    let mut reads = false;
    Walk::new(&mut |found| match found {
        Found::Expr(Expr { node: Node::Column(name), .. }) => {
            let last = name.parts.last().map_or("", |part| part.value.as_str());
            let is_row = || rows.iter().any(|row| row.eq_ignore_ascii_case(last));
            // In parentheses and in calls a star is no item.
            reads |= last == "*" || is_meant(last) || is_row();
        }
        Found::Item(SelectItem::Star(_) | SelectItem::QualifiedStar(..)) => reads = true,
        Found::Owner(_)
        | Found::Expr(_)
        | Found::Item(SelectItem::Expr { .. })
        | Found::Table(_)
        | Found::Label(_)
        | Found::Cte(_)
        | Found::Join(_) => {}
    })
    .kind(kind);
    reads
}

/// Calls `see` for an expression and every one inside it, those of sub-queries included.
pub fn exprs_in<'a>(expr: &'a Expr, see: &mut dyn FnMut(&'a Expr)) {
    Walk::new(&mut |found| {
        if let Found::Expr(expr) = found {
            see(expr);
        }
    })
    .expr(expr);
}

/// Whether a join gives its columns names of its own, here or in a sub-query: what stands inside it is then called otherwise outside.
pub fn renames_joins(kind: &Kind) -> bool {
    let mut renames = false;
    Walk::new(&mut |found| {
        renames |= matches!(found, Found::Join(join) if join.columns.is_some());
    })
    .kind(kind);
    renames
}

/// Every qualifier of a column or of `.*`, in walking order.
pub fn column_owners(kind: &Kind) -> Vec<Owner<'_>> {
    let mut list = Vec::new();
    Walk::new(&mut |found| {
        if let Found::Owner(owner) = found {
            list.push(owner);
        }
    })
    .kind(kind);
    list
}
