//! What a transaction of type BASE has changed, as far as it can be taken back.

use pando_base::Global;

/// What the open transaction has done.
#[derive(Debug, Default)]
pub(in crate::session) struct Base {
    /// `None` before its first change.
    pub(super) global: Option<Global>,
    /// Each with the number of the last statement before it.
    pub(super) savepoints: Vec<(String, u64)>,
}

impl Base {
    /// Whether something was changed, or begun to be.
    pub(in crate::session) fn has_changed(&self) -> bool {
        self.global.is_some()
    }

    /// The number of the last statement that has changed something; 0 before the first.
    pub(in crate::session) fn statement(&self) -> u64 {
        self.global.as_ref().map_or(0, Global::statement)
    }

    /// What was changed; `None` before the first change.
    pub(in crate::session) fn global(&self) -> Option<&Global> {
        self.global.as_ref()
    }

    pub(in crate::session) fn global_mut(&mut self) -> Option<&mut Global> {
        self.global.as_mut()
    }

    /// The first change is about to be made.
    pub(in crate::session) fn begins(&mut self, global: Global) {
        self.global = Some(global);
    }

    /// Sets a savepoint.
    pub(in crate::session) fn savepoint(&mut self, name: &str) {
        let statement = self.statement();
        self.savepoints.push((name.to_owned(), statement));
    }

    /// Another savepoint takes the place of this one.
    pub(in crate::session) fn gives_up(&mut self, name: &str) {
        self.savepoints.retain(|(known, _)| known != name);
    }

    /// Forgets a savepoint and all after it.
    pub(in crate::session) fn release(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|(known, _)| known == name) {
            self.savepoints.truncate(at);
        }
    }
}
