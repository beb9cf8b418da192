//! Errors of what is configured.

use pando_kernel::error::{Error, ErrorKind};

/// One that names no place in a file.
pub(crate) fn configuration(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Configuration(message.into()))
}
