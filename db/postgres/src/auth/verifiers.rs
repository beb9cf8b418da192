//! The verifiers of those who log in, so that thousands of logins cost one derivation.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::scram::{HASH, SALT, Verifier, sign};
use super::{Failure, equal, random};

/// Users whose verifiers are remembered; beyond it the memory starts afresh.
const MAX_VERIFIERS: usize = 10_000;

type Digest = [u8; HASH];

/// The verifiers of those who log in, each worked out once: it takes 4096 rounds of hashing, and thousands of clients may come at once.
#[derive(Default)]
pub(crate) struct Verifiers {
    /// Salts and marks of passwords are made with it.
    secret: OnceLock<Digest>,
    /// By a digest of the user's name, as long names of nobody must not fill the memory; existing or not, with the mark of the password it was made of.
    known: Mutex<HashMap<Digest, (Digest, Verifier)>>,
}

impl Debug for Verifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifiers").finish_non_exhaustive()
    }
}

impl Verifiers {
    /// The verifier of a user with this password; without one, that of a user who does not exist, made of a password that nobody knows. The salt is
    /// the same each time either way, as it is in PostgreSQL, and so is the work, the first time and later: neither tells who exists.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub(crate) fn get(&self, user: &str, password: Option<&str>) -> Result<Verifier, Failure> {
        let secret = self.secret()?;
        let name = sign(&secret, format!("salt {user}").as_bytes());
        let salt = name.iter().take(SALT).copied().collect();
        let mark = match password {
            Some(password) => sign(&secret, format!("password {password}").as_bytes()),
            None => sign(&secret, b"nobody"),
        };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, verifier)) = known.get(&name)
            && equal(known, &mark)
        {
            return Ok(verifier.clone());
        }
        // Others need not wait for the rounds.
        drop(known);
        let verifier = match password {
            Some(password) => Verifier::of(password, salt),
            None => Verifier::of(&format!("{:?}", random::<HASH>()?), salt),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_VERIFIERS {
            known.clear();
        }
        known.insert(name, (mark, verifier.clone()));
        Ok(verifier)
    }

    fn secret(&self) -> Result<Digest, Failure> {
        match self.secret.get() {
            Some(secret) => Ok(*secret),
            None => {
                let fresh = random::<HASH>()?;
                Ok(*self.secret.get_or_init(|| fresh))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scram::{Binding, Client, MECHANISM, Server};
    use super::*;

    /// Logs in; gives the salt the client was told, and whether it was let in.
    fn log_in(verifiers: &Verifiers, user: &str, known: Option<&str>) -> (String, bool) {
        let mut server = Server::new(verifiers.get(user, known).unwrap(), None).unwrap();
        let client = Client::new("secret", Binding::None).unwrap();
        let reply = server.first(MECHANISM, client.first().as_bytes()).unwrap();
        let salt = reply.split(',').nth(1).unwrap().to_owned();
        let (proof, _) = client.challenge(reply.as_bytes()).unwrap().prove();
        (salt, server.finish(proof.as_bytes()).is_ok())
    }

    #[test]
    fn a_salt_stays_whether_or_not_the_user_exists_and_passwords_may_change() {
        let verifiers = Verifiers::default();
        let (salt, is_in) = log_in(&verifiers, "ann", Some("secret"));
        assert!(is_in && salt.len() > SALT);
        assert_eq!(log_in(&verifiers, "ann", Some("secret")), (salt.clone(), true));
        assert_eq!(log_in(&verifiers, "ann", Some("changed")), (salt.clone(), false));
        assert_eq!(log_in(&verifiers, "ann", Some("secret")), (salt.clone(), true));
        assert_eq!(log_in(&verifiers, "ann", None), (salt.clone(), false));
        let nobody = log_in(&verifiers, "bob", None);
        assert_eq!(log_in(&verifiers, "bob", None), nobody);
        assert!(!nobody.1 && nobody.0 != salt);
        assert_eq!(log_in(&verifiers, "ann", Some("secret")), (salt, true));
        assert_eq!(verifiers.known.lock().unwrap().len(), 2);
    }
}
