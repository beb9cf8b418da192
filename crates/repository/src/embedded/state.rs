//! The keys in memory, and what a change would make of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use bytes::Bytes;

use crate::limits::{MAX_VIEW_BYTES, MAX_VIEW_KEYS};
use crate::{Change, Entry, Error, Expected, Key, Lifetime, Prefix, Result, Revision, View, Write};

/// Numbers the sessions of one store.
pub(super) type SessionId = u64;

/// All keys, those of sessions among them.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    pub(super) revision: Revision,
    keys: BTreeMap<Key, Held>,
    bytes: usize,
    /// Those that have not ended.
    sessions: BTreeSet<SessionId>,
}

#[derive(Debug, Clone)]
struct Held {
    value: Bytes,
    revision: Revision,
    owner: Option<SessionId>,
}

impl State {
    /// A key that was in the log.
    pub(super) fn load(&mut self, key: Key, value: Option<Bytes>, revision: Revision) {
        self.set(key, value.map(|value| Held { value, revision, owner: None }));
    }

    /// Whether the change may be made now.
    pub(super) fn check(&self, change: &Change) -> Result<()> {
        for (key, expected) in &change.expectations {
            let found = self.keys.get(key).map(|held| held.revision);
            let wanted = match expected {
                Expected::Absent => None,
                Expected::At(revision) => Some(*revision),
            };
            if found != wanted {
                return Err(Error::Conflict(key.clone()));
            }
        }
        self.check_sessions(change)?;
        let added: usize = change.writes.iter().map(|(key, write)| size(key, write)).sum();
        let is_full = self.bytes + added > MAX_VIEW_BYTES
            || self.keys.len() + change.writes.len() > MAX_VIEW_KEYS;
        // A change that only deletes is the way out.
        if is_full && added > 0 {
            return Err(Error::Refused("the store is full".into()));
        }
        Ok(())
    }

    /// ZooKeeper's rule: a session's key has no keys below it. It holds here too, so that it is met before there is a cluster.
    fn check_sessions(&self, change: &Change) -> Result<()> {
        let deleted = |key: &Key| {
            change.writes.iter().any(|(k, write)| k == key && matches!(write, Write::Delete))
        };
        let puts = change.writes.iter().filter_map(|(key, write)| match write {
            Write::Put(_, lifetime) => Some((key, *lifetime)),
            Write::Delete => None,
        });
        let puts: BTreeMap<&str, Lifetime> = puts.map(|(k, life)| (k.as_str(), life)).collect();
        let of_session = |path: &str| match puts.get(path) {
            Some(lifetime) => *lifetime == Lifetime::Session,
            None => Key::parse(path).is_ok_and(|key| {
                !deleted(&key) && self.keys.get(&key).is_some_and(|held| held.owner.is_some())
            }),
        };
        for (key, write) in &change.writes {
            let Write::Put(_, lifetime) = write else { continue };
            let below = Prefix::from(key.clone());
            let is_below = |path: &str| path != key.as_str() && below.covers(path);
            let has_keys_below = self.below(&below).any(|(k, _)| k != key && !deleted(k))
                || puts.keys().any(|path| is_below(path));
            if *lifetime == Lifetime::Session && has_keys_below {
                return Err(Error::Refused(format!(
                    "`{key}` has keys below it and cannot be a session's"
                )));
            }
            if let Some(above) = key.ancestors().find(|path| of_session(path)) {
                return Err(Error::Refused(format!(
                    "`{above}` is a session's and cannot have keys below it"
                )));
            }
        }
        Ok(())
    }

    /// The writes that must be in the log before the change may be shown: a session's values never are.
    pub(super) fn durable(&self, change: &Change) -> Vec<(Key, Option<Bytes>)> {
        let stays = |key: &Key| self.keys.get(key).is_some_and(|held| held.owner.is_none());
        let writes = change.writes.iter().filter_map(|(key, write)| match write {
            Write::Put(value, Lifetime::Forever) => Some((key.clone(), Some(value.clone()))),
            Write::Put(_, Lifetime::Session) | Write::Delete => {
                stays(key).then(|| (key.clone(), None))
            }
        });
        writes.collect()
    }

    /// Makes the change, which has been checked.
    pub(super) fn apply(&mut self, change: Change, revision: Revision, session: SessionId) {
        self.revision = revision;
        for (key, write) in change.writes {
            let held = match write {
                Write::Put(value, Lifetime::Forever) => Some(Held { value, revision, owner: None }),
                // A session that has ended while its change was written has no keys.
                Write::Put(value, Lifetime::Session) => {
                    let owner = self.sessions.get(&session).copied();
                    owner.map(|own| Held { value, revision, owner: Some(own) })
                }
                Write::Delete => None,
            };
            self.set(key, held);
        }
    }

