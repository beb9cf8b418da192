//! What is asked of a repository: all of it or nothing.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::limits::{MAX_CHANGE_BYTES, MAX_CHANGE_KEYS, MAX_VALUE_BYTES};
use crate::{Error, Key, Result, Revision};

/// Expectations and writes. No key stands twice in either list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// All must hold, or nothing is written. At most [`MAX_CHANGE_KEYS`].
    pub expectations: Vec<(Key, Expected)>,
    /// From one to [`MAX_CHANGE_KEYS`].
    pub writes: Vec<(Key, Write)>,
}

/// What a key must be for a change to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It has no value.
    Absent,
    /// Its value is the one put by the change with this revision.
    At(Revision),
}

/// What becomes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// It gets a value, whether it had one or not.
    Put(Bytes, Lifetime),
    /// It has no value any more; without effect where it had none. Keys below it stay.
    Delete,
}

/// How long a value stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// Until it is deleted.
    Forever,
    /// As long as the session of the instance that put it. Such a key has none below it.
    Session,
}

impl Change {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an expectation.
    #[must_use]
    pub fn expect(mut self, key: &Key, expected: Expected) -> Self {
        self.expectations.push((key.clone(), expected));
        self
    }

    /// Adds a value that stays until it is deleted.
    #[must_use]
    pub fn put(self, key: &Key, value: impl Into<Bytes>) -> Self {
        self.write(key, Write::Put(value.into(), Lifetime::Forever))
    }

    /// Adds a value that goes with this instance's session.
    #[must_use]
    pub fn put_for_session(self, key: &Key, value: impl Into<Bytes>) -> Self {
        self.write(key, Write::Put(value.into(), Lifetime::Session))
    }

    /// Adds the end of a key.
    #[must_use]
    pub fn delete(self, key: &Key) -> Self {
        self.write(key, Write::Delete)
    }

    fn write(mut self, key: &Key, write: Write) -> Self {
        self.writes.push((key.clone(), write));
        self
    }

    /// What every repository checks before it sends anything.
    ///
    /// # Errors
    /// `Refused` when the change is empty, beyond a limit, or names a key twice.
    pub fn check(&self) -> Result<()> {
        let refuse = |why: String| Err(Error::Refused(why));
        if self.writes.is_empty() {
            return refuse("the change writes nothing".into());
        }
        if self.writes.len().max(self.expectations.len()) > MAX_CHANGE_KEYS {
            return refuse(format!("the change has more than {MAX_CHANGE_KEYS} keys"));
        }
        let expected: BTreeSet<&Key> = self.expectations.iter().map(|(key, _)| key).collect();
        let written: BTreeSet<&Key> = self.writes.iter().map(|(key, _)| key).collect();
        if expected.len() < self.expectations.len() || written.len() < self.writes.len() {
            return refuse("the change names a key twice".into());
        }
        let mut bytes: usize = expected.iter().map(|key| key.as_str().len()).sum();
        for (key, write) in &self.writes {
            bytes += key.as_str().len();
            let Write::Put(value, _) = write else { continue };
            if value.len() > MAX_VALUE_BYTES {
                let length = value.len();
                return refuse(format!(
                    "the value of `{key}` has {length} bytes, more than {MAX_VALUE_BYTES}"
                ));
            }
            bytes += value.len();
        }
        if bytes > MAX_CHANGE_BYTES {
            return refuse(format!("the change has {bytes} bytes, more than {MAX_CHANGE_BYTES}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_store_would_take_is_refused_before_it_is_sent() {
        let key = |n: usize| Key::parse(&format!("/{n}")).unwrap();
        let many = |n| (0..n).fold(Change::new(), |change, i| change.put(&key(i), "x"));
        let zeros = |n| vec![0; n];
        let cases = [
            (Change::new(), false),
            (Change::new().expect(&key(1), Expected::Absent), false),
            (many(MAX_CHANGE_KEYS), true),
            (many(MAX_CHANGE_KEYS + 1), false),
            (Change::new().put(&key(1), "a").delete(&key(1)), false),
            (Change::new().put(&key(1), zeros(MAX_VALUE_BYTES)), true),
            (Change::new().put(&key(1), zeros(MAX_VALUE_BYTES + 1)), false),
            (
                Change::new()
                    .put(&key(1), zeros(MAX_VALUE_BYTES))
                    .put(&key(2), zeros(MAX_VALUE_BYTES)),
                false,
            ),
        ];
        for (n, (change, good)) in cases.into_iter().enumerate() {
            assert_eq!(change.check().is_ok(), good, "case {n}");
        }
    }
}
