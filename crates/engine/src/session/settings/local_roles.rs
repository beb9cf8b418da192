//! Whose rights count within the open transaction alone, which Pando is asked for as for the session's own.

use std::sync::Arc;

use crate::session::settings::Settings;

/// A variable by which one has a role, with its value's text.
#[derive(Debug)]
pub(in crate::session) struct LocalRole {
    /// How many texts of SET LOCAL there are with it.
    behind: usize,
    name: String,
    value: String,
}

impl Settings {
    /// Such a variable was set: for the transaction, or behind that for the session. Its text is among the local ones.
    pub(in crate::session) fn has_role(&mut self, name: &str, value: &str) {
        let behind = self.local.len();
        if behind > 0 {
            let (name, value) = (name.to_owned(), value.to_owned());
            self.local_roles.push(LocalRole { behind, name, value });
        }
    }

    /// A return to a savepoint leaves so many local texts.
    pub(super) fn keep_local_roles(&mut self, locals: usize) {
        self.local_roles.retain(|role| role.behind <= locals);
    }

    /// Whether the transaction has roles of its own.
    pub(in crate::session) fn has_local_roles(&self) -> bool {
        !self.local_roles.is_empty()
    }

    /// The session's variables, and behind them the transaction's roles.
    pub(in crate::session) fn with_local_roles(&self) -> Arc<[(String, String)]> {
        let shared = self.variables.shared();
        if self.local_roles.is_empty() {
            return shared;
        }
        let local = self.local_roles.iter().map(|one| (one.name.clone(), one.value.clone()));
        shared.iter().cloned().chain(local).collect()
    }
}
