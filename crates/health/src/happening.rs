//! What has happened, for the log.

use std::fmt;

use pando_kernel::health::Role;
use pando_kernel::route::UnitName;

/// Something worth a line in the log. Each is told once, when it comes to be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A storage unit answers.
    Up {
        /// The unit.
        unit: UnitName,
        /// What it says it is.
        role: Role,
    },
    /// A storage unit does not answer any more.
    Down {
        /// The unit.
        unit: UnitName,
        /// What the last probe met.
        why: String,
    },
    /// A storage unit says that it is something else now.
    Role {
        /// The unit.
        unit: UnitName,
        /// What it said before.
        from: Role,
        /// What it says now.
        to: Role,
    },
    /// A storage unit refused to tell something.
    Untold {
        /// The unit.
        unit: UnitName,
        /// What, and why.
        what: String,
    },
    /// Another member takes a group's writes, or one does again.
    Primary {
        /// The group.
        group: UnitName,
        /// Who took them last.
        from: UnitName,
        /// Who takes them now.
        to: UnitName,
        /// Why.
        why: String,
    },
    /// Nobody takes a group's writes.
    NoPrimary {
        /// The group.
        group: UnitName,
        /// Why.
        why: String,
    },
    /// A member claims to be primary beside the one that is.
    SplitBrain {
        /// The group.
        group: UnitName,
        /// The member that is left out.
        unit: UnitName,
    },
    /// A member belongs to another cluster: it will not become primary.
    Foreign {
        /// The group.
        group: UnitName,
        /// The member.
        unit: UnitName,
    },
    /// A member answers a group's reads again.
    Reads {
        /// The group.
        group: UnitName,
        /// The member.
        unit: UnitName,
    },
    /// A member does not answer a group's reads any more.
    Unread {
        /// The group.
        group: UnitName,
        /// The member.
        unit: UnitName,
        /// Why.
        why: String,
    },
}

impl Happening {
    /// Whether it is something that somebody should look at.
    pub fn is_bad(&self) -> bool {
        match self {
            Self::Down { .. }
            | Self::Untold { .. }
            | Self::NoPrimary { .. }
            | Self::SplitBrain { .. }
            | Self::Foreign { .. }
            | Self::Unread { .. } => true,
            Self::Up { .. } | Self::Role { .. } | Self::Primary { .. } | Self::Reads { .. } => {
                false
            }
        }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Up { unit, role } => {
                write!(f, "storage unit `{unit}` answers, its role is {role}")
            }
            Self::Down { unit, why } => write!(f, "storage unit `{unit}` does not answer: {why}"),
            Self::Role { unit, from, to } => {
                write!(f, "storage unit `{unit}` was {from} and is {to} now")
            }
            Self::Untold { unit, what } => {
                write!(f, "storage unit `{unit}` does not tell everything: {what}")
            }
            Self::Primary { group, from, to, why } if from == to => {
                write!(f, "storage unit `{to}` takes the writes of group `{group}` again: {why}")
            }
            Self::Primary { group, from, to, why } => write!(
                f,
                "storage unit `{to}` takes the writes of group `{group}` in place of `{from}`: {why}"
            ),
            Self::NoPrimary { group, why } => {
                write!(f, "group `{group}` has no primary, its writes are refused: {why}")
            }
            Self::SplitBrain { group, unit } => write!(
                f,
                "storage unit `{unit}` claims to be a primary of group `{group}` beside another one: it is left out of writes and reads"
            ),
            Self::Foreign { group, unit } => write!(
                f,
                "storage unit `{unit}` belongs to another cluster than group `{group}`: it will not take its writes"
            ),
            Self::Reads { group, unit } => {
                write!(f, "storage unit `{unit}` answers reads of group `{group}` again")
            }
            Self::Unread { group, unit, why } => {
                write!(f, "storage unit `{unit}` answers no reads of group `{group}`: {why}")
            }
        }
    }
}
