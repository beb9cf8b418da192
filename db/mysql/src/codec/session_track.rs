//! Session state changes inside an OK packet.

use bytes::BytesMut;

use super::malformed::Malformed;
use super::reader::Reader;
use super::writer::{put_lenenc_bytes, put_lenenc_int};
use bytes::BufMut;

const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;
const GTIDS: u8 = 3;
const TRANSACTION_CHARACTERISTICS: u8 = 4;
const TRANSACTION_STATE: u8 = 5;

/// One change of the session's state.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionChange<'a> {
    /// A system variable has a new value.
    Variable {
        /// Its name.
        name: &'a [u8],
        /// Its new value.
        value: &'a [u8],
    },
    /// The current database, empty when none.
    Schema(&'a [u8]),
    /// Whether anything changed that the session cannot be moved without.
    StateChanged(&'a [u8]),
    /// GTIDs of the last transaction, after the encoding byte.
    Gtids(&'a [u8]),
    /// The statements that would start an equal transaction.
    TransactionCharacteristics(&'a [u8]),
    /// Eight letters telling what the transaction did, such as `T_______`.
    TransactionState(&'a [u8]),
    /// A kind this code does not know, with its content.
    Unknown(u8, &'a [u8]),
}

/// The changes of one OK packet, read one by one.
#[derive(Debug, Clone)]
pub struct SessionChanges<'a> {
    block: Reader<'a>,
    variables: Reader<'a>,
}

impl<'a> SessionChanges<'a> {
    /// The changes in the block that an OK packet carries.
    pub fn new(block: &'a [u8]) -> Self {
        let message = "session state changes";
        Self { block: Reader::new(message, block), variables: Reader::new(message, &[]) }
    }

    fn read(&mut self) -> Result<Option<SessionChange<'a>>, Malformed> {
        loop {
            if !self.variables.is_empty() {
                let name = self.variables.lenenc_bytes("variable name")?;
                let value = self.variables.lenenc_bytes("variable value")?;
                return Ok(Some(SessionChange::Variable { name, value }));
            }
            if self.block.is_empty() {
                return Ok(None);
            }
            let kind = self.block.u8("kind")?;
            let data = self.block.lenenc_bytes("data")?;
            let mut reader = Reader::new("session state changes", data);
            return Ok(Some(match kind {
                SYSTEM_VARIABLES => {
                    self.variables = reader;
                    continue;
                }
                SCHEMA => SessionChange::Schema(reader.lenenc_bytes("schema")?),
                STATE_CHANGE => SessionChange::StateChanged(reader.lenenc_bytes("state")?),
                GTIDS => {
                    reader.u8("GTID encoding")?;
                    SessionChange::Gtids(reader.lenenc_bytes("GTIDs")?)
                }
                TRANSACTION_CHARACTERISTICS => SessionChange::TransactionCharacteristics(
                    reader.lenenc_bytes("transaction characteristics")?,
                ),
                TRANSACTION_STATE => {
                    SessionChange::TransactionState(reader.lenenc_bytes("transaction state")?)
                }
                kind => SessionChange::Unknown(kind, data),
            }));
        }
    }
}

impl<'a> Iterator for SessionChanges<'a> {
    type Item = Result<SessionChange<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.read().transpose();
        if matches!(item, Some(Err(_))) {
            *self = Self::new(&[]);
        }
        item
    }
}

impl SessionChange<'_> {
    /// Appends the change to an OK packet's block.
    pub fn encode(&self, out: &mut BytesMut) {
        let mut data = BytesMut::new();
        let kind = match self {
            Self::Variable { name, value } => {
                put_lenenc_bytes(&mut data, name);
                put_lenenc_bytes(&mut data, value);
                SYSTEM_VARIABLES
            }
            Self::Schema(name) => {
                put_lenenc_bytes(&mut data, name);
                SCHEMA
            }
            Self::StateChanged(state) => {
                put_lenenc_bytes(&mut data, state);
                STATE_CHANGE
            }
            Self::Gtids(gtids) => {
                data.put_u8(0);
                put_lenenc_bytes(&mut data, gtids);
                GTIDS
            }
            Self::TransactionCharacteristics(text) => {
                put_lenenc_bytes(&mut data, text);
                TRANSACTION_CHARACTERISTICS
            }
            Self::TransactionState(state) => {
                put_lenenc_bytes(&mut data, state);
                TRANSACTION_STATE
            }
            Self::Unknown(kind, content) => {
                data.put_slice(content);
                *kind
            }
        };
        out.put_u8(kind);
        put_lenenc_int(out, data.len() as u64);
        out.put_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_every_kind_come_back_and_cuts_are_refused() {
        let changes = [
            SessionChange::Variable { name: b"autocommit", value: b"OFF" },
            SessionChange::Schema(b"test"),
            SessionChange::StateChanged(b"1"),
            SessionChange::Gtids(b"0-1-2"),
            SessionChange::TransactionCharacteristics(b"START TRANSACTION;"),
            SessionChange::TransactionState(b"T_______"),
            SessionChange::Unknown(77, b"xyz"),
        ];
        for change in changes {
            let mut out = BytesMut::new();
            change.encode(&mut out);
            assert_eq!(SessionChanges::new(&out).map(Result::unwrap).collect::<Vec<_>>(), [change]);
            for cut in 1..out.len() {
                let last = SessionChanges::new(&out[..cut]).last();
                assert!(matches!(last, Some(Err(_))), "{change:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn one_block_may_hold_several_variables() {
        let block = [0, 8, 1, b'a', 1, b'b', 1, b'c', 1, b'd', 1, 2, 1, b's'];
        let names: Vec<_> = SessionChanges::new(&block).map(Result::unwrap).collect();
        assert_eq!(
            names,
            [
                SessionChange::Variable { name: b"a", value: b"b" },
                SessionChange::Variable { name: b"c", value: b"d" },
                SessionChange::Schema(b"s"),
            ]
        );
    }
}
