//! Equal rows dropped.

use std::collections::HashSet;

use pando_kernel::error::Result;

use super::aggregate::ENTRY;
use super::key::{self, KeySpec};
use super::limit::Budget;
use super::row::{Layout, Row};

/// Remembers rows only as long as an equal one may still come: while the sort keys that are also distinct keys stay the same.
#[derive(Debug)]
pub(super) struct Unique {
    keys: Vec<KeySpec>,
    /// How many of the first keys that rows are sorted by are distinct keys.
    scope: usize,
    /// The scope holds all distinct keys: a row in the same scope is an equal row.
    covered: bool,
    /// A row has come.
    begun: bool,
    seen: HashSet<Vec<u8>>,
    held: usize,
}

impl Unique {
    /// Tells rows apart by `keys`; they come sorted by `sorted`.
    pub(super) fn new(keys: Vec<KeySpec>, sorted: &[KeySpec]) -> Self {
        let known = |spec: &&KeySpec| !spec.loose && keys.iter().any(|key| key.same(spec));
        let scope = sorted.iter().take_while(known).count();
        let within = |key: &KeySpec| sorted.iter().take(scope).any(|spec| spec.same(key));
        let covered = keys.iter().all(within);
        Self { keys, scope, covered, begun: false, seen: HashSet::new(), held: 0 }
    }

    /// Whether no equal row came before. To be asked of every row that is sorted, in order.
    ///
    /// # Errors
    /// `Memory`, and what reading the row says.
    pub(super) fn is_new(
        &mut self,
        row: &Row,
        layout: &mut Layout,
        budget: &mut Budget,
    ) -> Result<bool> {
        let same = std::mem::replace(&mut self.begun, true) && row.equal >= self.scope;
        if !same {
            self.seen.clear();
            budget.give(std::mem::take(&mut self.held));
        }
        if self.covered {
            return Ok(!same);
        }
        let bytes = key::canonical(&layout.changed_keys(row, &self.keys)?);
        let size = bytes.len() + ENTRY;
        if !self.seen.insert(bytes) {
            return Ok(false);
        }
        self.held += size;
        budget.take(size)?;
        Ok(true)
    }
}
