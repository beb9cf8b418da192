//! Proving who one is: SCRAM-SHA-256, MD5 and the plain password, on both sides. No I/O.
//! <https://www.postgresql.org/docs/current/auth-password.html>

pub mod md5;
pub mod scram;
pub(crate) mod verifiers;

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Why an exchange cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The peer broke the rules of the exchange; what is wrong.
    Exchange(&'static str),
    /// The peer does not know the secret.
    WrongSecret,
    /// No randomness is to be had.
    NoRandomness,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Exchange(what) => write!(f, "malformed authentication exchange: {what}"),
            Failure::WrongSecret => f.write_str("the secret is wrong"),
            Failure::NoRandomness => f.write_str("no randomness is available"),
        }
    }
}

impl std::error::Error for Failure {}

/// Random bytes from the system.
///
/// # Errors
/// `NoRandomness`.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Failure::NoRandomness)?;
    Ok(bytes)
}

/// Whether two secrets are equal; takes the same time wherever they differ, but not for every length.
pub fn equal(left: &[u8], right: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(left, right).is_ok()
}

/// Whether a password in clear is the known one; tells neither by its time, nor how long the known one is. Where none is known nothing is the right one.
pub fn is_password(known: Option<&str>, given: &[u8]) -> bool {
    let hash = |bytes: &[u8]| digest(&SHA256, bytes);
    let is_equal = equal(hash(known.unwrap_or_default().as_bytes()).as_ref(), hash(given).as_ref());
    known.is_some() && is_equal
}

fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn from_base64(text: &str) -> Result<Vec<u8>, Failure> {
    STANDARD.decode(text).map_err(|_| Failure::Exchange("a value is not base64"))
}
