//! What a part of a statement says of a table's rows, and which environment that means.

use std::sync::Arc;

use crate::algorithm::{Operation, any_marks};
use crate::rule::Table;
use crate::values::{Constant, Read, Reading, Source};

/// What a part of a statement says of the rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    pub(crate) table: Arc<Table>,
    pub(crate) operation: Operation,
    pub(crate) says: Says,
    /// It is about the rows that the statement itself is about, and not about those of a query inside a change.
    pub(crate) is_own: bool,
}

/// What is said.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// A row has these values, by the number of the column; others have their defaults.
    Row(Vec<(usize, Source)>),
    /// Each row has one of these values, by the number of the column.
    Among(Vec<(usize, Vec<Constant>)>),
}

/// Which environment is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    Production,
    Shadow,
    /// Some of its values mark a row, and others do not.
    Both,
    /// Nothing is said of it.
    Nothing,
    /// A server computes what would say it.
    Computed,
    /// A test of its values cannot be computed.
    Untold,
    /// Its parameters are not bound yet.
    Unbound,
}

impl Clause {
    /// What it means with these values. One column that marks rows is enough; a row is of production when no column marks
    /// it, and rows that are asked for are when no column that could mark them does.
    pub(crate) fn meant(&self, read: Read<'_>) -> Meant {
        let all: Vec<Meant> = match &self.says {
            Says::Row(values) => {
                values.iter().map(|(at, source)| self.value(*at, source, read)).collect()
            }
            Says::Among(values) => {
                values.iter().map(|(at, list)| self.list(*at, list, read)).collect()
            }
        };
        for first in [Meant::Shadow, Meant::Both, Meant::Computed, Meant::Untold, Meant::Unbound] {
            if all.contains(&first) {
                return first;
            }
        }
        let deciding = self.table.columns.iter().filter(|column| column.decides(self.operation));
        let is_whole = match &self.says {
            Says::Row(_) => true,
            Says::Among(_) => all.len() == deciding.count() && !all.contains(&Meant::Nothing),
        };
        let is_decided = is_whole && !all.is_empty();
        if is_decided { Meant::Production } else { Meant::Nothing }
    }

    /// How many values it has.
    pub(crate) fn width(&self) -> usize {
        match &self.says {
            Says::Row(values) => values.len(),
            Says::Among(values) => values.iter().map(|(_, list)| list.len()).sum(),
        }
    }

    fn value(&self, column: usize, source: &Source, read: Read<'_>) -> Meant {
        match source {
            Source::Constant(constant) => match read(constant) {
                Reading::Unbound => Meant::Unbound,
                Reading::Computed => Meant::Computed,
                Reading::Value(value) => self.one(column, &value),
            },
            Source::Computed => Meant::Computed,
        }
    }

    /// Values of which NULL finds no row, and one that a server computes says nothing.
    fn list(&self, column: usize, list: &[Constant], read: Read<'_>) -> Meant {
        let mut meant = Meant::Nothing;
        for constant in list {
            let value = match read(constant) {
                Reading::Value(value) => value,
                Reading::Unbound => return Meant::Unbound,
                Reading::Computed => return Meant::Nothing,
            };
            if value.is_null() {
                continue;
            }
            let own = self.one(column, &value);
            if own == Meant::Untold {
                return own;
            }
            if meant != Meant::Nothing && meant != own {
                return Meant::Both;
            }
            meant = own;
        }
        meant
    }

    /// What one value says.
    fn one(&self, column: usize, value: &pando_kernel::Value) -> Meant {
        let column = self.table.columns.get(column);
        let tests = column.into_iter().flat_map(|column| &column.tests);
        let own = tests.filter(|test| test.operation == self.operation);
        match any_marks(own.map(|test| test.marks(value))) {
            Some(true) => Meant::Shadow,
            Some(false) => Meant::Production,
            None => Meant::Untold,
        }
    }
}
