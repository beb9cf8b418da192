//! How a conversation, or one request of it, comes to its end.

use std::io;

use pando_kernel::{Error, ErrorKind, ServerError};

use crate::codec::Malformed;

/// Why a client's connection is closed.
#[derive(Debug)]
pub(super) enum End {
    /// The client said good-bye, or asked for nothing more.
    Quit,
    /// The client is gone without a word.
    Gone(io::Error),
    /// The client was told why.
    Told(String),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Gone(error)
    }
}

/// Why a request stops.
#[derive(Debug)]
pub(super) enum Halt {
    /// The request failed; the client is told, and the conversation goes on when it can.
    Failed(Error),
    /// The conversation ends.
    End(End),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Failed(error)
    }
}

impl From<End> for Halt {
    fn from(end: End) -> Halt {
        Halt::End(end)
    }
}

impl From<Malformed> for Halt {
    fn from(malformed: Malformed) -> Halt {
        Halt::Failed(malformed.into())
    }
}

/// An error of the door's own, in PostgreSQL's words.
pub(super) fn own(sqlstate: &str, message: String) -> Error {
    Error::new(ErrorKind::Server(Box::new(ServerError {
        sqlstate: sqlstate.to_owned(),
        message,
        severity: "ERROR".into(),
        ..ServerError::default()
    })))
}
