//! The values that stand behind IN.

use std::borrow::Cow;

use super::Expr;
use crate::parse::literals_of;
use crate::span::Span;
use crate::syntax::Syntax;

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

    /// All its values, in order. `text` and `syntax` are the statement's.
    pub fn values<'a>(
        &'a self,
        text: &'a str,
        syntax: &'a Syntax,
    ) -> impl Iterator<Item = Cow<'a, Expr>> + 'a {
        let pieces = match &self.0 {
            Values::Trees(_) => &[],
            Values::Text(pieces) => &pieces[..],
        };
        let literals =
            pieces.iter().flat_map(move |(span, width)| literals_of(*span, *width, text, syntax));
        self.trees().iter().map(Cow::Borrowed).chain(literals.map(Cow::Owned))
    }
}
