//! Executions as commands.

use bytes::{BufMut, BytesMut};
use pando_kernel::{Error, ErrorKind, Parameter, Result};

use super::connection::Connection;
use super::job::{Stage, Work};
use super::statements::Suits;
use crate::codec::{CommandCode, Query};
use crate::types::{ColumnType, put_parameter};

/// The protocol's own bound on a packet, in bytes.
const MAX_COMMAND: usize = 1 << 30;

/// Whether what is to be executed can be sent at all.
///
/// # Errors
/// `TooLarge`.
pub(super) fn check(work: &Work) -> Result<()> {
    match size(work) < MAX_COMMAND {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::TooLarge("a statement exceeds 1 GiB".into()))),
    }
}

impl Connection {
    /// Appends one command, whose packets start at sequence number 0.
    pub(super) fn command(&mut self, fill: impl FnOnce(&mut BytesMut)) {
        self.wire.output.restart(0);
        self.wire.output.packet(fill);
        self.answered_from = self.wire.output.sequence();
    }

    /// Writes the first command of a job; returns what its answer begins with.
    pub(super) fn write(&mut self, work: &Work) -> Stage {
        match work {
            Work::Text(sql) => {
                if sets(sql) {
                    // What was prepared before goes on as it was prepared.
                    self.statements.take_all().into_iter().for_each(|id| self.write_close(id));
                    self.counts.clear();
                }
                let capabilities = self.agreement.capabilities;
                self.command(|out| Query::encode(sql.as_bytes(), capabilities, out));
                Stage::Answer
            }
            Work::Prepared { sql, parameters } | Work::Lifted { sql, parameters, .. } => {
                match self.statements.suited(sql, parameters) {
                    Some(Suits::Yes(id, count)) => self.write_execute(id, count, parameters),
                    Some(Suits::No(id)) => {
                        self.write_close(id);
                        self.write_prepare(sql)
                    }
                    None => self.write_prepare(sql),
                }
            }
            Work::Describe { sql } => match self.statements.get(sql) {
                Some(found) => Stage::Described(found.clone()),
                None => self.write_prepare(sql),
            },
            Work::Reset => Stage::Reset(self.write_reset()),
            Work::Ping => {
                self.command(|out| CommandCode::Ping.encode(&[], out));
                Stage::Pong
            }
        }
    }

    fn write_prepare(&mut self, sql: &str) -> Stage {
        self.command(|out| CommandCode::Prepare.encode(sql.as_bytes(), out));
        Stage::PrepareAnswer
    }

    pub(super) fn write_execute(
        &mut self,
        statement: u32,
        count: usize,
        parameters: &[Parameter],
    ) -> Stage {
        if count != parameters.len() {
            let given = parameters.len();
            return Stage::Failed(Some(Error::new(ErrorKind::Value(format!(
                "{given} parameters are given, the statement has {count}"
            )))));
        }
        self.command(|out| put_execute(statement, parameters, out));
        Stage::Answer
    }

    pub(super) fn write_close(&mut self, statement: u32) {
        self.command(|out| CommandCode::Close.encode(&statement.to_le_bytes(), out));
    }
}

/// Whether a text that is Pando's own sets variables of the session, and not only the user's own.
fn sets(sql: &str) -> bool {
    let sets_users = sql.starts_with("SET @");
    let sets_more =
        || [", SESSION ", ", NAMES ", ", CHARACTER "].iter().any(|part| sql.contains(part));
    sql.starts_with("SET ") && !sql.starts_with("SET TRANSACTION") && (!sets_users || sets_more())
}

fn put_execute(statement: u32, parameters: &[Parameter], out: &mut BytesMut) {
    out.put_u8(CommandCode::Execute as u8);
    out.put_u32_le(statement);
    out.put_u8(0);
    out.put_u32_le(1);
    if parameters.is_empty() {
        return;
    }
    let bitmap = out.len();
    out.put_bytes(0, parameters.len().div_ceil(8));
    out.put_u8(1);
    let types = out.len();
    out.put_bytes(0, parameters.len() * 2);
    for (index, parameter) in parameters.iter().enumerate() {
        let sent = put_parameter(parameter, out);
        let null = sent.type_id == ColumnType::Null as u8;
        if let Some(byte) = out.get_mut(bitmap + index / 8) {
            *byte |= u8::from(null) << (index % 8);
        }
        if let Some(slot) = out.get_mut(types + index * 2..types + index * 2 + 2) {
            slot.copy_from_slice(&[sent.type_id, if sent.unsigned { 0x80 } else { 0 }]);
        }
    }
}

fn size(work: &Work) -> usize {
    match work {
        Work::Text(sql) | Work::Describe { sql } => sql.len(),
        Work::Lifted { text, .. } => text.len(),
        Work::Prepared { sql, parameters } => {
            let raw = |parameter: &Parameter| parameter.raw.as_ref().map_or(32, bytes::Bytes::len);
            sql.len().max(parameters.iter().map(raw).sum())
        }
        Work::Reset | Work::Ping => 0,
    }
}
