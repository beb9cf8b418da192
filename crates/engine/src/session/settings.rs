//! What a session has set: variables, and what its open transaction takes back of them.

use crate::variables::Variables;

use super::marks::Mark;

/// What a session has set.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) variables: Variables,
    /// As they were when the open transaction began.
    pub(super) at_begin: Option<Variables>,
    /// What was set when savepoints were made, where ROLLBACK TO takes back what was set after.
    pub(super) savepoints: Vec<Mark>,
    /// How often anything was set inside transactions: more than at a savepoint means that something was set after it.
    pub(super) count: u64,
    /// SET LOCAL texts of the open transaction, for units enlisted later.
    pub(super) local: Vec<String>,
}
