//! The numbers of sequences that a session was told: `currval` and `lastval` answer by these, whichever connections gave them.

use std::collections::HashMap;

/// Sequences whose numbers a session remembers; with more of them it forgets all.
const MOST: usize = 10_000;

/// What a session was told.
#[derive(Debug, Default)]
pub(in crate::session) struct SequenceValues {
    /// By logical database and sequence; `None` where a server gave numbers out that Pando has not seen.
    told: HashMap<(String, String), Option<i64>>,
    /// The sequence that gave a number last.
    last: Option<(String, String)>,
    /// A storage unit may have given numbers to rows that the session has inserted since the beginning.
    has_inserted: bool,
}

/// What is known of a session's current number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Current {
    /// It is this.
    Told(i64),
    /// It was told none.
    Untold,
    /// A server gave it, and Pando has not seen it.
    Unseen,
}

impl SequenceValues {
    /// It was given a number.
    pub(in crate::session) fn give(&mut self, database: &str, sequence: &str, number: Option<i64>) {
        self.set(database, sequence, number);
        self.last = Some((database.to_owned(), sequence.to_owned()));
    }

    /// It inserts rows, which storage units may count. Returns whether it was told any number before.
    pub(in crate::session) fn inserts(&mut self) -> bool {
        self.has_inserted = true;
        self.last.is_some()
    }

    /// It has set a sequence, which says nothing of the one that gave a number last.
    pub(in crate::session) fn set(&mut self, database: &str, sequence: &str, number: Option<i64>) {
        if self.told.len() >= MOST {
            self.forget();
        }
        self.told.insert((database.to_owned(), sequence.to_owned()), number);
    }

    /// The current number of a sequence, or of the one that gave a number last.
    pub(in crate::session) fn current(&self, database: &str, sequence: Option<&str>) -> Current {
        let named = sequence.map(|name| (database.to_owned(), name.to_owned()));
        let known = named.as_ref().or(self.last.as_ref()).and_then(|of| self.told.get(of));
        match known {
            Some(Some(number)) => Current::Told(*number),
            Some(None) => Current::Unseen,
            None if self.has_inserted => Current::Unseen,
            None => Current::Untold,
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
        values.forget();
        assert_eq!(values.current("d", Some("s")), Current::Untold);
        assert!(!values.inserts());
        assert_eq!(values.current("d", Some("s")), Current::Unseen);
    }
}
