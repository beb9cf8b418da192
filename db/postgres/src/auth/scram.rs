//! SCRAM-SHA-256: both sides prove that they know the password, and neither sends it.
//! <https://www.postgresql.org/docs/current/sasl-authentication.html>, RFC 5802, RFC 7677.

use std::num::NonZeroU32;

use aws_lc_rs::{digest, hmac, pbkdf2};

use super::{Failure, equal, from_base64, random, to_base64};

/// The mechanism's name.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// Rounds PostgreSQL itself uses.
const ITERATIONS: u32 = 4096;
/// More rounds than this from a server would only be an attack on our time.
const MAX_ITERATIONS: u32 = 1_000_000;
/// Bytes of a salt, as PostgreSQL's.
pub(super) const SALT: usize = 16;
pub(super) const HASH: usize = digest::SHA256_OUTPUT_LEN;

/// What a server needs to check a password, without being the password.
#[derive(Clone)]
pub struct Verifier {
    salt: Vec<u8>,
    iterations: u32,
    stored_key: [u8; HASH],
    server_key: [u8; HASH],
}

impl Verifier {
    /// The verifier of a password with this salt.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn of(password: &str, salt: Vec<u8>) -> Result<Verifier, Failure> {
        Verifier::derive(password, salt, ITERATIONS)
    }

    fn derive(password: &str, salt: Vec<u8>, iterations: u32) -> Result<Verifier, Failure> {
        let salted = salt_password(password.as_bytes(), &salt, iterations)?;
        let client_key = sign(&salted, b"Client Key");
        Ok(Verifier {
            salt,
            iterations,
            stored_key: sha256(&client_key),
            server_key: sign(&salted, b"Server Key"),
        })
    }
}

/// The server's side of one exchange.
pub struct Server {
    verifier: Verifier,
    nonce: String,
    /// `client-first-message-bare,server-first-message,`, once the first message has come.
    transcript: String,
    header: String,
}

impl Server {
    /// An exchange against this verifier.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn new(verifier: Verifier) -> Result<Server, Failure> {
        Ok(Server::with_nonce(verifier, to_base64(&random::<18>()?)))
    }

    fn with_nonce(verifier: Verifier, nonce: String) -> Server {
        Server { verifier, nonce, transcript: String::new(), header: String::new() }
    }

    /// Takes the client's first message and gives the server's.
    ///
    /// # Errors
    /// `Exchange` when the message breaks the rules.
    pub fn first(&mut self, message: &[u8]) -> Result<String, Failure> {
        let message = utf8(message)?;
        let (binding, rest) = message.split_once(',').ok_or(Failure::Exchange("no GS2 header"))?;
        match binding {
            // `y`: the client could bind to the channel but saw no offer, which is true.
            "n" | "y" => {}
            _ if binding.starts_with("p=") => {
                return Err(Failure::Exchange("channel binding was not offered"));
            }
            _ => return Err(Failure::Exchange("no GS2 header")),
        }
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
        self.header = format!("{binding},{identity},");
        self.nonce = format!("{client_nonce}{}", self.nonce);
        let salt = to_base64(&self.verifier.salt);
        let reply = format!("r={},s={salt},i={}", self.nonce, self.verifier.iterations);
        self.transcript = format!("{bare},{reply},");
        Ok(reply)
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
        if from_base64(attribute(&mut attributes, "c=")?)? != self.header.as_bytes() {
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

/// The client's side of one exchange, before the server's first message.
pub struct Client {
    password: String,
    bare: String,
    nonce: String,
}

/// The client's side once it has sent its proof.
pub struct Proved {
    signature: [u8; HASH],
}

const HEADER: &str = "n,,";

impl Client {
    /// An exchange with this password.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn new(password: &str) -> Result<Client, Failure> {
        Ok(Client::with("", password, to_base64(&random::<18>()?)))
    }

    fn with(user: &str, password: &str, nonce: String) -> Client {
        Client { password: password.to_owned(), bare: format!("n={user},r={nonce}"), nonce }
    }

    /// The client's first message.
    pub fn first(&self) -> String {
        format!("{HEADER}{}", self.bare)
    }

    /// Takes the server's first message and gives the client's final one.
    ///
    /// # Errors
    /// `Exchange` when the message breaks the rules.
    pub fn prove(self, message: &[u8]) -> Result<(String, Proved), Failure> {
        let message = utf8(message)?;
        let mut attributes = message.split(',');
        let nonce = attribute(&mut attributes, "r=")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(Failure::Exchange("the server's nonce does not go on from the client's"));
        }
        let salt = from_base64(attribute(&mut attributes, "s=")?)?;
        let iterations: u32 = attribute(&mut attributes, "i=")?
            .parse()
            .map_err(|_| Failure::Exchange("the iteration count is no number"))?;
        let salted = salt_password(self.password.as_bytes(), &salt, iterations)?;
        let client_key = sign(&salted, b"Client Key");
        let unsigned = format!("c={},r={nonce}", to_base64(HEADER.as_bytes()));
        let signed = format!("{},{message},{unsigned}", self.bare);
        let proof = xor(client_key, sign(&sha256(&client_key), signed.as_bytes()));
        let signature = sign(&sign(&salted, b"Server Key"), signed.as_bytes());
        Ok((format!("{unsigned},p={}", to_base64(&proof)), Proved { signature }))
    }
}

