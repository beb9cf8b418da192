//! What names mean where the walk stands.

use super::Refers;
use crate::ast::{Ident, ObjectName, Table, TableFactor};

/// Names in scope, innermost last.
#[derive(Default)]
pub(super) struct Scope<'a> {
    bindings: Vec<Binding<'a>>,
    ctes: Vec<&'a Ident>,
}

enum Binding<'a> {
    Table(&'a ObjectName),
    Alias(&'a Ident),
}

/// How much of the scope was there before.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    bindings: usize,
    ctes: usize,
}

impl<'a> Scope<'a> {
    pub(super) fn mark(&self) -> Mark {
        Mark { bindings: self.bindings.len(), ctes: self.ctes.len() }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.bindings.truncate(mark.bindings);
        self.ctes.truncate(mark.ctes);
    }

    pub(super) fn declare_cte(&mut self, name: &'a Ident) {
        self.ctes.push(name);
    }

    pub(super) fn is_cte(&self, name: &ObjectName) -> bool {
        match name.parts.as_slice() {
            [only] => self.ctes.iter().any(|cte| same(cte, only)),
            _ => false,
        }
    }

    /// The alias or name of a table becomes known.
    pub(super) fn declare_table(&mut self, table: &'a Table) {
        let binding = match (&table.alias, table.name.parts.last()) {
            (Some(alias), _) => Binding::Alias(alias),
            (None, Some(name)) if self.is_cte(&table.name) => Binding::Alias(name),
            (None, _) => Binding::Table(&table.name),
        };
        self.bindings.push(binding);
    }

    /// The name of a table that has no alias and is no common table expression becomes known.
    pub(super) fn declare_name(&mut self, name: &'a ObjectName) {
        self.bindings.push(Binding::Table(name));
    }

    pub(super) fn declare(&mut self, factor: &'a TableFactor) {
        match factor {
            TableFactor::Table(table) => self.declare_table(table),
            TableFactor::Derived { alias, .. } | TableFactor::Function { alias, .. } => {
                self.bindings.extend(alias.as_ref().map(Binding::Alias));
            }
            TableFactor::Join(join) => {
                self.declare(&join.left);
                self.declare(&join.right);
            }
        }
    }

    /// Whether an alias of that name is known.
    pub(super) fn has_alias(&self, name: &Ident) -> bool {
        self.bindings.iter().any(|binding| match binding {
            Binding::Alias(alias) => same(alias, name),
            Binding::Table(_) => false,
        })
    }

    pub(super) fn resolve(&self, qualifier: &[Ident]) -> Refers<'a> {
        for binding in self.bindings.iter().rev() {
            match (binding, qualifier) {
                (Binding::Alias(alias), [only]) if same(alias, only) => return Refers::Alias,
                (Binding::Table(name), _) if ends_alike(&name.parts, qualifier) => {
                    return Refers::Table(name);
                }
                (Binding::Alias(_) | Binding::Table(_), _) => {}
            }
        }
        Refers::Unknown
    }
}

/// The shorter of two dotted names is the end of the longer one.
fn ends_alike(name: &[Ident], qualifier: &[Ident]) -> bool {
    name.iter().rev().zip(qualifier.iter().rev()).all(|(a, b)| same(a, b))
}

fn same(a: &Ident, b: &Ident) -> bool {
    a.is_alike(b)
}
