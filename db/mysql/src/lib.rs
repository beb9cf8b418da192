//! MySQL and MariaDB: the wire codec, the door towards clients, the connection to storage units, types, errors and dialect.

pub mod auth;
pub mod backend;
mod catalog;
pub mod codec;
pub mod dialect;
pub mod error;
pub mod frontend;
mod guard;
mod modes;
pub mod row;
pub mod types;

pub use backend::{MySqlConnector, Options};
pub use dialect::MySql;
pub use frontend::Door;
