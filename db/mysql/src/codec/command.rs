//! The commands of a client after its login.

use bytes::{BufMut, BytesMut};

use super::capabilities::Capabilities;
use super::change_user::ChangeUser;
use super::execute::ExecuteHead;
use super::malformed::Malformed;
use super::query::Query;
use super::reader::Reader;

/// The first byte of a command, for those that consist of it and a plain body.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CommandCode {
    /// COM_QUIT.
    Quit = 0x01,
    /// COM_INIT_DB.
    InitDb = 0x02,
    /// COM_QUERY.
    Query = 0x03,
    /// COM_FIELD_LIST.
    FieldList = 0x04,
    /// COM_STATISTICS.
    Statistics = 0x09,
    /// COM_PROCESS_INFO.
    ProcessInfo = 0x0A,
    /// COM_PROCESS_KILL.
    ProcessKill = 0x0C,
    /// COM_DEBUG.
    Debug = 0x0D,
    /// COM_PING.
    Ping = 0x0E,
    /// COM_CHANGE_USER.
    ChangeUser = 0x11,
    /// COM_STMT_PREPARE.
    Prepare = 0x16,
    /// COM_STMT_EXECUTE.
    Execute = 0x17,
    /// COM_STMT_SEND_LONG_DATA.
    SendLongData = 0x18,
    /// COM_STMT_CLOSE.
    Close = 0x19,
    /// COM_STMT_RESET.
    Reset = 0x1A,
    /// COM_SET_OPTION.
    SetOption = 0x1B,
    /// COM_STMT_FETCH.
    Fetch = 0x1C,
    /// COM_RESET_CONNECTION.
    ResetConnection = 0x1F,
}

impl CommandCode {
    /// Appends the whole payload of this command with a body.
    pub fn encode(self, body: &[u8], out: &mut BytesMut) {
        out.put_u8(self as u8);
        out.put_slice(body);
    }
}

/// One command of a client.
#[derive(Debug, Clone)]
pub enum Command<'a> {
    /// End of the session. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_quit.html>
    Quit,
    /// Choose a database. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_init_db.html>
    InitDb(&'a [u8]),
    /// Run statements in text form.
    Query(Query<'a>),
    /// List a table's columns. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_field_list.html>
    FieldList {
        /// The table.
        table: &'a [u8],
        /// A LIKE pattern for the columns; empty for all.
        pattern: &'a [u8],
    },
    /// A line about the server. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_statistics.html>
    Statistics,
    /// The list of sessions. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_process_info.html>
    ProcessInfo,
    /// The server is to write to its log what is going on. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_debug.html>
    Debug,
    /// End another session. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_process_kill.html>
    ProcessKill(u32),
    /// Are you there? <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_ping.html>
    Ping,
    /// Log in anew.
    ChangeUser(ChangeUser<'a>),
    /// Prepare a statement. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>
    Prepare(&'a [u8]),
    /// Execute a prepared statement.
    Execute(ExecuteHead<'a>),
    /// A piece of a long parameter; has no answer.
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_send_long_data.html>
    SendLongData {
        /// The statement.
        statement: u32,
        /// The parameter, from 0.
        parameter: u16,
        /// The piece.
        data: &'a [u8],
    },
    /// Forget a prepared statement; has no answer.
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_close.html>
    Close(u32),
    /// Forget long data and close the cursor.
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_reset.html>
    Reset(u32),
    /// Allow (0) or forbid (1) several statements in one text.
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_set_option.html>
    SetOption(u16),
    /// Fetch rows of a cursor. <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_fetch.html>
    Fetch {
        /// The statement.
        statement: u32,
        /// How many rows at most.
        rows: u32,
    },
    /// Back to the state after login.
    /// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_reset_connection.html>
    ResetConnection,
    /// A command this code does not know.
    Unknown(u8),
}

impl<'a> Command<'a> {
    /// Reads a payload.
    ///
    /// # Errors
    /// `Malformed`; an unknown command byte is no error but [`Command::Unknown`].
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new("command", payload);
        let code = reader.u8("command byte")?;
        let body = reader.clone().take_rest();
        Ok(match code {
            0x01 => Self::Quit,
            0x02 => Self::InitDb(body),
            0x03 => Self::Query(Query::decode(body, capabilities)?),
            0x04 => {
                let table = reader.nul_bytes("table")?;
                Self::FieldList { table, pattern: reader.take_rest() }
            }
            0x09 => Self::Statistics,
            0x0A => Self::ProcessInfo,
            0x0D => Self::Debug,
            0x0C => Self::ProcessKill(reader.u32("connection number")?),
            0x0E => Self::Ping,
            0x11 => Self::ChangeUser(ChangeUser::decode(body, capabilities)?),
            0x16 => Self::Prepare(body),
            0x17 => Self::Execute(ExecuteHead::decode(body, capabilities)?),
            0x18 => Self::SendLongData {
                statement: reader.u32("statement")?,
                parameter: reader.u16("parameter")?,
                data: reader.take_rest(),
            },
            0x19 => Self::Close(reader.u32("statement")?),
            0x1A => Self::Reset(reader.u32("statement")?),
            0x1B => Self::SetOption(reader.u16("option")?),
            0x1C => Self::Fetch { statement: reader.u32("statement")?, rows: reader.u32("rows")? },
            0x1F => Self::ResetConnection,
            other => Self::Unknown(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(payload: &[u8]) -> Result<Command<'_>, Malformed> {
        Command::decode(payload, Capabilities::PROTOCOL_41)
    }

    #[test]
    fn plain_commands_are_read() {
        assert!(matches!(decode(&[0x01]), Ok(Command::Quit)));
        assert!(matches!(decode(b"\x02shop"), Ok(Command::InitDb(b"shop"))));
        assert!(matches!(decode(&[0x09]), Ok(Command::Statistics)));
        assert!(matches!(decode(&[0x0E]), Ok(Command::Ping)));
        assert!(matches!(decode(&[0x1F]), Ok(Command::ResetConnection)));
        assert!(matches!(decode(b"\x16SELECT ?"), Ok(Command::Prepare(b"SELECT ?"))));
        assert!(matches!(decode(&[0xFA]), Ok(Command::Unknown(0xFA))));
        assert!(matches!(
            decode(b"\x04t\0a%"),
            Ok(Command::FieldList { table: b"t", pattern: b"a%" })
        ));
        assert!(decode(&[]).is_err());
    }

    #[test]
    fn commands_with_numbers_refuse_every_cut() {
        let commands: &[&[u8]] = &[
            &[0x0C, 7, 0, 0, 0],
            &[0x18, 1, 0, 0, 0, 2, 0],
            &[0x19, 1, 0, 0, 0],
            &[0x1A, 1, 0, 0, 0],
            &[0x1B, 1, 0],
            &[0x1C, 1, 0, 0, 0, 9, 0, 0, 0],
            &[0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0],
        ];
        for command in commands {
            assert!(decode(command).is_ok());
            for cut in 1..command.len() {
                assert!(decode(&command[..cut]).is_err(), "{command:?} cut at {cut}");
            }
        }
        assert!(decode(b"\x04no zero byte").is_err());
    }
}
