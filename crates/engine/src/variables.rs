//! Session variables of a client: they hold on whatever connection serves it next.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Variables in the order they were last set, with a number that is equal for equal variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    list: Vec<(String, String)>,
    shared: Arc<[(String, String)]>,
    id: u64,
}

/// Variables one session may set.
const MAX: usize = 1_000;

impl Variables {
    /// Sets a variable to a value's text. False when there are too many.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
        self.list.retain(|(known, _)| known != name);
        if self.list.len() >= MAX {
            return false;
        }
        // The newest comes last: two names of one setting (`TIME ZONE`, `timezone`) end as they were last set.
        self.list.push((name.to_owned(), value.to_owned()));
        self.number();
        true
    }

    /// Forgets a variable; it may be kept as its server reports it (`TimeZone`).
    pub(crate) fn unset(&mut self, name: &str) {
        self.list.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.number();
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Name and value text, in order.
    pub(crate) fn list(&self) -> &[(String, String)] {
        &self.list
    }

    /// The same, to be handed on.
    pub(crate) fn shared(&self) -> Arc<[(String, String)]> {
        Arc::clone(&self.shared)
    }

    /// Whether nothing was set or unset since these were handed on.
    pub(crate) fn are(&self, shared: &Arc<[(String, String)]>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    /// 0 when nothing is set; equal for sessions with equal variables.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn number(&mut self) {
        self.shared = self.list.as_slice().into();
        if self.list.is_empty() {
            self.id = 0;
            return;
        }
        let mut hasher = DefaultHasher::new();
        self.list.hash(&mut hasher);
        self.id = hasher.finish().clamp(1, u64::MAX - 1);
    }
}

/// Marks a connection whose variables are not known.
pub(crate) const UNKNOWN: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::Variables;

    #[test]
    fn the_newest_setting_is_replayed_last() {
        let mut variables = Variables::default();
        for (name, value) in [("timezone", "'UTC'"), ("time zone", "'CET'"), ("timezone", "'EST'")]
        {
            assert!(variables.set(name, value));
        }
        let names: Vec<&str> = variables.list().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["time zone", "timezone"]);
    }

    #[test]
    fn equal_variables_have_equal_numbers_and_none_has_zero() {
        let (mut a, mut b) = (Variables::default(), Variables::default());
        a.set("x", "1");
        b.set("x", "2");
        assert_ne!(a.id(), b.id());
        b.set("x", "1");
        assert_eq!(a.id(), b.id());
        a.unset("x");
        assert_eq!(a.id(), 0);
    }
}
