//! A rewritten text cut where it differs: at literals, and at the actual names of a target's tables.

use std::sync::Arc;

use pando_kernel::changes::Turn;
use pando_kernel::route::Target;

/// Stands for an actual table's name, with its number behind it, while a text is cut into parts.
const MARK: &str = "pando_name_of_table_";

/// A part of the text that is sent.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::plan) enum Part {
    Text(Box<str>),
    /// The literal of this number.
    Slot(usize),
    /// The literal of this number, as another value.
    Turned(usize, Turn),
    /// The actual name of the target's table of this number.
    Name(usize),
}

/// Parts as they are found.
#[derive(Default)]
pub(in crate::plan) struct Parts {
    list: Vec<Part>,
    open: String,
}

impl Parts {
    pub(in crate::plan) fn text(&mut self, text: &str) {
        self.open.push_str(text);
    }

    pub(in crate::plan) fn push(&mut self, part: Part) {
        self.close();
        self.list.push(part);
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.list.push(Part::Text(std::mem::take(&mut self.open).into()));
        }
    }

    pub(in crate::plan) fn done(mut self) -> Vec<Part> {
        self.close();
        self.list
    }

    /// A text in which names of tables are marked.
    pub(in crate::plan) fn marked(&mut self, text: &str) -> Option<()> {
        let mut pieces = text.split(MARK);
        self.text(pieces.next()?);
        for piece in pieces {
            let (number, rest) = piece.split_once('_')?;
            self.push(Part::Name(number.parse().ok()?));
            self.text(rest);
        }
        Some(())
    }
}

/// The same target with marks for its tables' names.
pub(in crate::plan) fn marked(target: &Target) -> Target {
    let mut marked = target.clone();
    for (at, name) in marked.tables.iter_mut().enumerate() {
        name.actual = format!("{MARK}{at}_").into();
    }
    marked
}

/// Whether a text could be taken for one with marks.
pub(in crate::plan) fn is_marked(text: &str) -> bool {
    text.contains(MARK)
}

/// A name that is spelt the same wherever it stands.
pub(in crate::plan) fn is_plain_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(fits) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// The text for one target; `None` when a part is no name of it.
pub(in crate::plan) fn named(parts: &[Part], target: &Target) -> Option<Arc<str>> {
    let mut text = String::new();
    for part in parts {
        text.push_str(match part {
            Part::Text(text) => text,
            Part::Name(at) => &target.tables.get(*at)?.actual,
            Part::Slot(_) | Part::Turned(..) => return None,
        });
    }
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_names() {
        let mut parts = Parts::default();
        parts.text("select * from ");
        parts.marked(&format!("\"{MARK}0_\" AS t, {MARK}12_")).unwrap();
        let text = |text: &str| Part::Text(text.into());
        let expected = [text("select * from \""), Part::Name(0), text("\" AS t, "), Part::Name(12)];
        assert_eq!(parts.done(), expected);
    }
}
