//! Authentication, both sides, without I/O: scrambles, RSA, and one small state machine per side.

mod client;
mod native;
mod rsa;
mod server;
mod sha2;

pub use client::{ClientLogin, ClientStep, PasswordKey};
pub use rsa::{ServerKey, encrypt_password};
pub use server::{ServerLogin, ServerStep};

/// Length of the random bytes both plugins use.
pub const SCRAMBLE_LEN: usize = 20;

/// Who can read what goes over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Anybody on the way.
    Open,
    /// The two sides alone: it is encrypted or local, so that a password may travel in clear.
    Private,
}

/// An authentication plugin both sides know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`.
    CachingSha2,
}

impl Plugin {
    /// The plugin's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
        }
    }

    /// The plugin of this name on the wire.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        [Self::Native, Self::CachingSha2]
            .into_iter()
            .find(|plugin| plugin.name().as_bytes() == name)
    }

    /// The plugin a user's configuration asks for; `None` leaves the choice to the client.
    pub fn from_method(method: &str) -> Option<Self> {
        match method {
            "NATIVE" | "MYSQL_NATIVE_PASSWORD" => Some(Self::Native),
            "CACHING_SHA2" | "CACHING_SHA2_PASSWORD" => Some(Self::CachingSha2),
            _ => None,
        }
    }

    /// What a client answers to `scramble`; empty for an empty password.
    pub fn answer(self, password: &[u8], scramble: &[u8]) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            Self::Native => native::answer(password, scramble).to_vec(),
            Self::CachingSha2 => sha2::answer(password, scramble).to_vec(),
        }
    }
}

/// Fresh random bytes for a login: printable, so that no client stumbles over a zero byte.
///
/// # Errors
/// `Internal` when the system has no random bytes.
pub fn new_scramble() -> pando_kernel::Result<[u8; SCRAMBLE_LEN]> {
    let mut scramble = [0; SCRAMBLE_LEN];
    aws_lc_rs::rand::fill(&mut scramble)
        .map_err(|_| pando_kernel::Error::internal("no random bytes"))?;
    Ok(scramble.map(|byte| b'!' + byte % 94))
}

fn xor<const N: usize>(left: [u8; N], right: &[u8]) -> [u8; N] {
    let mut out = left;
    for (byte, mask) in out.iter_mut().zip(right) {
        *byte ^= mask;
    }
    out
}

fn same(left: &[u8], right: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(left, right).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambles_are_printable_and_differ() {
        let (one, two) = (new_scramble().unwrap(), new_scramble().unwrap());
        assert_ne!(one, two);
        assert!(one.iter().all(u8::is_ascii_graphic));
    }

    #[test]
    fn an_empty_password_answers_nothing() {
        for plugin in [Plugin::Native, Plugin::CachingSha2] {
            assert!(plugin.answer(b"", &[1; 20]).is_empty());
            assert_eq!(Plugin::from_name(plugin.name().as_bytes()), Some(plugin));
        }
    }
}
