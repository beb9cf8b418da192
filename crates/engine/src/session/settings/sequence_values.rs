//! The numbers of sequences that a session was told: `currval` and `lastval` answer by these, whichever connections gave them.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::route::UnitName;

/// Sequences whose numbers a session remembers; with more of them it forgets all.
const MOST: usize = 10_000;

/// What a session was told.
#[derive(Debug, Default)]
pub(in crate::session) struct SequenceValues {
    /// By logical database and sequence.
    told: HashMap<(String, String), Current>,
    /// The sequence that gave a number last.
    last: Option<Last>,
    /// A storage unit may have given numbers to rows that the session has inserted since the beginning.
    has_inserted: bool,
    /// Some numbers are read off the open transaction's connections.
    has_inside: bool,
}

/// The sequence that gave a number last.
#[derive(Debug)]
struct Last {
    of: (String, String),
    /// What its server says of whichever was last: a trigger may have asked another one behind.
    told: Option<i64>,
}

/// What is known of a session's current number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) enum Current {
    /// It is this.
    Told(i64),
    /// It was told none.
    Untold,
    /// The connection of this unit knows it, as long as the open transaction has it.
    Inside(UnitName),
    /// A server gave it, and Pando has not seen it.
    Unseen,
}

impl SequenceValues {
    /// It was given a number.
    pub(in crate::session) fn give(&mut self, database: &str, sequence: &str, number: Option<i64>) {
        self.set(database, sequence, number);
        self.is_last(database, sequence, None);
    }

    /// It was given one by the open transaction's connection of a unit.
    pub(in crate::session) fn give_inside(
        &mut self,
        database: &str,
        sequence: &str,
        unit: &UnitName,
    ) {
        self.know(database, sequence, Current::Inside(Arc::clone(unit)));
        self.is_last(database, sequence, None);
        self.has_inside = true;
    }

    /// A sequence gave a number last; `told` is what its server says of whichever was last.
    pub(in crate::session) fn is_last(
        &mut self,
        database: &str,
        sequence: &str,
        told: Option<i64>,
    ) {
        self.last = Some(Last { of: (database.to_owned(), sequence.to_owned()), told });
    }

    /// Whichever sequence gave a number last, this was it.
    pub(in crate::session) fn are_told(&mut self, number: i64) {
        if let Some(last) = &mut self.last {
            last.told = Some(number);
        }
    }

    /// Whether this sequence gave a number last.
    pub(in crate::session) fn is_of_last(&self, database: &str, sequence: &str) -> bool {
        self.last.as_ref().is_some_and(|last| last.of.0 == database && last.of.1 == sequence)
    }

    /// A server may have given numbers of any sequence.
    pub(in crate::session) fn doubt(&mut self, database: &str) {
        for ((own, _), known) in &mut self.told {
            if own == database {
                *known = Current::Unseen;
            }
        }
    }

    /// It inserts rows, which storage units may count. Returns whether it was told any number before.
    pub(in crate::session) fn inserts(&mut self) -> bool {
        self.has_inserted = true;
        self.last.is_some()
    }

    /// It has set a sequence, which says nothing of the one that gave a number last.
    pub(in crate::session) fn set(&mut self, database: &str, sequence: &str, number: Option<i64>) {
        self.know(database, sequence, number.map_or(Current::Unseen, Current::Told));
    }

    fn know(&mut self, database: &str, sequence: &str, current: Current) {
        if self.told.len() >= MOST {
            self.forget();
        }
        let of = (database.to_owned(), sequence.to_owned());
        if let Some(last) = self.last.as_mut().filter(|last| last.of == of) {
            last.told = None;
        }
        self.told.insert(of, current);
    }

    /// The current number of a sequence, or of the one that gave a number last.
    pub(in crate::session) fn current(&self, database: &str, sequence: Option<&str>) -> Current {
        let named = sequence.map(|name| (database.to_owned(), name.to_owned()));
        let last = self.last.as_ref();
        if let (None, Some(number)) = (sequence, last.and_then(|last| last.told)) {
            return Current::Told(number);
        }
        let known = named.as_ref().or(last.map(|last| &last.of)).and_then(|of| self.told.get(of));
        match known {
            Some(known) => known.clone(),
            None if self.has_inserted => Current::Unseen,
            None => Current::Untold,
        }
    }

    /// Others have the transaction's connections.
    pub(in crate::session) fn transaction_ends(&mut self) {
        if std::mem::take(&mut self.has_inside) {
            for known in self.told.values_mut() {
                if let Current::Inside(_) = known {
                    *known = Current::Unseen;
                }
            }
        }
    }

    /// As after login.
    pub(in crate::session) fn forget(&mut self) {
        self.told.clear();
        self.last = None;
        self.has_inserted = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_told_what_it_was_given_itself() {
        let mut values = SequenceValues::default();
        assert_eq!(values.current("d", Some("s")), Current::Untold);
        assert_eq!(values.current("d", None), Current::Untold);
        values.give("d", "s", Some(7));
        values.set("d", "r", Some(3));
        assert_eq!(values.current("d", None), Current::Told(7));
        assert_eq!(values.current("d", Some("r")), Current::Told(3));
        assert_eq!(values.current("other", Some("s")), Current::Untold);
        values.give("d", "r", None);
        assert_eq!(values.current("d", None), Current::Unseen);
        values.give_inside("d", "r", &"u".into());
        assert_eq!(values.current("d", None), Current::Inside("u".into()));
        values.transaction_ends();
        assert_eq!(values.current("d", Some("r")), Current::Unseen);
        values.give("d", "r", Some(8));
        values.is_last("d", "r", Some(100));
        assert_eq!(values.current("d", None), Current::Told(100));
        assert_eq!(values.current("d", Some("r")), Current::Told(8));
        values.set("d", "r", Some(9));
        assert_eq!(values.current("d", None), Current::Told(9));
        values.forget();
        assert_eq!(values.current("d", Some("s")), Current::Untold);
        assert!(!values.inserts());
        assert_eq!(values.current("d", Some("s")), Current::Unseen);
    }
}
