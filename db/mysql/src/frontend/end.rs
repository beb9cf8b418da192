//! Why a client's connection ends.

use std::io;

use bytes::Bytes;

/// Why a client's connection ends.
#[derive(Debug)]
pub(super) enum End {
    /// The client said good-bye.
    Quit,
    /// The connection broke, or the client takes or sends nothing any more.
    Gone(io::Error),
    /// Not yet: the client wants to be someone else. The payload of its COM_CHANGE_USER.
    ChangeUser(Bytes),
    /// The client was told in an ERR packet.
    Told(String),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}
