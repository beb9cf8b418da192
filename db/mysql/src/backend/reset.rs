//! Putting a connection back to how it was after login.

use bytes::{Bytes, BytesMut};
use pando_kernel::{Error, Result};

use super::connection::Connection;
use super::login::{put_change_user, reading};
use crate::auth::{ClientLogin, ClientStep};
use crate::codec::{CommandCode, ErrPacket, OkPacket, Query};
use crate::error::{malformed, server_error};

/// How far a reset has come.
#[derive(Debug)]
pub(super) enum Reset {
    Commands(Commands),
    /// The server is too old for the short way: a new login runs.
    ChangeUser(Box<ClientLogin>),
}

/// The commands of a reset on their way.
#[derive(Debug)]
pub(super) struct Commands {
    /// So many of them have no answer yet.
    left: u8,
    failed: Option<Error>,
    /// They stand behind a new login.
    is_renewed: bool,
}

/// `ER_UNKNOWN_COM_ERROR`: servers before MySQL 5.7.3 and MariaDB 10.2.4 have no COM_RESET_CONNECTION.
const UNKNOWN_COMMAND: u16 = 1047;

impl Connection {
    /// Writes the commands of a reset. The server forgets character set and prepared statements with it, but not
    /// the current database; that one's character set, in which LOAD DATA reads files, it does forget, in MySQL as in MariaDB, until it is told the database again.
    /// <https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_character_set_database>
    pub(super) fn write_reset(&mut self) -> Reset {
        self.statements.clear();
        self.counts.clear();
        if self.lacks_reset {
            return self.write_change_user();
        }
        let capabilities = self.agreement.capabilities;
        let names = reading(&self.agreement);
        self.command(|out| CommandCode::ResetConnection.encode(&[], out));
        self.command(|out| Query::encode(names.as_bytes(), capabilities, out));
        let mut left = 2;
        if !self.options.database.is_empty() {
            let database = self.options.database.clone();
            self.command(|out| CommandCode::InitDb.encode(database.as_bytes(), out));
            left += 1;
        }
        Reset::Commands(Commands { left, failed: None, is_renewed: false })
    }

    fn write_change_user(&mut self) -> Reset {
        let mut login = self.options.login(self.agreement.privacy);
        let mut payload = BytesMut::new();
        put_change_user(&self.options, &self.agreement, &mut login, &mut payload);
        self.command(|out| out.unsplit(payload));
        Reset::ChangeUser(Box::new(login))
    }

    /// Takes one packet of a reset's replies; `None` when it is through.
    pub(super) fn read_reset(&mut self, reset: Reset, payload: &Bytes) -> Result<Option<Reset>> {
        match reset {
            Reset::Commands(commands) => self.read_command(commands, payload),
            Reset::ChangeUser(mut login) => match login.read(payload)? {
                ClientStep::Send(answer) => {
                    self.wire.output.restart(self.wire.input.expected());
                    self.wire.output.payload(&answer);
                    self.wire.input.expect(self.wire.output.sequence());
                    Ok(Some(Reset::ChangeUser(login)))
                }
                ClientStep::Wait => Ok(Some(Reset::ChangeUser(login))),
                ClientStep::Done(_) => {
                    let (names, capabilities) =
                        (reading(&self.agreement), self.agreement.capabilities);
                    self.command(|out| Query::encode(names.as_bytes(), capabilities, out));
                    self.wire.input.expect(1);
                    let commands = Commands { left: 1, failed: None, is_renewed: true };
                    Ok(Some(Reset::Commands(commands)))
                }
            },
        }
    }

    fn read_command(&mut self, commands: Commands, payload: &Bytes) -> Result<Option<Reset>> {
        let Commands { left, mut failed, is_renewed } = commands;
        if payload.first() == Some(&0xFF) {
            let err = ErrPacket::decode(payload).map_err(malformed)?;
            self.lacks_reset |= err.code == UNKNOWN_COMMAND && !is_renewed;
            failed = failed.or_else(|| Some(server_error(&err)));
        } else {
            self.note(payload)?;
        }
        // The answer to each command starts again at 1.
        self.wire.input.expect(1);
        if left > 1 {
            let commands = Commands { left: left - 1, failed, is_renewed };
            return Ok(Some(Reset::Commands(commands)));
        }
        match failed {
            _ if self.lacks_reset && !is_renewed => Ok(Some(self.write_change_user())),
            Some(error) => Err(error),
            None => Ok(None),
        }
    }

    fn note(&mut self, payload: &Bytes) -> Result<()> {
        let ok = OkPacket::decode(payload, self.agreement.capabilities).map_err(malformed)?;
        self.status = ok.status;
        Ok(())
    }
}
