//! The straight line: plan, execute, merge. Names no feature and no vendor, opens no socket.

mod aside;
mod catalog;
mod channels;
mod clock;
mod copy_rows;
mod counters;
mod doubts;
mod effects;
mod evaluate;
mod execute;
mod handle;
mod homes;
mod house;
mod lingering;
mod meant;
pub mod merge;
mod oids;
mod own_columns;
pub mod placement;
pub mod plan;
mod readiness;
mod reading;
mod recovery;
mod registry;
mod rule_change;
mod schemas;
mod session;
mod snapshot;
mod templates;
mod unit_tables;
mod variables;
mod waiting;

pub use house::Engine;
pub use session::Session;
pub use snapshot::{Admits, LiveDatabase, Settings, Snapshot};
pub use unit_tables::UnitTable;
