//! The connection to a PostgreSQL storage unit.

mod cancel;
mod connection;
mod connector;
mod describe;
mod job;
mod lifted;
mod login;
mod options;
mod prove;
mod reply;
mod request;
mod reset;
mod statements;
mod whole;
mod wire;

use pando_kernel::{Error, ErrorKind};

pub use connector::PostgresConnector;
pub use options::{ChannelBinding, Methods, Options};

/// The server cannot be reached, or the connection to it is lost.
fn unavailable(unit: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable { unit: unit.to_owned(), message: message.into() })
}
