//! The RSA exchange of `caching_sha2_password` for connections without TLS.

use std::fmt;
use std::sync::OnceLock;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, OaepPublicEncryptingKey,
    PrivateDecryptingKey, PublicEncryptingKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pando_kernel::{Error, Result};

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// A door's RSA key pair, made when the first client needs it (some tenths of a second) and kept.
#[derive(Default)]
pub struct ServerKey {
    pair: OnceLock<Option<Pair>>,
}

struct Pair {
    private: OaepPrivateDecryptingKey,
    public_pem: String,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerKey").field("made", &self.pair.get().is_some()).finish()
    }
}

impl ServerKey {
    fn pair(&self) -> Result<&Pair> {
        let pair = self.pair.get_or_init(|| {
            let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).ok()?;
            let der: PublicKeyX509Der<'_> = private.public_key().as_der().ok()?;
            let public_pem = pem(der.as_ref());
            let private = OaepPrivateDecryptingKey::new(private).ok()?;
            Some(Pair { private, public_pem })
        });
        pair.as_ref().ok_or_else(|| Error::internal("no RSA key pair could be made"))
    }

    /// The public key in PEM form.
    ///
    /// # Errors
    /// `Internal` when no key pair could be made.
    pub fn public_pem(&self) -> Result<&str> {
        self.pair().map(|pair| pair.public_pem.as_str())
    }

    /// The password a client encrypted for `scramble`, its closing zero byte included; `None` when the bytes are not
    /// encrypted with this key.
    ///
    /// # Errors
    /// `Internal` when no key pair could be made.
    pub fn decrypt(&self, bytes: &[u8], scramble: &[u8]) -> Result<Option<Vec<u8>>> {
        let pair = self.pair()?;
        let mut room = vec![0; pair.private.min_output_size()];
        let plain = pair.private.decrypt(&OAEP_SHA1_MGF1SHA1, bytes, &mut room, None);
        Ok(plain.ok().map(|plain| masked(plain, scramble)))
    }
}

/// A password with its closing zero byte, encrypted for the server whose public key is given in PEM form.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>
///
/// # Errors
/// `Protocol` when the key cannot be read or is too short for the password.
pub fn encrypt_password(password: &[u8], scramble: &[u8], public_pem: &[u8]) -> Result<Vec<u8>> {
    let bad = |what: &str| Error::protocol(format!("the server's public key {what}"));
    let der = der_of(public_pem).ok_or_else(|| bad("is not in PEM form"))?;
    let key = PublicEncryptingKey::from_der(&der).map_err(|_| bad("cannot be read"))?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|_| bad("cannot encrypt"))?;
    let mut plain = password.to_vec();
    plain.push(0);
    let plain = masked(&plain, scramble);
    let mut room = vec![0; key.ciphertext_size()];
    key.encrypt(&OAEP_SHA1_MGF1SHA1, &plain, &mut room, None)
        .map(|bytes| bytes.to_vec())
        .map_err(|_| bad("is too short for the password"))
}

fn masked(bytes: &[u8], scramble: &[u8]) -> Vec<u8> {
    bytes.iter().zip(scramble.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}

fn pem(der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut text = format!("{BEGIN}\n");
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(64));
        text.push_str(line);
        text.push('\n');
        rest = tail;
    }
    text.push_str(END);
    text.push('\n');
    text
}

fn der_of(pem: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pem).ok()?;
    let body = text.split_once(BEGIN)?.1.split_once(END)?.0;
    let body: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_encrypted_with_the_public_key_is_decrypted() {
        let key = ServerKey::default();
        assert_eq!(format!("{key:?}"), "ServerKey { made: false }");
        let scramble = b"abcdefghijklmnopqrst";
        let long = [b'x'; 100];
        for password in [&b"secret"[..], &long] {
            let pem = key.public_pem().unwrap();
            let sent = encrypt_password(password, scramble, pem.as_bytes()).unwrap();
            let plain = key.decrypt(&sent, scramble).unwrap().unwrap();
            assert_eq!(plain.strip_suffix(&[0]), Some(password));
        }
        assert_eq!(key.decrypt(&[0; 256], scramble).unwrap(), None);
        assert_eq!(key.decrypt(b"short", scramble).unwrap(), None);
    }

    #[test]
    fn a_broken_key_and_an_endless_password_are_refused() {
        assert!(encrypt_password(b"x", b"s", b"no key").is_err());
        let broken = format!("{BEGIN}\nAAAA\n{END}\n");
        assert!(encrypt_password(b"x", b"s", broken.as_bytes()).is_err());
        let key = ServerKey::default();
        let pem = key.public_pem().unwrap();
        assert!(encrypt_password(&[b'x'; 300], b"s", pem.as_bytes()).is_err());
    }
}
