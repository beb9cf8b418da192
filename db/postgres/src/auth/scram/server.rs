//! The server's side of an exchange.

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;

use super::{
    Binding, Failure, HASH, MECHANISM, MECHANISM_PLUS, attribute, equal, from_base64, random,
    sha256, sign, to_base64, utf8, xor,
};

/// Rounds PostgreSQL itself uses.
const ROUNDS: NonZeroU32 = match NonZeroU32::new(4096) {
    Some(rounds) => rounds,
    None => NonZeroU32::MIN,
};

/// What a server needs to check a password, without being the password.
#[derive(Clone)]
pub struct Verifier {
    pub(super) salt: Vec<u8>,
    stored_key: [u8; HASH],
    server_key: [u8; HASH],
}

impl Verifier {
    /// The verifier of a password with this salt.
    pub fn of(password: &str, salt: Vec<u8>) -> Verifier {
        let mut salted = [0; HASH];
        let password = password.as_bytes();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, &salt, password, &mut salted);
        let client_key = sign(&salted, b"Client Key");
        let server_key = sign(&salted, b"Server Key");
        Verifier { salt, stored_key: sha256(&client_key), server_key }
    }
}

/// The server's side of one exchange.
pub struct Server {
    verifier: Verifier,
    /// What the client may bind its login to, and was offered.
    endpoint: Option<Vec<u8>>,
    nonce: String,
    /// `client-first-message-bare,server-first-message,`, once the first message has come.
    transcript: String,
    binding: Binding,
}

