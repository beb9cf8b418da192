//! Health of storage units: probes that ask their servers, and pure decisions on what the answers mean.

mod board;
mod claim;
mod damper;
mod group;
mod happening;
mod memory;
mod moment;
mod observation;
mod probe;
mod prober;
mod reads;
mod settings;
mod trail;
mod unit;
mod verdict;

pub use board::{Board, Change, Report, State};
pub use group::Group;
pub use happening::Happening;
pub use memory::Memory;
pub use moment::Moment;
pub use observation::{Observation, Seen};
pub use prober::{Probed, Prober, Tell};
pub use settings::Settings;
pub use unit::{Standing, UnitState};
pub use verdict::Verdict;
