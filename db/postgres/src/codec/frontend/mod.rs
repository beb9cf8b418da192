//! What a client sends after its first packet.

mod bind;
mod execute;
mod named;
mod parse;
mod password;
mod query;

use bytes::BytesMut;

use super::{Fault, Malformed, Reader, tagged};

pub use bind::{Bind, Binding, Values, put};
pub use execute::Execute;
pub use named::{Close, Describe, Named};
pub use parse::Parse;
pub use password::{SaslInitial, encode_password, encode_sasl, password};
pub use query::Query;

/// One message of a client, borrowed from its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frontend<'a> {
    /// A text with any number of statements.
    Query(Query<'a>),
    /// Prepare a statement.
    Parse(Parse<'a>),
    /// Make a portal of a statement and values.
    Bind(Bind<'a>),
    /// Ask for the parameters and columns of a statement or portal.
    Describe(Describe<'a>),
    /// Run a portal.
    Execute(Execute<'a>),
    /// Forget a statement or portal.
    Close(Close<'a>),
    /// Send what is waiting, without ending the pipeline.
    Flush,
    /// End of a pipeline: commit or recover, then ReadyForQuery.
    Sync,
    /// PasswordMessage, SASLInitialResponse, SASLResponse or GSSResponse: only the state of the
    /// login tells which, so the body stays as it is.
    Password(&'a [u8]),
    /// Data of COPY FROM.
    CopyData(&'a [u8]),
    /// The end of the data.
    CopyDone,
    /// The data cannot be completed; the reason.
    CopyFail(&'a str),
    /// The old fast-path call, which is refused: it names functions by oid, which differ between
    /// servers.
    FunctionCall,
    /// The client leaves.
    Terminate,
}

impl<'a> Frontend<'a> {
    /// Decodes the body of a frame with tag `tag`.
    ///
    /// # Errors
    /// An unknown tag or a body that breaks the protocol.
    pub fn decode(tag: u8, body: &'a [u8]) -> Result<Frontend<'a>, Malformed> {
        let empty = |name, message| Reader::new(name, body).end().map(|()| message);
        match tag {
            b'Q' => Query::decode(body).map(Frontend::Query),
            b'P' => Parse::decode(body).map(Frontend::Parse),
            b'B' => Bind::decode(body).map(Frontend::Bind),
            b'D' => Describe::decode(body).map(Frontend::Describe),
            b'E' => Execute::decode(body).map(Frontend::Execute),
            b'C' => Close::decode(body).map(Frontend::Close),
            b'H' => empty("Flush", Frontend::Flush),
            b'S' => empty("Sync", Frontend::Sync),
            b'X' => empty("Terminate", Frontend::Terminate),
            b'c' => empty("CopyDone", Frontend::CopyDone),
            b'd' => Ok(Frontend::CopyData(body)),
            b'p' => Ok(Frontend::Password(body)),
            b'F' => Ok(Frontend::FunctionCall),
            b'f' => {
                let mut reader = Reader::new("CopyFail", body);
                let reason = reader.text()?;
                reader.end().map(|()| Frontend::CopyFail(reason))
            }
            other => Err(Malformed::new("frontend", Fault::UnknownTag(other))),
        }
    }
}

/// Appends a Flush frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-FLUSH>
pub fn encode_flush(buf: &mut BytesMut) {
    tagged(buf, b'H', |_| ());
}

/// Appends a Sync frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-SYNC>
pub fn encode_sync(buf: &mut BytesMut) {
    tagged(buf, b'S', |_| ());
}

/// Appends a Terminate frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-TERMINATE>
pub fn encode_terminate(buf: &mut BytesMut) {
    tagged(buf, b'X', |_| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_a_body_have_these_bytes() {
        let mut buf = BytesMut::new();
        encode_flush(&mut buf);
        encode_sync(&mut buf);
        encode_terminate(&mut buf);
        assert_eq!(&buf[..], b"H\0\0\0\x04S\0\0\0\x04X\0\0\0\x04");
        assert_eq!(Frontend::decode(b'S', b""), Ok(Frontend::Sync));
        let fault = Frontend::decode(b'S', b"x").map_err(|error| error.fault);
        assert_eq!(fault, Err(Fault::Trailing));
    }

    #[test]
    fn an_unknown_tag_is_refused() {
        let fault = Frontend::decode(b'!', b"").map_err(|error| error.fault);
        assert_eq!(fault, Err(Fault::UnknownTag(b'!')));
    }

    #[test]
    fn a_copy_failure_carries_its_reason() {
        assert_eq!(Frontend::decode(b'f', b"no\0"), Ok(Frontend::CopyFail("no")));
        assert!(Frontend::decode(b'f', b"no").is_err());
    }
}
