//! PostgreSQL: its wire protocol, its types and errors, and both ends of a connection.

pub mod auth;
pub mod backend;
mod catalog;
pub mod codec;
mod defaults;
pub mod dialect;
mod encoding;
pub mod error;
pub mod frontend;
mod guard;
mod position;
pub mod row;
pub mod types;

pub use backend::{ChannelBinding, Methods, Options, PostgresConnector};
pub use dialect::Postgres;
