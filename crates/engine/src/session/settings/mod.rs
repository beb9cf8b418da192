//! What a session has set: variables, and what its open transaction takes back of them.

pub(in crate::session) mod expression;
pub(in crate::session) mod reset;
pub(in crate::session) mod savepoints;
pub(in crate::session) mod set;
pub(in crate::session) mod set_config;

use crate::variables::Variables;

use crate::session::settings::savepoints::Mark;

/// What a session has set.
#[derive(Debug, Default)]
pub(in crate::session) struct Settings {
    pub(in crate::session) variables: Variables,
    /// As they were when the open transaction began.
    pub(in crate::session) at_begin: Option<Variables>,
    /// What was set when savepoints were made, where ROLLBACK TO takes back what was set after.
    pub(in crate::session) savepoints: Vec<Mark>,
    /// How often anything was set inside transactions: more than at a savepoint means that something was set after it.
    pub(in crate::session) count: u64,
    /// SET LOCAL texts of the open transaction, for units enlisted later.
    pub(in crate::session) local: Vec<String>,
}
