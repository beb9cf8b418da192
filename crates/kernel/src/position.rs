//! How far a server's log has come: what two servers of one cluster are compared by.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How far a server has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// A place in one log. A promotion begins a new timeline, so of two servers that both write the one on the higher timeline was promoted later.
    Log {
        /// The timeline.
        timeline: u32,
        /// Bytes from the log's beginning.
        at: u64,
    },
    /// The transactions that have been carried out.
    Transactions(Transactions),
}

impl Position {
    /// Who has gone on where the other has not: `Greater` when this one is further, `None` when that can't be told. Logs are compared by their
    /// timelines alone, as two writers of one timeline have written different things to the same places.
    pub fn against(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Log { timeline: own, .. }, Self::Log { timeline, .. }) => {
                Some(own.cmp(timeline)).filter(|order| order.is_ne())
            }
            (Self::Transactions(own), Self::Transactions(other)) => {
                match (own.holds(other), other.holds(own)) {
                    (true, false) => Some(Ordering::Greater),
                    (false, true) => Some(Ordering::Less),
                    (true, true) | (false, false) => None,
                }
            }
            (Self::Log { .. }, Self::Transactions(_))
            | (Self::Transactions(_), Self::Log { .. }) => None,
        }
    }
}

/// Numbered transactions by where they came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transactions {
    /// Per origin: ascending runs, both ends included, that neither meet nor overlap.
    runs: BTreeMap<String, Vec<(u64, u64)>>,
}

impl Transactions {
    /// Runs in any order; those that meet become one, empty ones (first above last) are passed over.
    pub fn of(runs: impl IntoIterator<Item = (String, u64, u64)>) -> Self {
        let mut all: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
        for (origin, first, last) in runs.into_iter().filter(|(_, first, last)| first <= last) {
            all.entry(origin).or_default().push((first, last));
        }
        for list in all.values_mut() {
            list.sort_unstable();
            let mut joined: Vec<(u64, u64)> = Vec::with_capacity(list.len());
            for (first, last) in list.drain(..) {
                match joined.last_mut() {
                    Some(before) if first <= before.1.saturating_add(1) => {
                        before.1 = before.1.max(last)
                    }
                    Some(_) | None => joined.push((first, last)),
                }
            }
            *list = joined;
        }
        Self { runs: all }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Where they came from, ascending.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    /// Whether every transaction of `other` is among these.
    pub fn holds(&self, other: &Self) -> bool {
        other.runs.iter().all(|(origin, theirs)| {
            let own = self.runs.get(origin).map_or(&[][..], Vec::as_slice);
            let within = |(first, last): &(u64, u64)| {
                let before = own.partition_point(|run| run.0 <= *first);
                own.get(before.wrapping_sub(1)).is_some_and(|run| *last <= run.1)
            };
            theirs.iter().all(within)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(runs: &[(&str, u64, u64)]) -> Transactions {
        Transactions::of(
            runs.iter().map(|(origin, first, last)| ((*origin).to_owned(), *first, *last)),
        )
    }

    #[test]
    fn a_set_holds_its_parts_and_no_more() {
        let all = set(&[("a", 6, 9), ("a", 1, 5), ("b", 3, 3), ("a", 20, 30)]);
        assert_eq!(all, set(&[("a", 1, 9), ("a", 20, 30), ("b", 3, 3), ("b", 9, 8)]));
        for part in [set(&[]), set(&[("a", 4, 7)]), set(&[("b", 3, 3), ("a", 25, 30)])] {
            assert!(all.holds(&part), "{part:?}");
        }
        for other in
            [set(&[("a", 9, 10)]), set(&[("a", 5, 25)]), set(&[("c", 1, 1)]), set(&[("b", 1, 3)])]
        {
            assert!(!all.holds(&other), "{other:?}");
        }
    }

    #[test]
    fn the_further_server_is_told_only_where_it_can_be() {
        let log = |timeline, at| Position::Log { timeline, at };
        assert_eq!(log(2, 1).against(&log(1, 9)), Some(Ordering::Greater));
        assert_eq!(log(1, 9).against(&log(1, 1)), None);
        let sets = |runs: &[(&str, u64, u64)]| Position::Transactions(set(runs));
        let (one, more) = (sets(&[("a", 1, 5)]), sets(&[("a", 1, 5), ("b", 1, 1)]));
        assert_eq!(more.against(&one), Some(Ordering::Greater));
        assert_eq!(one.against(&more), Some(Ordering::Less));
        assert_eq!(sets(&[("a", 1, 6)]).against(&more), None);
        assert_eq!(one.against(&one), None);
        assert_eq!(one.against(&log(1, 1)), None);
    }
}
