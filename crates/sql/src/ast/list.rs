//! The values that stand behind IN.

use super::Expr;
use crate::span::Span;

/// The values of an IN list. Long lists of nothing but literals are kept as text, and read again by whoever asks for a value: as trees they would take ten times the
/// memory.
#[derive(Debug, Clone)]
pub struct List(Values);

#[derive(Debug, Clone)]
enum Values {
    Trees(Vec<Expr>),
    /// Some literals each, with the commas between them, and how many they are.
    Text(Box<[(Span, u32)]>),
}

impl List {
    pub(crate) fn of_trees(values: Vec<Expr>) -> Self {
        Self(Values::Trees(values))
    }

    pub(crate) fn of_literals(pieces: Vec<(Span, u32)>) -> Self {
        Self(Values::Text(pieces.into()))
    }

    /// How many values it has.
    pub fn len(&self) -> usize {
        match &self.0 {
            Values::Trees(values) => values.len(),
            Values::Text(pieces) => pieces.iter().map(|(_, width)| *width as usize).sum(),
        }
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its values, where they are kept as trees; empty where they are literals that are kept as text. Whoever looks for anything but literals needs no others.
    pub fn trees(&self) -> &[Expr] {
        match &self.0 {
            Values::Trees(values) => values,
            Values::Text(_) => &[],
        }
    }

    /// Its literals, where they are kept as text: some each, and how many they are.
    pub(super) fn pieces(&self) -> &[(Span, u32)] {
        match &self.0 {
            Values::Trees(_) => &[],
            Values::Text(pieces) => pieces,
        }
    }
}
