//! Why the uses of a statement are not known.

use pando_kernel::route::Need;

/// Why there is no list of uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// This must be found out first.
    Need(Need),
    /// A use may be hidden from the analysis: the statement is to be refused.
    Unclear {
        /// The reason, in the words of a refusal: lower case, no full stop.
        why: String,
    },
    /// No table of the statement has a column of this name: its server would refuse it.
    Unknown {
        /// The name.
        column: String,
    },
}

impl Stop {
    /// Unclear, for this reason.
    pub(crate) fn unclear(why: impl Into<String>) -> Self {
        Self::Unclear { why: why.into() }
    }
}
