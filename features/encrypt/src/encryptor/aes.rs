//! AES-128 in ECB mode with PKCS#7 padding, Base64: byte for byte what ShardingSphere's `AES` stores, so that its data
//! can be read. Equal blocks of a value show as such; `AES_GCM_SIV` is for new data.

use aws_lc_rs::cipher::{
    AES_128, DecryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Digest as _;
use pando_config::{Algorithm, Problem};
use pando_kernel::error::{Error, Result};

use super::{Abilities, Encryptor, Like, props, unreadable};

/// Octets of a key and of a block.
const BLOCK: usize = 16;

/// `AES`.
#[derive(Debug)]
pub(super) struct Aes {
    encrypts: PaddedBlockEncryptingKey,
    decrypts: PaddedBlockDecryptingKey,
}

impl Aes {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["aes-key-value", "digest-algorithm-name"])?;
        let value = props::required(algorithm, "aes-key-value")?;
        let name = algorithm.props.get("digest-algorithm-name");
        let digest = name.map_or("SHA-1", |name| name.as_str());
        let Some(digested) = digested(digest, value.as_bytes()) else {
            let at = name.map_or(&algorithm.kind.at, |name| &name.at);
            return Err(at.problem(format!(
                "digest `{digest}` does not exist; use `SHA-1`, `SHA-256`, `SHA-384`, `SHA-512` or `MD5`"
            )));
        };
        let key = digested.get(..BLOCK).unwrap_or(&digested);
        let made = || {
            let encrypts =
                PaddedBlockEncryptingKey::ecb_pkcs7(UnboundCipherKey::new(&AES_128, key)?)?;
            let decrypts =
                PaddedBlockDecryptingKey::ecb_pkcs7(UnboundCipherKey::new(&AES_128, key)?)?;
            Ok::<_, aws_lc_rs::error::Unspecified>(Self { encrypts, decrypts })
        };
        made().map_err(|_| value.at.problem("the key cannot be used"))
    }
}

fn digested(name: &str, value: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match name.to_uppercase().as_str() {
        "SHA-1" | "SHA1" | "SHA" => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        "SHA-224" => &digest::SHA224,
        "SHA-256" => &digest::SHA256,
        "SHA-384" => &digest::SHA384,
        "SHA-512" => &digest::SHA512,
        "MD5" => return Some(md5::Md5::digest(value).to_vec()),
        _ => return None,
    };
    Some(digest::digest(algorithm, value).as_ref().to_vec())
}

impl Encryptor for Aes {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        let mut octets = plain.to_vec();
        match self.encrypts.encrypt(&mut octets) {
            Ok(_) => Ok(STANDARD.encode(octets)),
            Err(_) => Err(Error::internal("AES has not encrypted")),
        }
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        let mut octets = STANDARD.decode(stored.trim()).map_err(|_| unreadable("AES"))?;
        if octets.is_empty() || octets.len() % BLOCK != 0 {
            return Err(unreadable("AES"));
        }
        let plain = self.decrypts.decrypt(&mut octets, DecryptionContext::None);
        plain.map(|plain| plain.to_vec()).map_err(|_| unreadable("AES"))
    }

    fn width(&self, octets: usize) -> usize {
        base64_width((octets / BLOCK + 1) * BLOCK)
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: true, like: Like::Never }
    }
}

/// Characters of so many octets.
pub(super) fn base64_width(octets: usize) -> usize {
    octets.div_ceil(3) * 4
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made, problem};

    #[test]
    fn the_key_is_what_the_digest_of_the_value_begins_with() {
        let stored = |digest: &str| {
            let props = [("aes-key-value", "123456abc"), ("digest-algorithm-name", digest)];
            made("AES", &props).encrypt(b"a").unwrap()
        };
        assert_eq!(stored("sha-1"), "FrpvlLvZyXewBRRnbeNnbA==");
        assert_ne!(stored("SHA-256"), stored("SHA-1"));
        assert_ne!(stored("MD5"), stored("SHA-1"));
    }

    #[test]
    fn wrong_properties_are_told_without_the_key() {
        let told = problem("AES", &[]);
        assert!(told.contains("`aes-key-value`"), "{told}");
        let told =
            problem("AES", &[("aes-key-value", "hidden"), ("digest-algorithm-name", "CRC32")]);
        assert!(told.contains("`CRC32`") && !told.contains("hidden"), "{told}");
        let told = problem("AES", &[("aes-key-value", "hidden"), ("salt", "x")]);
        assert!(told.contains("no property `salt`"), "{told}");
    }
}