impl Server {
    /// An exchange against this verifier. With the hash of the own certificate a client may bind its login to it.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn new(verifier: Verifier, endpoint: Option<Vec<u8>>) -> Result<Server, Failure> {
        Ok(Server::with_nonce(verifier, endpoint, to_base64(&random::<18>()?)))
    }

    fn with_nonce(verifier: Verifier, endpoint: Option<Vec<u8>>, nonce: String) -> Server {
        let (transcript, binding) = (String::new(), Binding::None);
        Server { verifier, endpoint, nonce, transcript, binding }
    }

    /// The mechanisms to offer over a channel with this hash, best first.
    pub fn mechanisms(endpoint: Option<&[u8]>) -> &'static [&'static str] {
        match endpoint {
            Some(_) => &[MECHANISM_PLUS, MECHANISM],
            None => &[MECHANISM],
        }
    }

    /// Takes the client's first message, of this mechanism, and gives the server's.
    ///
    /// # Errors
    /// `Exchange` when the message breaks the rules, or does not fit what was offered.
    pub fn first(&mut self, mechanism: &str, message: &[u8]) -> Result<String, Failure> {
        let message = utf8(message)?;
        let (flag, rest) = message.split_once(',').ok_or(Failure::Exchange("no GS2 header"))?;
        self.binding = self.bound(mechanism, flag)?;
        let (identity, bare) = rest.split_once(',').ok_or(Failure::Exchange("no GS2 header"))?;
        if !identity.is_empty() {
            return Err(Failure::Exchange("another authorization identity is not supported"));
        }
        let mut attributes = bare.split(',');
        // The name is empty or ignored: the start-up packet has told the user.
        attribute(&mut attributes, "n=")?;
        let client_nonce = attribute(&mut attributes, "r=")?;
        if client_nonce.is_empty() {
            return Err(Failure::Exchange("the client's nonce is empty"));
        }
        self.nonce = format!("{client_nonce}{}", self.nonce);
        let salt = to_base64(&self.verifier.salt);
        let reply = format!("r={},s={salt},i={ROUNDS}", self.nonce);
        self.transcript = format!("{bare},{reply},");
        Ok(reply)
    }

    /// What the client says of the channel, if that can be true.
    fn bound(&self, mechanism: &str, flag: &str) -> Result<Binding, Failure> {
        let wrong = |what| Err(Failure::Exchange(what));
        match (mechanism, flag, &self.endpoint) {
            (MECHANISM_PLUS, "p=tls-server-end-point", Some(hash)) => {
                Ok(Binding::EndPoint(hash.clone()))
            }
            (MECHANISM_PLUS, _, None) => wrong("channel binding was not offered"),
            (MECHANISM_PLUS, flag, Some(_)) if flag.starts_with("p=") => {
                wrong("channel binding is known as `tls-server-end-point` alone")
            }
            (MECHANISM_PLUS, _, Some(_)) => {
                wrong("the client has chosen channel binding and gives no data for it")
            }
            (MECHANISM, "n", _) => Ok(Binding::None),
            (MECHANISM, "y", None) => Ok(Binding::NotOffered),
            (MECHANISM, "y", Some(_)) => wrong(
                "the client supports channel binding and saw no offer of it, but it was offered: somebody stands in between",
            ),
            (MECHANISM, flag, _) if flag.starts_with("p=") => {
                wrong("the client has not chosen channel binding and gives data for it")
            }
            (MECHANISM, _, _) => wrong("no GS2 header"),
            _ => wrong("another SASL mechanism was chosen than was offered"),
        }
    }

    /// Takes the client's final message; gives the server's, which proves the server.
    ///
    /// # Errors
    /// `WrongSecret` when the proof is wrong, `Exchange` when the message breaks the rules.
    pub fn finish(self, message: &[u8]) -> Result<String, Failure> {
        let message = utf8(message)?;
        let (unsigned, proof) =
            message.rsplit_once(",p=").ok_or(Failure::Exchange("no proof in the final message"))?;
        let mut attributes = unsigned.split(',');
        if from_base64(attribute(&mut attributes, "c=")?)? != self.binding.data() {
            return Err(Failure::Exchange("the channel binding does not match"));
        }
        if self.transcript.is_empty() || attribute(&mut attributes, "r=")? != self.nonce {
            return Err(Failure::Exchange("the nonce does not match"));
        }
        let proof: [u8; HASH] = from_base64(proof)?
            .try_into()
            .map_err(|_| Failure::Exchange("the proof has a wrong length"))?;
        let signed = format!("{}{unsigned}", self.transcript);
        let client_key = xor(proof, sign(&self.verifier.stored_key, signed.as_bytes()));
        if !equal(&sha256(&client_key), &self.verifier.stored_key) {
            return Err(Failure::WrongSecret);
        }
        let signature = sign(&self.verifier.server_key, signed.as_bytes());
        Ok(format!("v={}", to_base64(&signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Client, SALT};
    use super::*;

    // RFC 7677, section 3.
    const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    const CLIENT_FIRST: &[u8] = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn server(endpoint: Option<&[u8]>) -> Server {
        let salt = from_base64("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let endpoint = endpoint.map(<[u8]>::to_vec);
        Server::with_nonce(Verifier::of("pencil", salt), endpoint, SERVER_NONCE.to_owned())
    }

    #[test]
    fn the_server_speaks_as_the_rfc_does() {
        let mut server = server(None);
        assert_eq!(server.first(MECHANISM, CLIENT_FIRST).unwrap(), SERVER_FIRST);
        assert_eq!(server.finish(CLIENT_FINAL.as_bytes()).unwrap(), SERVER_FINAL);
    }

    fn exchange(
        (known, given): (&str, &str),
        endpoint: Option<&[u8]>,
        binding: Binding,
    ) -> Result<(), Failure> {
        let verifier = Verifier::of(known, random::<SALT>()?.to_vec());
        let mut server = Server::new(verifier, endpoint.map(<[u8]>::to_vec))?;
        let mechanism = binding.mechanism();
        let client = Client::new(given, binding)?;
        let reply = server.first(mechanism, client.first().as_bytes())?;
        let (proof, proved) = client.challenge(reply.as_bytes())?.prove();
        proved.check(server.finish(proof.as_bytes())?.as_bytes())
    }

    #[test]
    fn only_the_right_password_passes() {
        let by = |known, given| exchange((known, given), None, Binding::None);
        assert_eq!(by("pä$$word", "pä$$word"), Ok(()));
        assert_eq!(by("password", "Password"), Err(Failure::WrongSecret));
        assert_eq!(by("password", ""), Err(Failure::WrongSecret));
    }

    #[test]
    fn both_must_see_the_same_channel() {
        let hash: &[u8] = &[7; 32];
        let by = |endpoint, binding| exchange(("pw", "pw"), endpoint, binding);
        assert_eq!(by(Some(hash), Binding::EndPoint(hash.to_vec())), Ok(()));
        assert_eq!(by(Some(hash), Binding::None), Ok(()));
        assert_eq!(by(None, Binding::NotOffered), Ok(()));
        for (endpoint, binding) in [
            (Some(hash), Binding::EndPoint(vec![8; 32])),
            (Some(hash), Binding::EndPoint(Vec::new())),
            (Some(hash), Binding::NotOffered),
            (None, Binding::EndPoint(hash.to_vec())),
            (None, Binding::EndPoint(Vec::new())),
        ] {
            let failed = by(endpoint, binding.clone());
            assert!(matches!(failed, Err(Failure::Exchange(_))), "{endpoint:?} {binding:?}");
        }
    }

    #[test]
    fn a_header_that_does_not_fit_the_mechanism_is_refused() {
        for (mechanism, header) in [
            (MECHANISM, "p=tls-server-end-point"),
            (MECHANISM_PLUS, "n"),
            (MECHANISM_PLUS, "y"),
            (MECHANISM_PLUS, "p=tls-unique"),
            (MECHANISM_PLUS, "p="),
            (MECHANISM, "y"),
            ("SCRAM-SHA-1", "n"),
            ("", "n"),
        ] {
            let first = format!("{header},,n=,r=x");
            let failed = server(Some(&[7; 32])).first(mechanism, first.as_bytes());
            assert!(matches!(failed, Err(Failure::Exchange(_))), "{mechanism} {header}");
        }
    }

    #[test]
    fn what_was_said_of_the_channel_stays_said() {
        let mut server = server(Some(&[7; 32]));
        server.first(MECHANISM, b"n,,n=,r=x").unwrap();
        let bound = Binding::EndPoint(vec![7; 32]).data();
        let last = format!("c={},r=x{SERVER_NONCE},p=AAAA", to_base64(&bound));
        let binding = Failure::Exchange("the channel binding does not match");
        assert_eq!(server.finish(last.as_bytes()), Err(binding));
    }

    #[test]
    fn broken_first_messages_are_refused() {
        for message in ["", "n", "n,", "n,,", "n,,n=", "n,,n=,r=", "n,a=x,n=,r=x", "z,,n=,r=x"] {
            assert!(server(None).first(MECHANISM, message.as_bytes()).is_err(), "{message}");
        }
        assert!(server(None).first(MECHANISM, b"n,,n=,r=\xff").is_err());
    }

    #[test]
    fn broken_final_messages_are_refused() {
        for message in [
            "",
            "c=biws",
            "c=biws,r=x,p=AAAA",
            "c=eSws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=AAAA",
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=AAAA",
        ] {
            let mut server = server(None);
            server.first(MECHANISM, CLIENT_FIRST).unwrap();
            assert!(matches!(server.finish(message.as_bytes()), Err(Failure::Exchange(_))));
        }
    }

    #[test]
    fn a_final_message_without_a_first_is_refused() {
        assert!(server(None).finish(CLIENT_FINAL.as_bytes()).is_err());
    }
}
