//! What one probe found.

use pando_kernel::health::Vitals;
use pando_kernel::route::UnitName;

use crate::Moment;

/// What one probe of a unit found.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The storage unit.
    pub unit: UnitName,
    /// When the probe ended. Of one unit they come in order.
    pub at: Moment,
    /// What it found.
    pub seen: Seen,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// The server answered.
    Answers(Box<Vitals>),
    /// It did not, or not in time: the reason.
    Silent(String),
}
