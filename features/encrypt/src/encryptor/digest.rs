//! Digests, as hexadecimal digits in lower case: equal values have equal ones, and none leads back. MD5 and SM3 are
//! byte for byte ShardingSphere's. Whoever knows the salt can try values until one fits; of HMAC only who has the key
//! can.

use aws_lc_rs::hmac;
use md5::Digest as _;
use pando_config::{Algorithm, Problem};
use pando_kernel::error::Result;

use super::{Abilities, Encryptor, Like, hex, keys, one_way, props};

/// `MD5`, `SM3`, `HMAC_SHA256`.
#[derive(Debug)]
pub(super) struct Digest(Kind);

enum Kind {
    Md5 { salt: String },
    Sm3 { salt: String },
    Hmac(Box<hmac::Key>),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Md5 { .. } => "MD5",
            Self::Sm3 { .. } => "SM3",
            Self::Hmac(_) => "HMAC_SHA256",
        }
    }
}

impl Digest {
    pub(super) fn md5(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["salt"])?;
        let salt = algorithm.props.get("salt").map(|salt| salt.value.clone());
        Ok(Self(Kind::Md5 { salt: salt.unwrap_or_default() }))
    }

    pub(super) fn sm3(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["sm3-salt"])?;
        let Some(salt) = algorithm.props.get("sm3-salt") else {
            return Ok(Self(Kind::Sm3 { salt: String::new() }));
        };
        match salt.len() {
            0 | 8 => Ok(Self(Kind::Sm3 { salt: salt.value.clone() })),
            _ => Err(salt.at.problem("`sm3-salt` has 8 octets, or none")),
        }
    }

    pub(super) fn hmac(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["key"])?;
        let key = keys::read(props::required(algorithm, "key")?)?;
        Ok(Self(Kind::Hmac(Box::new(hmac::Key::new(hmac::HMAC_SHA256, &key)))))
    }
}

impl Encryptor for Digest {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        Ok(match &self.0 {
            Kind::Md5 { salt } => {
                hex::encode(&md5::Md5::new().chain_update(plain).chain_update(salt).finalize())
            }
            Kind::Sm3 { salt } => {
                hex::encode(&sm3::Sm3::new().chain_update(plain).chain_update(salt).finalize())
            }
            Kind::Hmac(key) => hex::encode(hmac::sign(key, plain).as_ref()),
        })
    }

    fn decrypt(&self, _: &str) -> Result<Vec<u8>> {
        Err(one_way(self.0.name()))
    }

    fn width(&self, _: usize) -> usize {
        match self.0 {
            Kind::Md5 { .. } => 32,
            Kind::Sm3 { .. } | Kind::Hmac(_) => 64,
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: false, equal: true, like: Like::Never }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made, problem};

    #[test]
    fn the_examples_of_the_standards() {
        let digested = |kind: &str, plain: &str| made(kind, &[]).encrypt(plain.as_bytes()).unwrap();
        // RFC 1321, appendix A.5; GB/T 32905-2016, example 1.
        assert_eq!(digested("MD5", "abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(
            digested("SM3", "abc"),
            "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"
        );
    }

    #[test]
    fn a_salt_stands_behind_the_value() {
        let salted = made("MD5", &[("salt", "c")]).encrypt(b"ab").unwrap();
        assert_eq!(salted, "900150983cd24fb0d6963f7d28e17f72");
        assert!(problem("SM3", &[("sm3-salt", "short")]).contains("8 octets"));
        assert!(made("MD5", &[]).decrypt("x").is_err());
    }
}
