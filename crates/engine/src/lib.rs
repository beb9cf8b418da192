//! The straight line: plan, execute, merge. Names no feature and no vendor, opens no socket.

mod alone;
mod bulk;
mod catalog;
mod execute;
mod handle;
mod house;
pub mod merge;
mod moved;
pub mod plan;
mod registry;
mod session;
mod snapshot;
mod source;
mod tables;
mod templates;
mod variables;

pub use house::Engine;
pub use session::Session;
pub use snapshot::{Admits, LiveDatabase, Settings, Snapshot};
pub use tables::UnitTable;
