//! The client's side of a login: what to answer to each packet of the server.

use bytes::Bytes;
use pando_kernel::{Error, Result};

use super::rsa::encrypt_password;
use super::{Plugin, Privacy, sha2};
use crate::codec::{AuthMoreData, AuthSwitch, ErrPacket};
use crate::error::{malformed, server_error};

/// What a client does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientStep {
    /// Send this payload and read the next packet.
    Send(Vec<u8>),
    /// Read the next packet.
    Wait,
    /// The login is done; the server's OK packet is given.
    Done(Bytes),
}

/// The key by which a password is encrypted that a server of MySQL wants whole over a connection without TLS. One that answers in the server's place and
/// gives a key of its own has the password.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PasswordKey {
    /// The one that the server gives when it is asked.
    #[default]
    Asked,
    /// This one, in PEM, known beforehand.
    Known(Vec<u8>),
    /// None: such a server does not get the password, for this reason.
    Refused(String),
}

/// A login under way.
pub struct ClientLogin {
    password: String,
    key: PasswordKey,
    plugin: Plugin,
    scramble: Vec<u8>,
    privacy: Privacy,
    wants_key: bool,
}

const FAST_OK: &[u8] = &[3];
const FULL: &[u8] = &[4];
const REQUEST_KEY: u8 = 2;
const CLEAR_PASSWORD: &[u8] = b"mysql_clear_password";

impl ClientLogin {
    /// A login with this password over such a connection.
    pub fn new(password: String, privacy: Privacy) -> Self {
        let (plugin, key) = (Plugin::Native, PasswordKey::default());
        Self { password, key, plugin, scramble: Vec::new(), privacy, wants_key: false }
    }

    /// This login with another way to come by the server's key.
    #[must_use]
    pub fn with_key(self, key: PasswordKey) -> Self {
        Self { key, ..self }
    }

    /// The first answer, to the scramble of the handshake, and the plugin that makes it. A server whose default this
    /// side does not know is answered natively; it will ask for a switch.
    pub fn begin(&mut self, plugin: &[u8], scramble: &[u8]) -> (Plugin, Vec<u8>) {
        self.plugin = Plugin::from_name(plugin).unwrap_or(Plugin::Native);
        self.scramble = scramble.to_vec();
        self.wants_key = false;
        (self.plugin, self.answer())
    }

    /// What to do after this packet of the server.
    ///
    /// # Errors
    /// `Server` when the server refuses, `Protocol` when it asks for what this side cannot or must not give.
    pub fn read(&mut self, payload: &Bytes) -> Result<ClientStep> {
        match payload.first() {
            Some(0x00) => Ok(ClientStep::Done(payload.clone())),
            Some(0xFF) => {
                let err = ErrPacket::decode(payload).map_err(malformed)?;
                Err(server_error(&err))
            }
            Some(0xFE) => self.switch(AuthSwitch::decode(payload).map_err(malformed)?),
            Some(0x01) => self.more(AuthMoreData::decode(payload).map_err(malformed)?.0),
            Some(other) => {
                Err(Error::protocol(format!("packet {other:#04x} is no part of a login")))
            }
            None => Err(Error::protocol("an empty packet is no part of a login")),
        }
    }

    fn switch(&mut self, switch: AuthSwitch<'_>) -> Result<ClientStep> {
        if switch.plugin == CLEAR_PASSWORD {
            return self.clear();
        }
        let Some(plugin) = Plugin::from_name(switch.plugin) else {
            let name = String::from_utf8_lossy(switch.plugin);
            return Err(Error::protocol(format!(
                "the server asks for authentication plugin `{name}`, expected \
                 mysql_native_password or caching_sha2_password"
            )));
        };
        self.plugin = plugin;
        self.scramble = switch.scramble.to_vec();
        self.wants_key = false;
        Ok(ClientStep::Send(self.answer()))
    }

    fn answer(&self) -> Vec<u8> {
        match self.plugin {
            Plugin::Native => self.plugin.answer(self.password.as_bytes(), &self.scramble),
            // Without a password this plugin sends its empty string with the zero byte.
            Plugin::CachingSha2 if self.password.is_empty() => vec![0],
            Plugin::CachingSha2 => sha2::answer(self.password.as_bytes(), &self.scramble).to_vec(),
        }
    }

    fn more(&mut self, data: &[u8]) -> Result<ClientStep> {
        if self.wants_key {
            self.wants_key = false;
            return encrypt_password(self.password.as_bytes(), &self.scramble, data)
                .map(ClientStep::Send);
        }
        match (self.plugin, data) {
            (Plugin::CachingSha2, FAST_OK) => Ok(ClientStep::Wait),
            (Plugin::CachingSha2, FULL) if self.privacy == Privacy::Private => self.clear(),
            (Plugin::CachingSha2, FULL) => match &self.key {
                PasswordKey::Asked => {
                    self.wants_key = true;
                    Ok(ClientStep::Send(vec![REQUEST_KEY]))
                }
                PasswordKey::Known(pem) => {
                    encrypt_password(self.password.as_bytes(), &self.scramble, pem)
                        .map(ClientStep::Send)
                }
                PasswordKey::Refused(why) => Err(Error::protocol(why.clone())),
            },
            _ => Err(Error::protocol("the server sent unexpected authentication data")),
        }
    }

    fn clear(&self) -> Result<ClientStep> {
        if self.privacy == Privacy::Open {
            return Err(Error::protocol(
                "the server asks for the password in clear on a connection without TLS",
            ));
        }
        let mut clear = self.password.clone().into_bytes();
        clear.push(0);
        Ok(ClientStep::Send(clear))
    }
}

impl std::fmt::Debug for ClientLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientLogin").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}
