//! Session variables of a client: they hold on whatever connection serves it next.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Variables in the order they were first set, with a number that is equal for equal variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    list: Vec<(String, String)>,
    id: u64,
}

/// Variables one session may set.
const MAX: usize = 1_000;

impl Variables {
    /// Sets a variable to a value's text. False when there are too many.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
        match self.list.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => {
                if self.list.len() >= MAX {
                    return false;
                }
                self.list.push((name.to_owned(), value.to_owned()));
            }
        }
        self.number();
        true
    }

    /// Forgets a variable.
    pub(crate) fn unset(&mut self, name: &str) {
        self.list.retain(|(known, _)| known != name);
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

    /// 0 when nothing is set; equal for sessions with equal variables.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn number(&mut self) {
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
