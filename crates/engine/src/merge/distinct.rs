//! Equal rows dropped.

use std::collections::HashSet;
use std::sync::Arc;

use pando_kernel::error::Result;

use super::aggregate::ENTRY;
use super::key::{self, Key, KeySpec};
use super::limit::Budget;
use super::row::{Layout, Row};

/// Remembers rows only as long as an equal one may still come: while the sort keys that are also distinct keys stay the same.
#[derive(Debug)]
pub(super) struct Unique {
    keys: Vec<KeySpec>,
    /// The first of the keys that rows are sorted by, as far as they are distinct keys.
    scope: Vec<KeySpec>,
    /// The scope holds all distinct keys: a row in the same scope is an equal row.
    covered: bool,
    current: Option<Arc<[Key]>>,
    seen: HashSet<Vec<u8>>,
    held: usize,
}

impl Unique {
    /// Tells rows apart by `keys`; they come sorted by `sorted`.
    pub(super) fn new(keys: Vec<KeySpec>, sorted: &[KeySpec]) -> Self {
        let known = |spec: &&KeySpec| !spec.loose && keys.iter().any(|key| key.same(spec));
        let scope: Vec<KeySpec> = sorted.iter().take_while(known).cloned().collect();
        let covered = keys.iter().all(|key| scope.iter().any(|spec| spec.same(key)));
        Self { keys, scope, covered, current: None, seen: HashSet::new(), held: 0 }
    }

    /// Whether no equal row came before.
    ///
    /// # Errors
    /// `Memory`, and what reading the row says.
    pub(super) fn is_new(
        &mut self,
        row: &Row,
        layout: &mut Layout,
        budget: &mut Budget,
    ) -> Result<bool> {
        let same = self
            .current
            .as_ref()
            .is_some_and(|current| key::order(&self.scope, current, &row.keys).is_eq());
        if !same {
            self.current = Some(Arc::clone(&row.keys));
            self.seen.clear();
            budget.give(std::mem::take(&mut self.held));
        }
        if self.covered {
            return Ok(!same);
        }
        let bytes = key::canonical(layout.keys(row, &self.keys)?.iter());
        let size = bytes.len() + ENTRY;
        if !self.seen.insert(bytes) {
            return Ok(false);
        }
        self.held += size;
        budget.take(size)?;
        Ok(true)
    }
}
