//! AES-256-GCM-SIV (RFC 8452): of each value another text every time, and of what was changed none is read. A key has a
//! number, which stands in front of what it has stored: a new key writes while older ones read.
//!
//! ```text
//! 1 | number of the key (4) | nonce (12) | cipher text | tag (16), in Base64
//! ```
//!
//! Equality is asked by an assisted query column, best of `HMAC_SHA256`.

use std::collections::BTreeMap;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pando_config::{Algorithm, Placed, Problem};
use pando_kernel::error::{Error, Result};

use super::aes::base64_width;
use super::{Abilities, Encryptor, Like, keys, props, unreadable};

/// The form of what is stored, its first octet.
const FORM: u8 = 1;
const TAG: usize = 16;
/// What stands in front of the cipher text.
const HEAD: usize = 1 + 4 + NONCE_LEN;

/// `AES_GCM_SIV`.
#[derive(Debug)]
pub(super) struct GcmSiv {
    writes: u32,
    keys: BTreeMap<u32, LessSafeKey>,
}

impl GcmSiv {
    /// `keys` has each key by its number (`1=env:OLD, 2=file:/etc/pando/new`), `key-id` the number of the one that
    /// writes.
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["keys", "key-id"])?;
        let list = props::required(algorithm, "keys")?;
        let mut keys = BTreeMap::new();
        for one in list.value.split(',') {
            let (number, source) = one.split_once('=').unwrap_or_default();
            let Ok(number) = number.trim().parse::<u32>() else {
                return Err(list.at.problem(
                    "`keys` has each key by its number: `1=env:OLD_KEY, 2=file:/etc/pando/key`",
                ));
            };
            let source = Placed { value: source.trim().to_owned(), at: list.at.clone() };
            let key = UnboundKey::new(&AES_256_GCM_SIV, &keys::read(&source)?);
            let key = key.map_err(|_| list.at.problem(format!("key {number} cannot be used")))?;
            if keys.insert(number, LessSafeKey::new(key)).is_some() {
                return Err(list.at.problem(format!("there are two keys {number}")));
            }
        }
        let id = props::required(algorithm, "key-id")?;
        match id.value.trim().parse() {
            Ok(writes) if keys.contains_key(&writes) => Ok(Self { writes, keys }),
            _ => Err(id.at.problem(format!("`keys` has no key `{}`", id.value))),
        }
    }
}

impl Encryptor for GcmSiv {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        let failed = || Error::internal("AES-GCM-SIV has not encrypted");
        let key = self.keys.get(&self.writes).ok_or_else(failed)?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| failed())?;
        let mut octets = Vec::with_capacity(HEAD + plain.len() + TAG);
        octets.push(FORM);
        octets.extend(self.writes.to_be_bytes());
        octets.extend(nonce);
        let (number, nonce) =
            (Aad::from(self.writes.to_be_bytes()), Nonce::assume_unique_for_key(nonce));
        let mut sealed = plain.to_vec();
        key.seal_in_place_append_tag(nonce, number, &mut sealed).map_err(|_| failed())?;
        octets.extend(sealed);
        Ok(STANDARD.encode(octets))
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        let read = || {
            let octets = STANDARD.decode(stored.trim()).ok()?;
            let (head, sealed) = octets.split_at_checked(HEAD)?;
            let (&form, head) = head.split_first()?;
            let (number, nonce) = head.split_first_chunk::<4>()?;
            let key = self.keys.get(&u32::from_be_bytes(*number)).filter(|_| form == FORM)?;
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let mut sealed = sealed.to_vec();
            key.open_in_place(nonce, Aad::from(*number), &mut sealed)
                .ok()
                .map(|plain| plain.to_vec())
        };
        read().ok_or_else(|| unreadable("AES_GCM_SIV"))
    }

    /// Equal values are stored as others: it is the key that tells.
    fn is_current(&self, stored: &str, plain: &[u8]) -> bool {
        let octets = STANDARD.decode(stored.trim()).unwrap_or_default();
        let is_of_key = octets.get(1..5) == Some(&self.writes.to_be_bytes()[..]);
        is_of_key && self.decrypt(stored).is_ok_and(|own| own == plain)
    }

    fn width(&self, octets: usize) -> usize {
        base64_width(HEAD + octets + TAG)
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: false, like: Like::Never }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::super::tests::{made, problem};

    fn key(octet: u8) -> String {
        format!("base64:{}", STANDARD.encode([octet; 32]))
    }

    #[test]
    fn a_new_key_writes_and_the_old_one_is_read() {
        let (old, new) = (key(1), key(2));
        let one = made("AES_GCM_SIV", &[("keys", &format!("1={old}")), ("key-id", "1")]);
        let both = made("AES_GCM_SIV", &[("keys", &format!("1={old}, 2={new}")), ("key-id", "2")]);
        let stored = one.encrypt(b"secret").unwrap();
        assert_eq!(both.decrypt(&stored).unwrap(), b"secret");
        let stored = both.encrypt(b"secret").unwrap();
        assert_eq!(both.decrypt(&stored).unwrap(), b"secret");
        assert!(one.decrypt(&stored).is_err());
        assert!(stored.len() <= both.width(6));
        assert!(both.is_current(&stored, b"secret") && !both.is_current(&stored, b"other"));
        let older = one.encrypt(b"secret").unwrap();
        assert!(one.is_current(&older, b"secret") && !both.is_current(&older, b"secret"));
    }

    #[test]
    fn equal_values_are_stored_as_others_and_no_change_is_read() {
        let one = made("AES_GCM_SIV", &[("keys", &format!("7={}", key(1))), ("key-id", "7")]);
        let stored = one.encrypt(b"secret").unwrap();
        assert_ne!(one.encrypt(b"secret").unwrap(), stored);
        let octets = STANDARD.decode(&stored).unwrap();
        for at in 0..octets.len() {
            let mut changed = octets.clone();
            changed[at] ^= 1;
            assert!(one.decrypt(&STANDARD.encode(&changed)).is_err(), "{at}");
            assert!(one.decrypt(&STANDARD.encode(&octets[..at])).is_err(), "{at}");
        }
    }

    #[test]
    fn wrong_keys_are_told() {
        let two = format!("1={}, 1={}", key(1), key(2));
        assert!(problem("AES_GCM_SIV", &[("keys", &two), ("key-id", "1")]).contains("two keys 1"));
        let one = format!("1={}", key(1));
        assert!(problem("AES_GCM_SIV", &[("keys", &one), ("key-id", "2")]).contains("no key `2`"));
        assert!(
            problem("AES_GCM_SIV", &[("keys", "x"), ("key-id", "1")]).contains("by its number")
        );
    }
}