impl Proved {
    /// Checks the server's final message: a server that does not know the password is refused.
    ///
    /// # Errors
    /// `WrongSecret` when its signature is wrong, `Exchange` when the message breaks the rules.
    pub fn check(&self, message: &[u8]) -> Result<(), Failure> {
        let message = utf8(message)?;
        if message.starts_with("e=") {
            return Err(Failure::WrongSecret);
        }
        let signature = from_base64(attribute(&mut message.split(','), "v=")?)?;
        if equal(&signature, &self.signature) { Ok(()) } else { Err(Failure::WrongSecret) }
    }
}

fn utf8(message: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(message).map_err(|_| Failure::Exchange("a message is not UTF-8"))
}

fn attribute<'a>(
    attributes: &mut impl Iterator<Item = &'a str>,
    name: &str,
) -> Result<&'a str, Failure> {
    attributes
        .next()
        .and_then(|attribute| attribute.strip_prefix(name))
        .ok_or(Failure::Exchange("an attribute is missing or out of order"))
}

fn salt_password(password: &[u8], salt: &[u8], iterations: u32) -> Result<[u8; HASH], Failure> {
    let iterations = NonZeroU32::new(iterations)
        .filter(|count| count.get() <= MAX_ITERATIONS)
        .ok_or(Failure::Exchange("the iteration count is out of range"))?;
    let mut salted = [0; HASH];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password, &mut salted);
    Ok(salted)
}

pub(super) fn sign(key: &[u8], message: &[u8]) -> [u8; HASH] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    let mut bytes = [0; HASH];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

fn sha256(bytes: &[u8]) -> [u8; HASH] {
    let mut hash = [0; HASH];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}

fn xor(mut left: [u8; HASH], right: [u8; HASH]) -> [u8; HASH] {
    left.iter_mut().zip(right).for_each(|(left, right)| *left ^= right);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7677, section 3.
    const CLIENT_NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    const SERVER_FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn rfc_client() -> Client {
        Client::with("user", "pencil", CLIENT_NONCE.to_owned())
    }

    fn rfc_server() -> Server {
        let salt = from_base64("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let verifier = Verifier::derive("pencil", salt, 4096).unwrap();
        Server::with_nonce(verifier, SERVER_NONCE.to_owned())
    }

    #[test]
    fn the_client_speaks_as_the_rfc_does() {
        let client = rfc_client();
        assert_eq!(client.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let (last, proved) = client.prove(SERVER_FIRST.as_bytes()).unwrap();
        assert_eq!(last, CLIENT_FINAL);
        assert_eq!(proved.check(SERVER_FINAL.as_bytes()), Ok(()));
    }

    #[test]
    fn the_server_speaks_as_the_rfc_does() {
        let mut server = rfc_server();
        assert_eq!(server.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO").unwrap(), SERVER_FIRST);
        assert_eq!(server.finish(CLIENT_FINAL.as_bytes()).unwrap(), SERVER_FINAL);
    }

    fn exchange(known: &str, given: &str) -> Result<(), Failure> {
        let mut server = Server::new(Verifier::of(known, random::<SALT>()?.to_vec())?)?;
        let client = Client::new(given)?;
        let reply = server.first(client.first().as_bytes())?;
        let (proof, proved) = client.prove(reply.as_bytes())?;
        proved.check(server.finish(proof.as_bytes())?.as_bytes())
    }

    #[test]
    fn only_the_right_password_passes() {
        assert_eq!(exchange("pä$$word", "pä$$word"), Ok(()));
        assert_eq!(exchange("password", "Password"), Err(Failure::WrongSecret));
        assert_eq!(exchange("password", ""), Err(Failure::WrongSecret));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_refused() {
        let (_, proved) = rfc_client().prove(SERVER_FIRST.as_bytes()).unwrap();
        let forged = format!("v={}", to_base64(&[7; 32]));
        assert_eq!(proved.check(forged.as_bytes()), Err(Failure::WrongSecret));
        assert_eq!(proved.check(b"e=other-error"), Err(Failure::WrongSecret));
        assert!(matches!(proved.check(b""), Err(Failure::Exchange(_))));
    }

    #[test]
    fn broken_first_messages_are_refused() {
        for message in ["", "n", "n,", "n,,", "n,,n=", "n,,n=,r=", "n,a=x,n=,r=x", "z,,n=,r=x"] {
            assert!(rfc_server().first(message.as_bytes()).is_err(), "{message}");
        }
        assert!(rfc_server().first(b"p=tls-server-end-point,,n=,r=x").is_err());
        assert!(rfc_server().first(b"n,,n=,r=\xff").is_err());
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
            let mut server = rfc_server();
            server.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO").unwrap();
            assert!(matches!(server.finish(message.as_bytes()), Err(Failure::Exchange(_))));
        }
    }

    #[test]
    fn a_final_message_without_a_first_is_refused() {
        assert!(rfc_server().finish(CLIENT_FINAL.as_bytes()).is_err());
    }

    #[test]
    fn bad_server_messages_are_refused() {
        for message in [
            "",
            "r=other,s=AAAA,i=4096",
            "r=rOprNGfwEbeRWgbNEkqO,s=AAAA,i=4096",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=0",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4294967295",
            "r=rOprNGfwEbeRWgbNEkqOx,s=?,i=4096",
        ] {
            assert!(rfc_client().prove(message.as_bytes()).is_err(), "{message}");
        }
    }
}
