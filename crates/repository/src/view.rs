//! What a read gives.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::limits::{MAX_VIEW_BYTES, MAX_VIEW_KEYS};
use crate::{Error, Key, Lifetime, Result};

/// The moment of a change. Later changes have higher revisions; numbers in between may never be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

/// All keys at and below a prefix at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// Not lower than that of any entry. Session keys that went with their session need not have raised it.
    pub revision: Revision,
    /// In the order of the keys' bytes.
    pub entries: BTreeMap<Key, Entry>,
}

/// One key's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As it was put; may be empty.
    pub value: Bytes,
    /// Of the change that put it.
    pub revision: Revision,
    /// Whether it goes with the session of the instance that put it.
    pub lifetime: Lifetime,
}

impl View {
    /// Adds an entry while a repository gathers them; `bytes` counts what the view holds so far.
    ///
    /// # Errors
    /// `Refused` beyond [`MAX_VIEW_KEYS`] or [`MAX_VIEW_BYTES`].
    pub fn add(&mut self, key: Key, entry: Entry, bytes: &mut usize) -> Result<()> {
        *bytes += key.as_str().len() + entry.value.len();
        if *bytes > MAX_VIEW_BYTES || self.entries.len() >= MAX_VIEW_KEYS {
            let limit = format!("{MAX_VIEW_KEYS} keys or {MAX_VIEW_BYTES} bytes");
            return Err(Error::Refused(format!("there are more than {limit} below the prefix")));
        }
        self.entries.insert(key, entry);
        Ok(())
    }
}