    pub(super) fn begin_session(&mut self, session: SessionId) {
        self.sessions.insert(session);
    }

    /// Takes the session's keys away and says which they were.
    pub(super) fn end_session(&mut self, session: SessionId) -> Vec<Key> {
        self.sessions.remove(&session);
        let own = self.keys.iter().filter(|(_, held)| held.owner == Some(session));
        let gone: Vec<Key> = own.map(|(key, _)| key.clone()).collect();
        for key in &gone {
            self.set(key.clone(), None);
        }
        gone
    }

    pub(super) fn view(&self, below: &Prefix) -> Result<View> {
        let mut view = View { revision: self.revision, ..View::default() };
        let mut bytes = 0;
        for (key, held) in self.below(below) {
            let lifetime = if held.owner.is_some() { Lifetime::Session } else { Lifetime::Forever };
            let entry = Entry { value: held.value.clone(), revision: held.revision, lifetime };
            view.add(key.clone(), entry, &mut bytes)?;
        }
        Ok(view)
    }

    /// What a new log begins with, in the order of the keys.
    pub(super) fn kept(&self) -> impl Iterator<Item = (&Key, &Bytes, Revision)> {
        let kept = self.keys.iter().filter(|(_, held)| held.owner.is_none());
        kept.map(|(key, held)| (key, &held.value, held.revision))
    }

    fn below<'a>(&'a self, below: &'a Prefix) -> impl Iterator<Item = (&'a Key, &'a Held)> {
        let from = below.key().map_or(Bound::Unbounded, Bound::Included);
        // Keys such as `/a-b` stand between `/a` and `/a/b`.
        let near =
            move |key: &&Key| below.key().is_none_or(|own| key.as_str().starts_with(own.as_str()));
        self.keys
            .range::<Key, _>((from, Bound::Unbounded))
            .take_while(move |(key, _)| near(key))
            .filter(|(key, _)| below.covers(key.as_str()))
    }

    fn set(&mut self, key: Key, held: Option<Held>) {
        let length = key.as_str().len();
        let before = match held {
            Some(held) => {
                self.bytes += length + held.value.len();
                self.keys.insert(key, held)
            }
            None => self.keys.remove(&key),
        };
        if let Some(before) = before {
            self.bytes -= length + before.value.len();
        }
    }
}

fn size(key: &Key, write: &Write) -> usize {
    match write {
        Write::Put(value, _) => key.as_str().len() + value.len(),
        Write::Delete => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> Key {
        Key::parse(path).unwrap()
    }

    fn apply(state: &mut State, change: Change) -> Result<()> {
        state.begin_session(1);
        state.check(&change)?;
        let next = Revision(state.revision.0 + 1);
        state.apply(change, next, 1);
        Ok(())
    }

    #[test]
    fn a_sessions_key_has_no_keys_below_it() {
        let mut state = State::default();
        let of_session = |path| Change::new().put_for_session(&key(path), "x");
        apply(&mut state, of_session("/a/b")).unwrap();
        let refused = [
            of_session("/a"),
            Change::new().put(&key("/a/b/c"), "x"),
            of_session("/s").put(&key("/s/t"), "x"),
        ];
        for change in refused {
            assert!(matches!(apply(&mut state, change), Err(Error::Refused(_))));
        }
        apply(&mut state, Change::new().delete(&key("/a/b")).put(&key("/a/b/c"), "x")).unwrap();
    }

    #[test]
    fn a_value_that_becomes_a_sessions_leaves_the_log() {
        let mut state = State::default();
        apply(&mut state, Change::new().put(&key("/a"), "x")).unwrap();
        let change = Change::new().put_for_session(&key("/a"), "y");
        assert_eq!(state.durable(&change), [(key("/a"), None)]);
        apply(&mut state, change).unwrap();
        assert_eq!(state.kept().count(), 0);
        assert_eq!(state.durable(&Change::new().delete(&key("/a"))), []);
    }

    #[test]
    fn a_full_store_still_takes_deletions() {
        let mut state = State::default();
        for n in 0..128 {
            let value = vec![0; 512 * 1024 - 8];
            apply(&mut state, Change::new().put(&key(&format!("/{n}")), value)).unwrap();
        }
        let more = Change::new().put(&key("/more"), vec![0; 4096]);
        assert_eq!(state.check(&more), Err(Error::Refused("the store is full".into())));
        apply(&mut state, Change::new().delete(&key("/1"))).unwrap();
        apply(&mut state, more).unwrap();
    }
}
