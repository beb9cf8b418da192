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

    /// The targets marked in `chosen`.
    pub fn marked(chosen: &[bool]) -> Self {
        let positions = chosen.iter().enumerate().filter(|(_, chosen)| **chosen);
        let positions: Vec<usize> = positions.map(|(position, _)| position).collect();
        match positions.as_slice() {
            [one] => Self::One(*one),
            all if all.len() == chosen.len() => Self::All,
            _ => Self::Many(positions),
        }
    }

    /// Adds these to the marks.
    pub(crate) fn mark(&self, chosen: &mut [bool]) {
        match self {
            Self::All => chosen.fill(true),
            Self::One(position) => set(chosen, *position),
            Self::Many(positions) => positions.iter().for_each(|position| set(chosen, *position)),
        }
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

fn set(chosen: &mut [bool], position: usize) {
    if let Some(slot) = chosen.get_mut(position) {
        *slot = true;
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

    #[test]
    fn marks_become_the_shortest_selection() {
        assert_eq!(Selection::marked(&[true, true]), Selection::All);
        assert_eq!(Selection::marked(&[false, true]), Selection::One(1));
        assert_eq!(Selection::marked(&[false, false]), Selection::none());
        assert!(Selection::Many(vec![0, 2]).contains(2));
    }
}
