//! The connection to a MySQL or MariaDB storage unit.

mod cancel;
mod connection;
mod connector;
mod describe;
mod job;
mod lifted;
mod login;
mod old_names;
mod options;
mod reply;
mod request;
mod reset;
mod statements;
mod whole;
mod wire;

use pando_kernel::{Error, ErrorKind};

pub use connector::MySqlConnector;
pub use options::{Count, KeySource, Options};

/// The server cannot be reached, or the connection to it is lost.
fn unavailable(unit: &str, message: impl ToString) -> Error {
    Error::new(ErrorKind::Unavailable { unit: unit.to_owned(), message: message.to_string() })
}
