//! ReadyForQuery: the server waits for the next request.

use bytes::{BufMut, BytesMut};

use crate::codec::{Fault, Malformed, Reader, tagged};

/// ReadyForQuery.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-READYFORQUERY>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyForQuery(
    /// Where the session stands.
    pub Status,
);

/// Where a session stands between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Transaction,
    /// A transaction is open and has failed; only its end is taken.
    Failed,
}

impl ReadyForQuery {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &[u8]) -> Result<ReadyForQuery, Malformed> {
        let mut reader = Reader::new("ReadyForQuery", body);
        let status = match reader.u8()? {
            b'I' => Status::Idle,
            b'T' => Status::Transaction,
            b'E' => Status::Failed,
            _ => return reader.fail(Fault::BadCode),
        };
        reader.end().map(|()| ReadyForQuery(status))
    }

    /// Appends the frame.
    pub fn encode(self, buf: &mut BytesMut) {
        let status = match self.0 {
            Status::Idle => b'I',
            Status::Transaction => b'T',
            Status::Failed => b'E',
        };
        tagged(buf, b'Z', |buf| buf.put_u8(status));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_states_have_these_bytes_and_come_back() {
        for (status, byte) in
            [(Status::Idle, b'I'), (Status::Transaction, b'T'), (Status::Failed, b'E')]
        {
            let mut buf = BytesMut::new();
            ReadyForQuery(status).encode(&mut buf);
            assert_eq!(&buf[..], [b'Z', 0, 0, 0, 5, byte]);
            assert_eq!(ReadyForQuery::decode(&buf[5..]), Ok(ReadyForQuery(status)));
        }
        assert!(ReadyForQuery::decode(b"X").is_err());
        assert!(ReadyForQuery::decode(b"").is_err());
        assert!(ReadyForQuery::decode(b"II").is_err());
    }
}
