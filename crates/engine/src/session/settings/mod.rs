//! What a session has set: variables, and what its open transaction takes back of them; what sequences have told it.

pub(in crate::session) mod alone;
pub(in crate::session) mod for_statement;
pub(in crate::session) mod local_roles;
pub(in crate::session) mod modes;
pub(in crate::session) mod savepoints;
pub(in crate::session) mod sequence_values;
pub(in crate::session) mod shown;
pub(in crate::session) mod value_text;

use pando_kernel::dialect::CLIENT_LANGUAGE;

use crate::variables::Variables;

use crate::session::settings::for_statement::Worn;
use crate::session::settings::local_roles::LocalRole;
use crate::session::settings::savepoints::Mark;
use crate::session::settings::sequence_values::SequenceValues;
use crate::session::settings::shown::Shown;

/// What a session has set.
#[derive(Debug, Default)]
pub(in crate::session) struct Settings {
    variables: Variables,
    /// As they were when the open transaction began.
    at_begin: Option<Variables>,
    /// What was set when savepoints were made, where ROLLBACK TO takes back what was set after.
    savepoints: Vec<Mark>,
    /// How often anything was set inside transactions: more than at a savepoint means that something was set after it.
    count: u64,
    /// SET LOCAL texts of the open transaction, for units enlisted later.
    local: Vec<String>,
    /// What SET LOCAL said of whose rights count, and what was said of that behind it.
    local_roles: Vec<LocalRole>,
    /// Where variables were set for a statement of the open transaction.
    worn: Option<Worn>,
    shown: Shown,
    sequence_values: SequenceValues,
}

impl Settings {
    pub(in crate::session) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// SET LOCAL texts of the open transaction, for units enlisted later.
    pub(in crate::session) fn local(&self) -> &[String] {
        &self.local
    }

    /// What the client is told of them.
    pub(in crate::session) fn shown_mut(&mut self) -> &mut Shown {
        &mut self.shown
    }

    /// What sequences have told it.
    pub(in crate::session) fn sequence_values_mut(&mut self) -> &mut SequenceValues {
        &mut self.sequence_values
    }

    /// What is set is taken back at a return to one of the transaction's savepoints.
    pub(in crate::session) fn has_savepoints(&self) -> bool {
        !self.savepoints.is_empty()
    }

    /// The variables as they were when the open transaction began.
    pub(in crate::session) fn before_transaction(&self) -> Option<&Variables> {
        self.at_begin.as_ref()
    }

    /// A transaction begins, with which all that is set in it may be taken back.
    pub(in crate::session) fn transaction_begins(&mut self) {
        self.at_begin = Some(self.variables.clone());
        self.are_worn();
        self.shown.transaction_begins();
    }

    /// Forgets what was the transaction's. Returns the variables as they were when it began.
    pub(in crate::session) fn transaction_ends(&mut self) -> Option<Variables> {
        self.local.clear();
        self.savepoints.clear();
        self.worn = None;
        self.local_roles.clear();
        self.shown.transaction_ends();
        self.sequence_values.transaction_ends();
        self.at_begin.take()
    }

    pub(in crate::session) fn go_back_to(&mut self, variables: Variables) {
        self.variables = variables;
    }

    /// Something was set in the transaction, for the time that it takes.
    pub(in crate::session) fn is_set_locally(&mut self, text: &str) {
        self.count += 1;
        self.local.push(text.to_owned());
    }

    /// Something was set in the transaction that outlives it. Behind what is set for its time it is what holds.
    pub(in crate::session) fn is_set(&mut self, text: &str) {
        self.count += 1;
        if !self.local.is_empty() {
            self.local.push(text.to_owned());
        }
    }

    /// The same of what no unit hears of.
    pub(in crate::session) fn is_set_here(&mut self) {
        self.count += 1;
    }

    /// What the client is told of them that holds now.
    pub(in crate::session) fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Sets all variables anew. Returns those before.
    pub(in crate::session) fn exchange(&mut self, variables: Variables) -> Variables {
        std::mem::replace(&mut self.variables, variables)
    }

    /// Forgets a variable.
    pub(in crate::session) fn unset(&mut self, name: &str) {
        self.variables.unset(name);
    }

    /// Nothing is set any more.
    pub(in crate::session) fn forget(&mut self) {
        self.variables.clear();
        self.shown.unset_all();
    }

    /// Sets a variable that is known to fit.
    pub(in crate::session) fn keep(&mut self, name: &str, value: &str) {
        self.variables.set(name, value);
    }

    /// Units are told of the door's language where they take several.
    pub(in crate::session) fn speaks(&mut self, language: Option<&str>) {
        match language {
            Some(language) => self.keep(CLIENT_LANGUAGE, language),
            None => self.variables.unset(CLIENT_LANGUAGE),
        }
    }
}
