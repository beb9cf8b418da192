//! The straight line: plan, execute, merge. Names no feature and no vendor, opens no socket.

mod alone;
mod aside;
mod bulk;
mod catalog;
mod doubts;
mod effects;
mod execute;
mod handle;
mod house;
mod lingering;
pub mod merge;
mod moved;
pub mod placement;
pub mod plan;
mod readiness;
mod reading;
mod recovery;
mod registry;
mod session;
mod snapshot;
mod source;
mod tables;
mod templates;
mod variables;
mod waiting;

pub use house::Engine;
pub use session::Session;
pub use snapshot::{Admits, LiveDatabase, Settings, Snapshot};
pub use tables::UnitTable;
