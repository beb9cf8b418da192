//! Encryptors: what is stored in the place of a value. One algorithm per file.

mod aes;
mod class;
mod digest;
mod expression;
mod gcm_siv;
mod hex;
mod keys;
mod like;
mod plain;
mod props;
mod rc4;
mod sm4;

pub(crate) use plain::Plain;

use std::fmt::Debug;
use std::sync::Arc;

use pando_config::{Algorithm, Problem};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::module::CLASS_BASED;
use pando_kernel::{AlgorithmKind, AlgorithmSort, Modules};

/// Turns plain values into what is stored, and back. Pure, but for the random part of those that are not deterministic.
pub(crate) trait Encryptor: Send + Sync + Debug {
    /// What is stored of a value: printable text.
    ///
    /// # Errors
    /// `Value` for one that cannot be stored.
    fn encrypt(&self, plain: &[u8]) -> Result<String>;

    /// The value of which this was stored.
    ///
    /// # Errors
    /// `Value` for what this encryptor with these keys has never given; `Internal` from one that only digests.
    fn decrypt(&self, stored: &str) -> Result<Vec<u8>>;

    /// Whether it would be stored so now: what an older key has stored is not.
    fn is_current(&self, stored: &str, plain: &[u8]) -> bool {
        self.encrypt(plain).is_ok_and(|own| own == stored)
    }

    /// How long what is stored may be, in characters, of values up to so many octets.
    fn width(&self, octets: usize) -> usize;

    /// What it is good for.
    fn abilities(&self) -> Abilities;

    /// Of what its texts are.
    fn stores(&self) -> Stores {
        Stores::Ascii
    }
}

/// What stored texts are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    /// Cipher text and digests.
    Ascii,
    /// Any characters.
    Characters,
}

/// What can be done with what an encryptor gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// The value can be had again.
    pub(crate) decrypts: bool,
    /// Equal values give equal texts, and others, but for chance, other ones.
    pub(crate) equal: bool,
    /// How a pattern that went the same way finds values.
    pub(crate) like: Like,
}

/// How LIKE finds values by what is stored of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Like {
    /// Not at all.
    Never,
    /// It finds others as well.
    More,
    /// The same, and the rule says that the application knows.
    Approved,
}

/// The encryptor that an `encryptors` section asks for.
///
/// # Errors
/// What is wrong, when there is no such encryptor or its properties are not right.
pub(crate) fn encryptor(
    algorithm: &Algorithm,
    modules: &dyn Modules,
) -> Result<Arc<dyn Encryptor>, Problem> {
    let kind = &algorithm.kind;
    Ok(match kind.to_uppercase().as_str() {
        "AES" => Arc::new(aes::Aes::new(algorithm)?),
        "AES_GCM_SIV" => Arc::new(gcm_siv::GcmSiv::new(algorithm)?),
        "EXPRESSION" => Arc::new(expression::Expression::new(algorithm)?),
        CLASS_BASED => Arc::new(class::Module::new(algorithm, modules)?),
        "RC4" => Arc::new(rc4::Rc4::new(algorithm)?),
        "SM4" => Arc::new(sm4::Sm4::new(algorithm)?),
        "MD5" => Arc::new(digest::Digest::md5(algorithm)?),
        "SM3" => Arc::new(digest::Digest::sm3(algorithm)?),
        "HMAC_SHA256" => Arc::new(digest::Digest::hmac(algorithm)?),
        "CHAR_DIGEST_LIKE" => Arc::new(like::CharDigest::new(algorithm)?),
        _ => {
            let names = KINDS.map(|(name, _)| format!("`{name}`")).join(", ");
            let message = format!("encryptor type `{}` does not exist; use {names}", kind.value);
            return Err(kind.at.problem(message));
        }
    })
}

const KINDS: [(&str, &str); 10] = [
    (CLASS_BASED, "two functions of a WebAssembly module, there and back"),
    ("AES", "AES-128 in ECB mode, byte for byte as ShardingSphere stores it"),
    ("AES_GCM_SIV", "AES-256-GCM-SIV with keys that can be changed"),
    ("RC4", "reads what was stored before; weak"),
    ("SM4", "SM4 in ECB or CBC mode"),
    ("MD5", "a digest with salt, for assisted query columns"),
    ("SM3", "a digest with salt, for assisted query columns"),
    ("HMAC_SHA256", "a digest that only who has the key can make, for assisted query columns"),
    ("CHAR_DIGEST_LIKE", "a digest of each character, for LIKE query columns"),
    (
        "EXPRESSION",
        "two inline expressions over `value`, there and back; hides only what they hide",
    ),
];

/// The encryptors there are.
pub(crate) fn algorithms() -> Vec<AlgorithmKind> {
    let sort = AlgorithmSort::Encrypt;
    KINDS.map(|(name, description)| AlgorithmKind { sort, name, description }).to_vec()
}

/// What is stored was not made by this encryptor, or with another key.
fn unreadable(kind: &str) -> Error {
    Error::new(ErrorKind::Value(format!(
        "a stored value cannot be decrypted by `{kind}`: it was stored without this rule, or with another key"
    )))
}

/// What a digest says when its value is asked for.
fn one_way(kind: &str) -> Error {
    Error::internal(format!("`{kind}` digests, and was asked for a value"))
}

#[cfg(test)]
mod tests {
    use pando_kernel::NoModules;

    use super::*;

    pub(super) fn made(kind: &str, props: &[(&str, &str)]) -> Arc<dyn Encryptor> {
        encryptor(&Algorithm::nowhere(kind, props.iter().copied()), &NoModules).unwrap()
    }

    pub(super) fn problem(kind: &str, props: &[(&str, &str)]) -> String {
        encryptor(&Algorithm::nowhere(kind, props.iter().copied()), &NoModules).unwrap_err().message
    }

    /// What ShardingSphere 5.1.0 and, for `RC4` and `CHAR_DIGEST_LIKE`, 5.3.2 store of a value: type, properties,
    /// value, what is stored.
    const STORED: &str = include_str!("../../tests/shardingsphere.tsv");

    #[test]
    fn what_shardingsphere_has_stored_is_stored_again_and_read() {
        let mut lines = 0;
        for line in STORED.lines() {
            let [kind, props, plain, stored] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let props: Vec<(&str, &str)> =
                props.split_terminator(' ').map(|pair| pair.split_once('=').unwrap()).collect();
            let encryptor = made(kind, &props);
            assert_eq!(encryptor.encrypt(plain.as_bytes()).unwrap(), stored, "{line}");
            if encryptor.abilities().decrypts {
                assert_eq!(encryptor.decrypt(stored).unwrap(), plain.as_bytes(), "{line}");
            }
            let width = encryptor.width(plain.len());
            assert!(stored.chars().count() <= width, "{line}: more than {width}");
            lines += 1;
        }
        assert!(lines > 50, "{lines}");
    }

    #[test]
    fn an_unknown_encryptor_is_named_with_those_there_are() {
        let told = problem("ROT13", &[]);
        assert!(told.contains("`ROT13`") && told.contains("`AES_GCM_SIV`"), "{told}");
    }

    #[test]
    fn what_is_no_cipher_text_is_told_without_a_word_of_it() {
        let key = [("aes-key-value", "k")];
        for stored in ["", "secret", "c2VjcmV0", "FrpvlLvZyXewBRRnbeNnbA==", "é"] {
            let told = made("AES", &key).decrypt(stored).unwrap_err().to_string();
            assert!(told.contains("cannot be decrypted"), "{told}");
            assert!(stored.is_empty() || !told.contains(stored), "{told}");
        }
    }
}
