//! SM4 (GB/T 32907) in ECB or CBC mode with PKCS#7 padding, as hexadecimal digits. In ECB mode byte for byte what
//! ShardingSphere's `SM4` stores; what its releases stored in CBC mode with an initial vector they could not read
//! again.

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyInit as _, KeyIvInit as _};
use pando_config::{Algorithm, Problem};
use pando_kernel::error::Result;

use super::{Abilities, Encryptor, Like, hex, props, unreadable};

const BLOCK: usize = 16;

/// `SM4`.
pub(super) struct Sm4 {
    key: [u8; BLOCK],
    /// `None` in ECB mode.
    iv: Option<[u8; BLOCK]>,
}

impl std::fmt::Debug for Sm4 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sm4")
    }
}

impl Sm4 {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["sm4-key", "sm4-mode", "sm4-iv", "sm4-padding"])?;
        let key = sixteen(algorithm, "sm4-key")?;
        let mode = props::required(algorithm, "sm4-mode")?;
        let iv = match mode.to_uppercase().as_str() {
            "ECB" => None,
            "CBC" => Some(sixteen(algorithm, "sm4-iv")?),
            _ => return Err(mode.at.problem("`sm4-mode` is `ECB` or `CBC`")),
        };
        let padding = props::required(algorithm, "sm4-padding")?;
        match padding.to_uppercase().as_str() {
            // For blocks of this size they are one.
            "PKCS5PADDING" | "PKCS7PADDING" => Ok(Self { key, iv }),
            _ => Err(padding.at.problem("`sm4-padding` is `PKCS5Padding` or `PKCS7Padding`")),
        }
    }
}

fn sixteen(algorithm: &Algorithm, name: &str) -> Result<[u8; BLOCK], Problem> {
    let value = props::required(algorithm, name)?;
    let octets = hex::decode(value).and_then(|octets| octets.try_into().ok());
    octets.ok_or_else(|| value.at.problem(format!("`{name}` is 32 hexadecimal digits")))
}

impl Encryptor for Sm4 {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        let key = (&self.key).into();
        let octets = match &self.iv {
            None => ecb::Encryptor::<sm4::Sm4>::new(key).encrypt_padded_vec::<Pkcs7>(plain),
            Some(iv) => {
                cbc::Encryptor::<sm4::Sm4>::new(key, iv.into()).encrypt_padded_vec::<Pkcs7>(plain)
            }
        };
        Ok(hex::encode(&octets))
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        let octets = hex::decode(stored.trim()).ok_or_else(|| unreadable("SM4"))?;
        let key = (&self.key).into();
        let plain = match &self.iv {
            None => ecb::Decryptor::<sm4::Sm4>::new(key).decrypt_padded_vec::<Pkcs7>(&octets),
            Some(iv) => {
                cbc::Decryptor::<sm4::Sm4>::new(key, iv.into()).decrypt_padded_vec::<Pkcs7>(&octets)
            }
        };
        plain.map_err(|_| unreadable("SM4"))
    }

    fn width(&self, octets: usize) -> usize {
        (octets / BLOCK + 1) * BLOCK * 2
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: true, like: Like::Never }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::super::tests::{made, problem};

    #[test]
    fn the_example_of_the_standard() {
        let key = "0123456789ABCDEFFEDCBA9876543210";
        let props = [("sm4-key", key), ("sm4-mode", "ECB"), ("sm4-padding", "PKCS7Padding")];
        let stored = made("SM4", &props).encrypt(&hex::decode(key).unwrap()).unwrap();
        // GB/T 32907-2016, example 1; behind it stands a block of padding.
        assert_eq!(&stored[..32], "681edf34d206965e86b3e94f536e4246");
    }

    #[test]
    fn chained_blocks_hang_on_the_initial_vector() {
        let with = |iv: &str| {
            made(
                "SM4",
                &[
                    ("sm4-key", "0123456789ABCDEFFEDCBA9876543210"),
                    ("sm4-mode", "cbc"),
                    ("sm4-iv", iv),
                    ("sm4-padding", "PKCS5Padding"),
                ],
            )
        };
        let (one, other) = (with(&"0".repeat(32)), with(&"f".repeat(32)));
        let stored = one.encrypt(b"secret").unwrap();
        assert_eq!(one.decrypt(&stored).unwrap(), b"secret");
        assert_ne!(other.encrypt(b"secret").unwrap(), stored);
    }

    #[test]
    fn wrong_properties_are_told() {
        let told = problem("SM4", &[("sm4-key", "0123")]);
        assert!(told.contains("32 hexadecimal digits"), "{told}");
        let key = ("sm4-key", "0123456789ABCDEFFEDCBA9876543210");
        assert!(problem("SM4", &[key, ("sm4-mode", "CTR")]).contains("`ECB` or `CBC`"));
        assert!(problem("SM4", &[key, ("sm4-mode", "CBC")]).contains("`sm4-iv`"));
    }
}
