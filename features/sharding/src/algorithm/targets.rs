//! What an algorithm chooses among, and what it has chosen.

use std::collections::HashMap;
use std::sync::Arc;

/// Names of storage units or actual tables, in order, found by name at once.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    names: Vec<Arc<str>>,
    exact: HashMap<Arc<str>, usize>,
    folded: HashMap<String, usize>,
}

impl Targets {
    /// Targets in this order; a name given again is left out.
    pub fn new(names: impl IntoIterator<Item = Arc<str>>) -> Self {
        let mut targets = Self::default();
        for name in names {
            let position = targets.names.len();
            if targets.exact.contains_key(&name) {
                continue;
            }
            targets.folded.entry(name.to_lowercase()).or_insert(position);
            targets.exact.insert(name.clone(), position);
            targets.names.push(name);
        }
        targets
    }

    /// The position of a name, spelt exactly or else in another case.
    pub fn find(&self, name: &str) -> Option<usize> {
        let exact = self.exact.get(name).copied();
        exact.or_else(|| self.folded.get(&name.to_lowercase()).copied())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name at a position.
    pub fn name(&self, position: usize) -> Option<&Arc<str>> {
        self.names.get(position)
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// What all names start with, without digits at its end; for one name, the name without digits at its end.
    pub fn prefix(&self) -> &str {
        let Some((first, rest)) = self.names.split_first() else { return "" };
        let mut length = first.len();
        for name in rest {
            let same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            length = length.min(same);
        }
        while !first.is_char_boundary(length) {
            length -= 1;
        }
        first[..length].trim_end_matches(|c: char| c.is_ascii_digit())
    }
}

/// Chosen targets by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Every target.
    All,
    /// One target.
    One(usize),
    /// These targets, ascending, each once; may be none.
    Many(Vec<usize>),
}

impl Selection {
    /// No target at all.
    pub fn none() -> Self {
        Self::Many(Vec::new())
    }

    /// Whether a target is chosen.
    pub fn contains(&self, position: usize) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => *one == position,
            Self::Many(many) => many.binary_search(&position).is_ok(),
        }
    }

    /// The positions, ascending, where there are `count` targets.
    pub fn positions(&self, count: usize) -> Vec<usize> {
        match self {
            Self::All => (0..count).collect(),
            Self::One(one) => vec![*one],
            Self::Many(many) => many.clone(),
        }
    }

    /// Whether nothing is chosen.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Many(many) if many.is_empty())
    }
}

/// Several selections as one. It costs what is chosen, however many targets there are to choose from.
#[derive(Debug)]
pub(crate) struct Union {
    count: usize,
    has_all: bool,
    positions: Vec<usize>,
}

impl Union {
    /// Nothing yet, of so many targets.
    pub(crate) fn of(count: usize) -> Self {
        Self { count, has_all: false, positions: Vec::new() }
    }

    /// Adds one target.
    pub(crate) fn one(&mut self, position: usize) {
        self.positions.push(position);
        // Each twice is the most that is ever held.
        if self.positions.len() > self.count.saturating_mul(2) {
            self.tidy();
        }
    }

    /// Adds the targets of a selection.
    pub(crate) fn add(&mut self, selection: &Selection) {
        match selection {
            Selection::All => self.has_all = true,
            Selection::One(position) => self.one(*position),
            Selection::Many(positions) => positions.iter().for_each(|one| self.one(*one)),
        }
    }

    /// All of them together.
    pub(crate) fn selection(mut self) -> Selection {
        self.tidy();
        match self.positions.as_slice() {
            _ if self.has_all => Selection::All,
            [one] => Selection::One(*one),
            all if all.len() == self.count => Selection::All,
            _ => Selection::Many(self.positions),
        }
    }

    fn tidy(&mut self) {
        self.positions.sort_unstable();
        self.positions.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(names: &[&str]) -> Targets {
        Targets::new(names.iter().map(|name| Arc::from(*name)))
    }

    #[test]
    fn names_are_found_exactly_before_in_another_case() {
        let targets = targets(&["t_A", "t_a", "T_B"]);
        assert_eq!(targets.find("t_a"), Some(1));
        assert_eq!(targets.find("t_b"), Some(2));
        assert_eq!(targets.find("T_a"), Some(0));
        assert_eq!(targets.find("t_c"), None);
    }

    #[test]
    fn the_common_prefix_ends_before_digits() {
        assert_eq!(targets(&["t_order_10", "t_order_11"]).prefix(), "t_order_");
        assert_eq!(targets(&["t_order"]).prefix(), "t_order");
        assert_eq!(targets(&["té", "tè"]).prefix(), "t");
        assert_eq!(targets(&["a", "b"]).prefix(), "");
    }

    fn united(count: usize, selections: &[Selection]) -> Selection {
        let mut union = Union::of(count);
        selections.iter().for_each(|selection| union.add(selection));
        union.selection()
    }

    #[test]
    fn a_union_is_the_shortest_selection() {
        use Selection::{All, Many, One};
        assert_eq!(united(2, &[One(1), One(0)]), All);
        assert_eq!(united(2, &[One(1), One(1)]), One(1));
        assert_eq!(united(2, &[]), Selection::none());
        assert_eq!(united(4, &[One(3), Many(vec![0, 3]), One(0)]), Many(vec![0, 3]));
        assert_eq!(united(4, &[One(3), All]), All);
        assert!(Many(vec![0, 2]).contains(2));
    }

    #[test]
    fn a_union_holds_what_is_chosen_and_not_what_there_is() {
        let mut few = Union::of(1_000_000);
        (0..100).for_each(|_| few.add(&Selection::Many(vec![7, 9])));
        assert!(few.positions.capacity() < 1_000);
        let mut often = Union::of(3);
        (0..10_000).for_each(|number| often.one(number % 2));
        assert!(often.positions.len() <= 6);
        assert_eq!(often.selection(), Selection::Many(vec![0, 1]));
    }
}
