//! The server's side of a login: what to answer to each packet of the client.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use bytes::{Bytes, BytesMut};
use pando_kernel::Result;
use pando_kernel::session::Proof;

use super::rsa::ServerKey;
use super::{Plugin, Privacy, SCRAMBLE_LEN, same};
use crate::codec::{AuthMoreData, AuthSwitch};

/// What a server does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStep {
    /// Send this payload and read the client's next packet.
    Send(Bytes),
    /// The client has proved who he is. Send the payload if there is one, then OK.
    Accepted(Option<Bytes>),
    /// Refuse.
    Denied,
}

/// A login under way.
pub struct ServerLogin {
    proof: Proof,
    plugin: Plugin,
    scramble: [u8; SCRAMBLE_LEN],
    privacy: Privacy,
    key: Arc<ServerKey>,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Answer,
    Full,
    Encrypted,
}

const FAST_OK: &[u8] = &[3];
const FULL: &[u8] = &[4];
const REQUEST_KEY: &[u8] = &[2];

impl ServerLogin {
    /// A login by this proof. Where none is enough the exchange is that of a wrong password.
    pub fn new(
        proof: Proof,
        scramble: [u8; SCRAMBLE_LEN],
        privacy: Privacy,
        key: Arc<ServerKey>,
    ) -> Self {
        Self { proof, plugin: Plugin::CachingSha2, scramble, privacy, key, stage: Stage::Answer }
    }

    /// Judges the answer of the login packet. `required` is the plugin the user is configured for; without one, the
    /// client's own choice stands.
    ///
    /// # Errors
    /// `Internal` when no key pair could be made.
    pub fn begin(
        &mut self,
        required: Option<Plugin>,
        used: &[u8],
        answer: &[u8],
    ) -> Result<ServerStep> {
        let used_plugin = Plugin::from_name(used);
        // A client that names no plugin is of the time when there was only the native one.
        let used_plugin = if used.is_empty() { Some(Plugin::Native) } else { used_plugin };
        self.plugin = required.or(used_plugin).unwrap_or(Plugin::CachingSha2);
        self.stage = Stage::Answer;
        if used_plugin == Some(self.plugin) {
            return self.read(answer);
        }
        let mut out = BytesMut::new();
        AuthSwitch { plugin: self.plugin.name().as_bytes(), scramble: &self.scramble }
            .encode(&mut out);
        Ok(ServerStep::Send(out.freeze()))
    }

    /// Judges the client's next packet.
    ///
    /// # Errors
    /// `Internal` when no key pair could be made.
    pub fn read(&mut self, packet: &[u8]) -> Result<ServerStep> {
        match self.stage {
            Stage::Answer => Ok(self.judge(packet)),
            Stage::Full if self.privacy == Privacy::Private => Ok(self.compare(packet)),
            Stage::Full if packet == REQUEST_KEY => {
                self.stage = Stage::Encrypted;
                Ok(ServerStep::Send(more(self.key.public_pem()?.as_bytes())))
            }
            // A client that was given the key file encrypts without asking.
            Stage::Full | Stage::Encrypted => match self.key.decrypt(packet, &self.scramble)? {
                Some(plain) => Ok(self.compare(&plain)),
                None => Ok(ServerStep::Denied),
            },
        }
    }

    fn judge(&mut self, answer: &[u8]) -> ServerStep {
        let empty = answer.is_empty() || answer == [0];
        let right = match &self.proof {
            Proof::Given => true,
            Proof::Password(password) if password.is_empty() || empty => {
                password.is_empty() && empty
            }
            Proof::Password(password) => self.fits(password, answer),
            Proof::Impossible => {
                // Takes as long as with a password that is known.
                self.fits("nobody's password", answer);
                false
            }
        };
        match (right, self.plugin) {
            (true, Plugin::CachingSha2) if !empty => ServerStep::Accepted(Some(more(FAST_OK))),
            (true, _) => ServerStep::Accepted(None),
            (false, Plugin::CachingSha2) if !empty => {
                self.stage = Stage::Full;
                ServerStep::Send(more(FULL))
            }
            (false, _) => ServerStep::Denied,
        }
    }

    fn fits(&self, password: &str, answer: &[u8]) -> bool {
        same(&self.plugin.answer(password.as_bytes(), &self.scramble), answer)
    }

    /// Whether the password in clear is the right one; by its hash, so that the time does not tell how long the right one is, nor that there is none.
    fn compare(&self, clear: &[u8]) -> ServerStep {
        let clear = clear.strip_suffix(&[0]).unwrap_or(clear);
        let (known, exists) = match &self.proof {
            Proof::Password(password) => (password.as_str(), true),
            Proof::Given | Proof::Impossible => ("", false),
        };
        let hash = |bytes: &[u8]| digest(&SHA256, bytes);
        let is_same = same(hash(known.as_bytes()).as_ref(), hash(clear).as_ref());
        if exists && is_same { ServerStep::Accepted(None) } else { ServerStep::Denied }
    }
}

