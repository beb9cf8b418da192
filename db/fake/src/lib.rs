//! A scripted storage unit in memory, and a runtime seam with virtual time: what tests of the pool, the planner and the engine stand on.

mod backend;
mod dialect;
mod error;
mod presentation;
pub mod room;
mod runtime;
mod script;
mod source;
mod types;
mod unit;

pub use dialect::{BACKTICK, FakeDialect, STANDARD, WHAT_HAS_EFFECTS, WHO_ARE_YOU, WHO_WAITS};
pub use error::server_error;
pub use runtime::{FakeRuntime, poll_once};
pub use script::Reply;
pub use source::Still;
pub use types::{columns, kind_from_name, kind_name, neutral_rows, table_column};
pub use unit::{Connections, Connects, Received, Unit};
