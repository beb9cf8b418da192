//! What is decided for a group.

use std::collections::BTreeSet;

use pando_kernel::route::UnitName;

use crate::Moment;

/// What is decided for a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Who takes its writes; never two, and nobody rather than the wrong one.
    pub primary: Option<UnitName>,
    /// Why it is so.
    pub why: String,
    /// Since when; `None` while it is as configured.
    pub since: Option<Moment>,
    /// Members that claim to lead beside the primary; nothing is sent to them.
    pub split: BTreeSet<UnitName>,
}
