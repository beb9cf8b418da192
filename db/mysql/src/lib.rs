//! MySQL and MariaDB: the wire codec, the door towards clients, the connection to storage units, types, errors and dialect.

pub mod auth;
pub mod codec;
pub mod error;
pub mod row;
pub mod types;
