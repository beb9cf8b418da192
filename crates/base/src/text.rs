//! Texts put together from parts of a statement, with the parameters that they take.

use pando_kernel::request::Parameter;
use pando_kernel::{Execution, Format};
use pando_sql::ast::{Node, Statement};
use pando_sql::{Placeholder, Span, visit};
use std::sync::Arc;

/// A text and which of the statement's parameters it takes, in its own order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) parameters: Vec<u32>,
}

/// Writes a [`Text`].
pub(crate) struct Writer<'a> {
    stmt: &'a Statement,
    placeholder: Placeholder,
    /// Every parameter of the statement, in text order.
    places: Vec<(Span, u32)>,
    done: Text,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(stmt: &'a Statement, placeholder: Placeholder) -> Self {
        let mut places = Vec::new();
        if stmt.parameters > 0 {
            visit::exprs(&stmt.kind, &mut |expr| {
                if let Node::Parameter(index) = expr.node {
                    places.push((expr.span, index));
                }
            });
            places.sort_unstable();
            places.dedup();
        }
        Self { stmt, placeholder, places, done: Text::default() }
    }

    /// Appends text of ours.
    pub(crate) fn add(&mut self, text: &str) -> &mut Self {
        self.done.text.push_str(text);
        self
    }

    /// Appends a part of the statement.
    pub(crate) fn copy(&mut self, span: Span) -> &mut Self {
        let mut from = span.start;
        let inside: Vec<(Span, u32)> = self
            .places
            .iter()
            .filter(|(place, _)| span.start <= place.start && place.end <= span.end)
            .copied()
            .collect();
        for (place, index) in inside {
            self.done.text.push_str(Span::new(from, place.start).of(&self.stmt.text));
            from = place.end;
            match self.placeholder {
                Placeholder::Question => {
                    self.done.text.push('?');
                    self.done.parameters.push(index);
                }
                Placeholder::Dollar => {
                    let known = self.done.parameters.iter().position(|used| *used == index);
                    let at = known.unwrap_or_else(|| {
                        self.done.parameters.push(index);
                        self.done.parameters.len() - 1
                    });
                    self.done.text.push_str(&format!("${}", at + 1));
                }
            }
        }
        self.done.text.push_str(Span::new(from, span.end).of(&self.stmt.text));
        self
    }

    pub(crate) fn finish(&mut self) -> Text {
        std::mem::take(&mut self.done)
    }
}

/// How the client wants its statement run.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Rows come in the form of prepared statements; otherwise as text, and there are no parameters.
    pub prepared: bool,
    /// One per parameter of the statement, in order.
    pub parameters: Vec<Parameter>,
    /// Their types as far as known, as [`Execution::Prepared`] has them.
    pub types: Arc<[u32]>,
    /// Formats of the result's columns, as [`Execution::Prepared`] has them.
    pub formats: Vec<Format>,
    /// As [`Execution::Prepared`] has it.
    pub era: u64,
}

impl Text {
    /// The execution of this text for the client, with `more` columns of our own at the end of its result.
    pub(crate) fn execution(&self, call: &Call, more: usize) -> Execution {
        if !call.prepared {
            return Execution::Text(self.text.as_str().into());
        }
        let mut formats = call.formats.clone();
        if formats.len() > 1 {
            formats.extend(std::iter::repeat_n(Format::Text, more));
        }
        self.with(call, formats)
    }

    /// The execution of this text for ourselves.
    pub(crate) fn query(&self, call: &Call) -> Execution {
        if self.parameters.is_empty() {
            return Execution::Text(self.text.as_str().into());
        }
        self.with(call, Vec::new())
    }

    fn with(&self, call: &Call, formats: Vec<Format>) -> Execution {
        let taken = |at: &u32| call.parameters.get(*at as usize).cloned();
        let of_type = |at: &u32| call.types.get(*at as usize).copied().unwrap_or(0);
        Execution::Prepared {
            sql: self.text.as_str().into(),
            types: self.parameters.iter().map(of_type).collect(),
            parameters: self.parameters.iter().filter_map(taken).collect(),
            formats,
            era: call.era,
        }
    }

    /// The text with another one behind it.
    pub(crate) fn and(&self, more: &str, last: &Self) -> Self {
        let parameters = self.parameters.iter().chain(&last.parameters).copied().collect();
        Self { text: format!("{}{more}{}", self.text, last.text), parameters }
    }
}
