//! The client's side of an exchange.

use super::salted::Salting;
use super::{
    Binding, Failure, HASH, attribute, equal, from_base64, random, sha256, sign, to_base64, utf8,
    xor,
};

/// The client's side of one exchange, before the server's first message.
pub struct Client {
    password: String,
    binding: Binding,
    bare: String,
    nonce: String,
}

/// The client's side once the server has told salt and rounds.
#[derive(Debug)]
pub struct Challenged {
    salting: Salting,
    unsigned: String,
    signed: String,
}

/// The client's side once it has sent its proof.
#[derive(Debug)]
pub struct Proved {
    signature: [u8; HASH],
}

impl Client {
    /// An exchange with this password over such a channel.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn new(password: &str, binding: Binding) -> Result<Client, Failure> {
        Ok(Client::with("", password, binding, to_base64(&random::<18>()?)))
    }

    pub(super) fn with(user: &str, password: &str, binding: Binding, nonce: String) -> Client {
        let (password, bare) = (password.to_owned(), format!("n={user},r={nonce}"));
        Client { password, binding, bare, nonce }
    }

    /// The client's first message.
    pub fn first(&self) -> String {
        format!("{}{}", self.binding.header(), self.bare)
    }

    /// Takes the server's first message.
    ///
    /// # Errors
    /// `Exchange` when the message breaks the rules, or asks for too little work or too much.
    pub fn challenge(self, message: &[u8]) -> Result<Challenged, Failure> {
        let message = utf8(message)?;
        let mut attributes = message.split(',');
        let nonce = attribute(&mut attributes, "r=")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(Failure::Exchange("the server's nonce does not go on from the client's"));
        }
        let salt = from_base64(attribute(&mut attributes, "s=")?)?;
        let rounds: u32 = attribute(&mut attributes, "i=")?
            .parse()
            .map_err(|_| Failure::Exchange("the iteration count is no number, or too large"))?;
        let salting = Salting::new(self.password.as_bytes(), &salt, rounds)?;
        let unsigned = format!("c={},r={nonce}", to_base64(&self.binding.data()));
        let signed = format!("{},{message},{unsigned}", self.bare);
        Ok(Challenged { salting, unsigned, signed })
    }
}

impl Challenged {
    /// Works for a moment; gives the client's final message once the work is done. Whoever has other things to do does them in between.
    pub fn work(&mut self) -> Option<(String, Proved)> {
        let salted = self.salting.advance()?;
        let client_key = sign(&salted, b"Client Key");
        let proof = xor(client_key, sign(&sha256(&client_key), self.signed.as_bytes()));
        let signature = sign(&sign(&salted, b"Server Key"), self.signed.as_bytes());
        let last = format!("{},p={}", self.unsigned, to_base64(&proof));
        Some((last, Proved { signature }))
    }

    /// All the work at once.
    pub fn prove(mut self) -> (String, Proved) {
        loop {
            if let Some(done) = self.work() {
                return done;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7677, section 3.
    const CLIENT_NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn client(binding: Binding) -> Client {
        Client::with("user", "pencil", binding, CLIENT_NONCE.to_owned())
    }

    fn proved(binding: Binding) -> (String, Proved) {
        client(binding).challenge(SERVER_FIRST.as_bytes()).unwrap().prove()
    }

    #[test]
    fn the_client_speaks_as_the_rfc_does() {
        assert_eq!(client(Binding::None).first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let (last, proved) = proved(Binding::None);
        assert_eq!(last, CLIENT_FINAL);
        assert_eq!(proved.check(SERVER_FINAL.as_bytes()), Ok(()));
    }

    #[test]
    fn what_the_client_knows_of_the_channel_stands_in_both_messages() {
        let hash = Binding::EndPoint(vec![0xFF; 3]);
        let first = "p=tls-server-end-point,,n=user,r=rOprNGfwEbeRWgbNEkqO";
        assert_eq!(client(hash.clone()).first(), first);
        let (last, _) = proved(hash);
        let bound = [&b"p=tls-server-end-point,,"[..], &[0xFF; 3]].concat();
        assert!(last.starts_with(&format!("c={},r=", to_base64(&bound))), "{last}");
        assert!(client(Binding::NotOffered).first().starts_with("y,,"));
        assert!(proved(Binding::NotOffered).0.starts_with("c=eSws,r="));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_refused() {
        let (_, proved) = proved(Binding::None);
        let forged = format!("v={}", to_base64(&[7; 32]));
        assert_eq!(proved.check(forged.as_bytes()), Err(Failure::WrongSecret));
        assert_eq!(proved.check(b"e=other-error"), Err(Failure::WrongSecret));
        assert!(matches!(proved.check(b""), Err(Failure::Exchange(_))));
        assert_eq!(proved.check(b"v="), Err(Failure::WrongSecret));
    }

    #[test]
    fn bad_server_messages_are_refused() {
        for message in [
            "",
            "r=other,s=AAAA,i=4096",
            "r=rOprNGfwEbeRWgbNEkqO,s=AAAA,i=4096",
            "r=xrOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4096",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=0",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=1",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4095",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=2147483648",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4294967295",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=4294967296",
            "r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=-4096",
            "r=rOprNGfwEbeRWgbNEkqOx,s=?,i=4096",
        ] {
            let client = client(Binding::None);
            assert!(client.challenge(message.as_bytes()).is_err(), "{message}");
        }
    }
}
