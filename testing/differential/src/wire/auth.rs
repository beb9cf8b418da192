//! Logging in: SCRAM-SHA-256, and MySQL's two ways.

use std::num::NonZeroU32;

use aws_lc_rs::{digest, hmac, pbkdf2};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::Fault;

/// Every server of the tests knows this user by this password.
pub(super) const USER: &str = "test";
pub(super) const PASSWORD: &str = "test";

/// Tests need no secret: the nonce is always the same.
pub(super) const SCRAM_BARE: &str = "n=,r=cGFuZG8gZGlmZmVyZW50aWFs";

/// The answer to the server's challenge. <https://www.rfc-editor.org/rfc/rfc5802>
pub(super) fn scram(challenge: &str) -> Result<String, Fault> {
    let part = |name: &str| {
        challenge.split(',').find_map(|part| part.strip_prefix(name)).ok_or("SCRAM: a part misses")
    };
    let salt = BASE64_STANDARD.decode(part("s=")?).map_err(|error| error.to_string())?;
    let rounds: NonZeroU32 = part("i=")?.parse().map_err(|_| "SCRAM: no count of rounds")?;
    let mut salted = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, PASSWORD.as_bytes(), &mut salted);
    let sign = |key: &[u8], text: &[u8]| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
    };
    let key = sign(&salted, b"Client Key");
    let unsigned = format!("c=biws,r={}", part("r=")?);
    let signed = format!("{SCRAM_BARE},{challenge},{unsigned}");
    let signature = sign(digest::digest(&digest::SHA256, &key).as_ref(), signed.as_bytes());
    let proof: Vec<u8> = key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
    Ok(format!("{unsigned},p={}", BASE64_STANDARD.encode(proof)))
}

/// The answer of MySQL's plugin of this name to a scramble of 20 bytes.
pub(super) fn mysql(plugin: &str, scramble: &[u8]) -> Result<Vec<u8>, Fault> {
    let (kind, scramble_first) = match plugin {
        "mysql_native_password" => (&digest::SHA1_FOR_LEGACY_USE_ONLY, true),
        "caching_sha2_password" => (&digest::SHA256, false),
        other => return Err(format!("the server wants {other}")),
    };
    let hash = |bytes: &[u8]| digest::digest(kind, bytes).as_ref().to_vec();
    let once = hash(PASSWORD.as_bytes());
    let twice = hash(&once);
    let mixed =
        if scramble_first { [scramble, &twice].concat() } else { [&twice, scramble].concat() };
    Ok(once.iter().zip(hash(&mixed)).map(|(a, b)| a ^ b).collect())
}
