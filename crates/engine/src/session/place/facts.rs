//! What a session knows of itself and tells planning.

use std::sync::Arc;

use pando_kernel::dialect::Facts;

use crate::session::place::Place;

impl Place {
    /// What the session knows of itself and tells planning.
    pub(in crate::session) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// What it knew before statements that were none of the client's.
    pub(in crate::session) fn knows_again(&mut self, facts: Arc<Facts>) {
        self.facts = facts;
    }

    /// It knows of no statement before the next one.
    pub(in crate::session) fn forget_facts(&mut self) {
        let facts = self.facts_mut();
        facts.autocommit = true;
        facts.last_insert_id = 0;
        facts.told.clear();
    }

    /// What the session knows of itself, to be changed. Nobody else holds it between statements, so nothing is copied.
    pub(in crate::session) fn facts_mut(&mut self) -> &mut Facts {
        Arc::make_mut(&mut self.facts)
    }

    /// What `ROW_COUNT()` tells from now on: rows changed, or -1 after a statement that gives some or fails.
    /// <https://dev.mysql.com/doc/refman/8.0/en/information-functions.html#function_row-count>
    pub(in crate::session) fn counts_rows(&mut self, count: i64) {
        if self.facts.row_count != count {
            self.facts_mut().row_count = count;
        }
    }
}