impl std::fmt::Debug for ServerLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerLogin").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

fn more(data: &[u8]) -> Bytes {
    let mut out = BytesMut::new();
    AuthMoreData(data).encode(&mut out);
    out.freeze()
}

#[cfg(test)]
mod tests {
    use super::super::{ClientLogin, ClientStep};
    use super::*;

    const SCRAMBLE: [u8; SCRAMBLE_LEN] = *b"abcdefghijklmnopqrst";

    struct Case {
        stored: Option<&'static str>,
        given: &'static str,
        required: Option<Plugin>,
        server_default: Plugin,
        privacy: Privacy,
    }

    /// Plays both sides against each other; returns whether the login succeeds and the packets after the first answer.
    fn play(case: &Case) -> (bool, usize) {
        let known = |password: &str| Proof::Password(password.to_owned());
        let stored = case.stored.map_or(Proof::Impossible, known);
        let mut server = ServerLogin::new(stored, SCRAMBLE, case.privacy, Arc::default());
        let mut client = ClientLogin::new(case.given.into(), case.privacy);
        let (plugin, answer) = client.begin(case.server_default.name().as_bytes(), &SCRAMBLE);
        let mut step = server.begin(case.required, plugin.name().as_bytes(), &answer).unwrap();
        let mut packets = 0;
        loop {
            match step {
                ServerStep::Accepted(last) => {
                    if let Some(last) = last {
                        assert_eq!(client.read(&last).unwrap(), ClientStep::Wait);
                    }
                    let ok = Bytes::from_static(&[0, 0, 0, 2, 0, 0, 0]);
                    assert!(matches!(client.read(&ok), Ok(ClientStep::Done(_))));
                    return (true, packets);
                }
                ServerStep::Denied => return (false, packets),
                ServerStep::Send(payload) => {
                    packets += 1;
                    let ClientStep::Send(answer) = client.read(&payload).unwrap() else {
                        panic!("the client must answer");
                    };
                    step = server.read(&answer).unwrap();
                }
            }
        }
    }

    #[test]
    fn both_sides_agree_for_every_plugin_and_password() {
        use Plugin::{CachingSha2 as Sha2, Native};
        let mut tried = 0;
        for required in [None, Some(Native), Some(Sha2)] {
            for server_default in [Native, Sha2] {
                for privacy in [Privacy::Open, Privacy::Private] {
                    for (stored, given) in [
                        (Some("secret"), "secret"),
                        (Some("secret"), "wrong"),
                        (Some("secret"), ""),
                        (Some(""), ""),
                        (Some(""), "given"),
                        (None, "secret"),
                        (None, ""),
                    ] {
                        let case = Case { stored, given, required, server_default, privacy };
                        let (accepted, _) = play(&case);
                        assert_eq!(accepted, stored == Some(given), "{required:?} {given}");
                        tried += 1;
                    }
                }
            }
        }
        assert_eq!(tried, 84);
    }

    #[test]
    fn an_unknown_user_sees_the_same_exchange_as_a_wrong_password() {
        for privacy in [Privacy::Open, Privacy::Private] {
            let case = |stored| Case {
                stored,
                given: "wrong",
                required: None,
                server_default: Plugin::CachingSha2,
                privacy,
            };
            assert_eq!(play(&case(None)), play(&case(Some("right"))));
        }
    }

    #[test]
    fn a_certificate_needs_no_password_and_minds_none() {
        for answer in [&b""[..], b"\0", &[7; 20], &[7; 32]] {
            for plugin in ["", "mysql_native_password", "caching_sha2_password"] {
                let mut server =
                    ServerLogin::new(Proof::Given, SCRAMBLE, Privacy::Private, Arc::default());
                let step = server.begin(None, plugin.as_bytes(), answer).unwrap();
                assert!(matches!(step, ServerStep::Accepted(_)), "{plugin} {answer:?}");
            }
        }
    }

    #[test]
    fn the_right_password_needs_one_round_trip() {
        let case = Case {
            stored: Some("secret"),
            given: "secret",
            required: None,
            server_default: Plugin::CachingSha2,
            privacy: Privacy::Open,
        };
        assert_eq!(play(&case), (true, 0));
    }

    #[test]
    fn a_client_gives_no_clear_password_without_tls() {
        let mut client = ClientLogin::new("secret".into(), Privacy::Open);
        client.begin(b"mysql_native_password", &SCRAMBLE);
        let ask = Bytes::from_static(b"\xFEmysql_clear_password\0");
        assert!(client.read(&ask).is_err());
        let unknown = Bytes::from_static(b"\xFEclient_ed25519\0abc");
        assert!(client.read(&unknown).unwrap_err().to_string().contains("client_ed25519"));
        assert!(client.read(&Bytes::from_static(&[1, 4])).is_err());
        assert!(client.read(&Bytes::new()).is_err());
    }
}
