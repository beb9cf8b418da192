//! What of the storage units' states concerns routing. Whoever builds a database's rooms gives it to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::route::UnitName;

/// The states of a database's storage units and groups. The default: all as configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct States {
    /// Storage units that a person took out of work: nothing is sent to them.
    pub disabled: BTreeSet<UnitName>,
    /// (group, storage unit): a person took the unit out of the group's reads.
    pub unread: BTreeSet<(UnitName, UnitName)>,
    /// Groups of which more is known than their configuration, by name.
    pub groups: BTreeMap<UnitName, GroupState>,
}

/// Who does what in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupState {
    /// Who takes writes.
    pub primary: Primary,
    /// The members that may answer reads, the primary among them or not.
    pub readable: BTreeSet<UnitName>,
    /// Members that took the writes before: a transaction that was begun on one of them can't go on.
    pub former: BTreeSet<UnitName>,
}

/// Who takes the writes of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Primary {
    /// This member.
    Unit(UnitName),
    /// Nobody: writes are refused.
    Nobody {
        /// Why, and since when; for the client: `storage unit … does not answer since …`.
        why: String,
    },
}
