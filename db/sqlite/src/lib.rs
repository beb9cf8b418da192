//! SQLite as a storage unit inside the process: the embedded default, for both languages Pando speaks.

mod arguments;
mod arrays;
mod backend;
mod catalog;
mod compat;
mod connector;
mod dialect;
mod error;
mod functions;
mod guard;
mod infer;
mod line;
mod literal;
mod parameters;
mod pragma;
mod regexp;
mod run;
mod shape;
mod tongue;
mod types;
mod worker;

pub use connector::{SqliteConnector, connector};
pub use dialect::SqliteDialect;
pub use tongue::SYNTAX;
