//! PostgreSQL: its wire protocol, its types and errors, and both ends of a connection.

pub mod auth;
pub mod codec;
pub mod error;
pub mod row;
pub mod types;
