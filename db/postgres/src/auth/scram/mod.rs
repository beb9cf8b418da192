//! SCRAM-SHA-256: both sides prove that they know the password, and neither sends it; with -PLUS also that both see the same TLS.
//! <https://www.postgresql.org/docs/current/sasl-authentication.html>, RFC 5802, RFC 7677, RFC 5929.

mod binding;
mod client;
mod salted;
mod server;

use aws_lc_rs::{digest, hmac};

use super::{Failure, equal, from_base64, random, to_base64};

pub use binding::Binding;
pub use client::{Challenged, Client, Proved};
pub use server::{Server, Verifier};

/// The mechanism's name.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// The name of the one that binds the login to its TLS.
pub const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// Bytes of a salt, as PostgreSQL's.
pub(super) const SALT: usize = 16;
pub(super) const HASH: usize = digest::SHA256_OUTPUT_LEN;

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

pub(super) fn sign(key: &[u8], message: &[u8]) -> [u8; HASH] {
    sign_with(&hmac::Key::new(hmac::HMAC_SHA256, key), message)
}

fn sign_with(key: &hmac::Key, message: &[u8]) -> [u8; HASH] {
    let tag = hmac::sign(key, message);
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
