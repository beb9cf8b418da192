//! RC4, Base64: reads what was stored before, byte for byte as ShardingSphere 5.3 stores it. Two values stored with one
//! key tell what differs between them. ShardingSphere 5.1 overwrote its key with zeros before it used it: what that has
//! stored is read with a key of as many NULs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pando_config::{Algorithm, Problem};
use pando_kernel::error::{Error, Result};
use rc4::{KeyInit as _, StreamCipher as _};

use super::aes::base64_width;
use super::{Abilities, Encryptor, Like, props, unreadable};

/// `RC4`.
pub(super) struct Rc4 {
    key: Vec<u8>,
}

impl std::fmt::Debug for Rc4 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rc4")
    }
}

impl Rc4 {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["rc4-key-value"])?;
        let value = props::required(algorithm, "rc4-key-value")?;
        // ShardingSphere takes keys from 5 to 255 octets.
        if !(5..256).contains(&value.len()) {
            return Err(value.at.problem("`rc4-key-value` has between 5 and 255 octets"));
        }
        Ok(Self { key: value.as_bytes().to_vec() })
    }

    fn turned(&self, mut octets: Vec<u8>) -> Result<Vec<u8>> {
        let cipher = rc4::Rc4::new_from_slice(&self.key);
        let mut cipher = cipher.map_err(|_| Error::internal("RC4 has not taken its key"))?;
        cipher.apply_keystream(&mut octets);
        Ok(octets)
    }
}

impl Encryptor for Rc4 {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        Ok(STANDARD.encode(self.turned(plain.to_vec())?))
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        self.turned(STANDARD.decode(stored.trim()).map_err(|_| unreadable("RC4"))?)
    }

    fn width(&self, octets: usize) -> usize {
        base64_width(octets)
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: true, like: Like::Never }
    }
}
