//! What a deliberately broken build leaves out, so that it is known that `testing/programs/histories` would notice.
//!
//! Only a build with the feature `broken`, which nothing turns on by itself, asks the environment variable PANDO_BROKEN for it. In any other build
//! [`lacks`] is a constant: not even the variable's name is in the binary.

use std::time::Duration;

/// Rather longer than all the rest of a transaction.
pub(crate) const LINGER: Duration = Duration::from_millis(50);

/// Something without which XA breaks its promises. PANDO_BROKEN names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// `barrier`: snapshots of several units and commits keep out of each other's way.
    Barrier,
    /// `halves`: what the deciding unit has committed, the others commit as well.
    Halves,
    /// `decision`: the ledger tells who comes later that the transaction was committed. That matters when a coordinator dies before it has told the other
    /// units, so it waits for `LINGER` there.
    Decision,
    /// `serial`: SERIALIZABLE transactions of servers that do not lock have one order on all units.
    Serial,
}

/// Whether this process does without it.
#[cfg(not(feature = "broken"))]
pub const fn lacks(_: Need) -> bool {
    false
}

/// Whether this process does without it.
#[cfg(feature = "broken")]
pub fn lacks(need: Need) -> bool {
    let name = match need {
        Need::Barrier => "barrier",
        Need::Halves => "halves",
        Need::Decision => "decision",
        Need::Serial => "serial",
    };
    std::env::var_os("PANDO_BROKEN").is_some_and(|said| said == name)
}
