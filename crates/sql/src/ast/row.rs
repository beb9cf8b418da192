//! One row of an INSERT's VALUES.

use super::Expr;
use crate::span::Span;

/// One row of VALUES. Rows of literals far down in a long statement are kept as text, and read again when somebody asks for a value: as trees they would take ten times
/// the memory.
#[derive(Debug, Clone)]
pub struct InsertRow {
    values: Values,
    /// With its parentheses (and the `ROW` keyword, when written).
    pub span: Span,
}

#[derive(Debug, Clone)]
enum Values {
    Trees(Vec<Expr>),
    /// So many literals.
    Text(u32),
}

impl InsertRow {
    pub(crate) fn of_trees(values: Vec<Expr>, span: Span) -> Self {
        Self { values: Values::Trees(values), span }
    }

    pub(crate) fn of_literals(width: u32, span: Span) -> Self {
        Self { values: Values::Text(width), span }
    }

    /// How many values it has.
    pub fn width(&self) -> usize {
        match &self.values {
            Values::Trees(values) => values.len(),
            Values::Text(width) => *width as usize,
        }
    }

    /// Its values; `None` where they are literals that are kept as text. Whoever looks for anything but literals needs no others.
    pub fn trees(&self) -> Option<&[Expr]> {
        match &self.values {
            Values::Trees(values) => Some(values),
            Values::Text(_) => None,
        }
    }
}
